"""One turn's calls to Slack. A stop of the turn drops its writes."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any

from ..clock import Clock
from ..settings.models import StreamSettings
from ..turn.record import Question
from .api import Messages, SlackApi, call_until_known
from .faults import NOT_REFUSED, CallFailed, CallOk, CallResult, Fault, StreamingRefusalCache
from .features import WorkspaceFacts
from .stream_starts import StreamStart, StreamStartTracker

DROPPED = "dropped"
"""The error of a write that was given up because the human stopped the turn."""

UNANSWERED = "unanswered"
"""The error of a start that Slack's event shows to be made, and whose answer stayed away too long."""


class TurnClient:
    """One turn's calls, and what all parts of the turn share. `refusals` and `stream_starts` are all turns'.

    `api.call` is for calls that are made though writes are cancelled. `on_wait` is called where the reader
    will see nothing for a while. `turn`: its key, if that is not the question's. `workspace`: what is known
    of it, by name; the turn adds to that. `session` is what the thread's agent session reads by the turn's
    streams and statuses (facts: Slack 1.9, 4).
    """

    def __init__(  # noqa: PLR0913  the last two are rare
        self,
        api: SlackApi,
        question: Question,
        settings: StreamSettings,
        clock: Clock,
        refusals: StreamingRefusalCache,
        stream_starts: StreamStartTracker,
        is_sure: Callable[[], bool] = lambda: True,
        *,
        turn: str = "",
        can_stream: bool = True,
    ) -> None:
        self.question, self.settings, self.clock = question, settings, clock
        self.turn = turn or question.key
        self.channel, self.thread_ts = question.thread.channel, question.thread.ts
        self.api = api.for_turn(self.turn, self.thread_ts)
        self.api.is_sure = is_sure
        self.refusals, self.stream_starts = refusals, stream_starts
        self.workspace = WorkspaceFacts(clock.wall, settings.workspace_days)
        self.session, self.can_stream = "", can_stream and not question.asker_is_bot
        self.on_wait: Callable[[], None] = lambda: None
        self._cancelled = asyncio.Event()
        self._limit: asyncio.Timeout | None = None  # of the write under way

    @property
    def is_cancelled(self) -> bool:
        return self._cancelled.is_set()

    def cancel_writes(self) -> None:
        self._cancelled.set()
        self.api.give_back()
        if self._limit is not None:
            end_in(self._limit, 0.0)

    def address(self, ts: str | None) -> dict[str, Any]:
        return {"channel": self.channel, "ts": ts}

    async def set_status(self, status: str, method: str = "assistant.threads.setStatus") -> CallResult:
        """The thread's typing status, or by another method that of its agent session. Tried once."""
        args = {"channel_id": self.channel, "thread_ts": self.thread_ts, "status": status}
        return await self.api.call(method, args, patience=0)

    async def sleep(self, seconds: float) -> None:
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._cancelled.wait()

    async def call_until_known(
        self, method: str, args: Mapping[str, object], *, applied_as: Fault | None = None
    ) -> CallResult:
        """Call what may be repeated. A repetition that is refused as `applied_as` was applied before."""
        result = await call_until_known(lambda: self.api.call(method, args))
        if isinstance(result, CallFailed) and result.in_doubt and result.fault is applied_as:
            return CallOk({})
        return result

    async def read_thread(self, oldest: float = 0.0) -> Messages | CallFailed:
        """As `read_thread_once`, until Slack answers."""
        return await call_until_known(lambda: self.read_thread_once(oldest), repeat_on=NOT_REFUSED)

    async def read_thread_once(self, oldest: float = 0.0) -> Messages | CallFailed:
        """The thread's messages since `oldest` (wall-clock seconds). A deleted thread is empty.

        Before there is a thread: those of the conversation.
        """
        since = {"oldest": f"{max(0.0, oldest):.6f}"}
        if self.thread_ts:
            found = await self.api.read("conversations.replies", {**self.address(self.thread_ts), **since})
        else:
            found = await self.api.read("conversations.history", {"channel": self.channel, **since})
        is_gone = isinstance(found, CallFailed) and found.fault is Fault.GONE
        return [] if is_gone else found

    async def write(
        self, method: str, args: Mapping[str, object], start: StreamStart | None = None
    ) -> CallResult:
        """Call `method` unless writes are cancelled before it has an answer: `DROPPED`.

        After Slack's event about a stream that may be that of `start`, the answer is waited for only
        `start_answer_wait` seconds longer: `UNANSWERED`.
        """
        if self.is_cancelled:
            return CallFailed(Fault.LATER, DROPPED)
        try:
            async with asyncio.timeout(None) as limit:
                self._limit = limit
                if start is not None:
                    start.tell = lambda: end_in(limit, self.settings.start_answer_wait)
                return await self.api.call(method, args)
        except TimeoutError:
            return CallFailed(Fault.UNKNOWN, DROPPED if self.is_cancelled else UNANSWERED)
        finally:
            self._limit = None
            if start is not None:
                start.tell = None


def end_in(limit: asyncio.Timeout, seconds: float) -> None:
    """Let `limit` expire in so many seconds, unless it was to sooner."""
    before, when = limit.when(), asyncio.get_running_loop().time() + seconds
    if not limit.expired() and (before is None or when < before):
        limit.reschedule(when)
