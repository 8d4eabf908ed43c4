"""The calls of one turn: those that show text can be dropped while they wait, those that end it can not.

Whoever presses Stop wants nothing more to appear. A write may wait a minute for Slack's budget; it is then
given up. Nobody knows whether it was under way, so its outcome counts as unknown.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from typing import Any

from .api import CallFailed, CallOk, SlackApi
from .faults import Fault
from .orders import Destination
from .stream_starts import StreamStartTracker

REPEAT_PAUSES = (1.0, 3.0, 9.0)
"""Seconds before a call is repeated whose answer never came and which may be repeated safely."""

_FIRST_WAIT, _LONGEST_WAIT = 2.0, 60.0  # seconds between attempts at what was refused

DROPPED = "dropped"
"""The error of a write that was given up because the human stopped the turn."""

UNANSWERED = "unanswered"
"""The error of a call that was made, as is known from elsewhere, and whose answer stayed away too long."""

_PAGE = 200
_MOST_PAGES = 20


class TurnClient:
    """One turn's way to Slack.

    `waits` is called where somebody will see nothing for a while. `sightings` is shared by all turns: what
    Slack says of streams that began.
    """

    def __init__(
        self,
        api: SlackApi,
        sightings: StreamStartTracker | None = None,
        waits: Callable[[], None] = lambda: None,
    ) -> None:
        self._api, self.waits = api, waits
        self.sightings = sightings or StreamStartTracker(asyncio.ensure_future)
        self._hushed = asyncio.Event()

    @property
    def is_cancelled(self) -> bool:
        """No write is made any more."""
        return self._hushed.is_set()

    def cancel_writes(self) -> None:
        """Drop the write that waits, and every later one."""
        self._hushed.set()
        self.give_back()

    def may_start(self, channel: str) -> bool:
        """Whether a stream may be started at once. If not, its place in the line is kept."""
        return self._api.reserve("chat.startStream", channel)

    def give_back(self) -> None:
        """What was reserved for the next call is not used."""
        self._api.give_back()

    async def sleep(self, seconds: float) -> None:
        """Wait `seconds`, or until the turn is hushed."""
        with suppress(TimeoutError):
            await asyncio.wait_for(self._hushed.wait(), seconds)

    async def call(
        self, method: str, args: Mapping[str, object], *, patience: float | None = None
    ) -> CallOk | CallFailed:
        """Call `method` whatever happens. `patience` as in `SlackApi.call`."""
        return await self._api.call(method, args, patience=patience)

    async def send_file(self, url: str, content: bytes) -> CallOk | CallFailed:
        """Send the bytes of a file to the address that Slack gave for them."""
        return await self._api.upload(url, content)

    async def thread(self, place: Destination, oldest: float = 0.0) -> list[Mapping[str, Any]] | CallFailed:
        """What stands in the thread since `oldest`, in wall-clock seconds; `CallFailed`: Slack does not say.

        A thread that was deleted reads as empty.
        """
        found: list[Mapping[str, Any]] = []
        cursor: str | None = None
        for _ in range(_MOST_PAGES):
            args = {
                "channel": place.channel,
                "ts": place.thread_ts,
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
        """Call `method` unless the turn is hushed before it has an answer: then `CallFailed` with `DROPPED`.

        Where `overdue` is given and returns first: `CallFailed` with `UNANSWERED`.
        """
        if self.is_cancelled:
            return CallFailed(Fault.LATER, DROPPED)
        call = asyncio.ensure_future(self._api.call(method, args))
        hush = asyncio.ensure_future(self._hushed.wait())
        late = [] if overdue is None else [asyncio.ensure_future(overdue())]
        try:
            await asyncio.wait({call, hush, *late}, return_when=asyncio.FIRST_COMPLETED)
            if call.done():
                return call.result()
            return CallFailed(Fault.UNKNOWN, DROPPED if hush.done() else UNANSWERED)
        finally:
            for task in (call, hush, *late):
                task.cancel()
            with suppress(asyncio.CancelledError):
                await call


async def retry_unknown(
    line: TurnClient, method: str, args: Mapping[str, object], *, done: Fault | None = None
) -> CallOk | CallFailed:
    """Call what may be repeated, until it has an answer. Refused as `done` then, it was applied before."""
    result = await line.call(method, args)
    for pause in REPEAT_PAUSES:
        if isinstance(result, CallOk) or result.fault is not Fault.UNKNOWN:
            return result
        await asyncio.sleep(pause)
        result = await line.call(method, args)
        if isinstance(result, CallFailed):
            if result.fault is done:
                return CallOk({})
            result = replace(result, in_doubt=result.fault is not Fault.UNKNOWN)
    return result


def backoff(most: float) -> Iterator[float]:
    """Pauses that double, in seconds; together they are `most`."""
    pause = _FIRST_WAIT
    while most > 0:
        yield min(pause, most)
        most -= pause
        pause = min(2 * pause, _LONGEST_WAIT)
