"""Frames know what ends a task and what its text is."""

from __future__ import annotations

from slack_bot.a2a.wire.frames import AgentMessage, Artifact, Part, TaskState


def test_which_states_end_a_task_and_which_wait_for_a_human() -> None:
    assert {state for state in TaskState if state.is_terminal} == {
        TaskState.COMPLETED,
        TaskState.FAILED,
        TaskState.CANCELED,
        TaskState.REJECTED,
    }
    assert {state for state in TaskState if state.is_asking} == {
        TaskState.INPUT_REQUIRED,
        TaskState.AUTH_REQUIRED,
    }


def test_text_parts_are_joined_without_anything_between() -> None:
    parts = (Part(text="Hel"), Part(data={"x": 1}, has_data=True), Part(text="lo"))
    assert AgentMessage(parts=parts).text == "Hello"
    assert Artifact(parts=parts).text == "Hello"
