"""What is known of one message."""

from slack_bot.slack.message import MessageWrite, SlackMessage
from slack_bot.slack.surfaces.fallback import Surface
from slack_bot.turn.actions import CardState, TaskCard

CARD = TaskCard("a", "A", CardState.RUNNING)


def test_a_message_exists_from_the_first_call_that_may_have_made_it() -> None:
    message = SlackMessage(Surface.NATIVE)
    assert not message.exists
    message.doubt = ""
    assert message.exists
    message.doubt, message.ts = None, "1.0"
    assert message.exists
    assert not message.is_visible


def test_text_or_a_card_make_it_visible() -> None:
    assert SlackMessage(Surface.NATIVE, ts="1.0", text="x").is_visible
    assert not SlackMessage(Surface.NATIVE, ts="1.0", text=" \n").is_visible
    assert not SlackMessage(Surface.NATIVE, text="x").is_visible
    shown = SlackMessage(Surface.EDIT, ts="1.0")
    shown.book.want([CARD])
    shown.book.confirm(shown.book.unsent())
    assert shown.is_visible


def test_messages_share_no_cards() -> None:
    assert SlackMessage(Surface.NATIVE).book is not SlackMessage(Surface.NATIVE).book


def test_a_write_with_cards_or_a_title_is_not_plain() -> None:
    assert MessageWrite("text").is_plain
    assert not MessageWrite("text", (CARD,)).is_plain
    assert not MessageWrite("", (), "title").is_plain
