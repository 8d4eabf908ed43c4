"""What the verbs show while they work: one line that is redrawn, and one line when Ctrl-C ends them."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TextIO

from rich.console import Console
from rich.live import Live
from rich.text import Text

from .tables import printable


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
