"""Runs the cases of a suite: on a tape, on the playground's agent in memory, or on a live agent.

Each time the whole bot runs against an emulated workspace, as in `replay`. In memory time is virtual: an
answer of a minute takes a second, and is the same each time. A live agent is asked in real time, with the
settings of the environment.

A language model does not answer the same way twice. With several runs a check passes if it passed in each of
them, and its rate says how often it did.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any, Protocol

import httpx

from ...clock import loop_clock
from ...errors import BotError
from ...observe.facts import AgentEvent, Fact
from ...settings.load import Settings, with_overrides
from ...testing import virtual_clock
from ...testing.agent.asgi_transport import AsgiTransport
from ...testing.harness import bot_settings, emulated
from ...testing.tape.tape import Recording, Tape
from ..capture.agent_address import masks_of
from ..capture.http_tap import rpc_call
from ..capture.redaction import Redactor
from ..replay.replay import ReplayQuestions, observe, replayed
from ..turn_log import TurnLog
from .cases import PLAYGROUND, Case, CheckRequest, Suite
from .checks import CheckResult
from .measures import Measures, measure

# -- results -------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class CaseRun:
    """One run of a case. `measures` is None and `error` a sentence where it could not be run."""

    seconds: float
    measures: Measures | None
    results: tuple[CheckResult, ...]
    error: str | None = None


@dataclass(frozen=True, slots=True)
class Finding:
    """The results of one check in all runs of its case."""

    request: CheckRequest
    results: tuple[CheckResult, ...]

    @property
    def ok(self) -> bool | None:
        """None: it never applied."""
        return self.passes == self.runs if self.runs else None

    @property
    def detail(self) -> str:
        """Of the first run that failed, else of the first run."""
        failed = (result.detail for result in self.results if result.ok is False)
        return next(failed, self.results[0].detail)

    @property
    def passes(self) -> int:
        """In how many runs it passed."""
        return sum(result.ok is True for result in self.results)

    @property
    def runs(self) -> int:
        """In how many runs it applied."""
        return sum(result.ok is not None for result in self.results)

    @property
    def rate(self) -> str:
        """`2/3 (67%)`."""
        return f"{self.passes}/{self.runs} ({self.passes / self.runs:.0%})" if self.runs else "n/a"


@dataclass(frozen=True, slots=True)
class CaseResult:
    """A case and its runs, one at least."""

    case: Case
    runs: tuple[CaseRun, ...]

    @property
    def findings(self) -> tuple[Finding, ...]:
        """In the order of the case's checks."""
        return tuple(
            Finding(request, tuple(run.results[number] for run in self.runs))
            for number, request in enumerate(self.case.checks)
        )

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
        applied = [finding.ok for finding in self.findings if finding.ok is not None]
        return f"{sum(applied)}/{len(applied)}"


@dataclass(frozen=True, slots=True)
class SuiteResult:
    """A suite and all results. `started` is in seconds since 1970; `skipped` are names and reasons."""

    suite: str
    target: str
    started: float
    seconds: float
    cases: tuple[CaseResult, ...]
    skipped: tuple[tuple[str, str], ...] = ()

    @property
    def findings(self) -> Iterator[Finding]:
        """Of all cases."""
        return (finding for case in self.cases for finding in case.findings)

    @property
    def passed(self) -> int:
        """Checks that passed in every run."""
        return sum(finding.ok is True for finding in self.findings)

    @property
    def failed(self) -> int:
        """Checks that failed in a run."""
        return sum(finding.ok is False for finding in self.findings)

    @property
    def not_applicable(self) -> int:
        """Checks that never applied."""
        return sum(finding.ok is None for finding in self.findings)

    @property
    def is_repeated(self) -> bool:
        """There were several runs of a case."""
        return any(len(case.runs) > 1 for case in self.cases)

    @property
    def verdict(self) -> str:
        """PASS or FAIL. A suite of which nothing passed fails."""
        return "PASS" if self.passed and not self.failed else "FAIL"

    @property
    def date(self) -> datetime:
        """When it started."""
        return datetime.fromtimestamp(self.started, UTC)


# -- targets -------------------------------------------------------------------------------------------------


class Target(Protocol):
    """An agent that is tested."""

    @property
    def name(self) -> str:
        """For the report."""

    def refusal(self, case: Case) -> str | None:
        """Why `case` cannot be run on it; None: it can."""

    def ask(self, case: Case) -> Measures:
        """Ask what `case` asks, and measure. Raises BotError where that cannot be done."""


class Served(Protocol):
    """An agent in memory."""

    asgi: Any

    async def aclose(self) -> None:
        """End it."""


@dataclass(frozen=True, slots=True)
class MemoryTarget:
    """The playground's agent, in memory and on virtual time. `build` makes it for a pace, None: its own."""

    name: str
    build: Callable[[float | None], Served]

    def refusal(self, case: Case) -> str | None:
        """It understands everything."""
        return None

    def ask(self, case: Case) -> Measures:
        """On virtual time."""
        return virtual_clock.run(self._ask(case))

    async def _ask(self, case: Case) -> Measures:
        served = self.build(case.pace)
        counter, log = QuestionCounter(AsgiTransport(served.asgi)), TurnLog(keeps_events=True)
        settings = bot_settings(case.around.settings)
        try:
            clock = virtual_clock.new_clock()
            asking = ReplayQuestions(follow_ups=case.then)
            seen = await observe(case.around, settings, clock, counter, log=log, asking=asking)
        finally:
            await served.aclose()
        return measure(log, seen.thread, seen.asked_at, counter.questions)


