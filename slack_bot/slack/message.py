"""PURE. One message of an answer: what it is known to show, and what is in doubt."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from ..turn.actions import TaskCard
from ..turn.ledger import Segment
from .cards import MessageCards
from .stream_starts import StreamStart
from .surfaces.fallback import SurfaceKind


@dataclass(slots=True)
class SlackMessage:
    """A message of ours, from its first call on.

    `ts` is None until Slack has named it. `text` is what Slack said ok to. `doubt` is the text of a call that
    had no answer: the message may show it too (None: no doubt). `is_open`: a stream that is not known to be
    stopped. `is_signed`: it has the footer of an answer's last message. `begun_at` is in wall-clock seconds.
    `start`: the call that opened the stream. `segment`: the ledger's part of the answer in it.
    """

    surface: SurfaceKind
    cards: MessageCards = field(default_factory=MessageCards)
    ts: str | None = None
    text: str = ""
    title: str = ""
    doubt: str | None = None
    is_open: bool = False
    is_signed: bool = False
    begun_at: float = 0.0
    start: StreamStart | None = None
    segment: Segment | None = None

    @property
    def exists(self) -> bool:
        """It is in the thread, or may be."""
        return self.ts is not None or self.doubt is not None

    @property
    def is_visible(self) -> bool:
        """It is in the thread and shows something."""
        return self.ts is not None and bool(self.text.strip() or not self.cards.is_empty)


@dataclass(frozen=True, slots=True)
class MessageWrite:
    """What one call adds to a message. `title` is the plan's, "" for unchanged."""

    text: str = ""
    cards: Sequence[TaskCard] = ()
    title: str = ""

    @property
    def is_plain(self) -> bool:
        """Only text."""
        return not (self.cards or self.title)
