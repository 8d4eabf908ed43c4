"""What the verbs show while they work: one line that is redrawn, and one line when Ctrl-C ends them."""

import asyncio
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TextIO

from rich.console import Console
from rich.live import Live
from rich.text import Text

from .tables import printable

EXIT_INTERRUPTED = 130
"""Exit status after Ctrl-C, as a shell shows it."""


class LiveLine:
    """The line on `out`, cut to the terminal's width."""

    def __init__(self, out: TextIO) -> None:
        self._out, self.is_terminal = out, out.isatty()
        console = Console(file=out, force_terminal=self.is_terminal)
        self._live = Live(
            console=console, auto_refresh=False, transient=True, redirect_stdout=False, redirect_stderr=False
        )

    def show(self, text: str, *, is_due: bool = False) -> None:
        """The line is `text` now, or its beginning. Without a terminal, it is written if `is_due`."""
        if self.is_terminal:
            self._live.start()
            self._live.update(Text(printable(text), no_wrap=True, overflow="ellipsis"), refresh=True)
        elif is_due:
            self._out.write(text + "\n")
            self._out.flush()

    def wipe(self) -> None:
        self._live.stop()


@contextmanager
def told_if_interrupted(what: Callable[[], str]) -> Iterator[None]:
    """Inside, Ctrl-C says `what` on stderr, asked at that time, and goes on its way."""
    try:
        yield
    except KeyboardInterrupt:
        sys.stderr.write(f"interrupted; {what()}\n")
        raise


@contextmanager
def ended_by_ctrl_c() -> Iterator[asyncio.Event]:
    """Inside, in a running loop, the first Ctrl-C sets the event, and whoever waits for it shows what came
    until then. A second one goes its way. Only the main thread hears of either.
    """
    ended, loop = asyncio.Event(), asyncio.get_running_loop()
    if threading.current_thread() is not threading.main_thread():
        yield ended
        return
    before = signal.getsignal(signal.SIGINT)

    def end(*_: object) -> None:
        signal.signal(signal.SIGINT, before)
        loop.call_soon_threadsafe(ended.set)

    signal.signal(signal.SIGINT, end)
    try:
        yield ended
    finally:
        signal.signal(signal.SIGINT, before)
