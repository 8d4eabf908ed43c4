"""How much work a piece of code is, told without a clock."""

import sys
from collections.abc import Callable
from types import FrameType


def work(job: Callable[[], object]) -> int:
    """How many lines of code `job` runs: the same on every machine."""
    lines = 0

    def trace(frame: FrameType, event: str, arg: object) -> object:
        nonlocal lines
        lines += event == "line"
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        job()
    finally:
        sys.settrace(before)
    return lines
