"""Work on what an agent sent, in a thread where it is much, so that the loop serves all others meanwhile.

The work stays linear in its input, and is done by Python for the most part, which lets the loop run every few
milliseconds. Only what C does in one call holds the loop, `json.loads` of one event for the longest.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import TypeVar, TypeVarTuple, Unpack

T = TypeVar("T")
Ts = TypeVarTuple("Ts")

LARGE = 32 * 1024
"""Characters that are worked off in the loop at most: a few tens of milliseconds, whatever they are."""
_THREADS = 2  # only one runs at a time; a second one, so that a small answer does not wait for a huge one

_executor = ThreadPoolExecutor(_THREADS, thread_name_prefix="agent-data")


async def offload(size: int, work: Callable[[Unpack[Ts]], T], *args: *Ts) -> T:
    """What `work(*args)` gives or raises; `size` is that of its input, in characters.

    Does not return before the work is done, not even when cancelled: nobody finds its objects half changed.
    """
    if size <= LARGE:
        return work(*args)
    doing = asyncio.get_running_loop().run_in_executor(_executor, work, *args)
    try:
        return await asyncio.shield(doing)
    except asyncio.CancelledError:
        while not doing.done():
            with suppress(asyncio.CancelledError):
                await asyncio.wait({doing})
        doing.exception()  # it is nobody's any more
        raise
