"""One line of a terminal that is written again and again. Elsewhere there is no such line."""

from __future__ import annotations

import os
from typing import TextIO

from .trace.table import cut

_USUAL = 80  # columns, where the terminal does not say


class LiveLine:
    """The line on `out`. It is never longer than the terminal is wide: half of it could not be taken back."""

    def __init__(self, out: TextIO) -> None:
        self._out = out
        self._is_shown = False
        self.is_terminal = out.isatty()

    def show(self, text: str) -> None:
        """The line says `text` now, or its beginning."""
        if self.is_terminal:
            self._out.write("\r" + cut(text, self._columns() - 1))
            self._out.flush()
            self._is_shown = True

    def wipe(self) -> None:
        """The line is not needed any more."""
        if self._is_shown:
            self._out.write("\r" + " " * (self._columns() - 1) + "\r")
            self._out.flush()
            self._is_shown = False

    def _columns(self) -> int:
        try:
            return os.get_terminal_size(self._out.fileno()).columns or _USUAL
        except (OSError, ValueError):
            return _USUAL