@dataclass(frozen=True, slots=True)
class LiveTarget:
    """The agent of `settings`, over the network. `is_ours`: it is the playground's, served elsewhere.

    What the bot learns of it in one case it knows in the next, as the running bot does. `limit`: seconds
    after which a question without an end is judged as it is.
    """

    name: str
    settings: Settings
    is_ours: bool = False
    limit: float | None = None
    profiles: dict[str, str] = field(default_factory=dict)

    @property
    def masks(self) -> Redactor:
        """Takes out of a report what the agent was sent: it may send it back."""
        return masks_of(self.settings)

    def refusal(self, case: Case) -> str | None:
        """Tapes, and what only the playground's agent understands, are left out."""
        if case.tape is not None:
            return "it plays a tape and asks no agent"
        if case.needs == PLAYGROUND and not self.is_ours:
            return "it asks for something that only the playground's agent understands"
        return None

    def ask(self, case: Case) -> Measures:
        """In real time."""
        return asyncio.run(self._ask(case))

    async def _ask(self, case: Case) -> Measures:
        overrides, log = case.around.settings, _RedactedLog(self.masks)
        settings = emulated(with_overrides(self.settings, overrides) if overrides else self.settings)
        asking = ReplayQuestions(case.then, limit=self.limit, profiles=self.profiles)
        seen = await observe(case.around, settings, loop_clock(), log=log, asking=asking)
        return measure(log, seen.thread, seen.asked_at, masks=self.masks)


class _RedactedLog(TurnLog):
    """Keeps what the agent sent without its secrets."""

    def __init__(self, masks: Redactor) -> None:
        super().__init__(keeps_events=True)
        self._masks = masks

    def take(self, fact: Fact) -> None:
        if isinstance(fact, AgentEvent):
            fact = replace(fact, raw=self._masks.value(fact.raw))
        super().take(fact)


class QuestionCounter(httpx.AsyncBaseTransport):
    """Counts the questions that go through `inner`."""

    def __init__(self, inner: httpx.AsyncBaseTransport) -> None:
        self._inner = inner
        self.questions = 0

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Count and pass on."""
        call = rpc_call(request)
        self.questions += call is not None and call.verb == "ask"
        return await self._inner.handle_async_request(request)

    async def aclose(self) -> None:
        """Close `inner`."""
        await self._inner.aclose()


# -- running -------------------------------------------------------------------------------------------------


class RunListener(Protocol):
    """Follows a suite that runs."""

    def begin(self, runs: int) -> None:
        """There will be so many runs."""

    def on_run(self, case: Case) -> None:
        """A run of `case` begins."""

    def on_result(self, result: CaseResult) -> None:
        """All runs of a case are done."""


def run_suite(
    suite: Suite,
    tapes: Mapping[str, Tape | Recording],
    target: Target,
    repeat: int = 1,
    listener: RunListener | None = None,
    started: float = 0.0,
) -> SuiteResult:
    """Run all cases of `suite` on `target`, each `repeat` times."""
    skipped = [(case.name, why) for case in suite.cases if (why := target.refusal(case)) is not None]
    cases = [case for case in suite.cases if case.name not in dict(skipped)]
    if listener:
        listener.begin(len(cases) * repeat)
    results = []
    for case in cases:
        runs = []
        for _ in range(repeat):
            if listener:
                listener.on_run(case)
            runs.append(run_case(case, target, tapes))
        results.append(CaseResult(case, tuple(runs)))
        if listener:
            listener.on_result(results[-1])
    seconds = sum(run.seconds for result in results for run in result.runs)
    return SuiteResult(suite.name, target.name, started, seconds, tuple(results), tuple(skipped))


def run_case(case: Case, target: Target, tapes: Mapping[str, Tape | Recording]) -> CaseRun:
    """One run of `case`: of its tape where it has one, else of `target`'s answer."""
    try:
        measures = target.ask(case) if case.tape is None else _play(case, tapes[case.tape])
    except BotError as error:
        failed = CheckResult(False, "could not be run")
        return CaseRun(0.0, None, (failed,) * len(case.checks), str(error))
    results = tuple(request.check.judge(measures, request.params) for request in case.checks)
    return CaseRun(measures.summary.end, measures, results)


def _play(case: Case, tape: Tape | Recording) -> Measures:
    counters = list[QuestionCounter]()

    def through(inner: httpx.AsyncBaseTransport) -> httpx.AsyncBaseTransport:
        counters.append(QuestionCounter(inner))
        return counters[0]

    log = TurnLog(keeps_events=True)
    seen = replayed(tape, case.around, log=log, through=through)
    return measure(log, seen.thread, seen.asked_at, counters[0].questions)
