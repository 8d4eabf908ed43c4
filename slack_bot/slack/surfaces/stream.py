"""Streamed messages: opened, fed, stopped, found again.

Each call is made first in its full form, and where Slack refuses the form, plainer: an answer without its
buttons is worth more than none. What a failed call means for the turn is said elsewhere; here stands only how
it is done, and what the message then is known to show.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any

from ...clock import Clock
from ...settings.models import StreamSettings
from .. import blocks, readback
from ..api import CallFailed, CallOk
from ..chunks import CardClosing, all_chunks, task_chunk
from ..faults import Fault
from ..message import MessageWrite, SlackMessage
from ..orders import Destination
from ..stream_starts import StreamStart
from ..turn_client import TurnClient, retry_unknown

Args = dict[str, Any]

_SKEW = 60.0  # seconds our clock may differ from Slack's when a message is looked for by its time
_LOOKS = (1.0, 3.0, 9.0)  # seconds between looks for a stream whose start had no answer
_ENOUGH_LOOKS = 2  # looks that found nothing: Slack has had time to show it


class Streams:
    """The streamed messages of one turn. One writer: calls must not overlap."""

    def __init__(self, line: TurnClient, place: Destination, settings: StreamSettings, clock: Clock) -> None:
        self._line, self._place, self._settings, self._clock = line, place, settings, clock
        self.sightings = line.sightings
        self.is_plain = False
        """Slack refused a form: from now on streams take text only."""
        self.session = ""
        """What the thread's agent session reads by these streams (facts: Slack 1.9); "" without any."""

    async def send(self, message: SlackMessage, write: MessageWrite) -> CallFailed | None:
        """Open the stream with `write`, or append it. None: Slack shows it. Sets the message's doubt."""
        chunks = all_chunks(write.text, write.cards, write.title, self._settings.card_chars)
        before, message.doubt = message.doubt, write.text  # a call that is cancelled stays in doubt
        if message.ts is None:
            result = await self._begin(message, chunks)
        else:
            result = await self._line.write("chat.appendStream", {**self._address(message), "chunks": chunks})
        if isinstance(result, CallFailed):
            message.doubt = write.text if result.fault is Fault.UNKNOWN else before
            self._note_end(message, result)
            if result.fault is Fault.UNKNOWN:
                message.book.confirm(write.cards, unsure=True)
            return result
        self.session = "processing"
        message.ts, message.is_open, message.doubt = message.ts or result.ts, True, None
        message.text += write.text
        message.title = write.title or message.title
        message.book.confirm(write.cards)
        return None

    async def _begin(self, message: SlackMessage, chunks: Sequence[Args]) -> CallOk | CallFailed:
        """Start the stream. Its answer is waited for a little longer, no more, once Slack tells of it."""
        place, sightings = self._place, self.sightings
        start = sightings.expect(place.channel, place.thread_ts, place.asked_ts or place.thread_ts)
        message.begun_at, message.start = self._clock.wall(), start

        async def overdue() -> None:
            await _told(start)
            await asyncio.sleep(self._settings.start_answer_wait)

        result: CallOk | CallFailed = CallFailed(Fault.UNKNOWN, "cancelled")
        try:
            result = await self._line.write("chat.startStream", self._start(chunks), overdue=overdue)
            if isinstance(result, CallOk) and not result.ts:
                result = CallFailed(Fault.UNKNOWN, "unreadable")
        finally:
            if isinstance(result, CallOk):
                sightings.named(start, result.ts)
            elif result.fault is Fault.UNKNOWN:
                sightings.doubted(start)
            else:
                sightings.refused(start)
        return result

    def _start(self, chunks: Sequence[Args]) -> Args:
        place = self._place
        args: Args = {
            "channel": place.channel,
            "thread_ts": place.thread_ts,
            "recipient_user_id": place.user,
            "recipient_team_id": place.user_team,
        }
        if not self.is_plain:
            args["task_display_mode"] = self._settings.task_display_mode
        return {**args, "chunks": list(chunks)}

    def _address(self, message: SlackMessage) -> Args:
        return {"channel": self._place.channel, "ts": message.ts}

    def _note_end(self, message: SlackMessage, failed: CallFailed) -> None:
        """Slack has ended the stream: by itself, and with it the work of the session; or for the human.

        Then the session is the app's to put to rest (facts: Slack 1.9).
        """
        if failed.fault in (Fault.SEALED, Fault.STOPPED):
            message.is_open = False
            if failed.fault is Fault.SEALED and not self._line.is_cancelled:
                self.session = "active"

    async def stop(
        self, message: SlackMessage, close: CardClosing, under: Sequence[Args] = (), *, session: str = ""
    ) -> CallOk | CallFailed:
        """Close the cards and stop the stream, with the blocks `under` it. Done: all of that stands.

        Stopped without its cards or blocks because Slack refused those, the message is no longer open, but
        the answer is the refusal.
        """
        closing = message.book.closing(close)
        chunks = [task_chunk(card, self._settings.card_chars) for card in closing]
        cards: Args = {**self._address(message), **({"chunks": chunks} if chunks else {})}
        full: Args = {**cards, "metadata": blocks.metadata(self._place.turn, "answer")}
        if under:
            full["blocks"] = list(under)
        if session:
            full["session_status"] = session
        refused: CallFailed | None = None
        for args in _distinct(full, cards, self._address(message)):
            # sealed when asked again: by our own call, or by Slack with the cards open and nothing under it
            done = None if args.get("chunks") or args.get("blocks") else Fault.SEALED
            result = await retry_unknown(self._line, "chat.stopStream", args, done=done)
            if isinstance(result, CallOk):
                message.is_open = False
                self.session = session or "active"
                if args.get("chunks") or not chunks:
                    message.book.closed(closing)
                return refused or result
            refused = refused or result
            if result.fault not in (Fault.WRONG_CALL, Fault.FULL):
                self._note_end(message, result)
                return result
        return refused or CallFailed(Fault.WRONG_CALL, "refused")

    async def rest_session(self, session: str) -> None:
        """Make the agent session read `session`, "" for at rest, where the last stop left another."""
        wanted = session or "active"
        if self.session in ("", wanted):
            return
        if not await self.set_session(wanted) and not session:
            place = self._place  # the older method speaks to the session too (facts: Slack 4)
            args: Args = {"channel_id": place.channel, "thread_ts": place.thread_ts, "status": ""}
            await self._line.call("assistant.threads.setStatus", args, patience=0)

    async def set_session(self, session: str) -> bool:
        """Make the agent session read `session` now. Tried once; False: this app or workspace has none."""
        place, self.session = self._place, session
        args: Args = {"channel_id": place.channel, "thread_ts": place.thread_ts, "status": session}
        return isinstance(await self._line.call("agents.sessions.setStatus", args, patience=0), CallOk)

    async def find(self, message: SlackMessage, known: Sequence[str], *, looks: int = _ENOUGH_LOOKS) -> bool:
        """Look for the stream that a start without an answer may have opened; sets `ts` if it is there.

        Slack's event about it and the thread itself are both waited for, and the first counts. Found nothing,
        it looks `looks` times. False: it cannot be known, because there was no event and the thread cannot be
        read.
        """
        start = message.start
        if start is None:
            return True  # none was asked for
        told = asyncio.ensure_future(_told(start))
        looking = asyncio.ensure_future(self._look(message, start, known, looks))
        try:
            await asyncio.wait({looking, told}, return_when=asyncio.FIRST_COMPLETED)
            if message.ts is None and start.ts is not None:
                message.ts, message.is_open = start.ts, True
            return message.ts is not None or looking.result()
        finally:
            for task in (looking, told):
                task.cancel()
            with suppress(asyncio.CancelledError):
                await looking

    async def _look(
        self, message: SlackMessage, start: StreamStart, known: Sequence[str], looks: int
    ) -> bool:
        """Look for it in the thread, as `find` says. A thread that may not be read is not asked for again:
        then there is only Slack's event to wait for.
        """
        looked, since, sent = 0, message.begun_at - _SKEW, message.doubt or ""
        messages: list[Mapping[str, Any]] | CallFailed | None = None
        for pause in (*_LOOKS, 0.0):
            if start.ts is not None:
                return True
            if not (isinstance(messages, CallFailed) and messages.is_final):
                messages = await self._line.thread(self._place, since)
            if not isinstance(messages, CallFailed):
                others, after = {*known, *self.sightings.known(*start.thread)}, max(since, start.after)
                found = readback.own_stream(messages, since=after, sent=sent, known=others)
                if found is not None:
                    message.ts, message.is_open = str(found["ts"]), True
                    self.sightings.named(start, message.ts)
                    return True
                looked += 1
                if looked >= looks:
                    return True
            await asyncio.sleep(pause)
        return looked > 0

    async def read(self, message: SlackMessage) -> Mapping[str, Any] | None:
        """The message as Slack gives it back; None if it cannot be read."""
        for pause in (*_LOOKS, 0.0):
            messages = await self._line.thread(self._place, float(message.ts or 0) - _SKEW)
            if not isinstance(messages, CallFailed):
                return next((each for each in messages if each.get("ts") == message.ts), None)
            if messages.is_final:
                break
            await asyncio.sleep(pause)
        return None


async def _told(start: StreamStart) -> None:
    """Return when Slack has told of a stream that may be this one; later: that is."""
    if start.ts is None:
        told = asyncio.Event()
        start.tell = told.set
        await told.wait()


def _distinct(*forms: Args) -> Iterator[Args]:
    """The forms in order, without those that equal the one before."""
    before: Args | None = None
    for form in forms:
        if form != before:
            yield form
        before = form
