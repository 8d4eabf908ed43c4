"""PURE. Brings an answer into the thread, message by message, on the best surface that is left.

Text always goes on from where it is confirmed. What follows a write that failed is a row of the fault table
(`faults.AFTER_WRITE`); what each remedy does is here, in `_handle_failure`.
"""

import math
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from ..errors import SlackError
from ..text.ledger import FinishSegment, LedgerStep, Segment, SegmentsExhausted, SendText
from ..turn.actions import TaskCard
from ..turn.progress import MessageRecord
from .answer_state import AnswerState
from .blocks import Args, all_chunks, weighted_bytes
from .cards import CardClosing
from .faults import (
    AFTER_WRITE,
    ENDS,
    MAX_DOUBTS,
    CallFailed,
    CallOk,
    CallResult,
    Fault,
    Remedy,
    SurfaceKind,
    after_write,
)
from .model import Batch, SlackMessage, WriteResult
from .orders import Log, ReserveSlot, ReturnSlots, Step
from .readback import ShownRest, unrecorded
from .reconcile import SKEW, Reconciler
from .surfaces import PostSurface, StreamSurface
from .turn_calls import DROPPED, TurnCalls


class Delivery:
    """Writes the messages of one answer, and keeps its `state`. One step at a time.

    Its steps raise `SlackError` where Slack cannot be written to at all.
    """

    def __init__(self, calls: TurnCalls, shown: Sequence[MessageRecord] = ()) -> None:
        self._calls, self._doubts = calls, 0
        self.state = AnswerState(calls, shown)
        self.posts = PostSurface(calls, has_status=True)
        self.streams = StreamSurface(calls, self.posts)
        self.reconciler = Reconciler(calls, self.streams, self.posts, self.state.messages)

    # -- writing

    def advance(self, *, footer: Sequence[Args] = (), close: CardClosing | None = None) -> Step[None]:
        """Show what waits, as far as it may be shown now. `close` set: nothing more comes, all of it goes."""
        state, is_final = self.state, close is not None
        while not state.is_over:
            of_ledger = state.ledger.due(self._calls.now)
            if not (is_final or self._may_show(of_ledger)):
                return
            if state.ledger.in_doubt or state.unsettled is not None:
                yield from self._settle_first()
                continue
            next_step, cards, title = yield from self._next_step(of_ledger, is_final=is_final)
            if next_step is None:
                return
            if isinstance(next_step, FinishSegment):
                yield from self.end_message()
            elif isinstance(next_step, SegmentsExhausted):
                state.exhaust()
            else:
                write = Batch(next_step.text, cards, title, next_step.is_table)
                yield from self._write(next_step, write, footer, close)

    def _may_show(self, of_ledger: float | None) -> bool:
        state = self.state
        return state.is_live and of_ledger != math.inf and state.surface.pause(self._calls.now) <= 0

    def _next_step(
        self, of_ledger: float | None, *, is_final: bool
    ) -> Step[tuple[LedgerStep | None, tuple[TaskCard, ...], str]]:
        """What the ledger gives out now, and the cards and the plan's title that go along.

        `of_ledger`: as `Ledger.due` says.
        """
        state, now = self.state, self._calls.now
        has_text, is_due = of_ledger == now, of_ledger is not None and of_ledger <= now
        cards, title = self._unsent_cards(has_text=has_text)
        if is_final:
            state.ledger.release_tables()
            has_text = state.ledger.has_more
        if state.needs_new_message:
            last = state.last
            is_shown = last is not None and last.cards.shows_all_of(state.cards.present)
            if is_final and not has_text and is_shown:
                return None, (), ""  # only how its cards ended is missing: `attach_footer` writes that
            if (has_text or cards or title) and not (yield from self._may_begin(is_final=is_final)):
                return None, (), ""
        elif not cards and state.cards.present.is_full:
            state.ledger.rotate()
        if not (is_final or is_due or cards or title or state.ledger.is_ending):
            return None, (), ""
        chunks = all_chunks("", cards, title, self._calls.settings.card_chars) if cards or title else ()
        weight = weighted_bytes(chunks) if chunks else 0
        return state.ledger.next(now, cards=weight, final=is_final), cards, title

    def _unsent_cards(self, *, has_text: bool) -> tuple[tuple[TaskCard, ...], str]:
        return ((), "") if self.streams.is_plain else self.state.unsent_cards(has_text=has_text)

    def due(self, now: float, of_ledger: float | None) -> float | None:
        """When there is something to write although nothing more comes, on the clock; None: never.

        `of_ledger`: as `Ledger.due` says.
        """
        if not self.state.is_live or of_ledger == math.inf:
            return None
        if of_ledger == now or any(self._unsent_cards(has_text=False)):
            return now + self.state.surface.pause(now)
        return of_ledger

    def _may_begin(self, *, is_final: bool) -> Step[bool]:
        """Whether a message may begin now: a stream needs a slot. An answer that is whole does not wait for
        one: it becomes a post."""
        if self.state.surface.kind is not SurfaceKind.STREAM or (yield from ReserveSlot("chat.startStream")):
            return True
        if is_final:
            yield from self.downgrade_surface()
        return is_final

    def _write(
        self, send: SendText, write: Batch, footer: Sequence[Args], close: CardClosing | None
    ) -> Step[None]:
        state = self.state
        if send.begins or not state.messages:
            state.messages.append(SlackMessage(state.surface.kind, state.cards.present))
            self._calls.is_status_latest = False
        message = state.messages[-1]
        is_last = close is not None and not state.ledger.released
        ends = close if is_last else CardClosing.CONTINUES if send.ends else None
        if message.surface is SurfaceKind.STREAM:
            failed = yield from self.streams.write(message, write)
        else:
            failed = yield from self.posts.write(message, write, footer if is_last else (), ends)
            state.surface.note_edit(self._calls.now)
        if failed is None:
            state.confirm(message)
        else:
            yield from self._handle_failure(message, write, failed)

    def start_new_message(self) -> Step[None]:
        """Show all that waits; what comes later goes into another message."""
        self.state.ledger.release_tables()
        yield from self.advance()
        if self.state.ended is None and not self.state.needs_new_message:
            yield from self.end_message()

    def downgrade_surface(self) -> Step[None]:
        """No stream could be started in time: the answer becomes an ordinary message, edited as it grows."""
        if self.state.needs_new_message and self.state.surface.kind is SurfaceKind.STREAM:
            yield from ReturnSlots()
            self.state.go_down("no slot")

    # -- what another process left

    def take_over(self, since: float, others: Collection[str], *, has_note: bool = False) -> Step[None]:
        """Settle what another process left: its messages read as they were recorded, the others are deleted.
        What the last one shows beyond that is compared with the answer.

        `since`: when it asked the agent. `others`: messages of the thread's other answers. `has_note`: the
        last message says that the answer comes later.
        """
        calls, state = self._calls, self.state
        if calls.lacks_thread and not (yield from self.posts.find_thread()):
            return  # nothing of the answer is there
        messages = yield from calls.read_thread(since - SKEW)
        if isinstance(messages, CallFailed):
            yield from Log("warning", "the thread cannot be read; text may be there twice")
            messages = []
        self.posts.go_on_behind(messages)
        by_ts = {message.get("ts"): message for message in messages}
        known = {*others, calls.thread_ts, *(message.ts for message in state.messages if message.ts)}
        for ts in unrecorded(messages, calls.turn, since - SKEW, known):
            yield from self.posts.delete(SlackMessage(SurfaceKind.STREAM, ts=ts, is_open=True))
        for message in state.messages:
            yield from self._take_over_message(message, by_ts.get(message.ts), has_note=has_note)

    def _take_over_message(
        self, message: SlackMessage, in_thread: Mapping[str, Any] | None, *, has_note: bool
    ) -> Step[None]:
        is_last, rest = message is self.state.last, None
        if message.is_open or (is_last and message.surface is SurfaceKind.EDIT):
            rest = yield from self.reconciler.restore(message, in_thread, is_last=is_last and not has_note)
        if isinstance(rest, ShownRest):
            self.state.leave_unsettled(message)
            self.state.ledger.held.compare(rest.part_of)
        failed = rest if isinstance(rest, CallFailed) else None
        if has_note and is_last:
            failed = yield from self.posts.rewrite(message, message.text, (), CardClosing.CONTINUES)
        yield from self.apply_fault(failed)

    def _settle_first(self) -> Step[None]:
        """Find out what the message in doubt shows, or the unsettled one, before anything else is written."""
        state, message = self.state, self.state.unsettled
        if message is None:
            yield from self.settle()
            return
        state.ledger.place_held(is_all=True)
        state.leave_unsettled(None)
        message.hold_as_read(state.ledger.segments[-1])
        if state.ledger.held.is_misread:  # it shows something that is not of the answer
            failed = yield from self.posts.rewrite(message, message.text, (), CardClosing.CONTINUES)
            yield from self.apply_fault(failed)

    # -- what became of a write

    def _handle_failure(self, message: SlackMessage, write: Batch, failed: CallFailed) -> Step[None]:
        opens, is_stream = message.ts is None, message.surface is SurfaceKind.STREAM
        is_plain = not is_stream or (write.is_plain and (self.streams.is_plain or not opens))
        remedy = after_write(failed.fault, opens=opens, is_plain=is_plain, in_doubt=failed.in_doubt)
        if failed.error == DROPPED:
            return  # its text stays in doubt
        if remedy is Remedy.PLAIN:
            self.streams.is_plain = True
            self.state.ledger.refused()
            if opens:
                yield from self._begin_next(message)
        elif remedy is Remedy.SETTLE:
            yield from self._doubt(message, write, failed)
        else:
            self.state.ledger.refused()
            yield from self._leave(message, failed, remedy)

    def _doubt(self, message: SlackMessage, write: Batch, failed: CallFailed) -> Step[None]:
        """A write had no answer. A stream is settled; an edit need not be, because the next one repeats all
        of its text. After `MAX_DOUBTS` in a turn it is read back, or else the surface goes down."""
        self._doubts += 1
        ledger = self.state.ledger
        if message.surface is SurfaceKind.STREAM:
            yield from self.settle()
            return
        message.put_in_doubt(write.text)
        if message.ts is not None and self._doubts < MAX_DOUBTS:
            ledger.refused()
        elif message.ts is not None and (yield from self.reconciler.is_shown(message, write.text)):
            self.state.confirm(message)
        else:
            ledger.refused()
            yield from self._leave(message, failed, Remedy.DOWN)

    def settle(self) -> Step[None]:
        """The last message is in doubt: end it, and find out what it shows."""
        message = self.state.messages[-1]
        is_shown, failed = yield from self.reconciler.reconcile(message)
        self.state.ledger.settled(stands=is_shown)
        if is_shown:
            message.hold(self.state.ledger.segments[-1])
        yield from self._begin_next(message)
        if failed is not None:
            yield from self.apply_fault(failed)
        elif self._doubts >= MAX_DOUBTS:
            self.state.go_down(Fault.UNKNOWN)

    def _leave(self, message: SlackMessage, failed: CallFailed, remedy: Remedy) -> Step[None]:
        """The write was refused: `message` takes no more, or its surface does not."""
        state, opens = self.state, message.ts is None
        if remedy in ENDS:
            yield from self.apply_fault(failed)
            return
        goes_down = remedy in (Remedy.DOWN, Remedy.REMEMBER)
        if state.surface.kind is SurfaceKind.POST and opens and goes_down:
            yield from self._begin_next(message)
            state.exhaust(failed)
            return
        # where a post was refused, the edits after it were not
        if remedy is Remedy.REMEMBER and (message.surface is SurfaceKind.STREAM or not opens):
            calls = self._calls
            team = calls.question.user_team
            calls.refusals.remember(team, calls.channel[:1], message.surface, calls.now)
        yield from (self._begin_next(message) if opens else self.end_message())
        if goes_down:
            state.go_down(failed.fault)

    def end_message(self) -> Step[None]:
        """The present message gets no more text."""
        message = self.state.messages[-1]
        if self.state.ledger.present is not None:
            self.state.ledger.closed()
        yield from self.apply_fault((yield from self.reconciler.end(message)))
        yield from self._begin_next(message)

    def _begin_next(self, message: SlackMessage) -> Step[None]:
        """The answer goes on behind `message`, or in its place if it shows nothing."""
        state = self.state
        if message.ts is not None and not message.is_visible:
            yield from self.posts.delete(message)
            message.name(None)
        if message.ts is None:  # it was never begun
            state.messages.remove(message)
        state.cards.next_message(len(state.messages) + 1, message.cards, exists=message.ts is not None)

    def apply_fault(self, result: CallResult | None) -> Step[None]:
        """End the answer if `result` is a fault after which nothing may be written. Raises SlackError for a
        dead token."""
        if not isinstance(result, CallFailed) or self.state.ended is not None:
            return
        remedy = AFTER_WRITE[result.fault]
        if remedy not in ENDS:
            return
        self.state.end(WriteResult.STOPPED if remedy is Remedy.STOPPED else WriteResult.GONE)
        if remedy is Remedy.TELL:
            yield from self.posts.tell_asker()
        if remedy is Remedy.DEAD:
            raise SlackError(f"Slack no longer accepts the bot token ({result.error}).", error=result.error)


