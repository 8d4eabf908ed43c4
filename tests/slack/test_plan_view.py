"""The cards of an answer over its messages."""

from slack_bot.slack.message import SlackMessage
from slack_bot.slack.plan_view import PlanView
from slack_bot.slack.surfaces.fallback import Surface
from slack_bot.turn.actions import CardState, TaskCard

RUNNING, DONE = CardState.RUNNING, CardState.DONE
SEARCH = TaskCard("a", "Search", RUNNING)


def plan() -> PlanView:
    return PlanView(room=4_500, limit=256, most=200, messages=10)


def shown(of: PlanView, *cards: TaskCard, title: str = "") -> SlackMessage:
    """A message that shows these."""
    message = SlackMessage(Surface.NATIVE, of.book, ts="1.0", title=title)
    of.want(cards, title)
    message.book.confirm(message.book.unsent())
    return message


def test_a_title_goes_with_cards_only_and_once_a_message() -> None:
    every = plan()
    every.want((), "Plan")
    assert every.unsent(None, text=True) == ((), "")
    every.want([SEARCH], None)
    assert every.unsent(None, text=False) == ((SEARCH,), "Plan")
    message = shown(every, SEARCH, title="Plan")
    assert every.unsent(message, text=True) == ((), "")
    every.want((), "Plan, changed")
    assert every.unsent(message, text=False) == ((), "Plan, changed")


def test_cards_that_only_run_on_wait_for_text_or_for_news() -> None:
    every = plan()
    every.next_message(2, shown(every, SEARCH, title="Plan"))
    assert every.unsent(None, text=False) == ((), "")
    assert every.unsent(None, text=True) == ((TaskCard("a#2", "Search", RUNNING),), "Plan")
    every.want([SEARCH], "Plan")
    assert every.unsent(None, text=False) == ((), "")
    every.want([TaskCard("a", "Search", DONE)], None)
    assert every.unsent(None, text=False) == ((TaskCard("a#2", "Search", DONE),), "Plan")


def test_a_card_without_room_is_news_and_so_is_one_whose_message_does_not_exist() -> None:
    every = plan()
    message = shown(every, SEARCH)
    every.want([TaskCard("b", "Read", DONE)], None)
    every.next_message(2, message)
    assert [card.id for card in every.unsent(None, text=False)[0]] == ["a#2", "b#2"]
    other = plan()
    nowhere = shown(other, TaskCard("a", "Search", DONE, details="found"))
    nowhere.ts = None
    other.next_message(1, nowhere)
    assert other.unsent(None, text=False)[0] == (TaskCard("a", "Search", DONE, details="found"),)


def test_one_call_takes_so_many_bytes_of_cards_but_always_one() -> None:
    every = PlanView(room=300, limit=256, most=200, messages=10)
    every.want([TaskCard(str(number), "x" * 200, DONE) for number in range(8)], None)
    cards, _ = every.unsent(None, text=False)
    assert [card.id for card in cards] == ["0"]


def test_what_slack_refuses_is_not_sent() -> None:
    every = plan()
    every.want([SEARCH], "Plan")
    every.is_plain = True
    assert every.unsent(None, text=True) == ((), "")


def test_what_became_of_a_card_is_told_where_it_stood_last() -> None:
    every = plan()
    message = shown(every, SEARCH)
    every.heal(message)
    every.next_message(2, message)
    every.want([TaskCard("a", "Search failed", CardState.ERROR), TaskCard("b", "Read", DONE)], None)
    assert not every.is_told_by(message)
    every.heal(message)
    assert message.book.wanted() == (TaskCard("a", "Search failed", CardState.ERROR),)
    assert not every.is_full


def test_steps_beyond_the_first_are_counted_in_one_card() -> None:
    every = PlanView(room=4_500, limit=256, most=2, messages=10)
    every.want([SEARCH, TaskCard("b", "Read", RUNNING), TaskCard("c", "Write", RUNNING)], None)
    assert every.unsent(None, text=False)[0][2:] == (TaskCard("more steps", "… 1 more step", RUNNING),)
    message = shown(
        every,
        TaskCard("a", "Search", DONE),
        TaskCard("c", "Write", CardState.ERROR),
        TaskCard("d", "Send", DONE),
    )
    assert [card.title for card in message.book.present()] == ["Search", "Read", "… 2 more steps (1 failed)"]
    assert [card.state for card in message.book.present()] == [DONE, RUNNING, DONE]


def test_behind_half_of_the_messages_cards_begin_none_and_say_little() -> None:
    every = PlanView(room=4_500, limit=256, most=200, messages=1)
    every.next_message(2, shown(every, SEARCH))
    every.want([TaskCard("a", "Search", DONE, details="found it"), TaskCard("b", "Read", RUNNING)], None)
    assert every.unsent(None, text=False) == ((), "")
    cards, _ = every.unsent(None, text=True)
    assert cards == (TaskCard("a#2", "Search", DONE), TaskCard("more steps#2", "… 1 more step", RUNNING))


def test_to_count_on_is_no_reason_to_begin_a_message() -> None:
    every = PlanView(room=4_500, limit=256, most=1, messages=10)
    every.next_message(2, shown(every, TaskCard("a", "Search", DONE), TaskCard("b", "Read", DONE)))
    every.want([TaskCard("c", "Write", DONE)], None)
    assert every.unsent(None, text=False) == ((), "")
    assert every.unsent(None, text=True) == ((TaskCard("more steps#2", "… 2 more steps", DONE),), "")
    every.want([TaskCard("a", "Search", CardState.ERROR)], None)
    assert len(every.unsent(None, text=False)[0]) == 2
