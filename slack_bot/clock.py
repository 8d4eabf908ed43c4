"""The one clock. `app` builds it and hands it to those that need it; nobody else reads the time.

Monotonic time is the event loop's own, so `replay`, which runs on a loop whose time is virtual, needs no
other clock than this one.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Clock:
    """Two readings of the time, both in seconds.

    `monotonic` never goes back and has no meaning of its own; `wall` is the time since 1970 in UTC.
    """

    monotonic: Callable[[], float]
    wall: Callable[[], float]


def loop_clock(wall: Callable[[], float] = time.time) -> Clock:
    """A clock on the running event loop."""
    return Clock(monotonic=lambda: asyncio.get_running_loop().time(), wall=wall)
