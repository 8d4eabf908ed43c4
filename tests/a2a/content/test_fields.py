"""What stands inside an artifact, in every spelling that was seen."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from slack_bot.a2a.answer.filters import result_text
from slack_bot.a2a.content.fields import first_text, is_true, plan_steps, plan_title
from slack_bot.a2a.content.forms import form_in
from slack_bot.a2a.content.tools import tool_failed, tool_name
from slack_bot.a2a.wire.frames import Artifact, Part
from slack_bot.turn.events import PlanStep, StepState


def text(value: str) -> tuple[Part, ...]:
    return (Part(text=value),)


def data(value: object) -> tuple[Part, ...]:
    return (Part(data=value, has_data=True),)


def test_flags() -> None:
    assert is_true({"a": True}, "a")
    assert is_true({"a": "true"}, "a")
    assert not is_true({"a": 1}, "a")
    assert not is_true({}, "a")
    assert first_text({"a": 1, "b": "", "c": "x"}, ("a", "b", "c")) == "x"
    assert first_text({}, ("a",)) == ""


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
    assert isinstance(result_text(artifact), str)
