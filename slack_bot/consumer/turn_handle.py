"""How a running turn is ended from outside, and how its parts notice at once."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from contextlib import suppress
from typing import Any, TypeVar

from ..errors import AgentError

T = TypeVar("T")


class TurnHandle:
    """One turn's reasons to stop listening to the agent. None is taken back."""

    def __init__(self) -> None:
        self.stopped_by: str | None = None
        """The user who stopped the turn."""
        self.is_gone = False
        """Nothing can be shown any more: not even a task's id is waited for."""
        self.is_waiting_for_human = False
        """The agent waits for a sign-in; the turn sets it."""
        self._exit = asyncio.Event()
        self._callbacks: list[Callable[[], None]] = []

    @property
    def must_exit(self) -> bool:
        """There is a reason to stop listening."""
        return self._exit.is_set()

    def stop(self, user: str) -> None:
        """End the turn for `user`; the first caller counts."""
        self.stopped_by = self.stopped_by or user
        self._signal()

    def mark_answered(self) -> None:
        """Wait no longer for the sign-in."""
        self._signal()

    def mark_gone(self) -> None:
        """Nothing can be shown any more."""
        self.is_gone = True
        self._signal()

    def on_exit(self, callback: Callable[[], None]) -> None:
        """Call `callback` at each reason; at once if there is one."""
        self._callbacks.append(callback)
        if self.must_exit:
            callback()

    async def pause(self, seconds: float) -> None:
        """Wait `seconds`, or until there is a reason to leave."""
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._exit.wait()

    async def race(self, work: Coroutine[Any, Any, T]) -> T | None:
        """What `work` returns or raises; None, with `work` cancelled, if a reason to leave comes first."""
        if self.must_exit:
            work.close()
            return None
        task, leaving = asyncio.ensure_future(work), asyncio.ensure_future(self._exit.wait())
        try:
            await asyncio.wait({task, leaving}, return_when=asyncio.FIRST_COMPLETED)
            return task.result() if task.done() else None
        finally:
            leaving.cancel()
            task.cancel()
            with suppress(asyncio.CancelledError, AgentError):
                await task

    def _signal(self) -> None:
        self._exit.set()
        for callback in self._callbacks:
            callback()
