"""How long this process stood still, and when: on a busy machine what it sees comes late."""

from __future__ import annotations

import asyncio
import time

BEAT = 0.05
"""Seconds between two beats."""


class StandStills:
    """Beats while `beat` runs; `between` is what the beats of a span came late by."""

    def __init__(self) -> None:
        self._late: list[tuple[float, float]] = []  # when a beat came, and by how many seconds too late

    async def beat(self) -> None:
        """Until it is cancelled."""
        while True:
            began = time.monotonic()
            await asyncio.sleep(BEAT)
            self.came(time.time(), time.monotonic() - began)

    def came(self, at: float, took: float) -> None:
        """A beat, `took` seconds after the one before."""
        if took > 2 * BEAT:
            self._late.append((at, took - BEAT))

    def between(self, start: float, end: float) -> float:
        """Seconds. A stand-still that began before `start` counts whole: what was waited for began then."""
        return sum(late for at, late in self._late if at >= start and at - late <= end)

    def worst(self) -> float:
        """The longest one, in seconds."""
        return max((late for _, late in self._late), default=0.0)
