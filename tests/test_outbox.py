"""At most one write's worth waits, whatever happens while a call is under way."""

from __future__ import annotations

import pytest

from slack_bot.outbox import Outbox
from slack_bot.slack.orders import Batch
from slack_bot.turn.actions import LONGEST, Card, CardState, Remember
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


# -- text ----------------------------------------------------------------------------------------------------


def test_a_flush_shows_no_torn_word() -> None:
    box = Outbox(StreamBuffer(first_flush=0.4, flush_interval=1.0, max_call_chars=100), ("e-mail-key",))
    box.say("tell me a jok", 0.0)
    box.say("e", 0.0)
    box.flush()
    assert box.batch(0.0).text == "tell me a "
    box.buffer.shown("tell me a ", 0.0)
    assert box.batch(0.0).text == ""
    box.end(0.1)
    assert box.batch(0.1).text == "joke"


def test_without_a_held_letter_a_flush_shows_all_of_it() -> None:
    box = Outbox(StreamBuffer(first_flush=0.4, flush_interval=1.0, max_call_chars=100), ("<key>",))
    for text in ("tell me a jok", "e", " <"):
        box.say(text, 0.0)
    box.flush()
    assert box.batch(0.0).text == "tell me a joke "


def test_what_nobody_has_seen_is_taken_back_to_the_last_mark() -> None:
    box = outbox()
    box.say("It stands.\n", 0.0)
    box.buffer.shown(box.batch(0.0).text, 0.0)
    box.mark(0.0)
    assert box.is_unseen
    box.say("Let me look <", 0.0)
    assert box.is_unseen
    box.take_back()
    assert box.due(0.0) is None
    box.say("Found it.", 5.0)
    box.end(5.0)
    assert box.batch(5.0).text == "Found it."


def test_what_is_under_way_has_been_seen() -> None:
    box = outbox()
    box.say("Let me look.\nThere", 0.0)
    assert box.batch(0.0).text == "Let me look.\n"
    assert not box.is_unseen
    box.buffer.shown("Let me look.\n", 0.0)
    assert not box.is_unseen
    box.mark(0.0)
    assert box.is_unseen
    assert box.buffer.rest() == "There"


def test_a_card_that_changes_thousands_of_times_holds_no_more_than_a_call_takes() -> None:
    box = outbox()
    for _ in range(5_000):
        box.card(Card("a", "Search", CardState.RUNNING, details="one more line\n", output="found"))
    (card,) = box.take_cards().cards
    assert LONGEST < len(card.details) < LONGEST + 20
    assert LONGEST < len(card.output) < LONGEST + 20
