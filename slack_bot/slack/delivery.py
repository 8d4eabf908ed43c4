"""Brings an answer into the thread, message by message, on the best surface that is left.

Text always goes on from where it is confirmed: a message that takes no more stays as it is, and the rest goes
into the next one.
"""

import asyncio
import logging
import math
from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from functools import cached_property

from ..errors import SlackError
from ..text.buffer import TIMER_TOLERANCE
from ..text.fit import MessageLimits
from ..text.ledger import FinishSegment, Ledger, Segment, SegmentsExhausted, Step
from ..turn.actions import TaskCard
from ..turn.progress import MessageRecord
from .blocks import Args, all_chunks, weighted_bytes
from .cards import CardClosing, CardTracker
from .faults import ENDS, MAX_DOUBTS, CallFailed, CallOk, CallResult, Fault, Remedy, SurfaceKind, after_write
from .methods import Priority
from .model import Batch, SlackMessage, WriteResult
from .readback import ShownRest, unrecorded
from .reconcile import SKEW, Reconciler
from .surfaces import PostSurface, StreamSurface
from .turn_client import DROPPED, TurnClient

_log = logging.getLogger(__name__)

_UNLIMITED = 10_000  # messages where there is no other way to show an answer


class Delivery:
    """The messages of one answer. One writer: calls must not overlap.

    `ended` is set when nothing more of the answer may appear. `is_exhausted`: it has all the messages it may
    have, or with `refusal` set, Slack takes no more. `SlackError`: Slack cannot be written to at all.
    """

    def __init__(self, client: TurnClient, shown: Sequence[MessageRecord] = ()) -> None:
        self._client, self._clock = client, client.clock
        self._settings = settings = client.settings
        self.posts = PostSurface(client)
        self.stream = StreamSurface(client, self.posts)
        self.messages: list[SlackMessage] = []
        self.surface = self._best_surface()
        self._max_messages = settings.max_segments
        self.ledger = Ledger(self.limits())
        self.begun = 0  # messages that were ever begun
        self._written_at = -math.inf  # of the last message that is written as a whole
        self._doubts = 0
        self._left: SlackMessage | None = None  # another process's, which may show more than was recorded
        self.ended: WriteResult | None = None
        self.is_exhausted = False
        self.refusal: CallFailed | None = None
        self.fallbacks: list[str] = []  # why the surface was left, each time
        self._cards = CardTracker(
            room=settings.rotate_bytes // 2,
            limit=settings.card_chars,
            max_cards=settings.max_cards,
            max_messages=max(1, settings.max_segments // 2),
        )
        if shown:
            self.messages += [SlackMessage.restored(each, at) for at, each in enumerate(shown, start=1)]
            self.begun = len(self.messages)
            self.ledger.restore(message.segment for message in self.messages if message.segment)
            self._cards.restore([message.cards for message in self.messages])

    @cached_property
    def reconciler(self) -> Reconciler:
        """Finds out what became of calls without an answer."""
        return Reconciler(self._client, self.stream, self.posts, self.messages)

    @property
    def records(self) -> tuple[MessageRecord, ...]:
        """What Slack confirmed of the answer."""
        records = ((message, message.record()) for message in self.messages)
        left = self._left  # whoever is next must look at it again
        return tuple(replace(of, is_open=True) if each is left else of for each, of in records if of)

    async def take_over(self, since: float, others: Collection[str], *, has_note: bool = False) -> None:
        """Settle what another process left: its messages read as they were recorded, the others are deleted.
        What the last one shows beyond that is compared with the answer.

        `since`: when it asked the agent. `others`: messages of the thread's other answers. `has_note`: the
        last message says that the answer comes later.
        """
        client = self._client
        messages = await client.read_thread(since - SKEW)
        if isinstance(messages, CallFailed):
            _log.warning("the thread cannot be read; text may be there twice", extra=client.api.log_fields)
            messages = []
        self.posts.go_on_behind(messages)
        found = {each.get("ts"): each for each in messages}
        known = {*others, *(message.ts for message in self.messages if message.ts)}
        for ts in unrecorded(messages, client.turn, since - SKEW, known):
            await self.posts.delete(SlackMessage(SurfaceKind.STREAM, ts=ts, is_open=True))
        for message in self.messages:
            is_last, left = message is self.last, None
            if message.is_open or (is_last and message.surface is SurfaceKind.EDIT):
                shown = found.get(message.ts)
                left = await self.reconciler.restore(message, shown, is_last=is_last and not has_note)
            if isinstance(left, ShownRest):
                self._left = message
                self.ledger.compare(left.part_of)
            failed = left if isinstance(left, CallFailed) else None
            if has_note and is_last:
                failed = await self.posts.rewrite(message, message.text, (), CardClosing.CONTINUES)
            await self.apply_fault(failed)

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
        return self.ended is not None or self.is_exhausted or self._client.is_cancelled

    @property
    def is_live(self) -> bool:
        return self.surface in (SurfaceKind.STREAM, SurfaceKind.EDIT) and not self.is_over

    @property
    def begins(self) -> bool:
        return self.ledger.present is None

    def add(self, batch: Batch) -> None:
        if batch.text:
            self.ledger.push(batch.text)
            self.ledger.release(self.ledger.waiting.size)
        self._cards.want(batch.cards, batch.plan_title)

    def next_method(self) -> str:
        if self.surface is SurfaceKind.STREAM:
            return "chat.startStream" if self.begins else "chat.appendStream"
        return "chat.postMessage" if self.begins else "chat.update"

    def may_write(self, priority: Priority, wake: Callable[[], None]) -> bool:
        """Whether `advance` would go to Slack at once. If not, `wake` is called when to ask again."""
        method = self.next_method()
        priority = Priority.START if method == "chat.startStream" else priority
        return self._client.api.reserve(method, self._client.channel, priority, wake)

    def pause(self) -> float:
        """Seconds until the next write may go: edits have a distance."""
        if self.surface is not SurfaceKind.EDIT:
            return 0.0
        left = self._written_at + self._settings.edit_interval - self._clock.monotonic()
        return left if left > TIMER_TOLERANCE else 0.0

    def due(self) -> float | None:
        """Seconds until `advance` has something to do although nothing more comes; None: never."""
        if not self.is_live or self.ledger.is_comparing:
            return None
        if self.ledger.has_more or any(self._unsent()):
            return self.pause()
        now = self._clock.monotonic()
        deadline = self.ledger.deadline(now)
        return None if deadline is None else max(0.0, deadline - now)

    # -- writing ---------------------------------------------------------------------------------------------

    async def advance(self, *, footer: Sequence[Args] = (), close: CardClosing | None = None) -> None:
        """Show what waits, as far as it may be shown now. `close` set: nothing more comes, all of it goes."""
        final = close is not None
        while not self.is_over and (final or self._may_show()):
            if self.ledger.in_doubt or self._left is not None:
                await (self.settle() if self._left is None else self._settle_left(self._left))
                continue
            step, cards, title = self._next_step(final=final)
            if step is None:
                return
            if isinstance(step, FinishSegment):
                await self._end_message()
                continue
            if isinstance(step, SegmentsExhausted):
                self.is_exhausted = True
                return
            if step.begins or not self.messages:
                self.messages.append(SlackMessage(self.surface, self._cards.present))
                self.begun += 1
            message, write = self.messages[-1], Batch(step.text, cards, title, step.is_table)
            is_last = final and not self.ledger.released
            ends = close if is_last else CardClosing.CONTINUES if step.ends else None
            try:
                if message.surface is SurfaceKind.STREAM:
                    failed = await self.stream.write(message, write)
                else:
                    failed = await self.posts.write(message, write, footer if is_last else (), ends)
                    self._written_at = self._clock.monotonic()
            except asyncio.CancelledError:
                self.ledger.unknown()
                raise
            if failed is not None:
                await self._handle_failure(message, write, failed)
            else:
                self.ledger.confirmed()
                message.segment = self.ledger.present

    def _may_show(self) -> bool:
        return self.is_live and not self.ledger.is_comparing and self.pause() <= 0

    async def start_new_message(self) -> None:
        self.ledger.release_tables()
        await self.advance()
        if self.ended is None and not self.begins:
            await self._end_message()

    async def _settle_left(self, message: SlackMessage) -> None:
        """The last message of another process is rewritten if it shows anything but the answer."""
        self.ledger.place_held(is_all=True)
        self._left, message.segment = None, self.ledger.segments[-1]
        message.text = message.segment.text
        if self.ledger.is_misread:
            failed = await self.posts.rewrite(message, message.text, (), CardClosing.CONTINUES)
            if failed is not None:
                await self.apply_fault(failed)

    def _next_step(self, *, final: bool) -> tuple[Step | None, tuple[TaskCard, ...], str]:
        cards, title = self._unsent()
        if final:
            self.ledger.release_tables()
        if self.begins:
            has_text, present = self.ledger.has_more, self._cards.present
            if final and self.last is not None and not has_text and self.last.cards.shows_all_of(present):
                return None, (), ""  # all that waits is how its cards ended, and it is rewritten
            if (has_text or cards or title) and not self._may_begin(final=final):
                return None, (), ""
        if not cards and self._cards.present.is_full and not self.begins:
            self.ledger.rotate()
        has_chunks = bool(cards or title)
        weight = weighted_bytes(all_chunks("", cards, title, self._settings.card_chars)) if has_chunks else 0
        return self.ledger.next(self._clock.monotonic(), cards=weight, final=final), cards, title

    def _may_begin(self, *, final: bool) -> bool:
        """An answer that is whole becomes a post rather than wait for its slot."""
        client = self._client
        if self.surface is not SurfaceKind.STREAM or client.api.reserve("chat.startStream", client.channel):
            return True
        if final:
            self.downgrade_surface()
        return final

    def _unsent(self) -> tuple[tuple[TaskCard, ...], str]:
        if self.stream.is_plain:
            return (), ""
        title = None if self.begins or not self.messages else self.messages[-1].title
        return self._cards.unsent(title, has_text=self.ledger.has_more)

    async def _post(self, segment: Segment, footer: Sequence[Args], close: CardClosing) -> bool:
        """Post a message below the others. False: it is not there; a refusal exhausts the answer."""
        message = SlackMessage(SurfaceKind.POST, segment=segment)
        failed = await self.posts.write(message, Batch(segment.text), footer, close)
        if failed is None:
            self.messages.append(message)
            return True
        await self.apply_fault(failed)
        if self.ended is None and failed.error != DROPPED:
            self.is_exhausted, self.refusal = True, failed
        return False

    async def rewrite(
        self, segments: Sequence[Segment], under: Sequence[Args], close: CardClosing, *, start: int = 0
    ) -> bool:
        """Make the messages read `segments`, the last with `under`. False: `under` is nowhere.

        Further segments are posted below; messages that are not needed are deleted. Those before `start`
        read so already.
        """
        if self.ledger.in_doubt:
            await self.settle()
        self.ledger.discard()
        self._left = None
        if self.last is not None and self.last.is_open:
            await self._stop(self.last, close)
        self.try_again()
        for number, segment in enumerate(segments[start:], start):
            below = under if number == len(segments) - 1 else ()
            if number < len(self.messages):
                message = self.messages[number]
                failed = await self.posts.rewrite(message, segment.text, below, close)
                if failed is None:
                    message.segment = segment
                    continue
                await self.apply_fault(failed)
                await self._remove(number)
            if self.ended is not None or not await self._post(segment, below, close):
                return False
        await self._remove(len(segments))
        return self.last is not None and self.last.is_signed

    async def _remove(self, first: int) -> None:
        for message in self.messages[first:]:
            if self.ended is None:
                await self.posts.delete(message)
        del self.messages[first:]

    # -- what became of a write ------------------------------------------------------------------------------

    async def _handle_failure(self, message: SlackMessage, write: Batch, failed: CallFailed) -> None:
        opens, is_stream = message.ts is None, message.surface is SurfaceKind.STREAM
        is_plain = not is_stream or (write.is_plain and (self.stream.is_plain or not opens))
        remedy = after_write(failed.fault, opens=opens, is_plain=is_plain, in_doubt=failed.in_doubt)
        if failed.error == DROPPED:
            self.ledger.unknown()
        elif remedy is Remedy.PLAIN:
            self.stream.is_plain = True
            self.ledger.refused()
            if opens:
                await self._next_message(message)
        elif remedy is Remedy.SETTLE:
            await self._doubt(message, write, failed)
        else:
            self.ledger.refused()
            await self._leave(message, failed, remedy)

    async def _doubt(self, message: SlackMessage, write: Batch, failed: CallFailed) -> None:
        """The next edit repeats all of the text, so an edit is not confirmed."""
        self._doubts += 1
        message.doubt = message.doubt if message.surface is SurfaceKind.STREAM else write.text
        if message.surface is SurfaceKind.STREAM:
            self.ledger.unknown()
            await self.settle()
        elif message.ts is not None and self._doubts < MAX_DOUBTS:
            self.ledger.refused()
        elif message.ts is not None and await self.reconciler.is_shown(message, write.text):
            self.ledger.confirmed()
            message.segment = self.ledger.present
        else:
            self.ledger.refused()
            await self._leave(message, failed, Remedy.DOWN)

    async def settle(self) -> None:
        message = self.messages[-1]
        is_shown, failed = await self.reconciler.reconcile(message)
        self.ledger.settled(stands=is_shown)
        if is_shown:
            message.segment = self.ledger.segments[-1]
        await self._next_message(message)
        if failed is not None:
            await self.apply_fault(failed)
        elif self._doubts >= MAX_DOUBTS:
            self._go_down(Fault.UNKNOWN)

    async def _leave(self, message: SlackMessage, failed: CallFailed, remedy: Remedy) -> None:
        if remedy in ENDS:
            await self.apply_fault(failed)
            return
        goes_down = remedy in (Remedy.DOWN, Remedy.REMEMBER)
        if self.surface is SurfaceKind.POST and message.ts is None and goes_down:
            await self._next_message(message)
            self.is_exhausted, self.refusal = True, failed
            return
        # where a post was refused, the edits after it were not
        if remedy is Remedy.REMEMBER and (message.surface is SurfaceKind.STREAM or message.ts is not None):
            client, now = self._client, self._clock.monotonic()
            client.refusals.remember(client.question.user_team, client.channel[:1], message.surface, now)
        await (self._next_message(message) if message.ts is None else self._end_message())
        if goes_down:
            self._go_down(failed.fault)

    async def _end_message(self) -> None:
        message = self.messages[-1]
        if self.ledger.present is not None:
            self.ledger.closed()
        await self.apply_fault(await self.reconciler.end(message))
        await self._next_message(message)

    async def _next_message(self, message: SlackMessage) -> None:
        if message.ts is not None and not message.is_visible:
            await self.posts.delete(message)
            message.ts = None
        if message.ts is None:  # it was never begun
            self.messages.remove(message)
        self._cards.next_message(len(self.messages) + 1, message.cards, exists=message.ts is not None)

    async def apply_fault(self, result: CallResult | None) -> None:
        """A call that shows no text may have failed: does the turn end? SlackError for a dead token."""
        if not isinstance(result, CallFailed) or self.ended is not None:
            return
        remedy = after_write(result.fault, opens=False, is_plain=True)
        if remedy not in ENDS:
            return
        self.ended = WriteResult.STOPPED if remedy is Remedy.STOPPED else WriteResult.GONE
        if remedy is Remedy.TELL:
            await self.posts.tell_asker()
        if remedy is Remedy.DEAD:
            raise SlackError(f"Slack no longer accepts the bot token ({result.error}).", error=result.error)

    def downgrade_surface(self) -> None:
        """No stream could be started in time: the answer becomes an ordinary message, edited as it grows."""
        if self.begins and self.surface is SurfaceKind.STREAM:
            self._client.api.give_back()
            self._go_down("no slot")

    def _go_down(self, reason: str) -> None:
        self.fallbacks.append(reason)
        self.surface = SurfaceKind.EDIT if self.surface is SurfaceKind.STREAM else SurfaceKind.POST
        self.use_limits()

    def _best_surface(self) -> SurfaceKind:
        client, team = self._client, self._client.question.user_team
        now = self._clock.monotonic()
        return client.refusals.best(team, client.channel, now, can_stream=client.can_stream)

    def choose_surface(self) -> None:
        """Again, for more is known. Nothing was written yet by this process."""
        self.surface = self._best_surface()
        self.use_limits()

    def use_limits(self) -> None:
        """What they follow from has changed."""
        self.ledger.limits = self.limits()
        if not self.ledger.limits.tables_apart:
            self.ledger.release_tables()

    def limits(self) -> MessageLimits:
        """What a message takes: an edit must hold all of it, and only a stream grows old."""
        settings = self._settings
        return MessageLimits(
            rotate_after=settings.rotate_after if self.surface is SurfaceKind.STREAM else math.inf,
            rotate_grace=settings.rotate_grace,
            rotate_bytes=min(settings.rotate_bytes, settings.max_call_chars),
            max_segments=self._max_messages,
            max_call_chars=settings.max_call_chars,
            tables_apart=self.surface is SurfaceKind.STREAM and self.stream.tables_apart,
        )

    def raise_limit(self) -> None:
        """Allow more messages than an answer should have. SlackError where Slack refused them."""
        if self.refusal is not None:
            raise refused(self.refusal)
        self.try_again()
        self._max_messages = _UNLIMITED
        self.ledger.limits = self.limits()

    def try_again(self) -> None:
        self.is_exhausted, self.refusal = False, None

    # -- the end ---------------------------------------------------------------------------------------------

    async def finish(self, footer: Sequence[Args], close: CardClosing, session: str = "") -> bool:
        """End the last message with `footer` under it, for a stream in one call. False: it is nowhere.

        `session` is what the thread's agent session reads afterwards, "" for at rest.
        """
        if self.last is not None and self.last.ts is None and not self.is_gone:
            await self.settle()
        message = self.last
        if message is None or self.is_gone:
            return False
        if message.is_open and await self._stop(message, close, footer, session):
            message.is_signed = bool(footer)
            return True
        if message.is_signed or self.ended is not None:
            return message.is_signed
        return await self.attach_footer(footer, close)

    async def _stop(
        self, message: SlackMessage, close: CardClosing, footer: Sequence[Args] = (), session: str = ""
    ) -> bool:
        title = self._cards.last_title(message.title)
        stopped = await self.stream.stop(message, close, footer, session=session, title=title)
        await self.apply_fault(stopped)
        return isinstance(stopped, CallOk)

    async def attach_footer(
        self, footer: Sequence[Args], close: CardClosing, message: SlackMessage | None = None
    ) -> bool:
        """Write `footer` under a stopped message, the last if none is given. False: it is not there."""
        if self.ledger.in_doubt:
            await self.settle()
        message = message or self.last
        if message is None:
            return False
        message.cards.become(self._cards.present)  # nothing follows any more that would show their state
        message.title = self._cards.last_title(message.title) or message.title
        if not (message.text or footer or not message.cards.is_empty):
            return True
        if message.surface is SurfaceKind.STREAM:
            failed = await self.posts.rewrite(message, message.text, footer, close)
        else:
            failed = await self.posts.write(message, Batch(), footer, close)
        await self.apply_fault(failed)
        return message.is_signed


def refused(failed: CallFailed) -> SlackError:
    """The error of a message that is nowhere."""
    return SlackError(f"Slack refused a message: {failed.error}.", error=failed.error)
