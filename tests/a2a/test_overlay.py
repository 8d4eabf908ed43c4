"""The task as it was asked for says, to whoever heard the stream, what he has not heard."""

from __future__ import annotations

from typing import Any

from slack_bot.a2a.frames import (
    Artifact,
    ArtifactUpdate,
    Frame,
    Message,
    Part,
    Reply,
    Snapshot,
    StatusUpdate,
    TaskState,
)
from slack_bot.a2a.overlay import Overlay

ANSWER, NARRATION = {"is_final_answer": True}, {"is_narration": True}
BOTH = {**ANSWER, **NARRATION}


def artifact(text: str, **metadata: Any) -> Artifact:
    return Artifact("a", "streaming_result", parts=(Part(text=text),), metadata=metadata)


def chunk(text: str, *, append: bool = True, **metadata: Any) -> ArtifactUpdate:
    return ArtifactUpdate(artifact(text, **metadata), "t", "c", append)


def said(text: str, message_id: str, role: str = "agent") -> Message:
    return Message(message_id, role, (Part(text=text),))


def status(text: str, message_id: str, state: TaskState = TaskState.WORKING) -> StatusUpdate:
    return StatusUpdate("t", "c", state, said(text, message_id))


def task(*artifacts: Artifact, state: TaskState = TaskState.WORKING, **rest: Any) -> Snapshot:
    return Snapshot("t", "c", state, artifacts=artifacts, **rest)


def heard(*frames: Frame, in_statuses: bool = False) -> Overlay:
    overlay = Overlay(in_statuses=in_statuses)
    for frame in frames:
        overlay.hear(frame)
    return overlay


def artifacts_of(frames: list[Frame]) -> list[tuple[str, dict[str, Any]]]:
    last = frames[-1]
    assert isinstance(last, Snapshot)
    return [(each.text, dict(each.metadata)) for each in last.artifacts]


# -- artifacts


def test_an_artifact_that_says_nothing_of_its_text_is_left_as_it_is() -> None:
    assert artifacts_of(heard(chunk("one ")).lay(task(artifact("one two")))) == [("one two", {})]


def test_a_pure_answer_is_left_as_it_is() -> None:
    overlay = heard(chunk("one ", **ANSWER))
    assert artifacts_of(overlay.lay(task(artifact("one two", **ANSWER)))) == [("one two", ANSWER)]


def test_narration_before_the_answer_is_taken_off_again_and_again() -> None:
    overlay = heard(chunk("hm ", append=False, **NARRATION), chunk("one ", **ANSWER))
    assert artifacts_of(overlay.lay(task(artifact("hm one two ", **BOTH)))) == [("one two ", ANSWER)]
    assert artifacts_of(overlay.lay(task(artifact("hm one two three", **NARRATION)))) == [
        ("one two three", ANSWER)
    ]


def test_what_nobody_can_tell_apart_is_left_for_the_final_result() -> None:
    mixed = task(artifact("hm one two", **BOTH))
    assert artifacts_of(heard().lay(mixed)) == []
    assert artifacts_of(heard(chunk("hm ", **NARRATION)).lay(mixed)) == []
    assert artifacts_of(heard(chunk("other ", **NARRATION), chunk("o", **ANSWER)).lay(mixed)) == []


def test_an_artifact_that_was_begun_anew_is_what_was_heard_since() -> None:
    overlay = heard(chunk("hm ", **NARRATION), chunk("one ", append=False, **ANSWER))
    assert artifacts_of(overlay.lay(task(artifact("one two", **ANSWER)))) == [("one two", ANSWER)]


# -- statuses


def test_a_status_message_that_was_heard_is_not_said_again() -> None:
    overlay = heard(status("one ", "1"))
    assert overlay.lay(task(message=said("one ", "1"))) == [task()]
    assert overlay.lay(task(message=said("two ", "2"))) == [task(message=said("two ", "2"))]
    assert overlay.lay(task(message=said("two ", "2"))) == [task()]


def test_the_last_word_of_a_task_is_always_said() -> None:
    overlay = heard(status("one ", "1"))
    for state in (TaskState.COMPLETED, TaskState.INPUT_REQUIRED):
        over = task(message=said("one ", "1"), state=state)
        assert overlay.lay(over) == [over]


def test_what_was_said_between_stands_in_the_history() -> None:
    overlay = heard(status("one ", "1"))
    history = (said("hi", "q", "user"), said("one ", "1"), said("two ", "2"), said("three ", "3"))
    found = overlay.lay(task(history=history, message=said("four", "4")))
    assert [frame.message.text for frame in found if isinstance(frame, StatusUpdate) and frame.message] == [
        "two ",
        "three ",
    ]
    assert overlay.lay(task(history=history, message=said("four", "4"))) == [task(history=history)]


def test_a_history_is_no_status_where_none_was_heard() -> None:
    whole = task(history=(said("one ", "1"),))
    assert heard().lay(whole) == [whole]
    assert heard(status("other", "9")).lay(whole) == [whole]
    found = heard(in_statuses=True).lay(whole)
    assert [type(frame) for frame in found] == [StatusUpdate, Snapshot]


# -- messages


def reply(text: str, message_id: str = "m") -> Reply:
    return Reply(said(text, message_id))


def test_a_message_in_pieces_is_whole_in_the_history() -> None:
    overlay = heard(reply("one "), reply("two "))
    history = (said("one two three", "other"),)
    assert overlay.lay(task(history=history)) == [reply("one two three"), task(history=history)]
    assert overlay.lay(task(history=history)) == [task(history=history)]


def test_a_message_that_is_said_ever_longer() -> None:
    overlay = heard(reply("one "), reply("one two "), reply("one two "))
    assert overlay.lay(task(history=(said("one two three", "m"),)))[0] == reply("one two three")


def test_another_message_is_another() -> None:
    overlay = heard(reply("one", "1"), reply("two ", "2"), Reply(said("mine", "3", "user")))
    assert overlay.lay(task(history=(said("two three", "2"),)))[0] == reply("two three", "2")
    assert heard(reply("one")).lay(task(history=(said("two", "m"),))) == [task(history=(said("two", "m"),))]


# -- a task that was there before


def test_what_stood_there_before_the_turn_is_not_said_again() -> None:
    overlay = heard()
    overlay.stood_before(task(artifact("before "), history=(said("hm", "1"),), message=said("Which?", "2")))
    whole = task(artifact("before "), history=(said("hm", "1"), said("Which?", "2")))
    assert artifacts_of(overlay.lay(whole)) == []
    assert len(overlay.lay(whole)) == 1
    assert artifacts_of(overlay.lay(task(artifact("before and since")))) == [("and since", {})]
    assert artifacts_of(overlay.lay(task(artifact("replaced")))) == [("replaced", {})]


def test_what_was_said_anew_is_this_turn_s_though_it_is_the_same() -> None:
    overlay = heard()
    overlay.stood_before(task(artifact("same")))
    overlay.hear(chunk("same", append=False))
    assert artifacts_of(overlay.lay(task(artifact("same")))) == [("same", {})]


def test_a_status_message_without_text_is_left_as_it_is() -> None:
    silent = task(message=said("", "1"))
    assert heard().lay(silent) == [silent]
