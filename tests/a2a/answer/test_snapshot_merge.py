"""The task as it was asked for says, to whoever heard the stream, what he has not heard."""

from __future__ import annotations

from typing import Any

import pytest

from slack_bot.a2a.answer.snapshot_merge import SnapshotMerger, stored_text
from slack_bot.a2a.wire.frames import (
    AgentMessage,
    Artifact,
    ArtifactUpdate,
    Frame,
    MessageReply,
    Part,
    Snapshot,
    StatusUpdate,
    TaskState,
)

ANSWER, NARRATION = {"is_final_answer": True}, {"is_narration": True}
BOTH = {**ANSWER, **NARRATION}


def artifact(text: str, **metadata: Any) -> Artifact:
    return Artifact("a", "streaming_result", parts=(Part(text=text),), metadata=metadata)


def chunk(text: str, *, append: bool = True, **metadata: Any) -> ArtifactUpdate:
    return ArtifactUpdate(artifact(text, **metadata), "t", "c", append)


def said(text: str, message_id: str, role: str = "agent") -> AgentMessage:
    return AgentMessage(message_id, role, (Part(text=text),))


def status(text: str, message_id: str, state: TaskState = TaskState.WORKING) -> StatusUpdate:
    return StatusUpdate("t", "c", state, said(text, message_id))


def task(*artifacts: Artifact, state: TaskState = TaskState.WORKING, **rest: Any) -> Snapshot:
    return Snapshot("t", "c", state, artifacts=artifacts, **rest)


def streamed(*frames: Frame, in_statuses: bool = False) -> SnapshotMerger:
    merger = SnapshotMerger(in_statuses=in_statuses)
    for frame in frames:
        merger.on_frame(frame)
    return merger


def artifacts_of(frames: list[Frame]) -> list[tuple[str, dict[str, Any]]]:
    last = frames[-1]
    assert isinstance(last, Snapshot)
    return [(each.text, dict(each.metadata)) for each in last.artifacts]


# -- artifacts


def test_an_artifact_that_says_nothing_of_its_text_is_left_as_it_is() -> None:
    assert artifacts_of(streamed(chunk("one ")).merge(task(artifact("one two")))) == [("one two", {})]


def test_a_pure_answer_is_left_as_it_is() -> None:
    merger = streamed(chunk("one ", **ANSWER))
    assert artifacts_of(merger.merge(task(artifact("one two", **ANSWER)))) == [("one two", ANSWER)]


def test_narration_before_the_answer_is_taken_off_again_and_again() -> None:
    merger = streamed(chunk("hm ", append=False, **NARRATION), chunk("one ", **ANSWER))
    assert artifacts_of(merger.merge(task(artifact("hm one two ", **BOTH)))) == [("one two ", ANSWER)]
    assert artifacts_of(merger.merge(task(artifact("hm one two three", **NARRATION)))) == [
        ("one two three", ANSWER)
    ]


def test_what_nobody_can_tell_apart_is_left_for_the_final_result() -> None:
    mixed = task(artifact("hm one two", **BOTH))
    assert artifacts_of(streamed().merge(mixed)) == []
    assert artifacts_of(streamed(chunk("hm ", **NARRATION)).merge(mixed)) == []
    assert artifacts_of(streamed(chunk("other ", **NARRATION), chunk("o", **ANSWER)).merge(mixed)) == []


def test_an_artifact_that_was_begun_anew_is_what_was_heard_since() -> None:
    merger = streamed(chunk("hm ", **NARRATION), chunk("one ", append=False, **ANSWER))
    assert artifacts_of(merger.merge(task(artifact("one two", **ANSWER)))) == [("one two", ANSWER)]


# -- statuses


def test_a_status_message_that_was_heard_is_not_said_again() -> None:
    merger = streamed(status("one ", "1"))
    assert merger.merge(task(message=said("one ", "1"))) == [task()]
    assert merger.merge(task(message=said("two ", "2"))) == [task(message=said("two ", "2"))]
    assert merger.merge(task(message=said("two ", "2"))) == [task()]


