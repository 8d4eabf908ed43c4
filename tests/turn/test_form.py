"""A question reads like one, whatever the agent left out."""

from __future__ import annotations

import pytest

from slack_bot.turn.form import Field, Form


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
    ],
)
def test_a_question_as_a_person_reads_it(form: Form, text: str) -> None:
    assert form.as_markdown() == text
