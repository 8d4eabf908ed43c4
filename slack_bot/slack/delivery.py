"""Brings an answer into the thread, message by message, on the best surface that is left.

The ledger says what comes next, Slack says what became of it, and one table says what to do about that
(`steps`). Whatever happens, the text goes on where it is known to have got to: a message that takes no more
is left as it is, and the rest goes into the next one.
"""

from __future__ import annotations

import asyncio
import logging
import math
from collections.abc import Sequence
from typing import Any

from ..clock import Clock
from ..errors import SlackError
from ..settings.models import StreamSettings
from ..turn.actions import TaskCard
from ..turn.buffer import TIMER_TOLERANCE
from ..turn.fit import MessageLimits
from ..turn.ledger import FinishSegment, Ledger, Segment, SegmentsExhausted, SendText
from .api import CallFailed
from .chunks import CardClosing, all_chunks, weighted_bytes
from .fault_policy import DOUBTS_MOST, ENDS, Remedy, after_write
from .message import MessageWrite, SlackMessage
from .orders import Batch, Destination, WriteResult
from .plan_view import PlanView
from .reconcile import Reconciler
from .surfaces.edit import Edits, limits_of
from .surfaces.fallback import StreamingRefusalCache, Surface, next_surface
from .surfaces.post import Posts
from .surfaces.stream import Streams
from .text_formats import TextForms
from .turn_client import DROPPED, TurnClient

_log = logging.getLogger(__name__)

Args = dict[str, Any]


