"""A question has one name for ever, and one message id."""

from __future__ import annotations

import uuid
from dataclasses import replace

import pytest

from slack_bot.turn.record import Field, Form, Question, ThreadKey

ASKED = Question(ThreadKey("T1", "C1", "1.1"), "1.2", "U1", "T1", "hello")


def test_the_key_names_the_slack_message() -> None:
    assert ASKED.key == "T1:C1:1.2"


def test_the_message_id_depends_on_the_slack_message_and_on_nothing_else() -> None:
    assert uuid.UUID(ASKED.message_id).version == 5
    assert replace(ASKED, text="other", context_id="c").message_id == ASKED.message_id
    assert replace(ASKED, ts="1.3").message_id != ASKED.message_id


@pytest.mark.parametrize(
    ("form", "text"),
    [
        (Form("Which one?"), "Which one?"),
        (Form("Which one?", title="Deploy"), "**Deploy**\n\nWhich one?"),
        (Form(""), "The agent needs your input."),
        (Form("", is_auth=True), "The agent needs a sign-in."),
        (
            Form("", (Field("env", "Environment", ("dev", "prod"), required=True), Field("note", "note"))),
            "- **env**: Environment (dev, prod)\n- **note** – optional",
        ),
        (
            Form("", (Field("env", "", ("dev",), required=True, hidden_choices=1_200),), hidden_fields=3),
            "- **env** (dev, … and 1,200 more)\n- … and 3 more, which are not shown here",
        ),
    ],
)
def test_a_question_as_a_person_reads_it(form: Form, text: str) -> None:
    assert form.as_markdown() == text
