"""What shows a reader that work goes on: the typing status under a thread, and the mark on a queued question.

Both are best effort and never in the way of the answer.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress

from ..clock import Clock
from ..settings.models import StreamSettings
from ..turn.buffer import TIMER_TOLERANCE
from .api import SlackApi
from .blocks import shorten
from .calls import CallFailed
from .faults import Fault
from .model import Destination

WAITING_REACTION = "hourglass_flowing_sand"

_TICK = 0.1  # least seconds between two checks
_CLOSE_TIMEOUT = 2.0  # seconds the answer waits for a status that is under way


class TypingStatus:
    """The status of one thread, for one turn. `on_shown` gets each that Slack took, or may have taken.

    Slack drops a status after two minutes and clears it when the app writes; one that arrives after a stream
    was opened stays as a second message (facts: Slack 4). So they are sent from a task of their own, and
    `close` must be called before anything is written: it waits for the call under way.
    """

    def __init__(
        self,
        api: SlackApi,
        place: Destination,
        settings: StreamSettings,
        clock: Clock,
        on_shown: Callable[[str], None] = lambda _: None,
    ) -> None:
        self._api, self._place, self._settings, self._clock = api, place, settings, clock
        self._on_shown = on_shown
        self._wanted: str | None = None
        self._sent: str | None = None
        self._sent_at: float | None = None
        self._task: asyncio.Task[None] | None = None
        self._is_closed = self._is_refused = self._is_calling = False

    def show(self, text: str) -> None:
        """Show `text`, now or when the last status is old enough; the latest wins. "" clears."""
        text = shorten(text, self._settings.status_chars)
        if self._is_closed or (text == (self._sent or "") and not self._is_stale()):
            self._wanted = None
            return
        self._wanted = text
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(self._send_wanted(), name=f"status {self._place.turn}")

    def show_again(self, text: str) -> None:
        """Show `text` although a status was closed: no message is open, and the app has written since."""
        self.reopen(forget=True)
        self.show(text)

    def due(self) -> float | None:
        """Seconds until `refresh` sends the status again; None: none is shown."""
        if self._wanted is not None:
            return self._settings.status_refresh  # it is sent in a moment
        if self._is_closed or not self._sent or self._sent_at is None:
            return None
        return max(0.0, self._settings.status_refresh - self._age())

    def refresh(self) -> None:
        """Send the status again if Slack is about to drop it. Cheap; may be called at any time."""
        if self._sent and self._wanted is None and self._is_stale():
            self.show(self._sent)

    @asynccontextmanager
    async def kept(self) -> AsyncIterator[None]:
        """The status stays while the block runs, then it is closed."""

        async def keep_fresh() -> None:
            while True:
                age = 0.0 if self._sent_at is None else self._age()
                await asyncio.sleep(max(_TICK, self._settings.status_refresh - age))
                self.refresh()

        keeper = asyncio.create_task(keep_fresh(), name=f"status kept {self._place.turn}")
        try:
            yield
        finally:
            keeper.cancel()
            with suppress(asyncio.CancelledError):
                await keeper
            await self.close()

    async def close(self) -> None:
        """Show no status any more. Returns when none is under way."""
        self._is_closed, self._wanted = True, None
        task, self._task = self._task, None
        if task is None or task.done():
            return
        if self._is_calling:
            await asyncio.wait({task}, timeout=_CLOSE_TIMEOUT)
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task

    def reopen(self, *, forget: bool) -> None:
        """Statuses may be shown again: no message is open. `forget`: the app has written since the last."""
        if self._is_closed and not self._is_refused:
            self._is_closed = False
            if forget:
                self._sent = self._sent_at = None

    async def clear(self) -> None:
        """Clear what may still be shown, where nothing was written after it. Call after `close`."""
        if self._sent:
            self._sent = None
            await self._call("")

    def _is_stale(self) -> bool:
        return self._sent_at is not None and self._age() >= self._settings.status_refresh - TIMER_TOLERANCE

    def _age(self) -> float:
        return self._clock.monotonic() - (self._sent_at or 0.0)

    async def _send_wanted(self) -> None:
        while self._wanted is not None:
            if self._sent_at is not None and self._age() < self._settings.status_interval:
                await asyncio.sleep(self._settings.status_interval - self._age())
            text, self._wanted = self._wanted, None
            if text is None:
                return
            self._sent, self._sent_at = text, self._clock.monotonic()
            self._is_calling = True
            await self._call(text)
            self._is_calling = False

    async def _call(self, text: str) -> None:
        place = self._place
        args = {"channel_id": place.channel, "thread_ts": place.thread_ts, "status": text}
        try:
            result = await self._api.call("assistant.threads.setStatus", args, patience=0)
        except asyncio.CancelledError:
            self._on_shown(text)
            raise
        if not isinstance(result, CallFailed) or (text and result.fault is Fault.UNKNOWN):
            self._on_shown(text)
        if isinstance(result, CallFailed) and result.is_final:  # not worth another attempt in this turn
            self._is_closed = self._is_refused = True
            self._sent = None


class QueuedReaction:
    """The mark on the message `ts` of a question that waits for its turn. `api` is that turn's.

    It is a reaction, because a status would be below the answer being written. Setting and removing it have
    budgets of their own, so the removal may come first. So one task does both in order.
    """

    def __init__(self, api: SlackApi, channel: str, ts: str) -> None:
        self._api = api
        self._args = {"channel": channel, "timestamp": ts, "name": WAITING_REACTION}
        self._is_over = False
        self._changed = asyncio.Event()

    def over(self) -> None:
        self._is_over = True
        self._changed.set()

    async def show(self) -> None:
        """Set the mark, and remove it when the wait is over. A failure is only logged."""
        try:
            while not self._is_over and not self._api.reserve("reactions.add", wake=self._changed.set):
                await self._change()
            if self._is_over:
                return
            added = await self._api.call("reactions.add", self._args)
            if isinstance(added, CallFailed) and added.fault is not Fault.UNKNOWN:
                return
            while not self._is_over:
                await self._change()
            await self._api.call("reactions.remove", self._args)
        finally:
            self._api.give_back()

    async def _change(self) -> None:
        await self._changed.wait()
        self._changed.clear()
