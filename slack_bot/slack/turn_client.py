"""The calls of one turn: those that show text are dropped when the human stops it, those that end it are not.

A write may wait a minute for Slack's budget. Dropped, it may have been under way, so its outcome is unknown.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any

from . import calls
from .api import SlackApi
from .calls import NOT_REFUSED, CallFailed, CallOk
from .faults import Fault
from .model import Destination
from .stream_starts import StreamStart, StreamStartTracker

DROPPED = "dropped"
"""The error of a write that was given up because the human stopped the turn."""

UNANSWERED = "unanswered"
"""The error of a start that is known from Slack's event to be made, and whose answer stayed away too long."""

_PAGE = 200
_MAX_PAGES = 20

Messages = list[Mapping[str, Any]]


class TurnClient:
    """One turn's calls; `api.call` is for those that are made though writes are cancelled.

    `on_wait` is called where the reader will see nothing for a while. `stream_starts` is shared by all turns.
    """

    def __init__(
        self,
        api: SlackApi,
        place: Destination,
        stream_starts: StreamStartTracker,
        on_wait: Callable[[], None] = lambda: None,
    ) -> None:
        self.api, self.place, self.on_wait, self.stream_starts = api, place, on_wait, stream_starts
        self._cancelled = asyncio.Event()
        self._limit: asyncio.Timeout | None = None  # of the write under way

    @property
    def is_cancelled(self) -> bool:
        return self._cancelled.is_set()

    def cancel_writes(self) -> None:
        """Drop the write that waits, and every later one."""
        self._cancelled.set()
        self.api.give_back()
        if self._limit is not None:
            end_in(self._limit, 0.0)

    async def sleep(self, seconds: float) -> None:
        """Wait `seconds`, or until writes are cancelled."""
        with suppress(TimeoutError):
            await asyncio.wait_for(self._cancelled.wait(), seconds)

    async def call_until_known(
        self, method: str, args: Mapping[str, object], *, applied_as: Fault | None = None
    ) -> CallOk | CallFailed:
        """Call what may be repeated until it has an answer, whether or not writes are cancelled.

        A repetition that is refused as `applied_as` was applied before.
        """
        result = await calls.call_until_known(lambda: self.api.call(method, args))
        if isinstance(result, CallFailed) and result.in_doubt and result.fault is applied_as:
            return CallOk({})
        return result

    async def read_thread(self, oldest: float = 0.0) -> Messages | CallFailed:
        """The thread's messages since `oldest` (wall-clock seconds), asked for until Slack answers."""
        return await calls.call_until_known(lambda: self.read_thread_once(oldest), repeat_on=NOT_REFUSED)

    async def read_thread_once(self, oldest: float = 0.0) -> Messages | CallFailed:
        """The thread's messages since `oldest` (wall-clock seconds). A deleted thread is empty."""
        found: Messages = []
        args: dict[str, object] = {
            "channel": self.place.channel,
            "ts": self.place.thread_ts,
            "oldest": f"{max(0.0, oldest):.6f}",
            "limit": _PAGE,
            "include_all_metadata": True,
        }
        for _ in range(_MAX_PAGES):
            result = await self.api.call("conversations.replies", args)
            if isinstance(result, CallFailed):
                return result if result.fault is not Fault.GONE else []
            messages = result.data.get("messages") or []
            found.extend(message for message in messages if isinstance(message, Mapping))
            cursor = (result.data.get("response_metadata") or {}).get("next_cursor")
            if not cursor:
                break
            args = {**args, "cursor": cursor}
        return found

    async def write(
        self,
        method: str,
        args: Mapping[str, object],
        start: StreamStart | None = None,
        answer_wait: float = 0.0,
    ) -> CallOk | CallFailed:
        """Call `method` unless writes are cancelled before it has an answer: `CallFailed` with `DROPPED`.

        Once Slack's event shows a stream that may be that of `start`, the answer is waited for only
        `answer_wait` seconds longer: `CallFailed` with `UNANSWERED`.
        """
        if self.is_cancelled:
            return CallFailed(Fault.LATER, DROPPED)
        try:
            async with asyncio.timeout(None) as limit:
                self._limit = limit
                if start is not None:
                    start.tell = lambda: end_in(limit, answer_wait)
                return await self.api.call(method, args)
        except TimeoutError:
            return CallFailed(Fault.UNKNOWN, DROPPED if self.is_cancelled else UNANSWERED)
        finally:
            self._limit = None
            if start is not None:
                start.tell = None


def end_in(limit: asyncio.Timeout, seconds: float) -> None:
    """Let `limit` expire in so many seconds, or sooner where it was to."""
    before, when = limit.when(), asyncio.get_running_loop().time() + seconds
    if not limit.expired() and (before is None or when < before):
        limit.reschedule(when)
