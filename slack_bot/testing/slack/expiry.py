"""A timer that seals streams when their time is over. The workspace itself has no clock."""

from __future__ import annotations

import asyncio

from ...clock import Clock
from .workspace import Workspace

_MARGIN = 0.001  # seconds: a timer may ring a moment before its time


class Expiry:
    """One timer for one workspace, for the stream that ends next. Needs a running event loop."""

    def __init__(self, workspace: Workspace, clock: Clock) -> None:
        self._workspace, self._clock = workspace, clock
        self._timer: asyncio.TimerHandle | None = None

    def arm(self) -> None:
        """Look again when the next stream ends. To be called after every call of the Web API."""
        self.cancel()
        end = self._workspace.next_end()
        if end is not None:
            wait = max(0.0, end - self._clock.wall()) + _MARGIN
            self._timer = asyncio.get_running_loop().call_later(wait, self._ring)

    def cancel(self) -> None:
        """Look no more."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _ring(self) -> None:
        self._workspace.pass_time(self._clock.wall())
        self.arm()
