"""Secrets are taken out of what a capture writes, in one piece or several, and nothing else is."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from slack_bot.text.redaction import MASK, Redactor, StreamRedactor

QUOTED = 'pa"ss\\word'


@pytest.mark.parametrize(
    "secret",
    [
        "hunter2-value",
        "xoxb-12345-abcdefghij",
        "xapp-1-ABCDEF-12345",
        "ghp_" + "a1" * 20,
        "eyJhbGciOiJI.eyJzdWIiOiIx.sig",
        "AKIA" + "ABCD1234" * 2,
        "-----BEGIN RSA PRIVATE KEY-----\nMIIB\n-----END RSA PRIVATE KEY-----",
        QUOTED,
    ],
)
def test_a_secret_is_gone(secret: str) -> None:
    masks = Redactor(["hunter2-value", QUOTED, "abc", ""])
    assert masks.text(f"a {secret} b") == f"a {MASK} b"
    assert masks.value({"x": [{secret: secret}], "n": 1}) == {"x": [{MASK: MASK}], "n": 1}
    raw = masks.raw(f"data: {secret}\n".encode())
    assert raw == b"data: " + b"*" * len(secret.encode()) + b"\n"


def test_a_secret_as_json_writes_it_is_gone_from_raw_bytes() -> None:
    assert b"pa" not in Redactor([QUOTED]).raw(b'{"x": "pa\\"ss\\\\word"}')


def test_a_token_behind_bearer_and_a_password_in_an_address() -> None:
    masks = Redactor()
    assert masks.text("Bearer abcdefghij1234567890") == f"Bearer {MASK}"
    assert masks.text("https://me:pass@host/x") == f"https://me:{MASK}@host/x"


def test_ordinary_words_stay() -> None:
    text = "The bearer of bad news asks for https://host/x and abc."
    assert Redactor(["abc"]).text(text) == text


def row(text: str) -> dict[str, Any]:
    return {
        "t": 1.0,
        "event": {"kind": "artifact-update", "artifact": {"parts": [{"kind": "text", "text": text}]}},
    }


def text_of(rows: list[dict[str, Any]]) -> str:
    return "".join(each["event"]["artifact"]["parts"][0]["text"] for each in rows if "event" in each)


def passed(secrets: list[str], *rows: dict[str, Any]) -> list[list[dict[str, Any]]]:
    """What came out after each row, and at the end."""
    seams = StreamRedactor[dict[str, Any]](Redactor(secrets))
    return [*(seams.push(each, each.get("event")) for each in rows), seams.end()]


@given(
    st.text(alphabet="abc", max_size=12),
    st.text(alphabet="abc", max_size=12),
    st.lists(st.integers(0, 40), max_size=8),
)
@settings(max_examples=200, deadline=None)
def test_wherever_it_is_cut(before: str, after: str, cuts: list[int]) -> None:
    whole = f"{before}hunter2{after}"
    edges = [0, *sorted(min(cut, len(whole)) for cut in cuts), len(whole)]
    pieces = [whole[left:right] for left, right in pairwise(edges)]
    out = [each for rows in passed(["hunter2"], *map(row, pieces)) for each in rows]
    assert text_of(out) == f"{before}*******{after}"
    assert [len(text_of([each])) for each in out] == [len(piece) for piece in pieces]


def test_only_what_may_be_a_beginning_waits() -> None:
    rows = row("nothing of it"), row(" but hun"), {"t": 2.0, "comment": "ping"}, row("dreds of it")
    assert [len(each) for each in passed(["hunter2"], *rows)] == [1, 0, 0, 3, 0]
    assert text_of([each for some in passed(["hunter2"], *rows) for each in some]).endswith("hundreds of it")


def test_what_waits_at_the_end_is_not_lost() -> None:
    assert [len(each) for each in passed(["hunter2"], row("hunt"))] == [0, 1]


def test_without_secrets_nothing_waits() -> None:
    assert [len(each) for each in passed(["", "abc"], row("abc"))] == [1, 0]


def test_the_longer_of_two_beginnings_counts() -> None:
    found = [each for some in passed(["abcx", "bcde"], row("xabc"), row("de.")) for each in some]
    assert text_of(found) == "xa****."
