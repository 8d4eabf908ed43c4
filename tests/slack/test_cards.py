"""Chunks, and the cards of cards."""

from __future__ import annotations

from slack_bot.slack.cards import MAX_CARDS, CardClosing, CardTracker, MessageCards
from slack_bot.slack.faults import SurfaceKind
from slack_bot.slack.model import SlackMessage
from slack_bot.text.sanitize import LONGEST
from slack_bot.text.words import CARD_CONTINUES
from slack_bot.turn.actions import CardState, TaskCard

RUNNING, DONE, ERROR = CardState.RUNNING, CardState.DONE, CardState.ERROR


def shown(*cards: TaskCard, number: int = 1) -> MessageCards:
    """A message that shows these."""
    tracked = MessageCards(number)
    tracked.want(cards)
    tracked.confirm(tracked.unsent())
    return tracked


def test_what_slack_has_not_confirmed_is_unsent() -> None:
    cards = MessageCards()
    cards.want([TaskCard("a", "A", RUNNING, details="one ")])
    assert cards.unsent() == (TaskCard("a", "A", RUNNING, details="one "),)
    cards.want([TaskCard("a", "A again", DONE, details="two")])
    assert cards.unsent() == (TaskCard("a", "A again", DONE, details="one two"),)
    cards.confirm(cards.unsent())
    assert cards.unsent() == ()
    assert not cards.is_empty
    cards.want([TaskCard("a", "A again", DONE)])
    assert cards.unsent() == ()
    cards.want([TaskCard("a", "A again", DONE, details="more")])
    assert cards.unsent() == (TaskCard("a", "A again", DONE, details="more"),)


def test_cards_that_run_end_as_the_turn_did_and_the_others_as_they_did() -> None:
    cards = shown(TaskCard("a", "A", RUNNING), TaskCard("b", "B", ERROR), TaskCard("c", "C", DONE))
    assert cards.closing(CardClosing.DONE) == (TaskCard("a", "A", DONE),)
    assert cards.closing(CardClosing.FAILED) == (TaskCard("a", "A", ERROR),)
    cards.confirm_closed(CardClosing.FAILED)
    assert cards.closing(CardClosing.FAILED) == ()


def test_a_card_that_goes_on_says_so_and_has_another_id_below() -> None:
    cards = shown(TaskCard("a", "A", RUNNING, details="one"), TaskCard("b", "B", DONE))
    assert cards.closing(CardClosing.CONTINUES) == (TaskCard("a", "A" + CARD_CONTINUES, DONE),)
    below = MessageCards(2, cards.carried())
    assert below.unsent() == (TaskCard("a#2", "A", RUNNING),)
    below.confirm(below.unsent())
    below.want([TaskCard("a", "A", DONE, details="two")])
    assert below.unsent() == (TaskCard("a#2", "A", DONE, details="two"),)
    assert below.closing(CardClosing.DONE) == (TaskCard("a#2", "A", DONE),)


def test_a_long_title_still_says_that_it_goes_on() -> None:
    (card,) = shown(TaskCard("a", "x" * 400, RUNNING)).closing(CardClosing.CONTINUES)
    assert card.title.endswith("…" + CARD_CONTINUES)
    assert len(card.title) == 256


def test_what_may_stand_there_is_closed_whatever_it_is_known_to_read() -> None:
    cards = MessageCards()
    cards.want([TaskCard("a", "A", DONE)])
    cards.confirm(cards.unsent(), unsure=True)
    assert cards.closing(CardClosing.DONE) == (TaskCard("a", "A", DONE),)
    cards.confirm_closed(CardClosing.DONE)
    assert cards.closing(CardClosing.DONE) == ()


def test_a_card_whose_end_was_never_shown_is_closed_as_it_truly_ended() -> None:
    cards = shown(TaskCard("a", "A", RUNNING, details="one"))
    cards.want([TaskCard("a", "A failed", ERROR, details="two")])
    assert cards.closing(CardClosing.DONE) == (TaskCard("a", "A failed", ERROR),)
    assert cards.closed(CardClosing.DONE) == (TaskCard("a", "A failed", ERROR, details="onetwo"),)
    assert cards.whole() == (TaskCard("a", "A failed", ERROR, details="onetwo"),)


