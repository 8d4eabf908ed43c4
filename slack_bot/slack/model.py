"""PURE. What the runner, the answer, the delivery and the surfaces hand to each other."""

from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Self

from ..text.fit import state_of
from ..text.ledger import Segment
from ..text.words import STOPPED
from ..turn.actions import TaskCard
from ..turn.extras import Extra, NextQuestion, Source
from ..turn.form import Form
from ..turn.progress import MessageRecord
from ..turn.record import Outcome
from ..turn.thread_state import ListensTo
from .cards import CardClosing, MessageCards
from .faults import SurfaceKind
from .stream_starts import StreamStart

_BAD_ENDS = frozenset({Outcome.FAILED, Outcome.LOST, Outcome.REFUSED})


@dataclass(frozen=True, slots=True)
class Batch:
    """What one call adds. `text` may be sent at once; no `plan_title`: unchanged. `is_table`: `text` is one,
    which a stream would not draw.
    """

    text: str = ""
    cards: tuple[TaskCard, ...] = ()
    plan_title: str | None = None
    is_table: bool = False

    @property
    def is_plain(self) -> bool:
        return not (self.cards or self.plan_title)


class WriteResult(StrEnum):
    """What became of a write."""

    SHOWN = "shown"  # Slack said ok to all released text
    HELD = "held"  # released text is not confirmed yet: a later write or `finish` shows it
    GONE = "gone"  # the thread was deleted: the turn ends quietly
    STOPPED = "stopped"  # the human stopped the stream: no answer text may appear any more


@dataclass(frozen=True, slots=True)
class Ending:
    """How a turn ends in the thread.

    `rest` was never shown. `rewrite`, where set, is the whole text the thread must show instead. `extras`
    come below the text, in their order; `sources` are listed under all of it;
    `next_questions` are offered there. `handle` names `form` in its
    buttons; without one it is a text only. `listens_to`: who can go on there without a mention;
    None: that is said already. `used`: what a line under the answer says of its time, tokens or cost.
    `stopped_by`: the id of the person who stopped it, if that was not the asker.
    """

    outcome: Outcome
    rest: str = ""
    rewrite: str | None = None
    note: str = ""
    offer_retry: bool = False
    form: Form | None = None
    handle: str = ""
    extras: tuple[Extra, ...] = ()
    sources: tuple[Source, ...] = ()
    next_questions: tuple[NextQuestion, ...] = ()
    listens_to: ListensTo | None = ListensTo.NOBODY
    used: str = ""
    stopped_by: str = ""

    @property
    def card_closing(self) -> CardClosing:
        if self.outcome is Outcome.STOPPED:
            return CardClosing.STOPPED
        if self.outcome is Outcome.WATCHED:
            return CardClosing.CONTINUES
        return CardClosing.FAILED if self.outcome in _BAD_ENDS else CardClosing.DONE

    @property
    def session(self) -> str:
        """How the thread's agent session reads afterwards; "" for at rest (facts: Slack 1.9)."""
        return "suspended" if self.outcome is Outcome.ASKED else ""

    def stopped(self) -> Self:
        """The same where a human stopped the turn before it was shown."""
        note = self.note or STOPPED
        return replace(self, outcome=Outcome.STOPPED, note=note, form=None, extras=(), sources=())


@dataclass(slots=True, eq=False)
class SlackMessage:
    """A message of ours. `ts` is None until Slack has named it.

    `text` is what Slack said ok to, `doubt` that of a call without an answer. `is_open`: a stream that is not
    known to be stopped. `is_signed`: it has the footer. `begun_at` is in wall-clock seconds.
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

    @classmethod
    def restored(cls, record: MessageRecord, number: int) -> Self:
        segment = Segment(0.0, record.opening, record.body, record.closing, 0, state_of(record.text))
        return cls(
            SurfaceKind(record.surface),
            MessageCards.restored(number, record.cards),
            record.ts,
            record.text,
            record.title,
            is_open=record.is_open,
            segment=segment,
        )

    def record(self) -> MessageRecord | None:
        """None: it is not in the thread."""
        if self.ts is None:
            return None
        shown, cards = self.segment or Segment(0.0), self.cards.shown()
        texts = shown.opening, shown.body, shown.closing
        return MessageRecord(self.ts, self.surface, *texts, self.title, cards, self.is_open)

    # -- what becomes of it: nothing else changes a message

    def ask_for_stream(self, start: StreamStart, at: float) -> None:
        """A stream is asked for, which Slack has not named yet. `at`: in wall-clock seconds."""
        self.start, self.begun_at = start, at

    def open_stream(self, ts: str) -> None:
        """Slack named it."""
        self.ts, self.is_open = ts, True

    def close_stream(self) -> None:
        """Stopped, or sealed by Slack."""
        self.is_open = False

    def name(self, ts: str | None) -> None:
        """The name of a post; None: it is not in the thread."""
        self.ts = ts

    def put_in_doubt(self, text: str | None) -> None:
        """A call that brings `text` has no answer yet. None: there is no doubt."""
        self.doubt = text

    def confirm(self, added: str, title: str = "") -> None:
        """Slack said ok to `added`, behind what it read. `title` "": unchanged."""
        self.text, self.title = self.text + added, title or self.title

    def confirm_whole(self, text: str, title: str, *, is_signed: bool) -> None:
        """Slack said ok to all of it."""
        self.text, self.title, self.doubt, self.is_signed = text, title, None, is_signed

    def sign(self, *, is_signed: bool) -> None:
        self.is_signed = is_signed

    def rename_plan(self, title: str) -> None:
        """What the plan's title is to be. "": unchanged."""
        self.title = title or self.title

    def hold(self, segment: Segment | None) -> None:
        """Its part of the answer."""
        self.segment = segment

    def hold_as_read(self, segment: Segment) -> None:
        """Its part of the answer, which is what it is to read."""
        self.segment, self.text = segment, segment.text

    @property
    def is_visible(self) -> bool:
        return self.ts is not None and bool(self.text.strip() or not self.cards.is_empty)
