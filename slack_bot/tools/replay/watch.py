"""A replay in real time takes as long as it took: what stands in the thread so far is told on the way."""

from __future__ import annotations

from typing import TextIO

from ..live_line import LiveLine
from .collector import Collector


class Watching(Collector):
    """A witness that says on a terminal how much of the answer can be read. Elsewhere it says nothing."""

    def __init__(self, out: TextIO) -> None:
        super().__init__()
        self._line = LiveLine(out)
        self._began: float | None = None

    def look(self, at: float, visible: str) -> None:
        """The answer text that stands in the thread at `at`, in monotonic seconds."""
        super().look(at, visible)
        self._began = at if self._began is None else self._began
        if self._line.is_terminal:
            last = " ".join(visible[-200:].split())[-50:]
            self._line.show(f"{at - self._began:7.1f} s  {len(visible):,} characters can be read  ...{last}")

    def end(self) -> None:
        """The line is not needed any more."""
        self._line.wipe()
