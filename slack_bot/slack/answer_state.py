"""PURE. What is known of one answer in Slack: its text, its messages, their cards, and where it goes on.

Text is in one queue, the ledger, and leaves it only by Slack's ok. The present message is the last one:

    none -> asked for (no `ts` yet) -> takes text (an open stream, an edited post) -> takes no more

A message that takes no more stays as it is, and the rest of the answer goes into the next one. Beside these
states it may not be known what a message shows, and nothing more is written until it is. A message is *in
doubt* if a call about it had no answer (`reconcile`). It is *unsettled* if another process wrote it and it
shows more than was recorded: what that is can be seen once the text of the answer comes again.

The surface only goes down in a turn: streamed, edited, posted once; and where all messages are used up or a
post is refused, a file.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from ..errors import SlackError
from ..text.buffer import TIMER_TOLERANCE
from ..text.fit import MessageLimits
from ..text.ledger import Ledger
from ..turn.actions import TaskCard
from ..turn.progress import MessageRecord
from .cards import CardTracker
from .faults import CallFailed, SurfaceKind
from .model import Batch, SlackMessage, WriteResult
from .turn_calls import TurnCalls

_UNLIMITED = 10_000  # messages where there is no other way to show an answer


class SurfaceChoice:
    """On which surface an answer is written: `kind`. It only goes down in a turn.

    `fallbacks`: why it went, each time. `edited_at`: when a message was last written as a whole, on the clock
    in seconds.
    """

    def __init__(self, calls: TurnCalls) -> None:
        self._calls, self._max_messages = calls, calls.settings.max_segments
        self.fallbacks: list[str] = []
        self.edited_at = -math.inf
        self.kind = SurfaceKind.STREAM
        self.choose(calls.now)

    def choose(self, now: float) -> None:
        """The best one that is not refused here."""
        calls, team = self._calls, self._calls.question.user_team
        self.kind = calls.refusals.best(team, calls.channel, now, can_stream=calls.can_stream)

    def go_down(self, reason: str) -> None:
        """To the next one."""
        self.fallbacks.append(reason)
        self.kind = SurfaceKind.EDIT if self.kind is SurfaceKind.STREAM else SurfaceKind.POST

    def allow_more_messages(self) -> None:
        """More than an answer should have."""
        self._max_messages = _UNLIMITED

    def note_edit(self, now: float) -> None:
        """A message was written as a whole."""
        self.edited_at = now

    def pause(self, now: float) -> float:
        """Seconds until the next write may go: edits have a distance."""
        if self.kind is not SurfaceKind.EDIT:
            return 0.0
        left = self.edited_at + self._calls.settings.edit_interval - now
        return left if left > TIMER_TOLERANCE else 0.0

    def limits(self) -> MessageLimits:
        """What a message takes: an edit must hold all of it, and only a stream grows old."""
        settings, is_stream = self._calls.settings, self.kind is SurfaceKind.STREAM
        return MessageLimits(
            rotate_after=settings.rotate_after if is_stream else math.inf,
            rotate_grace=settings.rotate_grace,
            rotate_bytes=min(settings.rotate_bytes, settings.max_call_chars),
            max_segments=self._max_messages,
            max_call_chars=settings.max_call_chars,
            tables_apart=is_stream and self._calls.tables_apart,
        )


class AnswerState:
    """The state of one answer. `shown`: what another process wrote of it.

    `ended` is set when nothing more of the answer may appear. `is_exhausted`: it has all the messages it may
    have, or with `refusal` set, Slack takes no more.
    """

    def __init__(self, calls: TurnCalls, shown: Sequence[MessageRecord] = ()) -> None:
        settings = calls.settings
        self._calls, self.surface = calls, SurfaceChoice(calls)
        self.ledger = Ledger(self.surface.limits())
        self.messages: list[SlackMessage] = []
        self.cards = CardTracker(
            room=settings.rotate_bytes // 2,
            limit=settings.card_chars,
            max_cards=settings.max_cards,
            max_messages=max(1, settings.max_segments // 2),
        )
        self.unsettled: SlackMessage | None = None
        self.ended: WriteResult | None = None
        self.is_exhausted = False
        self.refusal: CallFailed | None = None
        if shown:
            self.messages += [SlackMessage.restored(each, at) for at, each in enumerate(shown, start=1)]
            calls.is_status_latest = False
            self.ledger.restore(message.segment for message in self.messages if message.segment)
            self.cards.restore([message.cards for message in self.messages])

    @property
    def records(self) -> tuple[MessageRecord, ...]:
        """What Slack confirmed of the answer."""
        pairs = ((message, message.record()) for message in self.messages)
        # the next process must look at an unsettled message again
        return tuple(
            replace(record, is_open=True) if message is self.unsettled else record
            for message, record in pairs
            if record
        )

    @property
    def last(self) -> SlackMessage | None:
        """The last message in the thread, which may be in doubt."""
        return self.messages[-1] if self.messages else None

    @property
    def is_gone(self) -> bool:
        """Not even how the turn ended may be written."""
        return self.ended is WriteResult.GONE

    @property
    def is_over(self) -> bool:
        return self.ended is not None or self.is_exhausted or self._calls.are_writes_given_up

    @property
    def is_live(self) -> bool:
        return self.surface.kind in (SurfaceKind.STREAM, SurfaceKind.EDIT) and not self.is_over

    @property
    def needs_new_message(self) -> bool:
        """What comes next begins a message."""
        return self.ledger.present is None

    def add(self, batch: Batch) -> None:
        """Text that may be shown at once, and cards."""
        if batch.text:
            self.ledger.push(batch.text)
            self.ledger.release(self.ledger.waiting.size)
        self.cards.want(batch.cards, batch.plan_title)

    def end(self, result: WriteResult) -> None:
        """Nothing more of the answer may appear."""
        self.ended = result

    def exhaust(self, refusal: CallFailed | None = None) -> None:
        """There are no more messages, or with a `refusal` Slack takes none."""
        self.is_exhausted, self.refusal = True, refusal

    def leave_unsettled(self, message: SlackMessage | None) -> None:
        """What this message of another process shows is not known yet. None: it is."""
        self.unsettled = message

    def confirm(self, message: SlackMessage) -> None:
        """`message` shows what the ledger gave out last."""
        self.ledger.confirmed()
        message.hold(self.ledger.present)

    def unsent_cards(self, *, has_text: bool) -> tuple[tuple[TaskCard, ...], str]:
        """Cards, and the plan's title, that a write would take along. `has_text`: the ledger has text for
        it."""
        is_begun = self.messages and not self.needs_new_message
        title = self.messages[-1].title if is_begun else None
        return self.cards.unsent(title, has_text=has_text)

    @property
    def next_method(self) -> str:
        """What the next write calls."""
        if self.surface.kind is SurfaceKind.STREAM:
            return "chat.startStream" if self.needs_new_message else "chat.appendStream"
        return "chat.postMessage" if self.needs_new_message else "chat.update"

    def choose_surface(self, now: float) -> None:
        """Again, for more is known. Nothing was written yet by this process."""
        self.surface.choose(now)
        self._use_limits()

    def go_down(self, reason: str) -> None:
        """To the next surface."""
        self.surface.go_down(reason)
        self._use_limits()

    def _use_limits(self) -> None:
        were_apart, limits = self.ledger.limits.tables_apart, self.surface.limits()
        self.ledger.limits = limits
        if were_apart and not limits.tables_apart:
            self.ledger.release_tables()

    def allow_more_messages(self) -> None:
        """More than an answer should have. SlackError where Slack refused them."""
        if self.refusal is not None:
            raise refused(self.refusal)
        self.try_again()
        self.surface.allow_more_messages()
        self._use_limits()

    def try_again(self) -> None:
        self.is_exhausted, self.refusal = False, None


def refused(failed: CallFailed) -> SlackError:
    """The error of a message that is nowhere."""
    return SlackError(f"Slack refused a message: {failed.error}.", error=failed.error)