class Delivery:
    """The messages of one answer. One writer: calls must not overlap.

    `ended` is set when nothing more of the answer may appear. `overflowed`: it has all the messages it may
    have; with `refusal` set, because Slack takes no more. Methods raise `SlackError` where Slack cannot be
    written to at all.
    """

    def __init__(
        self,
        line: TurnClient,
        place: Destination,
        settings: StreamSettings,
        clock: Clock,
        memory: StreamingRefusalCache,
    ) -> None:
        self._line, self._place, self._settings, self._clock = line, place, settings, clock
        self._memory = memory
        self.streams = Streams(line, place, settings, clock)
        forms = TextForms(memory, place.user_team, clock.monotonic)
        self.edits = Edits(line, place, settings, forms)
        self.reconciler = Reconciler(self.streams, self.edits, place.turn)
        now = clock.monotonic()
        self.surface = memory.best(place.user_team, place.channel, now, can_stream=place.can_stream)
        self._lifted = False
        self.ledger = Ledger(self.limits())
        self.messages: list[SlackMessage] = []
        self.ended: WriteResult | None = None
        self.is_exhausted = False
        self.refusal: CallFailed | None = None
        self.plan = PlanView(
            settings.rotate_bytes // 2,
            settings.card_chars,
            settings.max_cards,
            max(1, settings.max_segments // 2),
        )
        self.begun = 0
        """Messages that were ever begun."""
        self._doubts = 0
        self._edited_at = -math.inf

    @property
    def posts(self) -> Posts:
        """Plain posts of the same turn."""
        return self.edits.posts

    @property
    def last(self) -> SlackMessage | None:
        """The message that stands last in the thread, or may."""
        return self.messages[-1] if self.messages else None

    @property
    def is_gone(self) -> bool:
        """Nothing may be written in the thread any more, not even how the turn ended."""
        return self.ended is WriteResult.GONE

    @property
    def is_over(self) -> bool:
        """No more of the answer is written as messages."""
        return self.ended is not None or self.is_exhausted or self._line.is_cancelled

    @property
    def is_live(self) -> bool:
        """Text may be shown while it comes."""
        return self.surface in (Surface.NATIVE, Surface.EDIT) and not self.is_over

    @property
    def is_open(self) -> bool:
        """A message stands there that more is written into."""
        return bool(self.messages) and not self.begins

    @property
    def begins(self) -> bool:
        """The next write begins a message."""
        return self.ledger.present is None

    def add(self, batch: Batch) -> None:
        """What a batch holds is the delivery's from now on."""
        self.ledger.push(batch.text)
        if batch.text:
            self.ledger.release(self.ledger.waiting.size)
        self.plan.want(batch.cards, batch.plan_title)

    def next_method(self) -> str:
        """The method of the next write, for whoever keeps the budget."""
        if self.surface is not Surface.NATIVE:
            return "chat.postMessage" if self.begins else "chat.update"
        return "chat.startStream" if self.begins else "chat.appendStream"

    def pause(self, now: float) -> float:
        """Seconds until the present surface takes more: edits need their distance."""
        if self.surface is not Surface.EDIT:
            return 0.0
        left = self._edited_at + self._settings.edit_interval - now
        return left if left > TIMER_TOLERANCE else 0.0

    def due(self, now: float) -> float | None:
        """Seconds until `advance` has something to do although nothing more comes; None: never."""
        if not self.is_live:
            return None
        if self._has_more():
            return self.pause(now)
        deadline = self.ledger.deadline()
        return None if deadline is None else max(0.0, deadline - now)

    # -- writing ---------------------------------------------------------------------------------------------

    async def advance(self, *, under: Sequence[Args] = (), close: CardClosing | None = None) -> None:
        """Show what waits, as far as it may be shown now. `close` set: nothing more comes, all of it goes."""
        final = close is not None
        while self._may_go_on(final=final):
            if self.ledger.in_doubt:
                await self.settle()
                continue
            if final and self._needs_no_more():
                return
            if self.begins and self._has_more() and not self._may_begin(final=final):
                return
            cards, title = self._unsent()
            if not cards and self.plan.is_full and not self.begins:
                self.ledger.rotate()
            weighs = weighted_bytes(all_chunks("", cards, title, self._settings.card_chars))
            step = self.ledger.next(self._clock.monotonic(), cards=weighs, final=final)
            match step:
                case SendText():
                    await self._show(step, cards, title, under=under, close=close)
                case FinishSegment():
                    await self._end_message()
                case SegmentsExhausted():
                    self.is_exhausted = True
                case None:
                    return

    async def start_new_message(self) -> None:
        """What comes next stands in a message of its own, below what somebody else is about to write."""
        await self.advance()
        if self.ended is None and not self.begins:
            await self._end_message()

    def _has_more(self) -> bool:
        """Something waits that can be seen."""
        return self.ledger.has_more or any(self._unsent())

    def _needs_no_more(self) -> bool:
        """All that waits is how cards ended that the last message shows: that is written there."""
        if not self.begins or self.last is None or self.ledger.has_more:
            return False
        return self.plan.is_told_by(self.last)

    def _may_begin(self, *, final: bool) -> bool:
        """Whether a message may be begun now. What is whole already becomes a post rather than wait."""
        if self.surface is not Surface.NATIVE or self._line.may_start(self._place.channel):
            return True
        if final:
            self.downgrade_surface()
        return final

    def _may_go_on(self, *, final: bool) -> bool:
        if self.is_over:
            return False
        return final or (self.is_live and self.pause(self._clock.monotonic()) <= 0)

    async def _show(
        self,
        step: SendText,
        cards: Sequence[TaskCard],
        title: str,
        *,
        under: Sequence[Args],
        close: CardClosing | None,
    ) -> None:
        message = self._present(begins=step.begins)
        write = MessageWrite(step.text, cards, title)
        failed: CallFailed | None = None
        try:
            if message.surface is Surface.NATIVE:
                failed = await self._stream(message, write)
            else:
                is_last = close is not None and not self.ledger.released
                ends = close if is_last else CardClosing.CONTINUES if step.ends else None
                failed = await self._edit(message, write, under if is_last else (), ends)
        except asyncio.CancelledError:
            self.ledger.unknown()
            raise
        if failed is None:
            self._confirm(message)
        else:
            await self._conclude(message, write, failed)

    def _confirm(self, message: SlackMessage) -> None:
        self.ledger.confirmed()
        message.segment = self.ledger.present

    def _present(self, *, begins: bool) -> SlackMessage:
        """The message that is written into; where the ledger begins one, a new one on the present surface."""
        if begins or not self.messages:
            self.messages.append(SlackMessage(self.surface, self.plan.book))
            self.begun += 1
        return self.messages[-1]

    async def _stream(self, message: SlackMessage, write: MessageWrite) -> CallFailed | None:
        if not write.text and write.is_plain:
            return None
        return await self.streams.send(message, write)

    async def _edit(
        self, message: SlackMessage, write: MessageWrite, under: Sequence[Args], close: CardClosing | None
    ) -> CallFailed | None:
        failed = await self.edits.show(
            message,
            message.text + write.text,
            write.title or message.title,
            under=under,
            close=close,
            insist=self.surface is Surface.POST,
        )
        self._edited_at = self._clock.monotonic()
        return failed

    def _unsent(self) -> tuple[Sequence[TaskCard], str]:
        """The cards and the plan's title that go with the next call."""
        message = None if self.begins or not self.messages else self.messages[-1]
        return self.plan.unsent(message, text=self.ledger.has_more)

    # -- what became of a write ------------------------------------------------------------------------------

    async def _conclude(self, message: SlackMessage, write: MessageWrite, failed: CallFailed) -> None:
        opens = message.ts is None
        plain = write.is_plain and (self.streams.is_plain or not opens)
        plain = plain or message.surface is not Surface.NATIVE
        step = after_write(failed.fault, opens=opens, is_plain=plain, in_doubt=failed.in_doubt)
        if failed.error == DROPPED:
            self.ledger.unknown()
        elif step is Remedy.PLAIN:
            self.streams.is_plain = self.plan.is_plain = True
            self.ledger.refused()
            if opens:
                await self._next_message(message)
        elif step is Remedy.SETTLE:
            await self._doubt(message, write, failed)
        else:
            self.ledger.refused()
            await self._leave(message, failed, step)

    async def _doubt(self, message: SlackMessage, write: MessageWrite, failed: CallFailed) -> None:
        """A call without an answer. An edit says all there is to say again, so it is simply not confirmed."""
        self._doubts += 1
        if message.surface is Surface.NATIVE:
            self.ledger.unknown()
            await self.settle()
        elif message.ts is not None and self._doubts < DOUBTS_MOST:
            self.ledger.refused()
        elif message.ts is not None and await self.reconciler.is_shown(message, write.text):
            self._confirm(message)
        else:
            self.ledger.refused()
            await self._leave(message, failed, Remedy.DOWN)

    async def settle(self) -> None:
        """Learn what became of the text in doubt, and go on in the next message."""
        message = self.messages[-1]
        stands, failed = await self.reconciler.reconcile(message, self.known())
        self.ledger.settled(stands=stands)
        if stands:
            message.segment = self.ledger.segments[-1]
        await self._next_message(message)
        if failed is not None:
            await self.apply_fault(failed)
        elif self._doubts >= DOUBTS_MOST:
            self._set_surface(Remedy.DOWN)

    async def _leave(self, message: SlackMessage, failed: CallFailed, step: Remedy) -> None:
        """The message takes no more, or nothing does."""
        if step in ENDS:
            await self.apply_fault(failed)
            return
        if self.surface is Surface.POST and message.ts is None and step in (Remedy.DOWN, Remedy.REMEMBER):
            await self._next_message(message)
            self.is_exhausted, self.refusal = True, failed
            return
        if step is Remedy.REMEMBER:
            self._remember(message)
        if message.ts is not None:
            await self._end_message()
        else:
            await self._next_message(message)
        self._set_surface(step)

    def _remember(self, message: SlackMessage) -> None:
        """The message's surface is not there. Where a post was refused, the edits after it were not."""
        if message.surface is Surface.NATIVE or message.ts is not None:
            place, now = self._place, self._clock.monotonic()
            self._memory.remember(place.user_team, place.channel, message.surface, now)

    async def _end_message(self) -> None:
        """The present message gets nothing more: the answer goes on in the next one."""
        message = self.messages[-1]
        if self.ledger.present is not None:
            self.ledger.closed()
        if message.surface is not Surface.NATIVE:
            if message.book.closing(CardClosing.CONTINUES):
                await self.edits.show(message, message.text, message.title, close=CardClosing.CONTINUES)
                self.reconciler.heal_later(message)
        elif message.is_open or message.book.closing(CardClosing.CONTINUES):
            stopped = await self.reconciler.stop(message)
            if isinstance(stopped, CallFailed):
                await self.apply_fault(stopped)
        await self._next_message(message)

    async def _next_message(self, message: SlackMessage) -> None:
        """The next write begins a new message, with the cards that still run. One without a ts is none."""
        if message.ts is not None and not message.is_visible:
            await self.edits.delete(message)  # nobody should read an empty message
            message.ts = None
        if message.ts is None:
            self.messages.remove(message)
        self.plan.next_message(len(self.messages) + 1, message)

    async def apply_fault(self, failed: CallFailed) -> None:
        """A call failed for good that shows no text: does the turn end here? SlackError for a dead token."""
        step = after_write(failed.fault, opens=False, is_plain=True)
        if step not in ENDS or self.ended is not None:
            return
        self._set_surface(step)
        self.ended = WriteResult.STOPPED if step is Remedy.STOPPED else WriteResult.GONE
        if step is Remedy.TELL:
            await self.posts.tell_asker()
        if step is Remedy.DEAD:
            raise SlackError(f"Slack no longer accepts the bot token ({failed.error}).", error=failed.error)

    def _set_surface(self, step: Remedy) -> None:
        self.surface = next_surface(self.surface, step)
        self.ledger.use(self.limits())

    def downgrade_surface(self) -> None:
        """No stream could be started in time: the next message of this turn is none."""
        if self.begins and self.surface is Surface.NATIVE:
            self._line.give_back()
            self._set_surface(Remedy.DOWN)

    def limits(self) -> MessageLimits:
        """What a message of the present surface takes."""
        return limits_of(self._settings, self.surface, lifted=self._lifted)

    def raise_limit(self) -> None:
        """More messages than an answer should have: there is no other way to show the rest.

        SlackError where Slack refused them.
        """
        if self.refusal is not None:
            raise _refused(self.refusal)
        self.try_again()
        self._lifted = True
        self.ledger.use(self.limits())

    def try_again(self) -> None:
        """What could not be written is tried once more."""
        self.is_exhausted, self.refusal = False, None

    def known(self) -> list[str]:
        """The messages of this answer that Slack has named."""
        return [message.ts for message in self.messages if message.ts is not None]

    async def post(self, segment: Segment, under: Sequence[Args], close: CardClosing) -> bool:
        """A message of its own, below the others. False: it does not stand; refused, it has `overflowed`."""
        message = SlackMessage(Surface.EDIT, segment=segment)
        failed = await self.edits.show(message, segment.text, "", under=under, close=close, insist=True)
        if failed is None:
            self.messages.append(message)
            return True
        await self.apply_fault(failed)
        if self.ended is None and failed.error != DROPPED:
            self.is_exhausted, self.refusal = True, failed
        return False

    async def refuse(self, failed: CallFailed) -> None:
        """A note could not be posted. SlackError if the thread is still there: somebody would miss it."""
        await self.apply_fault(failed)
        if self.ended is not WriteResult.GONE:
            raise _refused(failed)


def _refused(failed: CallFailed) -> SlackError:
    return SlackError(f"Slack refused a message: {failed.error}.", error=failed.error)
