"""A question of an agent in the words of the tools."""

from __future__ import annotations

from pathlib import Path

import pytest

from slack_bot.tools.asked import in_words
from slack_bot.tools.files import open_capture
from slack_bot.tools.replay.replay import replayed
from slack_bot.turn.form import Field, FieldKind, Form, FormKind, ProposedCall, ReplyFormat

FORMS = Path(__file__).parents[1] / "captures" / "forms"
FIELDS = (Field("env", kind=FieldKind.SELECT, required=True), Field("n", kind=FieldKind.NUMBER))
CALLS = (ProposedCall("pay"), ProposedCall("tell"))


@pytest.mark.parametrize(
    ("form", "words"),
    [
        (Form("Which?"), ""),
        (Form("Which?", reply=ReplyFormat("strands", "{}")), "a question in words, answered as strands"),
        (Form("", FIELDS), "a form (env: select, needed; n: number)"),
        (Form("", calls=CALLS, kind=FormKind.APPROVAL), "an approval of pay and tell"),
        (Form("", kind=FormKind.APPROVAL), "an approval of what it says"),
        (
            Form("", calls=CALLS[:1], kind=FormKind.APPROVAL, may_edit=True),
            "an approval of pay, which may be changed",
        ),
        (Form("", kind=FormKind.AUTH), ""),
        (Form("", kind=FormKind.AUTH, url="https://a.b/c?secret"), "a sign-in at a.b"),
        (
            Form("", kind=FormKind.AUTH, url="https://[oops/x"),
            "a sign-in at an address that cannot be read",
        ),
    ],
)
def test_in_words(form: Form, words: str) -> None:
    assert in_words(form) == words


def test_replay_tells_what_was_asked() -> None:
    seen = replayed(open_capture(FORMS / "langgraph-schema_ask.sse"))
    fields = [
        {"name": "env", "kind": "select", "required": True},
        {"name": "n", "kind": "number", "required": False},
    ]
    asked = {"kind": "input", "fields": fields, "calls": [], "answered_as": "langgraph"}
    assert seen.result()["forms"] == [asked]
