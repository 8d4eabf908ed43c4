"""Whether the store can still take questions.

A store may fail for good while the process lives: its file was removed, or its disk went away. The bot would
then be connected and answer nobody. Opening the store anew often helps. So after some failures in a row the
process ends, to be started again (`app.serve`).
"""

from __future__ import annotations

import asyncio

from ..errors import StoreError


class StoreHealth:
    """Counts failures in a row. After `limit` of them the store counts as broken, until one success."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._failures = 0
        self._broken = asyncio.Event()
        self._last: StoreError | None = None

    @property
    def is_broken(self) -> bool:
        """The last `limit` attempts, or more, failed."""
        return self._broken.is_set()

    async def broken(self) -> StoreError:
        """Wait until the store counts as broken. Returns what is to be said of it, with its last error."""
        await self._broken.wait()
        return StoreError(f"{self._failures} questions in a row could not be stored. {self._last}")

    def record_success(self) -> None:
        """The store took a question, or knew it already."""
        self._failures = 0
        self._broken.clear()

    def record_failure(self, error: StoreError) -> None:
        """The store failed to take a question."""
        self._failures += 1
        self._last = error
        if self._failures >= self._limit:
            self._broken.set()
