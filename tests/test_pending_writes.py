"""At most one write's worth waits, whatever happens while a call is under way."""

from __future__ import annotations

from slack_bot.pending_writes import PendingWrites
from slack_bot.slack.model import Batch
from slack_bot.turn.actions import LONGEST, CardState, TaskCard
from slack_bot.turn.buffer import StreamBuffer
from slack_bot.turn.fit import MessageLimits
from slack_bot.turn.ledger import Ledger


class Pending(PendingWrites):
    """What waits, over a ledger of its own."""

    def __init__(self, *secrets: str) -> None:
        self.ledger = Ledger(MessageLimits(max_call_chars=100))
        super().__init__(StreamBuffer(self.ledger, first_flush_delay=0.4, flush_interval=1.0), secrets)

    def released(self, now: float) -> str:
        """The text that is released at `now`, by a call that is still under way."""
        self.buffer.release(now)
        text, self.ledger.released = self.ledger.released, ""
        return text

    @property
    def remaining(self) -> str:
        """The text that was not released."""
        return self.ledger.waiting.tail(self.ledger.waiting.size or 1)


def test_newer_cards_replace_older_ones_and_their_details_add_up() -> None:
    pending = Pending()
    pending.add_card(TaskCard("a", "A", CardState.RUNNING, details="one"))
    pending.add_card(TaskCard("b", "B", CardState.RUNNING))
    pending.add_card(TaskCard("a", "A!", CardState.DONE, details="two", output="out"))
    batch = pending.take_cards()
    assert batch.cards == (
        TaskCard("a", "A!", CardState.DONE, "one\ntwo", "out"),
        TaskCard("b", "B", CardState.RUNNING),
    )
    assert pending.take_cards() == Batch("", (), None)


def test_a_title_waits_once() -> None:
    pending = Pending()
    pending.plan_title = "old"
    pending.plan_title = "new"
    assert pending.take_cards().plan_title == "new"
    assert pending.take_cards().plan_title is None


def test_when_something_is_due() -> None:
    pending = Pending()
    assert pending.due(5.0) is None
    pending.buffer.push("word and ", 5.0)
    wait = pending.due(5.0)
    assert wait is not None
    assert 0 < wait <= 0.41
    assert pending.due(99.0) == 0.0
    pending.plan_title = "Plan"
    assert pending.due(5.0) == 0.0


def test_cards_can_be_taken_without_the_text() -> None:
    pending = Pending()
    pending.add_card(TaskCard("a", "A", CardState.DONE))
    pending.plan_title = "Plan"
    pending.buffer.push("text", 0.0)
    assert pending.take_cards() == Batch("", (TaskCard("a", "A", CardState.DONE),), "Plan")
    assert pending.take_cards() == Batch()
    assert pending.remaining == "text"


# -- text ----------------------------------------------------------------------------------------------------


def test_a_flush_shows_no_torn_word() -> None:
    pending = Pending("e-mail-key")
    pending.add_text("tell me a jok", 0.0)
    pending.add_text("e", 0.0)
    pending.flush()
    assert pending.released(0.0) == "tell me a "
    pending.buffer.acknowledge(0.0)
    assert pending.released(0.0) == ""
    pending.end(0.1)
    assert pending.released(0.1) == "joke"


def test_without_a_held_letter_a_flush_shows_all_of_it() -> None:
    pending = Pending("<key>")
    for text in ("tell me a jok", "e", " <"):
        pending.add_text(text, 0.0)
    pending.flush()
    assert pending.released(0.0) == "tell me a joke "


def test_what_nobody_has_seen_is_taken_back_to_the_last_mark() -> None:
    pending = Pending()
    pending.add_text("It stands.\n", 0.0)
    assert pending.released(0.0) == "It stands.\n"
    pending.buffer.acknowledge(0.0)
    pending.start_new_text(0.0)
    assert pending.is_unsent
    pending.add_text("Let me look <", 0.0)
    assert pending.is_unsent
    pending.retract()
    assert pending.due(0.0) is None
    pending.add_text("Found it.", 5.0)
    pending.end(5.0)
    assert pending.released(5.0) == "Found it."


def test_what_is_under_way_has_been_seen() -> None:
    pending = Pending()
    pending.add_text("Let me look.\nThere", 0.0)
    assert pending.released(0.0) == "Let me look.\n"
    assert not pending.is_unsent
    pending.buffer.acknowledge(0.0)
    assert not pending.is_unsent
    pending.start_new_text(0.0)
    assert pending.is_unsent
    assert pending.remaining == "There"


def test_a_card_that_changes_thousands_of_times_holds_no_more_than_a_call_takes() -> None:
    pending = Pending()
    for _ in range(5_000):
        pending.add_card(
            TaskCard("a", "Search", CardState.RUNNING, details="one more line\n", output="found")
        )
    (card,) = pending.take_cards().cards
    assert LONGEST < len(card.details) < LONGEST + 20
    assert LONGEST < len(card.output) < LONGEST + 20
