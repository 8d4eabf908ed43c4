"""What stands inside an artifact, in every spelling that was seen."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from slack_bot.a2a.content.content import unboxed
from slack_bot.a2a.content.fields import (
    form_in,
    is_true,
    plan_steps,
    plan_title,
    tool_call_id,
    tool_failed,
    tool_label,
    tool_name,
)
from slack_bot.a2a.wire.frames import Artifact, Part
from slack_bot.turn.events import PlanStep, StepState
from slack_bot.turn.form import Field, Form


def text(value: str) -> tuple[Part, ...]:
    return (Part(text=value),)


def data(value: object) -> tuple[Part, ...]:
    return (Part(data=value, has_data=True),)


@pytest.mark.parametrize(
    ("artifact", "name"),
    [
        (Artifact(metadata={"tool_name": "github"}), "github"),
        (Artifact(description="Tool call started: [RAG] Search docs"), "[RAG] Search docs"),
        (Artifact(description="Tool call failed: x", parts=text("❌ x failed")), "x"),
        (Artifact(parts=data({"toolName": "jira"})), "jira"),
        (Artifact(parts=data({"other": 1})), "tool"),
        (Artifact(parts=text("Calling: fetch_document now")), "fetch_document"),
        (Artifact(metadata={"sourceAgent": "search"}), "search"),
        (Artifact(metadata={"tool_name": 7}), "tool"),
    ],
)
def test_the_name_of_a_tool(artifact: Artifact, name: str) -> None:
    assert tool_name(artifact) == name


def test_the_id_of_a_call() -> None:
    assert tool_call_id(Artifact(metadata={"tool_call_id": "tc1"})) == "tc1"
    assert tool_call_id(Artifact()) is None


@pytest.mark.parametrize(
    ("artifact", "failed"),
    [
        (Artifact(parts=text("no errors found")), False),
        (Artifact(parts=text("❌ x failed")), True),
        (Artifact(description="Tool call failed: x"), True),
        (Artifact(metadata={"status": "Failed"}), True),
        (Artifact(), False),
    ],
)
def test_a_tool_failed_only_if_the_agent_says_so(artifact: Artifact, failed: bool) -> None:
    assert tool_failed(artifact) is failed


def test_flags() -> None:
    assert is_true({"a": True}, "a")
    assert is_true({"a": "true"}, "a")
    assert not is_true({"a": 1}, "a")
    assert not is_true({}, "a")


def test_a_call_has_a_label_where_the_agent_wrote_one() -> None:
    assert tool_label(Artifact(metadata={"tool_title": " Search “cats” "})) == "Search “cats”"
    assert tool_label(Artifact(metadata={"tool_title": 7})) == tool_label(Artifact()) == ""


def test_the_steps_of_a_plan_in_their_order() -> None:
    steps = [
        {"step_id": "s2", "title": "Write", "status": "pending", "order": 1, "agent": "Supervisor"},
        {"step_id": "s1", "title": "Search", "status": "in_progress", "order": 0, "agent": "RAG"},
        {"status": "failed", "order": 2},
        {"id": "s4", "description": "[RAG] x", "status": "new", "order": "third", "agent": "RAG"},
        "no step",
    ]
    assert plan_steps((*text("a plan"), *data({"steps": steps}))) == (
        PlanStep("s1", "[RAG] Search", StepState.RUNNING),
        PlanStep("s4", "[RAG] x", StepState.PENDING),
        PlanStep("s2", "Write", StepState.PENDING),
        PlanStep("step-3", "Step 4", StepState.FAILED),
    )
    assert plan_steps(data({"steps": "none"})) == ()
    titled = data({"title": "A"}) + data({"steps": steps, "title": "Searched 2 pages"})
    assert plan_title(titled) == "Searched 2 pages"
    assert plan_title(data({"steps": steps, "title": 7})) == plan_title(()) == ""
    far = [{"id": "last", "order": 10**400}, {"id": "first", "order": 0.5}]
    assert [step.id for step in plan_steps(data({"steps": far}))] == ["first", "last"]


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
    assert form_in(data(caipe)) == Form("", (Field("region", "AWS region", ("a",), True),), "New bucket")
    other = {
        "title": "T",
        "description": "Confirm",
        "fields": [
            {"id": "p", "label": "Project", "options": [{"label": "OPS", "value": "1"}, {"value": "DEV"}]}
        ],
    }
    assert form_in(data(other)) == Form("Confirm", (Field("p", "Project", ("OPS", "DEV")),), "T")
    boxed = {
        "require_user_input": True,
        "content": "Fill it",
        "metadata": {"input_fields": [{"field_name": "n"}]},
    }
    assert form_in(data(boxed)) == Form("Fill it", (Field("n"),))
    assert form_in(data({"require_user_input": True, "content": "Go on?"})) == Form("Go on?")
    assert form_in(data({"require_user_input": False, "content": "done"})) is None
    assert form_in(text("no data"), "prompt") is None
    assert form_in(data({"fields": [{}]}), "prompt") == Form("prompt", (Field("answer"),))


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
    parts = data(value)
    plan_steps(parts)
    form_in(parts)
    artifact = Artifact(parts=parts, metadata=value if isinstance(value, dict) else {})
    tool_name(artifact)
    tool_failed(artifact)
    assert isinstance(unboxed(artifact), str)
