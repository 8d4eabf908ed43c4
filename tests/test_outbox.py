"""At most one write's worth waits, whatever happens while a call is under way."""

from __future__ import annotations

import pytest

from slack_bot.outbox import Outbox
from slack_bot.slack.orders import Batch
from slack_bot.turn.actions import Card, CardState, Remember
from slack_bot.turn.buffer import StreamBuffer
from slack_bot.turn.form import Form


def outbox() -> Outbox:
    return Outbox(StreamBuffer(first_flush=0.4, flush_interval=1.0, max_call_chars=100))


def test_newer_cards_replace_older_ones_and_their_details_add_up() -> None:
    box = outbox()
    box.card(Card("a", "A", CardState.RUNNING, details="one"))
    box.card(Card("b", "B", CardState.RUNNING))
    box.card(Card("a", "A!", CardState.DONE, details="two", output="out"))
    batch = box.batch(0.0)
    assert batch.cards == (
        Card("a", "A!", CardState.DONE, "one\ntwo", "out"),
        Card("b", "B", CardState.RUNNING),
    )
    assert box.batch(0.0).is_empty


def test_a_title_waits_once() -> None:
    box = outbox()
    box.retitle("old")
    box.retitle("new")
    assert box.batch(0.0).plan_title == "new"
    assert box.batch(0.0).plan_title is None


def test_text_stays_until_it_was_shown() -> None:
    box = outbox()
    box.buffer.push("line\nrest", 0.0)
    assert box.batch(0.0).text == "line\n"
    assert box.batch(0.0).text == "line\n"
    box.buffer.shown("line\n", 0.0)
    assert box.batch(0.0).text == ""
    assert box.buffer.rest() == "rest"


def test_a_question_waits_for_its_time() -> None:
    box, form = outbox(), Form("Sign in")
    assert (box.question_due(5.0), box.take_question(5.0)) == (None, None)
    box.ask(form, 5.4)
    assert (box.question_due(5.0), box.take_question(5.0)) == (pytest.approx(0.4), None)
    assert (box.question_due(5.4), box.take_question(5.4)) == (0.0, form)
    assert box.take_question(9.0) is None


def test_when_something_is_due() -> None:
    box = outbox()
    assert box.due(5.0) is None
    box.buffer.push("word and ", 5.0)
    wait = box.due(5.0)
    assert wait is not None
    assert 0 < wait <= 0.41
    assert box.due(99.0) == 0.0
    box.status = "is thinking..."
    assert box.due(5.0) == 0.0
    assert box.take_status() == "is thinking..."
    assert box.take_status() is None
    box.remember(Remember("t"))
    assert box.due(5.0) == 0.0
    assert box.take_memories() == [Remember("t")]
    assert box.take_memories() == []


def test_cards_can_be_taken_without_the_text() -> None:
    box = outbox()
    box.card(Card("a", "A", CardState.DONE))
    box.retitle("Plan")
    box.buffer.push("text", 0.0)
    assert box.take_cards() == Batch("", (Card("a", "A", CardState.DONE),), "Plan")
    assert box.take_cards() == Batch()
    assert box.buffer.rest() == "text"
