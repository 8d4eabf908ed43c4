"""What a polled task brings besides what was streamed of it."""

from __future__ import annotations

from typing import Any

import pytest

from slack_bot.agents.answer.snapshot_merger import SnapshotMerger
from slack_bot.agents.wire.frames import (
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


def streamed(*frames: Frame, in_statuses: bool | None = False) -> SnapshotMerger:
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


def test_tokens_in_the_history_of_a_new_task_were_its_status_whatever_the_order() -> None:
    def texts(*history: AgentMessage) -> list[str]:
        frames = streamed(in_statuses=None).merge(task(history=history))
        return [frame.message.text for frame in frames if isinstance(frame, StatusUpdate) and frame.message]

    asked = said("q", "0", "user")
    tokens = [said(word, word) for word in ("The ", "quick ", "brown ", "fox")]
    assert texts(asked, *tokens) == texts(*reversed(tokens), asked) == ["The ", "quick ", "brown ", "fox"]
    assert texts(asked, said("Searching the docs.", "1"), said("It is here.", "2")) == []


@pytest.mark.parametrize("seen", [1, 2, 3, 4])
def test_a_task_that_is_read_at_its_first_tokens_loses_none_of_them(seen: int) -> None:
    tokens = [said(word, word) for word in ("The ", "quick ", "brown ", "fox ", "it ", "is.")]

    def texts(*history: AgentMessage, **rest: Any) -> list[str]:
        *statuses, last = merger.merge(task(history=history, **rest))
        assert isinstance(last, Snapshot)
        told = [each.message for each in (*statuses, last) if isinstance(each, StatusUpdate | Snapshot)]
        return [message.text for message in told if message is not None]

    merger = streamed(in_statuses=None)
    first = texts(*tokens[: seen - 1], message=tokens[seen - 1])
    assert [*first, *texts(*tokens)] == [each.text for each in tokens]


def test_a_first_word_alone_may_be_the_beginning_of_a_message_that_grows() -> None:
    """agno: the pieces of one message have one id, and the task holds what there is of it."""
    merger = streamed(in_statuses=None)
    first = task(history=(said("The ", "1"),))
    assert merger.merge(first) == [first]


def test_a_narration_behind_another_one_is_told_at_once() -> None:
    merger, searching = streamed(in_statuses=None), said("Searching the docs.", "1")
    reading = task(history=(searching,), message=said("Reading them.", "2"))
    assert merger.merge(reading) == [reading]


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


def test_data_that_came_with_or_without_text_to_what_stood_there_before_is_kept() -> None:
    old, new = Part(data=[1], has_data=True), Part(data=[2], has_data=True)

    def stored(*parts: Part, **metadata: Any) -> Snapshot:
        return task(Artifact("a", "answer", parts=parts, metadata=metadata))

    def parts_of(whole: Snapshot) -> list[Part]:
        return [
            part
            for each in merger.merge(whole)
            if isinstance(each, Snapshot)
            for part in each.artifacts[0].parts
        ]

    merger = streamed()
    merger.set_baseline(stored(Part(text="before "), old))
    assert parts_of(stored(Part(text="before "), old, new)) == [new]
    assert parts_of(stored(Part(text="before "), old, Part(text="since"), new)) == [Part(text="since"), new]
    merger = streamed(chunk("hm ", is_narration=True), chunk("yes", is_final_answer=True))
    whole = stored(Part(text="hm yes"), new, is_narration=True, is_final_answer=True)
    assert parts_of(whole) == [Part(text="yes"), new]


def test_what_was_said_anew_is_this_turn_s_though_it_is_the_same() -> None:
    merger = streamed()
    merger.set_baseline(task(artifact("same")))
    merger.on_frame(chunk("same", append=False))
    assert artifacts_of(merger.merge(task(artifact("same")))) == [("same", {})]


def test_a_status_message_without_text_is_left_as_it_is() -> None:
    silent = task(message=said("", "1"))
    assert streamed().merge(silent) == [silent]
