"""Who may end a turn from outside, and how the reading side notices at once, whatever it waits for."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable
from contextlib import suppress
from typing import Any, Self, TypeVar

from ..errors import AgentError

T = TypeVar("T")


class TurnHandle:
    """The handle on a running turn, for those outside it."""

    def __init__(self) -> None:
        self._stopped_by: str | None = None
        self._changed, self._answered = asyncio.Event(), asyncio.Event()
        self.is_waiting_for_human = False
        """The agent waits for a sign-in; the turn tells."""

    @property
    def stopped_by(self) -> str | None:
        """Who stopped the turn, if anybody did."""
        return self._stopped_by

    def stop(self, user: str) -> None:
        """End the turn for `user`. May be called at any time, more than once; the first caller counts."""
        if self._stopped_by is None:
            self._stopped_by = user
            self._changed.set()

    async def wait(self) -> None:
        """Return when the turn has been stopped."""
        await self._changed.wait()

    @property
    def is_answered(self) -> bool:
        """The human wrote while the agent waited for a sign-in: that goes to the agent, in the next turn."""
        return self._answered.is_set()

    def answered(self) -> None:
        """Wait no longer for the sign-in."""
        self._answered.set()

    async def wait_for_answer(self) -> None:
        """Return when that has happened."""
        await self._answered.wait()


class ExitSignals:
    """Watches for a reason to stop reading: the human stopped the turn or has answered the agent already, or
    nobody can be shown anything."""

    def __init__(self, control: TurnHandle, gone: asyncio.Event) -> None:
        self._control, self._gone = control, gone
        self.tasks: set[asyncio.Future[Any]] = set()

    @property
    def is_set(self) -> bool:
        """There is a reason."""
        return self.is_gone or self._control.is_answered or self._control.stopped_by is not None

    @property
    def is_gone(self) -> bool:
        """Nobody can be shown anything: not even a task's id is waited for."""
        return self._gone.is_set()

    async def pause(self, seconds: float) -> None:
        """Wait `seconds`, or until there is a reason to leave."""
        if not self.is_set:
            await asyncio.wait(self.tasks, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)

    async def race(self, work: Awaitable[T]) -> T | None:
        """What `work` gives or raises; None, with `work` cancelled, when there is a reason to leave first."""
        doing = asyncio.ensure_future(work)
        try:
            await asyncio.wait({doing, *self.tasks}, return_when=asyncio.FIRST_COMPLETED)
            return doing.result() if doing.done() else None
        finally:
            doing.cancel()
            with suppress(asyncio.CancelledError, AgentError):
                await doing

    async def __aenter__(self) -> Self:
        reasons = (self._control.wait(), self._control.wait_for_answer(), self._gone.wait())
        self.tasks = {asyncio.ensure_future(reason) for reason in reasons}
        return self

    async def __aexit__(self, *_: object) -> None:
        for task in self.tasks:
            task.cancel()
        await asyncio.gather(*self.tasks, return_exceptions=True)
