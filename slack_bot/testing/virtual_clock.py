"""An event loop whose time is virtual: when nothing is ready, its clock jumps to the next timer.

Five minutes take milliseconds, and two runs of the same input are equal. Sockets, subprocesses and threads do
not work on this loop: file descriptors are polled without waiting; work for a thread is done at once.
"""

import asyncio
import functools
import selectors
import threading
from collections.abc import Callable, Coroutine
from contextvars import Context
from typing import Any, ParamSpec, TypeVar, TypeVarTuple, Unpack

from ..clock import Clock

P = ParamSpec("P")
T = TypeVar("T")
Ts = TypeVarTuple("Ts")

WALL_ZERO = 1_700_000_000.0
"""Wall time at virtual second 0, in seconds since 1970: a fixed day, so that replays are repeatable."""


class Deadlock(RuntimeError):
    """Everything waits and no timer is set; the message names the waiting tasks."""


class VirtualLoop(asyncio.SelectorEventLoop):
    """A selector event loop on virtual time, which begins at `start` seconds."""

    def __init__(self, start: float = 0.0) -> None:
        self._virtual = start
        self._owner = threading.get_ident()
        super().__init__(_JumpingSelector(self))

    def time(self) -> float:
        return self._virtual

    def call_soon_threadsafe(
        self, callback: Callable[[Unpack[Ts]], object], *args: *Ts, context: Context | None = None
    ) -> asyncio.Handle:
        """As `call_soon`, from this loop's own thread only."""
        if threading.get_ident() != self._owner:
            raise RuntimeError("a loop with virtual time cannot be called from another thread")
        return self.call_soon(callback, *args, context=context)

    def run_in_executor(
        self, executor: Any, func: Callable[[Unpack[Ts]], T], *args: *Ts
    ) -> asyncio.Future[T]:
        """Run `func` in the loop's next step, without a thread."""

        async def work() -> T:
            return func(*args)

        return self.create_task(work())

    def jump(self, seconds: float | None) -> None:
        """It is so many seconds later. None: nothing would ever happen."""
        if seconds is None:
            tasks = asyncio.all_tasks(self)
            names = sorted(f"{t.get_name()} in {getattr(t.get_coro(), '__qualname__', '?')}" for t in tasks)
            waiting = ", ".join(names) or "no task"
            raise Deadlock(f"nothing is ready and no timer is set; waiting: {waiting}")
        self._virtual += seconds


class _JumpingSelector(selectors.SelectSelector):
    """Never waits: its loop jumps over the time."""

    def __init__(self, loop: VirtualLoop) -> None:
        super().__init__()
        self._loop = loop

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        has_files = len(self.get_map()) > 1  # the first one is the loop's own, which nobody writes to
        ready = super().select(0) if has_files else []
        if not ready and (timeout is None or timeout > 0):
            self._loop.jump(timeout)
        return ready


def run(main: Coroutine[Any, Any, T], *, start: float = 0.0) -> T:
    """Run `main` to its end on virtual time and close the loop, as `asyncio.run` does."""
    with asyncio.Runner(loop_factory=lambda: VirtualLoop(start)) as runner:
        return runner.run(main)


def on_virtual_time(test: Callable[P, Coroutine[Any, Any, None]]) -> Callable[P, None]:
    """Run an async test on a loop of its own whose time is virtual."""

    @functools.wraps(test)
    def run_test(*args: P.args, **kwargs: P.kwargs) -> None:
        run(test(*args, **kwargs))

    return run_test


def new_clock(wall_zero: float = WALL_ZERO) -> Clock:
    """A clock for a virtual loop: wall time is `wall_zero` at virtual second 0 and moves with it."""

    def now() -> float:
        return asyncio.get_running_loop().time()

    return Clock(monotonic=now, wall=lambda: wall_zero + now())
