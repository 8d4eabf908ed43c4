"""The calls of one turn: those that show text are dropped when the human stops it, those that end it are not.

A write may wait a minute for Slack's budget. Dropped, it may have been under way, so its outcome is unknown.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from typing import Any

from . import calls
from .api import SlackApi
from .calls import NOT_REFUSED, CallFailed, CallOk
from .faults import Fault
from .orders import Destination
from .stream_starts import StreamStartTracker

DROPPED = "dropped"
"""The error of a write that was given up because the human stopped the turn."""

UNANSWERED = "unanswered"
"""The error of a call that is known from elsewhere to be made, and whose answer stayed away too long."""

_PAGE = 200
_MAX_PAGES = 20

Messages = list[Mapping[str, Any]]


class TurnClient:
    """One turn's calls. `on_wait` is called where the reader will see nothing for a while.

    `stream_starts` is shared by all turns.
    """

    def __init__(
        self,
        api: SlackApi,
        place: Destination,
        stream_starts: StreamStartTracker | None = None,
        on_wait: Callable[[], None] = lambda: None,
    ) -> None:
        self._api, self.place, self.on_wait = api, place, on_wait
        self.stream_starts = stream_starts or StreamStartTracker(asyncio.ensure_future)
        self._cancelled = asyncio.Event()

    @property
    def is_cancelled(self) -> bool:
        return self._cancelled.is_set()

    def cancel_writes(self) -> None:
        """Drop the write that waits, and every later one."""
        self._cancelled.set()
        self.give_back()

    def may_start(self) -> bool:
        """Whether a stream may be started at once. If not, its place in the queue is kept."""
        return self._api.reserve("chat.startStream", self.place.channel)

    def give_back(self) -> None:
        self._api.give_back()

    async def sleep(self, seconds: float) -> None:
        """Wait `seconds`, or until writes are cancelled."""
        with suppress(TimeoutError):
            await asyncio.wait_for(self._cancelled.wait(), seconds)

    async def call(
        self, method: str, args: Mapping[str, object], *, patience: float | None = None
    ) -> CallOk | CallFailed:
        """Call `method` whether or not writes are cancelled. `patience` as in `SlackApi.call`."""
        return await self._api.call(method, args, patience=patience)

    async def call_until_known(
        self, method: str, args: Mapping[str, object], *, applied_as: Fault | None = None
    ) -> CallOk | CallFailed:
        """Call what may be repeated until it has an answer.

        A repetition that is refused as `applied_as` was applied before.
        """
        result = await calls.call_until_known(lambda: self.call(method, args))
        if isinstance(result, CallFailed) and result.in_doubt and result.fault is applied_as:
            return CallOk({})
        return result

    async def upload(self, url: str, content: bytes) -> CallOk | CallFailed:
        return await self._api.upload(url, content)

    async def read_thread(self, oldest: float = 0.0) -> Messages | CallFailed:
        """The thread's messages since `oldest` (wall-clock seconds), asked for until Slack answers."""
        return await calls.call_until_known(lambda: self.read_thread_once(oldest), repeat_on=NOT_REFUSED)

    async def read_thread_once(self, oldest: float = 0.0) -> Messages | CallFailed:
        """The thread's messages since `oldest` (wall-clock seconds). A deleted thread is empty."""
        found: Messages = []
        cursor: str | None = None
        for _ in range(_MAX_PAGES):
            args = {
                "channel": self.place.channel,
                "ts": self.place.thread_ts,
                "oldest": f"{max(0.0, oldest):.6f}",
                "limit": _PAGE,
                "include_all_metadata": True,
                "cursor": cursor,
            }
            result = await self.call("conversations.replies", args)
            if isinstance(result, CallFailed):
                return result if result.fault is not Fault.GONE else []
            messages = result.data.get("messages") or []
            found.extend(message for message in messages if isinstance(message, Mapping))
            cursor = (result.data.get("response_metadata") or {}).get("next_cursor") or None
            if cursor is None:
                break
        return found

    async def write(
        self,
        method: str,
        args: Mapping[str, object],
        *,
        overdue: Callable[[], Awaitable[None]] | None = None,
    ) -> CallOk | CallFailed:
        """Call `method` unless writes are cancelled before it has an answer: `CallFailed` with `DROPPED`.

        Where `overdue` is given and returns first: `CallFailed` with `UNANSWERED`.
        """
        if self.is_cancelled:
            return CallFailed(Fault.LATER, DROPPED)
        call = asyncio.ensure_future(self._api.call(method, args))
        cancelled = asyncio.ensure_future(self._cancelled.wait())
        late = [] if overdue is None else [asyncio.ensure_future(overdue())]
        try:
            await asyncio.wait({call, cancelled, *late}, return_when=asyncio.FIRST_COMPLETED)
            if call.done():
                return call.result()
            return CallFailed(Fault.UNKNOWN, DROPPED if cancelled.done() else UNANSWERED)
        finally:
            for task in (call, cancelled, *late):
                task.cancel()
            with suppress(asyncio.CancelledError):
                await call