def test_the_last_word_of_a_task_is_always_said() -> None:
    merger = streamed(status("one ", "1"))
    for state in (TaskState.COMPLETED, TaskState.INPUT_REQUIRED):
        over = task(message=said("one ", "1"), state=state)
        assert merger.merge(over) == [over]


def test_what_was_said_between_stands_in_the_history() -> None:
    merger = streamed(status("one ", "1"))
    history = (said("hi", "q", "user"), said("one ", "1"), said("two ", "2"), said("three ", "3"))
    found = merger.merge(task(history=history, message=said("four", "4")))
    assert [frame.message.text for frame in found if isinstance(frame, StatusUpdate) and frame.message] == [
        "two ",
        "three ",
    ]
    assert merger.merge(task(history=history, message=said("four", "4"))) == [task(history=history)]


def test_a_history_is_no_status_where_none_was_heard() -> None:
    whole = task(history=(said("one ", "1"),))
    assert streamed().merge(whole) == [whole]
    assert streamed(status("other", "9")).merge(whole) == [whole]
    found = streamed(in_statuses=True).merge(whole)
    assert [type(frame) for frame in found] == [StatusUpdate, Snapshot]


# -- messages


def reply(text: str, message_id: str = "m") -> MessageReply:
    return MessageReply(said(text, message_id))


def test_a_message_in_pieces_is_whole_in_the_history() -> None:
    merger = streamed(reply("one "), reply("two "))
    history = (said("one two three", "other"),)
    assert merger.merge(task(history=history)) == [reply("one two three"), task(history=history)]
    assert merger.merge(task(history=history)) == [task(history=history)]


def test_a_message_that_is_said_ever_longer() -> None:
    merger = streamed(reply("one "), reply("one two "), reply("one two "))
    assert merger.merge(task(history=(said("one two three", "m"),)))[0] == reply("one two three")


def test_another_message_is_another() -> None:
    merger = streamed(reply("one", "1"), reply("two ", "2"), MessageReply(said("mine", "3", "user")))
    assert merger.merge(task(history=(said("two three", "2"),)))[0] == reply("two three", "2")
    assert streamed(reply("one")).merge(task(history=(said("two", "m"),))) == [
        task(history=(said("two", "m"),))
    ]


# -- a task that was there before


def test_what_stood_there_before_the_turn_is_not_said_again() -> None:
    merger = streamed()
    merger.set_baseline(task(artifact("before "), history=(said("hm", "1"),), message=said("Which?", "2")))
    whole = task(artifact("before "), history=(said("hm", "1"), said("Which?", "2")))
    assert artifacts_of(merger.merge(whole)) == []
    assert len(merger.merge(whole)) == 1
    assert artifacts_of(merger.merge(task(artifact("before and since")))) == [("and since", {})]
    assert artifacts_of(merger.merge(task(artifact("replaced")))) == [("replaced", {})]


def test_what_was_said_anew_is_this_turn_s_though_it_is_the_same() -> None:
    merger = streamed()
    merger.set_baseline(task(artifact("same")))
    merger.on_frame(chunk("same", append=False))
    assert artifacts_of(merger.merge(task(artifact("same")))) == [("same", {})]


def test_a_status_message_without_text_is_left_as_it_is() -> None:
    silent = task(message=said("", "1"))
    assert streamed().merge(silent) == [silent]


# -- the text of an artifact


def part(value: str, **metadata: Any) -> Part:
    return Part(text=value, metadata=metadata)


@pytest.mark.parametrize(
    ("artifact", "said"),
    [
        (Artifact(parts=(part("a "), part("b"))), "a b"),
        (Artifact(parts=(part("The "), part("fox "), part("ran."))), "The fox ran."),
        (Artifact(parts=(part("The "), part("The fox "), part("The fox ran."))), "The fox ran."),
        (Artifact(parts=(part("a"), part("ab"))), "aab"),
        (Artifact(parts=(part("hm", thought=True), part("Yes"))), "Yes"),
        (Artifact(parts=(part("hm"),), metadata={"type": "thinking"}), ""),
        (Artifact(parts=(Part(has_data=True, data={"x": 1}),)), "- **x**: 1"),
    ],
)
def test_an_artifact_as_a_task_holds_it(artifact: Artifact, said: str) -> None:
    assert stored_text(artifact) == said
