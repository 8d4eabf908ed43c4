"""A secret that comes in pieces is found, and nothing else is held up or changed."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from slack_bot.tools.capture.stream_redaction import StreamRedactor


def row(text: str) -> dict[str, Any]:
    return {
        "t": 1.0,
        "event": {"kind": "artifact-update", "artifact": {"parts": [{"kind": "text", "text": text}]}},
    }


def text_of(rows: list[dict[str, Any]]) -> str:
    return "".join(each["event"]["artifact"]["parts"][0]["text"] for each in rows if "event" in each)


def passed(secrets: list[str], *rows: dict[str, Any]) -> list[list[dict[str, Any]]]:
    """What came out after each row, and at the end."""
    seams = StreamRedactor(secrets)
    return [*(seams.push(each) for each in rows), seams.end()]


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
