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
        (
            Form("", (Field("env", "", ("dev",), required=True, hidden_choices=1_200),), hidden_fields=3),
            "- **env** (dev, … and 1,200 more)\n- … and 3 more, which are not shown here",
        ),
    ],
)
def test_a_question_as_a_person_reads_it(form: Form, text: str) -> None:
    assert form.as_markdown() == text
