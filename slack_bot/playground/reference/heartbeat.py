"""A heartbeat while no other event is sent, as in a long tool call.

CAIPE's supervisor writes it into the stream of its answer (facts: CAIPE 2, 3.1). Here it is a status of the
task.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager


class Heartbeat:
    """Calls `beat` with the seconds of silence so far, every `interval` seconds of it; 0: never."""

    def __init__(self, interval: float, beat: Callable[[float], Awaitable[None]]) -> None:
        self._interval = interval
        self._beat = beat
        self._sign = asyncio.Event()

    def touch(self) -> None:
        """An event was sent."""
        self._sign.set()

    @asynccontextmanager
    async def beating(self) -> AsyncIterator[None]:
        """Watch for silence while the context is open."""
        if not self._interval:
            yield
            return
        watching = asyncio.create_task(self._watch(), name="heartbeat")
        try:
            yield
        finally:
            watching.cancel()
            await asyncio.gather(watching, return_exceptions=True)

    async def _watch(self) -> None:
        silent = 0.0
        while True:
            try:
                async with asyncio.timeout(self._interval):
                    await self._sign.wait()
            except TimeoutError:
                silent += self._interval
                await self._beat(silent)
            else:
                silent = 0.0
                self._sign.clear()
