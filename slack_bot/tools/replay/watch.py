"""A replay in real time takes as long as it took: what can be read so far is shown on the way."""

from __future__ import annotations

from typing import TextIO

from ..live_line import LiveLine
from ..turn_log import Entry, LoggedTurn, TextChange, TurnLog


class WatchedLog(TurnLog):
    """A log that shows on a terminal how much of the answer can be read. Elsewhere it shows nothing."""

    def __init__(self, out: TextIO) -> None:
        super().__init__(self._show)
        self._line = LiveLine(out)
        self._began: float | None = None

    def _show(self, turn: LoggedTurn, entry: Entry) -> None:
        if not isinstance(entry, TextChange):
            return
        self._began = entry.at if self._began is None else self._began
        if self._line.is_terminal:
            last = " ".join(self.text[-200:].split())[-50:]
            seconds, chars = entry.at - self._began, entry.chars
            self._line.show(f"{seconds:7.1f} s  {chars:,} characters can be read  ...{last}")

    def end(self) -> None:
        """Wipe the line."""
        self._line.wipe()