def test_details_add_up() -> None:
    cards = shown(TaskCard("a", "A", RUNNING, details="one "))
    cards.want([TaskCard("a", "A", DONE, details="two")])
    cards.confirm(cards.unsent())
    assert cards.closed(CardClosing.DONE) == (TaskCard("a", "A", DONE, details="one two"),)
    assert cards.closing(CardClosing.FAILED) == ()
    assert cards.wanted() == (TaskCard("a", "A", DONE, details="one two"),)


def test_a_message_that_is_written_as_a_whole_shows_all_its_cards() -> None:
    cards = MessageCards(3)
    cards.want([TaskCard("a", "A", RUNNING, details="one")])
    assert cards.whole() == (TaskCard("a#3", "A", RUNNING, details="one"),)
    assert cards.whole(CardClosing.FAILED) == (TaskCard("a#3", "A", ERROR, details="one"),)


def test_a_card_that_was_never_shown_is_never_closed_but_goes_on() -> None:
    cards = MessageCards()
    cards.want([TaskCard("a", "A", DONE)])
    assert cards.is_empty
    assert cards.closing(CardClosing.DONE) == cards.closed(CardClosing.DONE) == ()
    assert cards.carried() == (TaskCard("a", "A", DONE),)


def test_a_message_holds_so_many_cards_and_no_more() -> None:
    cards = MessageCards()
    cards.want(TaskCard(str(n), "x", RUNNING) for n in range(MAX_CARDS + 5))
    assert len(cards.unsent()) == MAX_CARDS
    cards.confirm(cards.unsent())
    assert cards.unsent() == ()
    assert cards.is_full
    cards.want([TaskCard("0", "x", DONE)])
    assert cards.unsent() == (TaskCard("0", "x", DONE),)
    assert len(cards.whole()) == MAX_CARDS


def test_a_card_that_changes_thousands_of_times_does_not_grow_for_ever() -> None:
    cards = MessageCards()
    for _ in range(3_000):
        cards.want([TaskCard("a", "Search", CardState.RUNNING, details="one more line\n")])
    for _ in range(3_000):
        cards.want([TaskCard("a", "Search", CardState.RUNNING, details="found")])
        cards.confirm(cards.unsent())
    (card,) = cards.whole()
    assert LONGEST < len(card.details) < LONGEST + 20


# -- over all messages --------------------------------------------------------------------------------------

SEARCH = TaskCard("a", "Search", RUNNING)


def new_tracker() -> CardTracker:
    return CardTracker(room=4_500, limit=256, max_cards=200, max_messages=10)


def message_of(of: CardTracker, *cards: TaskCard, title: str = "") -> SlackMessage:
    """A message that shows these."""
    message = SlackMessage(SurfaceKind.STREAM, of.present, ts="1.0", title=title)
    of.want(cards, title)
    message.cards.confirm(message.cards.unsent())
    return message


def test_a_title_goes_with_cards_only_and_once_a_message() -> None:
    tracker = new_tracker()
    tracker.want((), "Plan")
    assert tracker.unsent(None, has_text=True) == ((), "")
    tracker.want([SEARCH], None)
    assert tracker.unsent(None, has_text=False) == ((SEARCH,), "Plan")
    message = message_of(tracker, SEARCH, title="Plan")
    assert tracker.unsent(message.title, has_text=True) == ((), "")
    tracker.want((), "Plan, changed")
    assert tracker.unsent(message.title, has_text=False) == ((), "Plan, changed")


def test_cards_that_only_run_on_wait_for_text_or_for_news() -> None:
    tracker = new_tracker()
    tracker.next_message(2, message_of(tracker, SEARCH, title="Plan").cards, exists=True)
    assert tracker.unsent(None, has_text=False) == ((), "")
    assert tracker.unsent(None, has_text=True) == ((TaskCard("a#2", "Search", RUNNING),), "Plan")
    tracker.want([SEARCH], "Plan")
    assert tracker.unsent(None, has_text=False) == ((), "")
    tracker.want([TaskCard("a", "Search", DONE)], None)
    assert tracker.unsent(None, has_text=False) == ((TaskCard("a#2", "Search", DONE),), "Plan")


