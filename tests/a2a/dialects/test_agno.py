"""agno: message deltas with one id, a final status, and then a task with the whole text again."""

from __future__ import annotations

from slack_bot.a2a.wire.frames import AgentMessage, Artifact, Snapshot, StatusUpdate, TaskState
from tests.a2a.parser_turns import COMPLETED, FOX, WORDS, reply, tell, text

DELTAS = [reply(word) for word in WORDS]
TASK = Snapshot("t", "c", TaskState.COMPLETED, history=(AgentMessage("m", parts=text(FOX)),))


def test_the_deltas_are_live_and_the_task_adds_nothing() -> None:
    for dialect in ("auto", "agno"):
        started = StatusUpdate("t", "c", TaskState.WORKING)
        told = tell(started, *DELTAS, COMPLETED, TASK, dialect=dialect)
        assert told.live == told.shown == FOX


def test_a_task_that_has_it_as_an_artifact_too_does_not_double_it() -> None:
    task = Snapshot("t", "c", TaskState.COMPLETED, artifacts=(Artifact("a", parts=text(FOX)),))
    told = tell(*DELTAS, COMPLETED, task)
    assert told.live == told.shown == FOX


def test_a_task_first_makes_it_hold_unless_the_dialect_is_named() -> None:
    first = Snapshot("t", "c", TaskState.WORKING)
    told = tell(first, *DELTAS, COMPLETED)
    assert (told.live, told.shown) == ("", FOX)
    assert told.lessons == {"answer_source": "message"}
    assert tell(first, *DELTAS, COMPLETED, habits=told.lessons).live == FOX
    assert tell(first, *DELTAS, COMPLETED, dialect="agno").live == FOX
