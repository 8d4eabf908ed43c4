"""One line of a terminal that is redrawn. Elsewhere there is no such line."""

from __future__ import annotations

from typing import TextIO

from rich.console import Console
from rich.live import Live
from rich.text import Text

from .trace.table import printable


class LiveLine:
    """The line on `out`, cut to the terminal's width."""

    def __init__(self, out: TextIO) -> None:
        self.is_terminal = out.isatty()
        console = Console(file=out, force_terminal=self.is_terminal)
        self._live = Live(
            console=console, auto_refresh=False, transient=True, redirect_stdout=False, redirect_stderr=False
        )

    def show(self, text: str) -> None:
        """The line is `text` now, or its beginning."""
        if self.is_terminal:
            self._live.start()
            self._live.update(Text(printable(text), no_wrap=True, overflow="ellipsis"), refresh=True)

    def wipe(self) -> None:
        """Take the line away, and show the cursor again."""
        self._live.stop()
