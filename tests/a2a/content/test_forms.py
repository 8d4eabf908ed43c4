"""What agents ask, in each framework's shape (facts: A2A 3)."""

from __future__ import annotations

from typing import Any

import pytest

from slack_bot.a2a.content.forms import form_in, question_in
from slack_bot.a2a.wire.frames import Part
from slack_bot.turn.form import Field, Form


def data(value: Any, **metadata: Any) -> Part:
    return Part(data=value, has_data=True, metadata=metadata)


CALL = {"name": "ask_approval", "id": "fc", "args": {"amount": 5.0}}
DEPLOY = {"question": "Deploy?", "env": "prod"}
INTERRUPT = {"interruptId": "i", "name": "approval", "reason": {"amount": 5}}


SCHEMA = {
    "type": "object",
    "properties": {"env": {"enum": ["prod", "dev"], "title": "Where"}, "n": {"type": "integer"}, "x": 1},
    "required": ["env"],
}
FIELDS = (Field("env", "Where", ("prod", "dev"), required=True), Field("n"))


@pytest.mark.parametrize(
    ("parts", "prompt", "asked"),
    [
        ((), "Which?", None),
        ((data({"type": "form", "title": "Go", "schema": SCHEMA}),), "Which?", Form("Which?", FIELDS, "Go")),
        ((data(SCHEMA),), "", Form("", FIELDS)),
        (
            (data({"type": "form", "form": SCHEMA, "form_data": {"n": 2}, "instructions": "Fill it in."}),),
            "",
            Form("Fill it in.", FIELDS),
        ),
        ((Part(text="Which?"),), "Which?", None),
        ((data({"fields": [{"id": "env"}]}),), "Which?", Form("Which?", (Field("env"),))),
        ((data(CALL, adk_type="function_call"),), "", Form("**ask_approval**\n- **amount**: 5")),
        ((data(CALL, adk_type="function_response"),), "Go on?", None),
        ((data({"interrupts": [INTERRUPT, 3]}),), "", Form("**approval**\n- **amount**: 5")),
        ((data({"interrupts": [INTERRUPT]}),), "Agent requires input:\n- approval: 5", None),
        ((data({"id": "1", "value": DEPLOY}),), "", Form("Deploy?\n\n- **env**: prod")),
        ((data({"id": "1", "value": "Deploy?"}),), "", Form("Deploy?")),
        ((data({"id": "1", "value": {"env": "prod"}}),), "", Form("- **env**: prod")),
        ((data({"id": "1", "value": None}),), "x", None),
        ((data({"plan": "drop the table"}),), "Go on?", Form("Go on?\n\n- **plan**: drop the table")),
    ],
)  # fmt: skip
def test_shapes(parts: tuple[Part, ...], prompt: str, asked: Form | None) -> None:
    assert question_in(parts, prompt) == asked


def test_a_question_of_a_thousand_parts_is_cut_and_says_so() -> None:
    parts = tuple(Part(data={"interrupts": [{"name": f"n{n}"}]}, has_data=True) for n in range(1000))
    form = question_in(parts, "Which?")
    assert form is not None
    assert form.prompt.startswith("Which?\n\n**n0**\n\n**n1**")
    assert form.prompt.endswith("**n99**\n\n_… and more, which is not shown here_")
    whole = question_in(parts[:100], "Which?")
    assert whole is not None and whole.prompt.endswith("**n99**")


def listed(value: Any) -> tuple[Part, ...]:
    return (data(value),)


def test_forms_of_both_dialects() -> None:
    caipe = {
        "user_input": True,
        "input_title": "New bucket",
        "input_fields": [
            {
                "field_name": "region",
                "field_description": "AWS region",
                "field_values": ["a", 3],
                "required": True,
            }
        ],
    }
    assert form_in(listed(caipe)) == Form("", (Field("region", "AWS region", ("a",), True),), "New bucket")
    other = {
        "title": "T",
        "description": "Confirm",
        "fields": [
            {"id": "p", "label": "Project", "options": [{"label": "OPS", "value": "1"}, {"value": "DEV"}]}
        ],
    }
    assert form_in(listed(other)) == Form("Confirm", (Field("p", "Project", ("OPS", "DEV")),), "T")
    boxed = {
        "require_user_input": True,
        "content": "Fill it",
        "metadata": {"input_fields": [{"field_name": "n"}]},
    }
    assert form_in(listed(boxed)) == Form("Fill it", (Field("n"),))
    assert form_in(listed({"require_user_input": True, "content": "Go on?"})) == Form("Go on?")
    assert form_in(listed({"require_user_input": False, "content": "done"})) is None
    assert form_in((Part(text="no data"),), "prompt") is None
    assert form_in(listed({"fields": [{}]}), "prompt") == Form("prompt", (Field("answer"),))
