"""Large input is worked on in a thread: one call of `json.loads` would hold the loop."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import TypeVar, TypeVarTuple, Unpack

T = TypeVar("T")
Ts = TypeVarTuple("Ts")

LARGE = 32 * 1024
"""Characters that are worked on in the loop at most: a few tens of milliseconds."""
_THREADS = 2  # a second one, so that a small answer does not wait for a huge one

_executor = ThreadPoolExecutor(_THREADS, thread_name_prefix="agent-data")


async def offload(work: Callable[[Unpack[Ts]], T], *args: *Ts) -> T:
    """What `work(*args)` returns or raises, for input larger than `LARGE`.

    A cancelled call waits for the work too, so that no object is left half changed.
    """
    doing = asyncio.get_running_loop().run_in_executor(_executor, work, *args)
    try:
        return await asyncio.shield(doing)
    except asyncio.CancelledError:
        while not doing.done():
            with suppress(asyncio.CancelledError):
                await asyncio.wait({doing})
        doing.exception()  # retrieved, so that asyncio does not log it
        raise
