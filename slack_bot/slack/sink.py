"""Carries out one turn in the thread: live while Slack lets it, whole in any case.

While the answer comes, `write` hands its text and cards over and `tend` keeps the clock: what can be shown is
shown, a message that grows too old or too long goes on in the next one. `finish` puts the turn to rest: all
that is missing, the truth about every card, and what stands under an answer, under its last message only.
How the text gets there is `delivery`'s business; what is said around it is decided here.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from itertools import islice
from typing import TypeVar

from ..clock import Clock
from ..errors import SlackError
from ..observe.facts import AddedMarkup
from ..settings.models import StreamSettings
from ..turn.form import Form
from ..turn.ledger import Ledger, Segment, split_into_segments
from ..turn.record import Outcome
from ..turn.sanitize import sanitize_slices
from . import blocks, finalize
from .api import CallFailed, CallOk, SlackApi
from .blocks import Block
from .chunks import CardClosing
from .delivery import Delivery
from .file_fallback import FileFallback
from .files import Files
from .orders import Batch, Destination, TurnEnd, WriteResult
from .rate_limiter.governor import Priority
from .rewrite import rewrite
from .stream_starts import StreamStartTracker
from .surfaces.fallback import StreamingRefusalCache
from .turn_client import TurnClient
from .typing_status import TypingStatus

_log = logging.getLogger(__name__)

STILL_WORKING = "is still working..."
"""Status while a message was ended by its age and nothing new is there to begin another with."""

WAITING_FOR_YOU = "is waiting for you to sign in..."
"""Status below a question that was asked while the turn goes on, where there are no agent sessions."""

TRYING_AGAIN = "is trying again, Slack did not take it..."
"""Status while a message is insisted on."""

T = TypeVar("T")
_BAD_ENDS = frozenset({Outcome.FAILED, Outcome.LOST, Outcome.REFUSED})


class Sink:
    """One turn's place in Slack. One writer: calls must not overlap (statuses and `hush` apart).

    `memory` and `sightings` are shared by all turns: where streaming was refused lately, and what Slack tells
    of streams that began. All methods but the statuses raise
    `SlackError` where Slack cannot be written to at all.
    """

    def __init__(
        self,
        api: SlackApi,
        place: Destination,
        settings: StreamSettings,
        clock: Clock,
        memory: StreamingRefusalCache | None = None,
        sightings: StreamStartTracker | None = None,
    ) -> None:
        self._api = api = api.for_turn(place.turn)
        self._destination, self._settings, self._clock = place, settings, clock
        self._client = TurnClient(api, sightings, self._tell_wait)
        self._status = TypingStatus(api, place, settings, clock, self._show_at_work)
        self._delivery = Delivery(
            self._client,
            place,
            settings,
            clock,
            memory or StreamingRefusalCache(settings.streaming_refusal_ttl),
        )
        self._file_fallback = FileFallback(self._delivery, Files(self._client, place), self._status)
        self._first: TurnEnd | None = None  # how the turn was to be put to rest
        self._taken = False  # its text is the delivery's
        self._status_at = 0  # messages begun when a status was last shown: the next one clears it
        self._posted = False
        self._finished = self._told_stop = False
        self._asked: Form | None = None

    @property
    def ledger(self) -> Ledger:
        """The text of the answer."""
        return self._delivery.ledger

    @property
    def markup(self) -> tuple[AddedMarkup, ...]:
        """What was added to the messages of the answer, where anything was."""
        found = ((message.ts, message.segment) for message in self._delivery.messages)
        return tuple(
            AddedMarkup(ts, segment.opening, segment.closing)
            for ts, segment in found
            if ts is not None and segment is not None and (segment.opening or segment.closing)
        )

    @property
    def is_live(self) -> bool:
        """`write` may show text now."""
        return self._delivery.is_live

    @property
    def opened(self) -> bool:
        """A message of the answer stands in the thread, or may."""
        return bool(self._delivery.messages)

    @property
    def is_gone(self) -> bool:
        """Nothing may be written in the thread any more."""
        return self._delivery.is_gone

    @property
    def is_stopped(self) -> bool:
        """The human stopped it: what stands may not be all. Of a turn at rest: the reader was told so."""
        hushed = self._told_stop if self._finished else self._client.is_cancelled
        return hushed or self._delivery.ended is WriteResult.STOPPED

    @property
    def begins(self) -> bool:
        """The next write begins a message."""
        return self._delivery.begins

    async def show_status(self, text: str) -> None:
        """Show a typing status; "" clears. Returns at once, never fails; ignored while a message is open."""
        if not self._delivery.is_open:
            self._status_at = self._delivery.begun
            self._status.show(text)

    async def refresh_status(self) -> None:
        """Send the status again if Slack is about to drop it. Cheap; may be called at any time."""
        if not self._delivery.is_open:
            self._status.keep()

    def may_write(self, rank: Priority, wake: Callable[[], None]) -> bool:
        """Whether `write` would go to Slack at once. If not, `wake` is called when it would; ask again then.

        Ask before taking what is to be written, so that what comes meanwhile goes with it. `rank` is what
        would be written; ask again where it changes.
        """
        method = self._delivery.next_method()
        rank = Priority.START if method == "chat.startStream" else rank
        return self._api.reserve(method, self._destination.channel, rank, wake)

    def fall_back(self) -> None:
        """No stream could be started in time: the answer becomes an ordinary message, edited as it grows."""
        self._delivery.downgrade_surface()

    def cancel_writes(self) -> None:
        """The human pressed Stop: a write that waits is dropped, and none is made any more."""
        self._client.cancel_writes()

    def pause(self) -> float:
        """Seconds until a write would be shown at once: without streaming, edits keep a distance."""
        return self._delivery.pause(self._clock.monotonic())

    def due(self) -> float | None:
        """Seconds until `tend` has something to do although nothing more is written; None: never."""
        return self._delivery.due(self._clock.monotonic())

    async def write(self, batch: Batch) -> WriteResult:
        """Show a batch, and the text that the ledger may send.

        Whatever is returned, the batch is the sink's: what is not shown now is shown later, by `finish` at
        the latest.
        """
        self.enqueue(batch)
        return await self.tick()

    def enqueue(self, batch: Batch) -> None:
        """Take a batch without showing it: `finish` tells what became of its cards."""
        self._delivery.add(batch)

    async def tick(self) -> WriteResult:
        """Do what the time asks for: show what waits, begin a new message before one grows too old."""
        delivery = self._delivery
        if delivery.ended is None and delivery.is_live:
            if delivery.begins:
                await self._status.close()
            await delivery.advance()
            if delivery.begins and delivery.ended is None and not self._client.is_cancelled:
                await self._go_quiet()
        if delivery.ended is not None:
            return delivery.ended
        return WriteResult.HELD if delivery.ledger.has_more else WriteResult.SHOWN

    async def ask(self, form: Form) -> None:
        """Show a question while the turn goes on, in a message of its own; what comes later stands below.

        Slack notifies people of a post at once, of a stream only when it is over (facts: Slack 1.8). Where
        that is refused, the question comes with the turn's end.
        """
        delivery = self._delivery
        if not self._client.is_cancelled:
            await delivery.start_new_message()
        if delivery.ended is not None or self._client.is_cancelled:
            return
        await self._status.close()
        text = await _question(form)
        posted = await delivery.posts.post(text, (), [blocks.context(blocks.SIGN_IN)], "question")
        self._status.reopen(forget=True)
        if isinstance(posted, CallFailed):
            await delivery.apply_fault(posted)
            return
        self._asked = form
        if not await delivery.streams.set_session("suspended"):  # one slot: a status would make it read busy
            await self.show_status(WAITING_FOR_YOU)

    async def _go_quiet(self) -> None:
        """No message is open, and the next comes with the next thing to say: until then the status tells."""
        if self._delivery.is_exhausted:
            self._status_at = self._delivery.begun
            await self._file_fallback.announce()
            return
        self._status.reopen(forget=self._delivery.begun != self._status_at)
        if self.opened:
            await self.show_status(STILL_WORKING)

    def _tell_wait(self) -> None:
        """Slack takes a message that must stand only later, if ever."""
        self._status.reopen(forget=True)
        self._status_at = self._delivery.begun
        self._status.show(TRYING_AGAIN)

    async def abandon(self) -> None:
        """The thread is gone: nothing is said any more, and no stream goes on in it, if Slack lets it end."""
        self._client.cancel_writes()
        await self._status.close()
        await self._delivery.reconciler.close_open(self._delivery.known(), self._delivery.last)

    async def finish(self, ending: TurnEnd) -> None:
        """Put the turn to rest: what is missing, the truth about every card, what the reader should know.

        AssertionError if the reader would be left with nothing: whoever has no text gives a note. Called once
        more, after something broke: where the turn was put to rest before, or can be now, as it was to be,
        nothing is said about that, for the reader has it all; else `ending` tells what became of it.
        """
        await self._status.close()
        if self._delivery.is_gone:
            await self.abandon()
            return
        if self._finished:
            return
        if self._client.is_cancelled:
            ending = replace(ending, outcome=Outcome.STOPPED)
        if ending.form == self._asked:
            ending = replace(ending, form=None)
        first, self._first = self._first, self._first or ending
        try:
            if first is None:
                await self._carry_out(ending)
            elif not await self._is_made_good(first):
                await self._post_note(ending)
            self._finished = True
        finally:
            await self._clear_up(ending)

    async def _carry_out(self, ending: TurnEnd) -> None:
        if self._delivery.ended is None:
            await self._deliver(ending)
        if self._delivery.ended is WriteResult.STOPPED:
            await self._tell_truth(ending)

    async def _is_made_good(self, first: TurnEnd) -> bool:
        """What broke when the turn was put to rest is done now, without much patience."""
        self._delivery.posts.post_retry_timeout = 0.0
        self._delivery.try_again()
        try:
            await self._carry_out(first)
        except SlackError as error:
            _log.error("turn %s: the answer stays unfinished: %s", self._destination.turn, error)
            return False
        return True

    async def _clear_up(self, ending: TurnEnd) -> None:
        delivery = self._delivery
        self._api.give_back()
        await self._status.close()
        await delivery.reconciler.close_open(delivery.known(), delivery.last, _close(ending))
        if not self._posted and delivery.begun == self._status_at:
            await self._status.clear()
        if not delivery.is_gone:
            await delivery.streams.rest_session(_session(ending))

    def _show_at_work(self, status: str) -> None:
        """A status speaks to the thread's agent session too (facts: Slack 4)."""
        self._delivery.streams.session = "processing" if status else "active"

    async def _deliver(self, ending: TurnEnd) -> None:
        self._delivery.add(Batch("", ending.cards, ending.plan_title))
        if ending.outcome is Outcome.STOPPED:
            await self._stop(ending)
            return
        text = ending.rest if ending.rewrite is None else ending.rewrite
        anew = ending.rewrite is not None and self.opened
        goes_on = not anew and bool(self._delivery.ledger.text.strip())
        question = "" if ending.form is None else await _question(ending.form)
        text = _joined(text, question, goes_on=goes_on)
        shows = text or goes_on or ending.note or self.opened or self._asked is not None
        assert shows, "nothing to show, and no note"
        await (self._rewrite(text, ending) if anew else self._show_rest(text, ending))

    async def _show_rest(self, text: str, ending: TurnEnd) -> None:
        """Show what waits and what is missing."""
        delivery, close = self._delivery, _close(ending)
        if not self._taken:
            if ending.rewrite is not None:
                delivery.ledger.discard()
            delivery.ledger.waiting.clear()  # what was not released is not to be shown
            delivery.add(Batch(text))
            self._taken = True
        await delivery.advance(under=self._under(ending), close=close)
        attached: TurnEnd | None = None
        if delivery.is_exhausted and delivery.ended is None and not self._client.is_cancelled:
            self._status_at = delivery.begun
            attached = await self._file_fallback.attach(delivery.ledger.text, ending)
            if attached is None:
                await self._file_fallback.withdraw()
                delivery.raise_limit()
                await delivery.advance(under=self._under(ending), close=close)
            ending = attached or ending
        if self._client.is_cancelled and delivery.ended is None:
            await self._stop(ending if attached is None else replace(ending, note=f"Stopped. {ending.note}"))
            return
        if not await finalize.finish(delivery, self._under(ending), close, _session(ending)):
            await self._post_note(ending, must=attached is None)

    async def _rewrite(self, text: str, ending: TurnEnd) -> None:
        """Make what stands in the thread read `text` instead."""
        delivery, most, close = self._delivery, self._settings.max_segments, _close(ending)
        pieces = split_into_segments(text, delivery.limits())
        laid = await _in_steps(islice(pieces, most + 1))
        fits = len(laid) <= most
        stands = await rewrite(delivery, laid[:most], self._under(ending) if fits else (), close)
        attached: TurnEnd | None = None
        if delivery.ended is None and (not fits or delivery.is_exhausted):
            self._status_at = delivery.begun
            attached = await self._file_fallback.attach(text, ending)
            if attached is None:
                delivery.raise_limit()
                stands = await self._post_all([*laid[most:], *await _in_steps(pieces)], ending)
            else:
                ending, last = attached, delivery.last
                stands = last is not None and await finalize.attach_footer(
                    delivery, last, self._under(ending), close
                )
        if not stands and self._client.is_cancelled and delivery.ended is None:
            await self._stop(ending)
        elif not stands:
            await self._post_note(ending, must=attached is None)

    async def _post_all(self, pieces: Sequence[Segment], ending: TurnEnd) -> bool:
        """The rest of an answer as messages of their own. False: what stands under it stands nowhere yet."""
        for number, piece in enumerate(pieces, start=1):
            under = self._under(ending) if number == len(pieces) else []
            if not await self._delivery.post(piece, under, _close(ending)):
                break
        last = self._delivery.last
        return last is not None and last.is_signed

    async def _stop(self, ending: TurnEnd) -> None:
        """The human stopped the turn: what stands stays, with the truth under it."""
        ending = replace(ending, note=ending.note or "Stopped.", form=None, outcome=Outcome.STOPPED)
        delivery, self._told_stop = self._delivery, True
        if (
            not await finalize.finish(delivery, self._under(ending), CardClosing.STOPPED)
            and delivery.ended is None
        ):
            await self._post_note(ending)

    async def _tell_truth(self, ending: TurnEnd) -> None:
        """The human stopped the stream in Slack: what it shows stays, the truth about it goes under it."""
        ending = replace(ending, outcome=Outcome.STOPPED, note=ending.note or "Stopped.", form=None)
        delivery, last = self._delivery, self._delivery.last
        if last is None or not await finalize.attach_footer(
            delivery, last, self._under(ending), CardClosing.STOPPED
        ):
            await self._post_note(ending)

    async def _post_note(self, ending: TurnEnd, *, must: bool = True) -> None:
        """The last way to say how a turn ended. SlackError if it `must` be said and cannot be."""
        delivery = self._delivery
        if delivery.is_gone or not (ending.note or ending.form is not None):
            return
        says = ending.note or blocks.ANSWER_HERE
        posted = await delivery.posts.post("", (), self._under(ending), "note", says=says, insist=must)
        if isinstance(posted, CallFailed) and must:
            await delivery.refuse(posted)
        self._posted = isinstance(posted, CallOk)

    def _under(self, ending: TurnEnd) -> list[Block]:
        return blocks.tail(ending, self._destination.turn, self._destination.channel)


async def _question(form: Form) -> str:
    """The question as it is shown. What was harmless piece by piece need not be when put together."""
    return "".join(await _in_steps(sanitize_slices(form.as_markdown())))


async def _in_steps(work: Iterable[T]) -> list[T]:
    """All that `work` gives, with the loop in between: each may take some milliseconds."""
    done: list[T] = []
    for piece in work:
        if done:
            await asyncio.sleep(0)
        done.append(piece)
    return done


def _close(ending: TurnEnd) -> CardClosing:
    """How the turn's end reads on a card that was still running."""
    if ending.outcome is Outcome.STOPPED:
        return CardClosing.STOPPED
    return CardClosing.FAILED if ending.outcome in _BAD_ENDS else CardClosing.DONE


def _session(ending: TurnEnd) -> str:
    """How the thread's agent session reads afterwards; "" for at rest (facts: Slack 1.9)."""
    return "suspended" if ending.outcome is Outcome.ASKED else ""


def _joined(text: str, question: str, *, goes_on: bool) -> str:
    """The answer and the agent's question as one text. `goes_on`: some of the answer came before."""
    if not question:
        return text
    return f"{text}\n\n{question}" if text.strip() or goes_on else question
