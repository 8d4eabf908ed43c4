"""What is known of one message."""

from slack_bot.slack.message import MessageWrite, SlackMessage
from slack_bot.slack.surfaces.fallback import SurfaceKind
from slack_bot.turn.actions import CardState, TaskCard

CARD = TaskCard("a", "A", CardState.RUNNING)


def test_a_message_exists_from_the_first_call_that_may_have_made_it() -> None:
    message = SlackMessage(SurfaceKind.STREAM)
    assert not message.exists
    message.doubt = ""
    assert message.exists
    message.doubt, message.ts = None, "1.0"
    assert message.exists
    assert not message.is_visible


def test_text_or_a_card_make_it_visible() -> None:
    assert SlackMessage(SurfaceKind.STREAM, ts="1.0", text="x").is_visible
    assert not SlackMessage(SurfaceKind.STREAM, ts="1.0", text=" \n").is_visible
    assert not SlackMessage(SurfaceKind.STREAM, text="x").is_visible
    shown = SlackMessage(SurfaceKind.EDIT, ts="1.0")
    shown.cards.want([CARD])
    shown.cards.confirm(shown.cards.unsent())
    assert shown.is_visible


def test_messages_share_no_cards() -> None:
    assert SlackMessage(SurfaceKind.STREAM).cards is not SlackMessage(SurfaceKind.STREAM).cards


def test_a_write_with_cards_or_a_title_is_not_plain() -> None:
    assert MessageWrite("text").is_plain
    assert not MessageWrite("text", (CARD,)).is_plain
    assert not MessageWrite("", (), "title").is_plain
