"""The typing status under a thread, and the mark on a queued question: best effort."""

import asyncio
from contextlib import suppress

from ..clock import Clock
from .api import SlackApi
from .blocks import shorten
from .faults import CallFailed, Fault
from .turn_calls import TurnCalls

WAITING_REACTION = "hourglass_flowing_sand"

_CLOSE_TIMEOUT = 2.0  # seconds the answer waits for a status that is under way


class TypingStatus:
    """The status of one thread, for one turn.

    Slack drops a status after two minutes and clears it when the app writes; one that arrives after a stream
    was opened stays as a second message (facts: Slack 4). So a task keeps it fresh, and `close`, which waits
    for the call under way, comes before anything is written.
    """

    def __init__(self, calls: TurnCalls, api: SlackApi, clock: Clock) -> None:
        self._calls, self._api = calls, api
        self._settings, self._clock = calls.settings, clock
        self._wanted: str | None = None
        self._sent: str | None = None
        self._sent_at: float | None = None
        self._task: asyncio.Task[None] | None = None
        self._changed = asyncio.Event()
        self._is_closed = self._is_refused = self._is_calling = False

    def show(self, text: str) -> None:
        """Show `text`, now or when the last status is old enough; the latest wins. "" clears."""
        text = shorten(text, self._settings.status_chars)
        self._wanted = None if self._is_closed or text == (self._sent or "") else text
        if self._wanted is not None:
            self._changed.set()
            if self._task is None or self._task.done():
                self._task = asyncio.create_task(self._keep_shown(), name=f"status {self._calls.turn}")

    async def close(self) -> None:
        self._is_closed, self._wanted = True, None
        task, self._task = self._task, None
        if task is None or task.done():
            return
        if not self._is_calling:
            task.cancel()
            return
        await asyncio.wait({task}, timeout=_CLOSE_TIMEOUT)
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task

    def reopen(self, *, forget: bool) -> None:
        """No message is open any more. `forget`: the app has written since the last status."""
        if self._is_closed and not self._is_refused:
            self._is_closed = False
            if forget:
                self._sent = self._sent_at = None

    async def clear(self) -> None:
        """Where nothing was written after it. Call after `close`."""
        if self._sent:
            self._sent = None
            await self._call("")

    def _left(self, seconds: float) -> float:
        return 0.0 if self._sent_at is None else self._sent_at + seconds - self._clock.monotonic()

    async def _keep_shown(self) -> None:
        while not self._is_closed and (self._wanted is not None or self._sent):
            if self._wanted is None:
                self._changed.clear()
                try:
                    async with asyncio.timeout(self._left(self._settings.status_refresh)):
                        await self._changed.wait()
                except TimeoutError:
                    self._wanted = self._sent
            elif (left := self._left(self._settings.status_interval)) > 0:
                await asyncio.sleep(left)
            else:
                self._sent, self._sent_at = self._wanted, self._clock.monotonic()
                self._wanted, self._is_calling = None, True
                await self._call(self._sent)
                self._is_calling = False

    async def _call(self, text: str) -> None:
        if self._calls.lacks_thread:
            return
        session = "processing" if text else "active"
        try:
            call = self._calls.set_status(text)
            result = await self._api.call(call.method, call.args, patience=call.patience)
        except asyncio.CancelledError:
            self._calls.session = session
            raise
        if not isinstance(result, CallFailed) or (text and result.fault is Fault.UNKNOWN):
            self._calls.session = session
        if isinstance(result, CallFailed) and result.is_final:  # not worth another attempt in this turn
            self._is_closed = self._is_refused = True
            self._sent = None


_THERE = "already_reacted"


class QueuedReaction:
    """The mark on the message `ts` of a question that waits. `api` is its turn's.

    Setting and removing have budgets of their own, so one task does both in order. `is_shown`: another
    process may have set it.
    """

    def __init__(self, api: SlackApi, channel: str, ts: str, *, is_shown: bool = False) -> None:
        self._is_shown = is_shown
        self._api = api
        self._args = {"channel": channel, "timestamp": ts, "name": WAITING_REACTION}
        self._is_over = self._stays = False
        self._changed = asyncio.Event()

    def over(self, *, stays: bool = False) -> None:
        """`stays`: another process takes it away."""
        self._is_over, self._stays = True, stays
        self._changed.set()

    async def show(self) -> None:
        try:
            if not await self._add() and not self._is_shown:
                return
            while not self._is_over:
                await self._change()
            if not self._stays:
                await self._api.call("reactions.remove", self._args)
        finally:
            self._api.permits.give_back()

    async def _add(self) -> bool:
        """Whether it may be there now."""
        while not self._is_over and not self._api.permits.reserve("reactions.add", wake=self._changed.set):
            await self._change()
        if self._is_over:
            return False
        added = await self._api.call("reactions.add", self._args)
        return not isinstance(added, CallFailed) or added.fault is Fault.UNKNOWN or added.error == _THERE

    async def _change(self) -> None:
        await self._changed.wait()
        self._changed.clear()
