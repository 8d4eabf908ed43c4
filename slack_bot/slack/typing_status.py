"""The typing status under a thread: best effort, never in the way of the answer.

Slack drops a status after two minutes and clears it when the app writes; one that arrives after a stream was
opened stands there as a second message (facts: Slack 4). So statuses are sent from a short task of their own,
the latest wins, and whoever is about to write closes the line first and waits until nothing is under way.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress

from ..clock import Clock
from ..settings.models import StreamSettings
from ..turn.buffer import TIMER_TOLERANCE
from .api import CallFailed, SlackApi
from .faults import Fault
from .orders import Destination

_TICK = 0.1  # seconds between two looks at least
_LAST_CALL = 2.0  # seconds the answer waits for a status that is under way; a visible answer is worth more


class TypingStatus:
    """The status of one thread, for one turn. `was_shown` is told of each that Slack took, or may have."""

    def __init__(
        self,
        api: SlackApi,
        place: Destination,
        settings: StreamSettings,
        clock: Clock,
        was_shown: Callable[[str], None] = lambda _: None,
    ) -> None:
        self._api, self._place, self._settings, self._clock = api, place, settings, clock
        self._was_shown = was_shown
        self._wanted: str | None = None
        self._sent: str | None = None
        self._sent_at: float | None = None
        self._task: asyncio.Task[None] | None = None
        self._closed = self._refused = False
        self._under_way = False

    def show(self, text: str) -> None:
        """Show `text`, now or when the last status is old enough. "" clears."""
        text = _cut(text, self._settings.status_chars)
        if self._closed or (text == (self._sent or "") and not self._is_stale()):
            self._wanted = None
            return
        self._wanted = text
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(self._send_wanted(), name=f"status {self._place.turn}")

    def due(self) -> float | None:
        """Seconds until `keep` sends the status again; None: none is shown."""
        if self._wanted is not None:
            return self._settings.status_refresh  # it is sent in a moment
        if self._closed or not self._sent or self._sent_at is None:
            return None
        return max(0.0, self._settings.status_refresh - self._age())

    def keep(self) -> None:
        """Send the status again if Slack is about to drop it. Cheap; may be called at any time."""
        if self._sent and self._wanted is None and self._is_stale():
            self.show(self._sent)

    @asynccontextmanager
    async def kept(self) -> AsyncIterator[None]:
        """What is shown stands while the block goes on, however long that is; then it is closed."""
        keeper = asyncio.create_task(self._keep_on(), name=f"status kept {self._place.turn}")
        try:
            yield
        finally:
            keeper.cancel()
            with suppress(asyncio.CancelledError):
                await keeper
            await self.close()

    async def _keep_on(self) -> None:
        while True:
            age = 0.0 if self._sent_at is None else self._age()
            await asyncio.sleep(max(_TICK, self._settings.status_refresh - age))
            self.keep()

    async def close(self) -> None:
        """No status any more. Returns when none is under way."""
        self._closed, self._wanted = True, None
        task, self._task = self._task, None
        if task is None or task.done():
            return
        if self._under_way:
            await asyncio.wait({task}, timeout=_LAST_CALL)
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task

    def reopen(self, *, forget: bool) -> None:
        """Statuses may be shown again: nothing is open that one would stand beside.

        `forget`: what was shown last is gone, because the app has written since.
        """
        if self._closed and not self._refused:
            self._closed = False
            if forget:
                self._sent = self._sent_at = None

    async def clear(self) -> None:
        """Take away what may still stand there, where nothing was written after it. Call after `close`."""
        if self._sent:
            self._sent = None
            await self._call("")

    def _is_stale(self) -> bool:
        return self._sent_at is not None and self._age() >= self._settings.status_refresh - TIMER_TOLERANCE

    def _is_due(self) -> bool:
        return self._sent_at is None or self._age() >= self._settings.status_interval

    def _age(self) -> float:
        return self._clock.monotonic() - (self._sent_at or 0.0)

    async def _send_wanted(self) -> None:
        while self._wanted is not None:
            if not self._is_due():
                await asyncio.sleep(self._settings.status_interval - self._age())
            text, self._wanted = self._wanted, None
            if text is None:
                return
            self._sent, self._sent_at = text, self._clock.monotonic()
            self._under_way = True
            await self._call(text)
            self._under_way = False

    async def _call(self, text: str) -> None:
        place = self._place
        args = {"channel_id": place.channel, "thread_ts": place.thread_ts, "status": text}
        try:
            result = await self._api.call("assistant.threads.setStatus", args, patience=0)
        except asyncio.CancelledError:
            self._was_shown(text)
            raise
        if not isinstance(result, CallFailed) or (text and result.fault is Fault.UNKNOWN):
            self._was_shown(text)
        if isinstance(result, CallFailed) and result.fault not in (Fault.LATER, Fault.UNKNOWN):
            self._closed, self._refused, self._sent = (
                True,
                True,
                None,
            )  # refused: not worth another attempt in this turn


def _cut(text: str, limit: int) -> str:
    return text if len(text) <= limit else text[: limit - 1] + "…"