def test_a_card_without_room_is_news_and_so_is_one_whose_message_does_not_exist() -> None:
    tracker = new_tracker()
    message = message_of(tracker, SEARCH)
    tracker.want([TaskCard("b", "Read", DONE)], None)
    tracker.next_message(2, message.cards, exists=True)
    assert [card.id for card in tracker.unsent(None, has_text=False)[0]] == ["a#2", "b#2"]
    other = new_tracker()
    nowhere = message_of(other, TaskCard("a", "Search", DONE, details="found"))
    other.next_message(1, nowhere.cards, exists=False)
    assert other.unsent(None, has_text=False)[0] == (TaskCard("a", "Search", DONE, details="found"),)


def test_one_call_takes_so_many_bytes_of_cards_but_always_one() -> None:
    tracker = CardTracker(room=300, limit=256, max_cards=200, max_messages=10)
    tracker.want([TaskCard(str(number), "x" * 200, DONE) for number in range(8)], None)
    cards, _ = tracker.unsent(None, has_text=False)
    assert [card.id for card in cards] == ["0"]


def test_what_became_of_a_card_is_told_where_it_stood_last() -> None:
    tracker = new_tracker()
    message = message_of(tracker, SEARCH)
    message.cards.become(tracker.present)
    tracker.next_message(2, message.cards, exists=True)
    tracker.want([TaskCard("a", "Search failed", CardState.ERROR), TaskCard("b", "Read", DONE)], None)
    assert not message.cards.shows_all_of(tracker.present)
    message.cards.become(tracker.present)
    assert message.cards.wanted() == (TaskCard("a", "Search failed", CardState.ERROR),)
    assert not tracker.present.is_full


def test_steps_beyond_the_first_are_counted_in_one_card() -> None:
    tracker = CardTracker(room=4_500, limit=256, max_cards=2, max_messages=10)
    tracker.want([SEARCH, TaskCard("b", "Read", RUNNING), TaskCard("c", "Write", RUNNING)], None)
    assert tracker.unsent(None, has_text=False)[0][2:] == (TaskCard("more steps", "… 1 more step", RUNNING),)
    message = message_of(
        tracker,
        TaskCard("a", "Search", DONE),
        TaskCard("c", "Write", CardState.ERROR),
        TaskCard("d", "Send", DONE),
    )
    assert [card.title for card in message.cards.whole()] == ["Search", "Read", "… 2 more steps (1 failed)"]
    assert [card.state for card in message.cards.whole()] == [DONE, RUNNING, DONE]


def test_behind_half_of_the_messages_cards_begin_none_and_say_little() -> None:
    tracker = CardTracker(room=4_500, limit=256, max_cards=200, max_messages=1)
    tracker.next_message(2, message_of(tracker, SEARCH).cards, exists=True)
    tracker.want([TaskCard("a", "Search", DONE, details="found it"), TaskCard("b", "Read", RUNNING)], None)
    assert tracker.unsent(None, has_text=False) == ((), "")
    cards, _ = tracker.unsent(None, has_text=True)
    assert cards == (TaskCard("a#2", "Search", DONE), TaskCard("more steps#2", "… 1 more step", RUNNING))


def test_to_count_on_is_no_reason_to_begin_a_message() -> None:
    tracker = CardTracker(room=4_500, limit=256, max_cards=1, max_messages=10)
    tracker.next_message(
        2, message_of(tracker, TaskCard("a", "Search", DONE), TaskCard("b", "Read", DONE)).cards, exists=True
    )
    tracker.want([TaskCard("c", "Write", DONE)], None)
    assert tracker.unsent(None, has_text=False) == ((), "")
    assert tracker.unsent(None, has_text=True) == ((TaskCard("more steps#2", "… 2 more steps", DONE),), "")
    tracker.want([TaskCard("a", "Search", CardState.ERROR)], None)
    assert len(tracker.unsent(None, has_text=False)[0]) == 2
