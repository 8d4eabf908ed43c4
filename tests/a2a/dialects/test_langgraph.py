"""LangGraph: growing snapshots in the status, then the artifact; its question is an artifact."""

from __future__ import annotations

from itertools import accumulate

from slack_bot.a2a.wire.frames import StatusUpdate, TaskState
from tests.a2a.parser_turns import (
    COMPLETED,
    FOX,
    SUBMITTED,
    WORDS,
    artifact,
    data,
    tell,
    text,
    twice,
    working,
)

SNAPSHOTS = [working(*text(so_far), message_id=so_far) for so_far in accumulate(WORDS)]
FRAMES = (SUBMITTED, *SNAPSHOTS, artifact(text(FOX), append=False), COMPLETED)


def test_snapshots_are_one_text_and_live_once_learned() -> None:
    first, second = twice(*FRAMES)
    assert first.shown == second.shown == FOX
    assert first.lessons == {"answer_source": "status"}
    assert tell(*FRAMES[:-2], habits=first.lessons).live == FOX
    assert tell(*FRAMES[:-2], dialect="langgraph").live == FOX


def test_its_interrupt_is_the_question() -> None:
    told = tell(
        SUBMITTED,
        artifact(data({"id": "1", "value": {"question": "Deploy?", "env": "prod"}}), name="Interrupt"),
        StatusUpdate("t", "c", TaskState.INPUT_REQUIRED),
    )
    assert told.asked == "Deploy?\n\n- **env**: prod"
    assert told.shown == ""
