"""What a reader is told of a silence, minute by minute."""

from __future__ import annotations

import pytest

from slack_bot.turn.actions import CardState, TaskCard
from slack_bot.turn.events import AgentIdle, TaskKnowledge
from slack_bot.turn.idle_notice import IdleNotice

QUIET, WORKING, UNKNOWN = TaskKnowledge.QUIET, TaskKnowledge.WORKING, TaskKnowledge.UNKNOWN


@pytest.mark.parametrize(
    ("known", "seconds", "says"),
    [
        (QUIET, 45, "is waiting for the agent..."),
        (QUIET, 300, "is waiting for the agent..."),
        (WORKING, 20, "is still working..."),
        (WORKING, 60, "is still working, nothing new for 1 min..."),
        (WORKING, 7 * 60 + 59, "is still working, nothing new for 7 min..."),
        (UNKNOWN, 20, "is waiting for the agent..."),
        (UNKNOWN, 130, "is waiting for the agent, silent for 2 min..."),
    ],
)
def test_a_status_says_no_more_than_is_known(known: TaskKnowledge, seconds: float, says: str) -> None:
    assert IdleNotice().show(AgentIdle(seconds, known=known), in_message=False) == says
    assert len(says) <= 50


def told(silence: IdleNotice, seconds: float, known: TaskKnowledge = WORKING) -> TaskCard | str:
    return silence.show(AgentIdle(seconds, known=known), in_message=True)


def test_in_a_message_a_card_runs_for_a_while_and_then_stands_for_good() -> None:
    silence = IdleNotice()
    assert told(silence, 20) == TaskCard(
        "waiting-1", "Waiting for the agent", CardState.RUNNING, "nothing new yet\n"
    )
    assert told(silence, 60) == TaskCard(
        "waiting-1", "Waiting for the agent", CardState.RUNNING, "nothing new for 1 min\n"
    )
    assert told(silence, 120) == TaskCard("waiting-1", "No news from the agent for 2 min", CardState.DONE)
    assert told(silence, 240) == "is still working, nothing new for 4 min..."
    assert silence.end() is None


def test_a_card_that_runs_is_closed_when_the_agent_is_heard_again() -> None:
    silence = IdleNotice()
    assert silence.end() is None
    told(silence, 20)
    assert silence.end() == TaskCard("waiting-1", "Waiting for the agent", CardState.DONE)
    assert silence.end() is None
    assert told(silence, 130) == TaskCard("waiting-2", "No news from the agent for 2 min", CardState.DONE)


def test_a_pause_in_an_answer_is_not_worth_a_word() -> None:
    silence = IdleNotice()
    assert told(silence, 45, QUIET) == ""
    assert silence.end() is None
