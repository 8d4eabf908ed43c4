"""The clock; no other code reads the time."""

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
    """A clock on the running event loop, which may have virtual time."""
    return Clock(monotonic=lambda: asyncio.get_running_loop().time(), wall=wall)
