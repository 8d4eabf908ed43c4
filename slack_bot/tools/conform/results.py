"""What the runs of a suite came to. A check passes if it passed in each run in which it applied."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from .cases import Case
from .checks import Check, CheckResult
from .measures import Measures


@dataclass(frozen=True, slots=True)
class CaseRun:
    """One run of a case. `measures` is None and `error` a sentence where it could not be run."""

    seconds: float
    measures: Measures | None
    results: tuple[CheckResult, ...]
    error: str | None = None


@dataclass(frozen=True, slots=True)
class Finding:
    """The results of one check in all runs of its case: in how many it passed, and in how many it applied."""

    check: Check
    detail: str
    passes: int
    runs: int

    @property
    def ok(self) -> bool | None:
        """It passed wherever it applied; None: it never applied."""
        return self.passes == self.runs if self.runs else None

    @property
    def rate(self) -> str:
        """`2/3 (67%)`."""
        return f"{self.passes}/{self.runs} ({self.passes / self.runs:.0%})" if self.runs else "n/a"

    @property
    def line(self) -> str:
        """Name, detail, and the rate of several runs."""
        rate = f" [{self.rate}]" if self.runs > 1 else ""
        return f"{self.check.name}: {self.detail}{rate}"


@dataclass(frozen=True, slots=True)
class CaseResult:
    """A case and its runs, one at least."""

    case: Case
    runs: tuple[CaseRun, ...]

    @property
    def findings(self) -> list[Finding]:
        """In the order of the case's checks."""
        return [
            _finding(check, [run.results[number] for run in self.runs])
            for number, check in enumerate(self.case.checks)
        ]

    @property
    def shown(self) -> CaseRun:
        """The run whose figures are reported: the first that failed, else the first."""
        failed = (run for run in self.runs if run.error or any(each.ok is False for each in run.results))
        return next(failed, self.runs[0])

    @property
    def verdict(self) -> str:
        """PASS, FAIL or ERROR."""
        if any(run.error for run in self.runs):
            return "ERROR"
        return "FAIL" if any(finding.ok is False for finding in self.findings) else "PASS"

    @property
    def checks(self) -> str:
        """How many checks passed, of those that applied: `5/6`."""
        oks = [finding.ok for finding in self.findings]
        return f"{oks.count(True)}/{len(oks) - oks.count(None)}"

    @property
    def took(self) -> str:
        """How long the shown run lasted."""
        return duration(self.shown.seconds)


def _finding(check: Check, results: Sequence[CheckResult]) -> Finding:
    oks = [result.ok for result in results]
    shown = results[oks.index(False) if False in oks else 0]
    return Finding(check, shown.detail, oks.count(True), len(oks) - oks.count(None))


@dataclass(frozen=True, slots=True)
class SuiteResult:
    """A suite and all results. `started` is in seconds since 1970; `skipped` are names and reasons."""

    suite: str
    target: str
    started: float
    seconds: float
    cases: tuple[CaseResult, ...]
    skipped: tuple[tuple[str, str], ...] = ()

    def count(self, ok: bool | None) -> int:
        """How many checks passed in every run, failed in one, or never applied (None)."""
        return sum(finding.ok is ok for case in self.cases for finding in case.findings)

    @property
    def verdict(self) -> str:
        """PASS or FAIL. A suite of which nothing passed fails."""
        return "PASS" if self.count(True) and not self.count(False) else "FAIL"

    @property
    def date(self) -> datetime:
        """When it started."""
        return datetime.fromtimestamp(self.started, UTC)


def duration(seconds: float) -> str:
    """12.3s, or 1m5s."""
    if round(seconds, 1) < 60:
        return f"{seconds:.1f}s"
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes}m{rest}s"
