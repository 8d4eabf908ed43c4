"""Streamed messages: started, appended to, stopped, found again."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any

from . import blocks, readback
from .api import TurnClient, end_in
from .calls import REPEAT_PAUSES, CallFailed, CallOk, CallResult
from .cards import CardClosing
from .faults import FINAL_FAULTS, Fault
from .model import Batch, SlackMessage
from .post_surface import PostSurface
from .stream_starts import StreamStart

Args = dict[str, Any]

_SKEW = 60.0  # seconds our clock may differ from Slack's when a message is looked for by its time
_LOOKS = 2  # looks that found nothing: Slack has had time to show it


class StreamSurface:
    """The streamed messages of one turn. One writer: calls must not overlap.

    `is_plain`: Slack refused a form, so streams take text only from now on. `session` is what the thread's
    agent session reads by these streams (facts: Slack 1.9), "" without any.
    """

    def __init__(self, client: TurnClient, posts: PostSurface) -> None:
        self._client, self._settings, self._clock, self._posts = client, client.settings, client.clock, posts
        self._starts = client.stream_starts
        self.is_plain = False
        self.session = ""

    async def write(
        self,
        message: SlackMessage,
        write: Batch,
        footer: Sequence[Args] = (),
        close: CardClosing | None = None,
    ) -> CallFailed | None:
        """As in `PostSurface`; `close` and `footer` are left to `stop`."""
        if not write.text and write.is_plain:
            return None
        chunks = blocks.all_chunks(write.text, write.cards, write.plan_title or "", self._settings.card_chars)
        before, message.doubt = message.doubt, write.text  # a call that is cancelled stays in doubt
        if message.ts is None:
            result = await self._start(message, chunks)
        else:
            args = {**self._address(message), "chunks": chunks}
            result = await self._client.write("chat.appendStream", args)
        if isinstance(result, CallFailed):
            message.doubt = write.text if result.fault is Fault.UNKNOWN else before
            self._note_end(message, result)
            if result.fault is Fault.UNKNOWN:
                message.cards.confirm(write.cards, unsure=True)
            return result
        self.session = "processing"
        message.ts, message.is_open, message.doubt = message.ts or result.ts, True, None
        message.text += write.text
        message.title = write.plan_title or message.title
        message.cards.confirm(write.cards)
        return None

    async def _start(self, message: SlackMessage, chunks: Sequence[Args]) -> CallResult:
        question, starts = self._client.question, self._starts
        thread = question.thread
        start = starts.expect(thread.channel, thread.ts, question.ts)
        message.begun_at, message.start = self._clock.wall(), start
        args: Args = {
            "channel": thread.channel,
            "thread_ts": thread.ts,
            "recipient_user_id": question.user,
            "recipient_team_id": question.user_team,
        }
        if not self.is_plain:
            args["task_display_mode"] = self._settings.task_display_mode
        args["chunks"] = chunks
        result: CallResult = CallFailed(Fault.UNKNOWN, "cancelled")
        try:
            wait = self._settings.start_answer_wait
            result = await self._client.write("chat.startStream", args, start, wait)
            if isinstance(result, CallOk) and not result.ts:
                result = CallFailed(Fault.UNKNOWN, "unreadable")
        finally:
            if isinstance(result, CallOk):
                starts.settle(start, result.ts)
            else:
                starts.settle(start, in_doubt=result.fault is Fault.UNKNOWN)
        return result

    def _address(self, message: SlackMessage) -> Args:
        return {"channel": self._client.question.thread.channel, "ts": message.ts}

    def _note_end(self, message: SlackMessage, failed: CallFailed) -> None:
        """When Slack seals it, the session rests; after the human's stop it does not (facts: Slack 1.9)."""
        if failed.fault in (Fault.SEALED, Fault.STOPPED):
            message.is_open = False
            if failed.fault is Fault.SEALED and not self._client.is_cancelled:
                self.session = "active"

    async def end(self, message: SlackMessage) -> CallResult:
        stopped: CallResult = CallFailed(Fault.SEALED, "not open")
        if message.is_open:
            stopped = await self.stop(message, CardClosing.CONTINUES, session="processing")
        if isinstance(stopped, CallOk) or stopped.fault in FINAL_FAULTS:
            return stopped
        if not message.is_open and message.cards.closing(CardClosing.CONTINUES):
            await self._posts.rewrite(message, message.text, (), CardClosing.CONTINUES)
        return stopped

    async def stop(
        self, message: SlackMessage, close: CardClosing, footer: Sequence[Args] = (), *, session: str = ""
    ) -> CallResult:
        """Close the cards and stop the stream, with `footer` under it. Ok: Slack shows all that.

        Where Slack refuses cards or blocks, it is stopped without them, and the refusal is returned.
        """
        limit = self._settings.card_chars
        chunks = [blocks.task_chunk(card, limit) for card in message.cards.closing(close)]
        address = self._address(message)
        cards: Args = {**address, **({"chunks": chunks} if chunks else {})}
        full: Args = {**cards, "metadata": blocks.metadata(self._client.question.key, "answer")}
        if footer:
            full["blocks"] = list(footer)
        if session:
            full["session_status"] = session
        refused: CallFailed | None = None
        for args in (full, cards, address) if chunks else (full, address):
            # sealed when asked again: by our own call, or by Slack with the cards open and nothing under it
            applied_as = None if args.get("chunks") or args.get("blocks") else Fault.SEALED
            result = await self._client.call_until_known("chat.stopStream", args, applied_as=applied_as)
            if isinstance(result, CallOk):
                message.is_open = False
                self.session = session or "active"
                if args.get("chunks") or not chunks:
                    message.cards.confirm_closed(close)
                return refused or result
            refused = refused or result
            if result.fault not in (Fault.WRONG_CALL, Fault.FULL):
                self._note_end(message, result)
                return result
        return refused or CallFailed(Fault.WRONG_CALL, "refused")

    async def rest_session(self, session: str) -> None:
        """Make the agent session read `session`, "" for at rest, if it does not."""
        wanted = session or "active"
        if self.session not in ("", wanted) and not await self.set_session(wanted) and not session:
            # the older method sets the session too (facts: Slack 4)
            args = self._session_args("")
            await self._client.api.call("assistant.threads.setStatus", args, patience=0)

    async def set_session(self, session: str) -> bool:
        """Tried once; False: this app or workspace has no agent sessions."""
        self.session = session
        args = self._session_args(session)
        return isinstance(await self._client.api.call("agents.sessions.setStatus", args, patience=0), CallOk)

    def _session_args(self, status: str) -> Args:
        thread = self._client.question.thread
        return {"channel_id": thread.channel, "thread_ts": thread.ts, "status": status}

    async def find(self, message: SlackMessage, known: Sequence[str], *, looks: int = _LOOKS) -> bool:
        """Look for the stream that a start without an answer may have opened; sets `ts` if it is there.

        Slack's event or the thread itself names it. False: no event came and the thread cannot be read.
        """
        start = message.start
        if start is None:
            return True  # no stream was asked for
        is_certain = True
        try:
            async with asyncio.timeout(None) as limit:
                start.tell = lambda: end_in(limit, 0.0)
                await asyncio.sleep(0)  # an event that is here already makes the look unnecessary
                is_certain = await self._look(message, start, known, looks)
        except TimeoutError:
            pass  # the event came
        finally:
            start.tell = None
        if message.ts is None and start.ts is not None:
            message.ts, message.is_open = start.ts, True
        return message.ts is not None or is_certain

    async def _look(
        self, message: SlackMessage, start: StreamStart, known: Sequence[str], looks: int
    ) -> bool:
        looked, since, sent = 0, message.begun_at - _SKEW, message.doubt or ""
        messages: list[Mapping[str, Any]] | CallFailed | None = None
        for pause in (*REPEAT_PAUSES, 0.0):
            if start.ts is not None:
                return True
            if not (isinstance(messages, CallFailed) and messages.is_final):
                messages = await self._client.read_thread_once(since)
            if not isinstance(messages, CallFailed):
                others, after = {*known, *self._starts.known(*start.thread)}, max(since, start.after)
                found = readback.own_stream(messages, since=after, sent=sent, known=others)
                if found is not None:
                    message.ts, message.is_open = str(found["ts"]), True
                    self._starts.settle(start, message.ts)
                    return True
                looked += 1
                if looked >= looks:
                    return True
            await asyncio.sleep(pause)
        return looked > 0

    async def read(self, message: SlackMessage) -> Mapping[str, Any] | None:
        messages = await self._client.read_thread(float(message.ts or 0) - _SKEW)
        if isinstance(messages, CallFailed):
            return None
        return next((each for each in messages if each.get("ts") == message.ts), None)
