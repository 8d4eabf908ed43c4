"""What runner and sink say to each other."""

from __future__ import annotations

from slack_bot.slack.orders import Batch, TurnEnd, WriteResult
from slack_bot.turn.actions import CardState, TaskCard
from slack_bot.turn.record import Outcome


def test_a_batch_is_empty_only_if_nothing_waits() -> None:
    assert Batch().is_empty
    assert not Batch("a").is_empty
    assert not Batch(plan_title="x").is_empty
    assert not Batch(cards=(TaskCard("a", "A", CardState.DONE),)).is_empty


def test_an_ending_says_nothing_by_itself() -> None:
    assert TurnEnd(Outcome.ANSWERED) == TurnEnd(Outcome.ANSWERED, "", None, "", False, None)
    assert {str(each) for each in WriteResult} == {"shown", "held", "gone", "stopped"}
