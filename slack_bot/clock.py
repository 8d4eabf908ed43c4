"""The clock. `app` builds it and passes it on; no other code reads the time.

Monotonic time is the event loop's, so `replay`, whose loop has virtual time, uses this clock too.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Clock:
    """Seconds: `monotonic` never goes back, `wall` counts from 1970 in UTC."""

    monotonic: Callable[[], float]
    wall: Callable[[], float]


def loop_clock(wall: Callable[[], float] = time.time) -> Clock:
    """A clock on the running event loop."""
    return Clock(monotonic=lambda: asyncio.get_running_loop().time(), wall=wall)
