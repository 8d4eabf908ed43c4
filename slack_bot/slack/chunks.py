"""PURE. What a stream is fed with: chunks, and the book of the task cards they open.

Slack replaces a card's title and state but appends its details and output, shows nothing of a value that
begins with `##`, loses white space at its front, and calls a plan failed that stops with an open card
(facts: Slack 1.4). The book knows what each card reads in Slack and what it should read, so that every card
is closed, truly.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from ..turn.actions import Card, CardState
from ..turn.safety import neutralise
from .orders import Batch

MAX_CARDS = 50
"""Cards in one message. Slack: a plan holds 50 tasks."""

_GUARD = "\u200b"

Chunk = dict[str, Any]


def text_chunk(text: str) -> Chunk:
    """A piece of the answer."""
    return {"type": "markdown_text", "text": text}


def task_chunk(card: Card, limit: int) -> Chunk:
    """A card, each of its values at most `limit` characters."""
    chunk = {
        "type": "task_update",
        "id": card.id,
        "title": card_text(card.title, limit) or card.id,
        "status": card.state.value,
    }
    for name, value in (("details", card.details), ("output", card.output)):
        if shown := card_text(value, limit):
            chunk[name] = shown
    return chunk


def batch_chunks(batch: Batch, cards: Iterable[Card], limit: int) -> list[Chunk]:
    """A batch as chunks, with those of its cards that may be shown: plan title, cards, then text."""
    chunks = (
        [{"type": "plan_update", "title": card_text(batch.plan_title, limit)}] if batch.plan_title else []
    )
    chunks += [task_chunk(card, limit) for card in cards]
    return [*chunks, text_chunk(batch.text)] if batch.text else chunks


def card_text(text: str, limit: int) -> str:
    """`text` as a card takes it: harmless, nothing that would vanish or render empty, not too long."""
    text = neutralise(text).lstrip()
    if text.startswith("##"):
        text = _GUARD + text
    return text if len(text) <= limit else text[: limit - 1] + "…"


class CardBook:
    """The cards of one message: as wanted, and as Slack has confirmed them."""

    def __init__(self) -> None:
        self._wanted: dict[str, Card] = {}
        self._shown: dict[str, Card] = {}

    def want(self, cards: Iterable[Card]) -> tuple[Card, ...]:
        """Note how cards should read; returns those that have room in the message."""
        admitted = []
        for card in cards:
            if card.id in self._wanted or len(self._wanted) < MAX_CARDS:
                self._wanted[card.id] = card
                admitted.append(card)
        return tuple(admitted)

    def confirm(self, cards: Iterable[Card]) -> None:
        """Slack shows these."""
        for card in cards:
            before = self._shown.get(card.id)
            if before is not None:
                card = replace(
                    card, details=before.details + card.details, output=before.output + card.output
                )
            self._shown[card.id] = card

    def closing(self, *, failed: bool) -> tuple[Card, ...]:
        """What is left to say so that no card stays open. One that should still run ends as the turn did."""
        left = []
        for shown in self._shown.values():
            end = self._end(shown.id, failed=failed)
            if (shown.state, shown.title) != (end.state, end.title):
                left.append(replace(end, details="", output=""))
        return tuple(left)

    def ended(self, *, failed: bool) -> tuple[Card, ...]:
        """All cards that Slack shows, as they read once they are closed."""
        return tuple(
            replace(self._end(shown.id, failed=failed), details=shown.details, output=shown.output)
            for shown in self._shown.values()
        )

    def _end(self, card_id: str, *, failed: bool) -> Card:
        card = self._wanted[card_id]
        if card.state is not CardState.RUNNING:
            return card
        return replace(card, state=CardState.ERROR if failed else CardState.DONE)
