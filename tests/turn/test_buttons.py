"""Each name tells a press apart from all others."""

from __future__ import annotations

from slack_bot.turn.buttons import FEEDBACK_MODAL, TurnButton
from slack_bot.turn.open_form import FormAction


def test_a_press_of_a_turn_is_never_taken_for_one_of_a_form() -> None:
    assert all(each.startswith("form_") for each in FormAction)
    assert not [each for each in (*TurnButton, FEEDBACK_MODAL) if each.startswith("form_")]
