"""What a person said of an answer, and when it is to be sent."""

from __future__ import annotations

from slack_bot.turn.feedback import FeedbackRecord

SAID = FeedbackRecord("turn", "U1", "negative", 5.0, tries=3)


def test_it_is_due_at_once_where_there_is_somebody_to_send_it_to() -> None:
    due = SAID.to_send(("webhook",))
    assert (due.unsent, due.due, due.tries) == (("webhook",), 5.0, 0)
    assert SAID.to_send(()).due is None


def test_who_holds_it_keeps_others_off() -> None:
    due = SAID.to_send(("webhook",))
    assert (due.held(5.0, 60.0).due, due.held(4.9, 60.0)) == (65.0, due)
    assert SAID.held(9.0, 60.0) == SAID
