"""Secrets are taken out of what a capture writes, and nothing else is."""

from __future__ import annotations

import pytest

from slack_bot.tools.capture.redaction import MASK, Redactor

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
    assert masks.text("https://me:pass@host/x") == f"https://{MASK}@host/x"


def test_ordinary_words_stay() -> None:
    text = "The bearer of bad news asks for https://host/x and abc."
    assert Redactor(["abc"]).text(text) == text
