"""The modal that asks why an answer was not helpful."""

from __future__ import annotations

from slack_sdk.models.views import View

from slack_bot.features.feedback.view import feedback_view
from slack_bot.turn.buttons import FEEDBACK_MODAL


def test_it_has_reasons_words_and_other_answers() -> None:
    view = feedback_view("T1:C1:1.0", ["Wrong", "Too long"], {"shorter": "Shorter"})
    assert (view["callback_id"], view["private_metadata"]) == (FEEDBACK_MODAL, "T1:C1:1.0")
    assert [(block["block_id"], block["element"]["type"]) for block in view["blocks"]] == [
        ("reasons", "checkboxes"), ("words", "plain_text_input"), ("again", "radio_buttons"),
    ]  # fmt: skip
    assert all(block["optional"] for block in view["blocks"])
    View(**view).validate_json()


def test_what_there_is_nothing_of_is_left_out() -> None:
    assert [block["block_id"] for block in feedback_view("turn", [], {})["blocks"]] == ["words"]
