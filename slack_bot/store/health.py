"""Whether the store can still take questions.

A store may fail for good while the process lives: its file or its disk was removed. The bot would then be
connected and answer no question. Opening the store again often helps. So after some failures in a row the
process ends, to be started again (`app.serve`).
"""

from __future__ import annotations

import asyncio

from ..errors import StoreError


class StoreHealth:
    """Counts failures in a row. After `limit` of them the store is broken, until one success."""

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
        """Wait until the store is broken. Returns an error with the last one's text."""
        await self._broken.wait()
        return StoreError(f"{self._failures} questions in a row could not be stored. {self._last}")

    def record_success(self) -> None:
        """The store accepted a question, or knew it already."""
        self._failures = 0
        self._broken.clear()

    def record_failure(self, error: StoreError) -> None:
        """The store failed to accept a question."""
        self._failures += 1
        self._last = error
        if self._failures >= self._limit:
            self._broken.set()
