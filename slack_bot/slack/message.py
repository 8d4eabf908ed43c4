"""PURE. One message of an answer: what it is known to show, and what is not known about it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from ..turn.actions import TaskCard
from .cards import MessageCards
from .stream_starts import StreamStart
from .surfaces.fallback import SurfaceKind


@dataclass(slots=True)
class SlackMessage:
    """A message of ours, from its first call on.

    `ts` is None until Slack has named it. `text` is the text Slack said ok to, as it was rendered. `doubt` is
    the text of a call whose answer never came: the message may read that much more (None: no doubt).
    `is_open`: a stream that nobody is known to have stopped. `is_signed`: what belongs under the last message
    of an answer stands under it. `begun_at` is in wall-clock seconds. `start`: the call that opened the
    stream.
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

    @property
    def exists(self) -> bool:
        """It stands in the thread, or it may."""
        return self.ts is not None or self.doubt is not None

    @property
    def is_visible(self) -> bool:
        """It stands in the thread and shows something."""
        return self.ts is not None and bool(self.text.strip() or not self.cards.is_empty)


@dataclass(frozen=True, slots=True)
class MessageWrite:
    """What one call is to show in addition. `title` is the plan's, "" for unchanged."""

    text: str = ""
    cards: Sequence[TaskCard] = ()
    title: str = ""

    @property
    def is_plain(self) -> bool:
        """Only text."""
        return not (self.cards or self.title)
