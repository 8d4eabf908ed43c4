"""What agents ask, in each framework's shape (facts: A2A 3)."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from slack_bot.a2a.answer.filters import result_text
from slack_bot.a2a.content.forms import form_in, plan_in, question_in
from slack_bot.a2a.content.parts import tool_failed, tool_name
from slack_bot.a2a.wire.frames import Artifact, Part
from slack_bot.turn.events import PlanStep, StepState
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


# -- plans


def test_the_steps_of_a_plan_in_their_order() -> None:
    steps = [
        {"step_id": "s2", "title": "Write", "status": "pending", "order": 1, "agent": "Supervisor"},
        {"step_id": "s1", "title": "Search", "status": "in_progress", "order": 0, "agent": "RAG"},
        {"status": "failed", "order": 2},
        {"id": "s4", "description": "[RAG] x", "status": "new", "order": "third", "agent": "RAG"},
        "no step",
    ]
    assert plan_in((Part(text="a plan"), data({"steps": steps})))[0] == (
        PlanStep("s1", "[RAG] Search", StepState.RUNNING),
        PlanStep("s4", "[RAG] x", StepState.PENDING),
        PlanStep("s2", "Write", StepState.PENDING),
        PlanStep("step-3", "Step 4", StepState.FAILED),
    )
    assert plan_in((data({"steps": "none"}),)) == plan_in(()) == ((), "")
    titled = (data({"title": "A"}), data({"steps": steps, "title": "Searched 2 pages"}))
    assert plan_in(titled)[1] == "Searched 2 pages"
    assert plan_in((data({"steps": steps, "title": 7}),))[1] == ""
    far = [{"id": "last", "order": 10**400}, {"id": "first", "order": 0.5}]
    assert [step.id for step in plan_in((data({"steps": far}),))[0]] == ["first", "last"]


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                ["steps", "fields", "input_fields", "metadata", "content", "title", "user_input", "order"]
            ),
            inner,
            max_size=4,
        )
    ),
    max_leaves=12,
)


@given(JSON)
def test_no_data_whatever_breaks_the_reading(value: object) -> None:
    parts = (data(value),)
    plan_in(parts)
    form_in(parts)
    artifact = Artifact(parts=parts, metadata=value if isinstance(value, dict) else {})
    tool_name(artifact)
    tool_failed(artifact)
    assert isinstance(result_text(artifact), str)
