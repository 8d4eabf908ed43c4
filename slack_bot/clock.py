"""The clock; no other code reads the time."""

import time
from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Clock:
    """Seconds: `monotonic` never goes back, `wall` counts from 1970 in UTC."""

    monotonic: Callable[[], float]
    wall: Callable[[], float]


def system_clock() -> Clock:
    """The machine's clock; event loops have the same, but for a virtual one."""
    return Clock(monotonic=time.monotonic, wall=time.time)
