"""What a task was before it got a question is told apart from what the question brought."""

from __future__ import annotations

from dataclasses import replace

from slack_bot.agents.task.baseline import baseline_of, before_question, texts_of
from slack_bot.agents.wire.frames import AgentMessage, Artifact, Part, Snapshot, TaskState

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


def test_texts_are_known_by_the_ids_of_their_messages_unless_one_id_has_two() -> None:
    assert texts_of(AFTER) == {"hi": "hi", "which": "Which?", "done": "Done."}
    assert texts_of(replace(AFTER, message=AgentMessage("which", parts=(Part(text="And?"),)))) == {}
