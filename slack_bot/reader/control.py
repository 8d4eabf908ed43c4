"""Who may end a turn from outside, and how the reading side notices at once, whatever it waits for."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable
from contextlib import suppress
from typing import Any, Self, TypeVar

from ..errors import AgentError

T = TypeVar("T")


class Control:
    """The handle on a running turn, for those outside it."""

    def __init__(self) -> None:
        self._stopped_by: str | None = None
        self._changed = asyncio.Event()

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


class Leaving:
    """Watches for a reason to stop reading: the human stopped the turn, or nobody can be shown anything."""

    def __init__(self, control: Control, gone: asyncio.Event) -> None:
        self._control, self._gone = control, gone
        self.tasks: set[asyncio.Future[Any]] = set()

    @property
    def now(self) -> bool:
        """There is a reason."""
        return self.is_gone or self._control.stopped_by is not None

    @property
    def is_gone(self) -> bool:
        """Nobody can be shown anything: not even a task's id is waited for."""
        return self._gone.is_set()

    async def pause(self, seconds: float) -> None:
        """Wait `seconds`, or until there is a reason to leave."""
        if not self.now:
            await asyncio.wait(self.tasks, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)

    async def unless(self, work: Awaitable[T]) -> T | None:
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
        self.tasks = {asyncio.ensure_future(self._control.wait()), asyncio.ensure_future(self._gone.wait())}
        return self

    async def __aexit__(self, *_: object) -> None:
        for task in self.tasks:
            task.cancel()
        await asyncio.gather(*self.tasks, return_exceptions=True)
