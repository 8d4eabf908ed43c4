"""At most one write's worth waits, whatever happens while a call is under way."""

from __future__ import annotations

import pytest

from slack_bot.pending_writes import PendingWrites
from slack_bot.slack.orders import Batch
from slack_bot.turn.actions import LONGEST, CardState, SaveIds, TaskCard
from slack_bot.turn.buffer import StreamBuffer
from slack_bot.turn.form import Form


def outbox() -> PendingWrites:
    return PendingWrites(StreamBuffer(first_flush_delay=0.4, flush_interval=1.0, max_call_chars=100))


def test_newer_cards_replace_older_ones_and_their_details_add_up() -> None:
    box = outbox()
    box.add_card(TaskCard("a", "A", CardState.RUNNING, details="one"))
    box.add_card(TaskCard("b", "B", CardState.RUNNING))
    box.add_card(TaskCard("a", "A!", CardState.DONE, details="two", output="out"))
    batch = box.batch(0.0)
    assert batch.cards == (
        TaskCard("a", "A!", CardState.DONE, "one\ntwo", "out"),
        TaskCard("b", "B", CardState.RUNNING),
    )
    assert box.batch(0.0).is_empty


def test_a_title_waits_once() -> None:
    box = outbox()
    box.set_plan_title("old")
    box.set_plan_title("new")
    assert box.batch(0.0).plan_title == "new"
    assert box.batch(0.0).plan_title is None


def test_text_stays_until_it_was_shown() -> None:
    box = outbox()
    box.buffer.push("line\nrest", 0.0)
    assert box.batch(0.0).text == "line\n"
    assert box.batch(0.0).text == "line\n"
    box.buffer.acknowledge("line\n", 0.0)
    assert box.batch(0.0).text == ""
    assert box.buffer.remaining() == "rest"


def test_a_question_waits_for_its_time() -> None:
    box, form = outbox(), Form("Sign in")
    assert (box.form_due(5.0), box.take_form(5.0)) == (None, None)
    box.add_form(form, 5.4)
    assert (box.form_due(5.0), box.take_form(5.0)) == (pytest.approx(0.4), None)
    assert (box.form_due(5.4), box.take_form(5.4)) == (0.0, form)
    assert box.take_form(9.0) is None


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
    box.save_ids(SaveIds("t"))
    assert box.due(5.0) == 0.0
    assert box.take_ids() == [SaveIds("t")]
    assert box.take_ids() == []


def test_cards_can_be_taken_without_the_text() -> None:
    box = outbox()
    box.add_card(TaskCard("a", "A", CardState.DONE))
    box.set_plan_title("Plan")
    box.buffer.push("text", 0.0)
    assert box.take_cards() == Batch("", (TaskCard("a", "A", CardState.DONE),), "Plan")
    assert box.take_cards() == Batch()
    assert box.buffer.remaining() == "text"


# -- text ----------------------------------------------------------------------------------------------------


def test_a_flush_shows_no_torn_word() -> None:
    box = PendingWrites(
        StreamBuffer(first_flush_delay=0.4, flush_interval=1.0, max_call_chars=100), ("e-mail-key",)
    )
    box.add_text("tell me a jok", 0.0)
    box.add_text("e", 0.0)
    box.flush()
    assert box.batch(0.0).text == "tell me a "
    box.buffer.acknowledge("tell me a ", 0.0)
    assert box.batch(0.0).text == ""
    box.end(0.1)
    assert box.batch(0.1).text == "joke"


def test_without_a_held_letter_a_flush_shows_all_of_it() -> None:
    box = PendingWrites(
        StreamBuffer(first_flush_delay=0.4, flush_interval=1.0, max_call_chars=100), ("<key>",)
    )
    for text in ("tell me a jok", "e", " <"):
        box.add_text(text, 0.0)
    box.flush()
    assert box.batch(0.0).text == "tell me a joke "


def test_what_nobody_has_seen_is_taken_back_to_the_last_mark() -> None:
    box = outbox()
    box.add_text("It stands.\n", 0.0)
    box.buffer.acknowledge(box.batch(0.0).text, 0.0)
    box.start_new_text(0.0)
    assert box.is_unsent
    box.add_text("Let me look <", 0.0)
    assert box.is_unsent
    box.retract()
    assert box.due(0.0) is None
    box.add_text("Found it.", 5.0)
    box.end(5.0)
    assert box.batch(5.0).text == "Found it."


def test_what_is_under_way_has_been_seen() -> None:
    box = outbox()
    box.add_text("Let me look.\nThere", 0.0)
    assert box.batch(0.0).text == "Let me look.\n"
    assert not box.is_unsent
    box.buffer.acknowledge("Let me look.\n", 0.0)
    assert not box.is_unsent
    box.start_new_text(0.0)
    assert box.is_unsent
    assert box.buffer.remaining() == "There"


def test_a_card_that_changes_thousands_of_times_holds_no_more_than_a_call_takes() -> None:
    box = outbox()
    for _ in range(5_000):
        box.add_card(TaskCard("a", "Search", CardState.RUNNING, details="one more line\n", output="found"))
    (card,) = box.take_cards().cards
    assert LONGEST < len(card.details) < LONGEST + 20
    assert LONGEST < len(card.output) < LONGEST + 20
