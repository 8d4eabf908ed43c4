"""What the runner, an answer and its parts hand to each other."""

from __future__ import annotations

import pytest

from slack_bot.slack.faults import SurfaceKind
from slack_bot.slack.model import Batch, Ending, SlackMessage, WriteResult
from slack_bot.turn.actions import CardState, TaskCard
from slack_bot.turn.extras import Source
from slack_bot.turn.form import Form
from slack_bot.turn.record import Outcome

CARD = TaskCard("a", "A", CardState.RUNNING)


def test_an_ending_says_nothing_by_itself() -> None:
    assert Ending(Outcome.ANSWERED) == Ending(Outcome.ANSWERED, "", None, "", False, None)
    assert {str(each) for each in WriteResult} == {"shown", "held", "gone", "stopped"}


@pytest.mark.parametrize(
    ("outcome", "closing", "session"),
    [
        (Outcome.ANSWERED, "done", ""),
        (Outcome.ASKED, "done", "suspended"),
        (Outcome.STOPPED, "stopped", ""),
        (Outcome.WATCHED, "continues", ""),
        (Outcome.FAILED, "failed", ""),
    ],
)
def test_cards_and_session_read_as_the_turn_ended(outcome: Outcome, closing: str, session: str) -> None:
    ending = Ending(outcome)
    assert (ending.card_closing, ending.session) == (closing, session)


def test_a_turn_that_is_stopped_shows_no_form_and_keeps_its_note() -> None:
    ending = Ending(Outcome.ASKED, form=Form("Which?"), sources=(Source("https://example.com/", "A"),))
    assert ending.stopped() == Ending(Outcome.STOPPED, note="Stopped.")
    assert Ending(Outcome.FAILED, note="It broke.").stopped() == Ending(Outcome.STOPPED, note="It broke.")


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
    assert Batch("text").is_plain
    assert not Batch("text", (CARD,)).is_plain
    assert not Batch("", (), "title").is_plain
