"""PURE. What an examination found: case by case, check by check, in one run or several.

A language model does not answer the same way twice. With several runs a check passes if it passed in each of
them, and its rate says how often it did.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime

from ...testing.tape.json_file import Json
from .cases import Case, CheckRequest
from .checks import CheckResult
from .measures import Measures


@dataclass(frozen=True, slots=True)
class CaseRun:
    """One run of a case. `seen` is None and `error` a sentence where it could not be run."""

    seconds: float
    seen: Measures | None
    verdicts: tuple[CheckResult, ...]
    error: str | None = None


@dataclass(frozen=True, slots=True)
class Finding:
    """What became of one check in all runs of its case. `detail` is that of the first run that failed."""

    wanted: CheckRequest
    verdicts: tuple[CheckResult, ...]

    @property
    def ok(self) -> bool | None:
        """None where it never applied."""
        said = [verdict.ok for verdict in self.verdicts if verdict.ok is not None]
        return all(said) if said else None

    @property
    def detail(self) -> str:
        """What was found."""
        failed = (verdict.detail for verdict in self.verdicts if verdict.ok is False)
        return next(failed, self.verdicts[0].detail)

    @property
    def passes(self) -> int:
        """In how many runs it held, where it applied."""
        return sum(verdict.ok is True for verdict in self.verdicts)

    @property
    def runs(self) -> int:
        """In how many runs it applied."""
        return sum(verdict.ok is not None for verdict in self.verdicts)

    @property
    def rate(self) -> str:
        """As it is printed."""
        return f"{self.passes}/{self.runs} ({self.passes / self.runs:.0%})" if self.runs else "n/a"


@dataclass(frozen=True, slots=True)
class Examined:
    """A case and its runs, one at least."""

    case: Case
    runs: tuple[CaseRun, ...]

    @property
    def findings(self) -> tuple[Finding, ...]:
        """In the order of the case's checks."""
        return tuple(
            Finding(wanted, tuple(run.verdicts[number] for run in self.runs))
            for number, wanted in enumerate(self.case.checks)
        )

    @property
    def shown(self) -> CaseRun:
        """The run whose figures are shown: the first that failed, else the first."""
        failed = (run for run in self.runs if run.error or any(v.ok is False for v in run.verdicts))
        return next(failed, self.runs[0])

    @property
    def verdict(self) -> str:
        """PASS, FAIL or ERROR."""
        if any(run.error for run in self.runs):
            return "ERROR"
        return "FAIL" if any(finding.ok is False for finding in self.findings) else "PASS"

    @property
    def seconds(self) -> float:
        """Of the run that is shown."""
        return self.shown.seconds


@dataclass(frozen=True, slots=True)
class Examination:
    """A suite and all that was found. `started` is wall time in seconds since 1970."""

    suite: str
    target: str
    started: float
    seconds: float
    cases: tuple[Examined, ...]
    skipped: tuple[tuple[str, str], ...] = field(default=())

    @property
    def findings(self) -> Iterator[Finding]:
        """Of all cases."""
        return (finding for case in self.cases for finding in case.findings)

    @property
    def passed(self) -> int:
        """Checks that held in every run."""
        return sum(finding.ok is True for finding in self.findings)

    @property
    def failed(self) -> int:
        """Checks that did not."""
        return sum(finding.ok is False for finding in self.findings)

    @property
    def idle(self) -> int:
        """Checks that never applied."""
        return sum(finding.ok is None for finding in self.findings)

    @property
    def repeated(self) -> bool:
        """Whether there were several runs a case."""
        return any(len(case.runs) > 1 for case in self.cases)

    @property
    def verdict(self) -> str:
        """PASS or FAIL. Where nothing was examined nothing was shown."""
        return "PASS" if self.passed and not self.failed else "FAIL"

    @property
    def date(self) -> datetime:
        """When it began."""
        return datetime.fromtimestamp(self.started, UTC)


def as_json(found: Examination) -> Json:
    """The object of `conform --json`."""
    return {
        "suite": found.suite,
        "target": found.target,
        "date": found.date.isoformat(timespec="seconds"),
        "seconds": round(found.seconds, 3),
        "verdict": found.verdict,
        "passed": found.passed,
        "failed": found.failed,
        "not_applicable": found.idle,
        "cases": [_case(case) for case in found.cases],
        "skipped": [{"name": name, "reason": why} for name, why in found.skipped],
    }


def _case(examined: Examined) -> Json:
    run = examined.shown
    return {
        "name": examined.case.name,
        "query": examined.case.query,
        "result": examined.verdict,
        "error": run.error,
        "seconds": round(run.seconds, 3),
        "runs": len(examined.runs),
        "checks": [_finding(finding) for finding in examined.findings],
        "measures": None if run.seen is None else _measures(run.seen),
    }


def _finding(finding: Finding) -> Json:
    words = {True: "pass", False: "fail", None: "n/a"}
    return {
        "name": finding.wanted.check.name,
        "about": finding.wanted.about,
        "result": words[finding.ok],
        "detail": finding.detail,
        "passes": finding.passes,
        "runs": finding.runs,
    }


def _measures(seen: Measures) -> Json:
    return {
        "outcomes": list(seen.outcomes),
        "total_chars": seen.total,
        "streamed_chars": seen.streamed,
        "stopped_chars": seen.stopped,
        "append_text_calls": seen.append_calls,
        "final_chunk_count": seen.final_chunks,
        "tool_counts": dict(seen.tools),
        "event_counts": seen.result["events"],
        "streaming_final_answer": seen.latched,
        "stream_opened": seen.opened,
        "plan_steps": seen.plan_steps,
        "already_streamed": seen.already_streamed,
        "delivery": seen.delivery,
        "first_visible": seen.summary.first_visible,
        "longest_gap": seen.result["longest_gap"],
        "burst_share": seen.summary.burst_share,
        "live_share": seen.result["live_share"],
    }