class MessageEnds:
    """Ends the messages that `delivery` wrote: with a footer, or rewritten as the answer must read."""

    def __init__(self, delivery: Delivery) -> None:
        self._delivery, self._state = delivery, delivery.state

    def sign_last_message(self, footer: Sequence[Args], close: CardClosing, session: str = "") -> Step[bool]:
        """End the last message with `footer` under it, for a stream in one call. False: it is nowhere.

        `session` is what the thread's agent session reads afterwards, "" for at rest.
        """
        state = self._state
        if state.last is not None and state.last.ts is None and not state.is_gone:
            yield from self._delivery.settle()
        message = state.last
        if message is None or state.is_gone:
            return False
        if message.is_open and (yield from self._close_stream(message, close, footer, session)):
            message.sign(is_signed=bool(footer))
            return True
        if message.is_signed or state.ended is not None:
            return message.is_signed
        return (yield from self.attach_footer(footer, close))

    def _close_stream(
        self, message: SlackMessage, close: CardClosing, footer: Sequence[Args] = (), session: str = ""
    ) -> Step[bool]:
        title = self._state.cards.last_title(message.title)
        streams = self._delivery.streams
        stopped = yield from streams.stop(message, close, footer, session=session, title=title)
        yield from self._delivery.apply_fault(stopped)
        return isinstance(stopped, CallOk)

    def attach_footer(
        self, footer: Sequence[Args], close: CardClosing, message: SlackMessage | None = None
    ) -> Step[bool]:
        """Write `footer` under a stopped message, the last if none is given. False: it is not there."""
        state, posts = self._state, self._delivery.posts
        if state.ledger.in_doubt:
            yield from self._delivery.settle()
        message = message or state.last
        if message is None:
            return False
        message.cards.become(state.cards.present)  # nothing follows any more that would show their state
        message.rename_plan(state.cards.last_title(message.title))
        if message.text or footer or not message.cards.is_empty:
            if message.surface is SurfaceKind.STREAM:
                failed = yield from posts.rewrite(message, message.text, footer, close)
            else:
                failed = yield from posts.write(message, Batch(), footer, close)
            yield from self._delivery.apply_fault(failed)
        return message.is_signed

    def rewrite_messages(
        self, segments: Sequence[Segment], under: Sequence[Args], close: CardClosing, *, start: int = 0
    ) -> Step[bool]:
        """Make the messages read `segments`, the last with `under`. False: `under` is nowhere.

        Further segments are posted below; messages that are not needed are deleted. Those before `start`
        read so already.
        """
        state, delivery = self._state, self._delivery
        if state.ledger.in_doubt:
            yield from delivery.settle()
        state.ledger.discard()
        state.leave_unsettled(None)
        if state.last is not None and state.last.is_open:
            yield from self._close_stream(state.last, close)
        state.try_again()
        for number, segment in enumerate(segments[start:], start):
            below = under if number == len(segments) - 1 else ()
            if number < len(state.messages) and state.ended is None:
                message = state.messages[number]
                failed = yield from delivery.posts.rewrite(message, segment.text, below, close)
                if failed is None:
                    message.hold(segment)
                    continue
                yield from delivery.apply_fault(failed)
                yield from self._delete_from(number)
            if state.ended is not None or not (yield from self._post(segment, below, close)):
                return False
        yield from self._delete_from(len(segments))
        return state.last is not None and state.last.is_signed

    def _post(self, segment: Segment, footer: Sequence[Args], close: CardClosing) -> Step[bool]:
        """Post a message below the others. False: it is not there; a refusal exhausts the answer."""
        message, state = SlackMessage(SurfaceKind.POST, segment=segment), self._state
        failed = yield from self._delivery.posts.write(message, Batch(segment.text), footer, close)
        if failed is None:
            state.messages.append(message)
            return True
        yield from self._delivery.apply_fault(failed)
        if failed.error != DROPPED:
            state.exhaust(failed)
        return False

    def _delete_from(self, number: int) -> Step[None]:
        state = self._state
        for message in state.messages[number:]:
            if state.ended is None:
                yield from self._delivery.posts.delete(message)
        del state.messages[number:]
