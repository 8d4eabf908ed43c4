"""What `conform` shows while it runs, on stderr: a bar on a terminal, a line a case elsewhere."""

from __future__ import annotations

from typing import TextIO

from ..live_line import LiveLine
from .cases import Case
from .findings import Examined
from .report import duration

_WIDTH = 24
_WORDS = {True: "pass", False: "FAIL", None: "n/a"}


class Tally:
    """Counts runs. `verbose`: every check with what was found. `out` of None: nothing at all."""

    def __init__(self, verbose: bool = False, out: TextIO | None = None) -> None:
        self._out, self._verbose = out, verbose
        self._total = self._done = 0
        self._line = None if out is None else LiveLine(out)

    def begin(self, runs: int) -> None:
        """So many runs there will be."""
        self._total = runs

    def asking(self, case: Case) -> None:
        """The next run begins."""
        self._bar(f"{case.name}: {' '.join(case.query.split())}")
        self._done += 1

    def examined(self, found: Examined) -> None:
        """A case is done."""
        self._wipe()
        if self._line is None or (self._line.is_terminal and not self._verbose):
            return
        self._say(f"[{self._done}/{self._total}] {found.verdict} {found.case.name} {duration(found.seconds)}")
        if self._verbose:
            for finding in found.findings:
                rate = f" [{finding.rate}]" if finding.runs > 1 else ""
                self._say(f"    {_WORDS[finding.ok]:4} {finding.wanted.check.name}: {finding.detail}{rate}")

    def stopped(self) -> str:
        """It ends here, before its end: where."""
        self._wipe()
        return f"it was at {self._done} of {self._total}"

    def _bar(self, text: str) -> None:
        if self._line is not None:
            full = _WIDTH * self._done // max(1, self._total)
            self._line.show(f"[{'#' * full}{'.' * (_WIDTH - full)}] {self._done}/{self._total} {text}")

    def _say(self, line: str) -> None:
        if self._out is not None:
            self._out.write(line + "\n")
            self._out.flush()

    def _wipe(self) -> None:
        if self._line is not None:
            self._line.wipe()
