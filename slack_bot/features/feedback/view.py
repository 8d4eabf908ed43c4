"""PURE. The modal that asks why an answer was not helpful, and offers another answer."""

from collections.abc import Mapping, Sequence

from ...slack.blocks import Args, Block, plain
from ...text.words import (
    FEEDBACK_ANOTHER,
    FEEDBACK_REASONS,
    FEEDBACK_SEND_LABEL,
    FEEDBACK_SKIP_LABEL,
    FEEDBACK_TITLE,
    FEEDBACK_WORDS,
)
from ...turn.buttons import AGAIN, FEEDBACK_MODAL, REASONS, WORDS

_WORDS_CHARS = 3000  # Slack: characters of a text input


def feedback_view(turn: str, reasons: Sequence[str], others: Mapping[str, str]) -> Args:
    """The view for `views.open`. `others`: the labels of the other answers that are offered, by value."""
    blocks: list[Block] = []
    if reasons:
        ticks = {"type": "checkboxes", "options": [_option(each, each) for each in reasons]}
        blocks.append(_input(REASONS, FEEDBACK_REASONS, ticks))
    text = {"type": "plain_text_input", "multiline": True, "max_length": _WORDS_CHARS}
    blocks.append(_input(WORDS, FEEDBACK_WORDS, text))
    if others:
        options = [_option(label, value) for value, label in others.items()]
        choice = {"type": "radio_buttons", "options": options}
        blocks.append(_input(AGAIN, FEEDBACK_ANOTHER, choice))
    return {
        "type": "modal",
        "callback_id": FEEDBACK_MODAL,
        "private_metadata": turn,
        "title": plain(FEEDBACK_TITLE),
        "submit": plain(FEEDBACK_SEND_LABEL),
        "close": plain(FEEDBACK_SKIP_LABEL),
        "blocks": blocks,
    }


def _input(name: str, label: str, element: Block) -> Block:
    element = {**element, "action_id": name}
    return {
        "type": "input", "block_id": name, "optional": True, "label": plain(label), "element": element,
    }  # fmt: skip


def _option(label: str, value: str) -> Block:
    return {"text": plain(label), "value": value}
