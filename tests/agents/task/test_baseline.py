"""What a task was before it got a question is told apart from what the question brought."""

from __future__ import annotations

from dataclasses import replace

import pytest

from slack_bot.agents.task.baseline import RepeatedFrames, baseline_of, before_question
from slack_bot.agents.wire.frames import (
    AgentMessage,
    Artifact,
    ArtifactUpdate,
    Part,
    Snapshot,
    StatusUpdate,
    TaskState,
)

BEFORE = Snapshot(
    "t",
    "c",
    TaskState.INPUT_REQUIRED,
    AgentMessage("which", parts=(Part(text="Which?"),)),
    artifacts=(Artifact("a", "answer", parts=(Part(text="One. "),)),),
    history=(AgentMessage("hi", parts=(Part(text="hi"),), role="user"),),
)
AFTER = replace(
    BEFORE,
    state=TaskState.COMPLETED,
    message=AgentMessage("done", parts=(Part(text="Done."),)),
    artifacts=(
        Artifact("a", "answer", parts=(Part(text="One. "), Part(text="Two."))),
        Artifact("b", "other", parts=(Part(text="new"),)),
    ),
    history=(*BEFORE.history, AgentMessage("which", parts=(Part(text="Which?"),))),
)


def test_a_task_of_now_is_cut_down_to_what_it_was_before_its_question() -> None:
    before = before_question(AFTER, baseline_of(BEFORE))
    assert [(each.artifact_id, each.text) for each in before.artifacts] == [("a", "One. ")]
    assert before.message is None
    assert [each.message_id for each in before.history] == ["hi", "which"]


def test_an_artifact_without_an_id_is_known_by_its_name() -> None:
    nameless = replace(BEFORE, artifacts=(Artifact("", "answer", parts=(Part(text="One. "),)),))
    assert baseline_of(nameless).artifacts == (("answer", 5),)


def said(message_id: str, text: str, state: TaskState = TaskState.WORKING) -> StatusUpdate:
    return StatusUpdate("t", "c", state, AgentMessage(message_id, parts=(Part(text=text),)))


def chunk(artifact_id: str, text: str, *, append: bool = True) -> ArtifactUpdate:
    return ArtifactUpdate(Artifact(artifact_id, "answer", parts=(Part(text=text),)), append=append)


@pytest.mark.parametrize(
    ("task", "frames", "repeated"),
    [
        (AFTER, [chunk("a", "Two.")], [True]),
        (AFTER, [chunk("a", "Two."), chunk("a", "Two.")], [True, False]),  # the second one is news
        (AFTER, [chunk("a", "Three."), chunk("a", "Two.")], [False, False]),
        (AFTER, [chunk("a", "Two.", append=False)], [False]),
        (AFTER, [chunk("c", "Two.")], [False]),
        (AFTER, [said("which", "Which?"), said("done", "Done.")], [True, True]),
        (AFTER, [said("new", "On."), said("done", "Done.")], [False, False]),
        (AFTER, [said("done", "Done.", TaskState.COMPLETED)], [False]),
        (AFTER, [said("which", "Which?"), chunk("a", "Two.")], [True, True]),
        (replace(AFTER, message=said("which", "And?").message), [said("which", "And?")], [False]),
        (None, [chunk("a", "Two."), said("done", "Done.")], [False, False]),
    ],
)
def test_what_a_joined_stream_says_again_is_known_until_something_else_comes(
    task: Snapshot | None, frames: list[StatusUpdate | ArtifactUpdate], repeated: list[bool]
) -> None:
    repeats = RepeatedFrames(task)
    assert [repeats.take(frame) for frame in frames] == repeated
