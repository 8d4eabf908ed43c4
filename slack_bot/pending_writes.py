"""PURE. The text and the cards that wait in one turn.

All answers share Slack's budget, so nothing queues up: text joins the text that waits, and a card's newer
state replaces its older one.
"""

from __future__ import annotations

from dataclasses import replace

from .slack.model import Batch
from .turn.actions import LONGEST, TaskCard
from .turn.buffer import StreamBuffer
from .turn.sanitize import StreamSanitizer


class PendingWrites:
    """Text is sanitized on its way into the ledger. `secrets` must never be shown."""

    def __init__(self, buffer: StreamBuffer, secrets: tuple[str, ...] = ()) -> None:
        self.buffer, self._secrets = buffer, secrets
        self._sanitizer = StreamSanitizer(secrets)
        self._since_mark = 0  # sanitized characters since the last `start_new_text`
        self._cards: dict[str, TaskCard] = {}
        self.plan_title: str | None = None
        """The newest one."""

    # -- text ------------------------------------------------------------------------------------------------

    def add_text(self, text: str, now: float, *, unproven: bool = False) -> None:
        """The answer grew by `text`. `unproven`: it may yet be retracted."""
        shown = self._sanitizer.push(text)
        self._since_mark += len(shown)
        self.buffer.push(shown, now, unproven=unproven)

    def flush(self) -> None:
        """Nothing follows soon: all is ready but a word without its end."""
        self.buffer.flush(in_word=self._sanitizer.splits_a_word)

    def start_new_text(self, now: float) -> None:
        """What comes now may be retracted without what came before."""
        self.buffer.push(self._sanitizer.end(), now)
        self._sanitizer, self._since_mark = StreamSanitizer(self._secrets), 0

    @property
    def is_unsent(self) -> bool:
        """Nothing since the last `start_new_text` was released."""
        return self._since_mark <= self.buffer.waiting

    def retract(self) -> None:
        """What came since the last `start_new_text` is not shown. It must be unsent."""
        self.buffer.retract(self._since_mark)
        self._sanitizer, self._since_mark = StreamSanitizer(self._secrets), 0

    def end(self, now: float) -> None:
        """Nothing follows at all."""
        self.start_new_text(now)
        self.buffer.flush()

    # -- cards -----------------------------------------------------------------------------------------------

    def add_card(self, card: TaskCard) -> None:
        """Its newest state; details and output are added up."""
        waiting = self._cards.get(card.id)
        if waiting is not None:
            details, output = _joined(waiting.details, card.details), _joined(waiting.output, card.output)
            card = replace(card, details=details, output=output)
        self._cards[card.id] = card

    @property
    def has_cards(self) -> bool:
        """Cards or a plan title wait."""
        return bool(self._cards) or self.plan_title is not None

    def take_cards(self) -> Batch:
        """The cards and the title; they are the caller's now."""
        cards, self._cards = tuple(self._cards.values()), {}
        title, self.plan_title = self.plan_title, None
        return Batch("", cards, title)

    # -- when ------------------------------------------------------------------------------------------------

    def due(self, now: float) -> float | None:
        """Seconds until something may be written; None: nothing in sight."""
        if self.has_cards:
            return 0.0
        deadline = self.buffer.deadline()
        return None if deadline is None else max(0.0, deadline - now)


def _joined(first: str, second: str) -> str:
    if len(first) > LONGEST:
        return first  # no call takes as much, and an agent may change a card thousands of times
    return f"{first}\n{second}" if first and second and not first.endswith("\n") else first + second
