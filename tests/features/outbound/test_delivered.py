"""What an operator's command says of a message that a running bot delivered."""

from __future__ import annotations

from dataclasses import replace

import pytest

from slack_bot.errors import BotError
from slack_bot.features.outbound.delivered import link_of_sent
from slack_bot.turn.outbound import OutboundMessage, OutboundRecord
from slack_bot.turn.progress import TurnRecord
from slack_bot.turn.record import Outcome, Question, ThreadKey

SENT = OutboundRecord("k", OutboundMessage("hi", "C1"), 1.0, link="https://x.slack.com/archives/C1/p1")
TURN = TurnRecord(Question(ThreadKey("T1", "C1", "1.0"), "1.0", "", "T1", "hi"), 1.0)


def test_where_it_is() -> None:
    assert link_of_sent(SENT, None) == SENT.link
    for outcome in (Outcome.ANSWERED, Outcome.ASKED):
        assert link_of_sent(SENT, TURN.ended(2.0, outcome)) == SENT.link
    assert link_of_sent(replace(SENT, link=""), TURN.ended(2.0, Outcome.ANSWERED)) == ""


@pytest.mark.parametrize(
    ("record", "outcome", "words"),
    [
        (replace(SENT, error="Slack does not take this."), None, "Slack does not take this."),
        (SENT, Outcome.NO_TEXT, f"the agent finished without writing an answer; see {SENT.link}"),
        (SENT, Outcome.FAILED, f"the agent did not answer (failed); see {SENT.link}"),
    ],
)
def test_why_there_is_nothing(record: OutboundRecord, outcome: Outcome | None, words: str) -> None:
    turn = None if outcome is None else TURN.ended(2.0, outcome)
    with pytest.raises(BotError) as caught:
        link_of_sent(record, turn)
    assert str(caught.value) == words
