"""`slack-bot conform`: does an agent's answer get into Slack as it should? A suite of cases says so.

The suite `agent` suits any agent; `caipe` has the four questions and the 22 checks of the CAIPE project's own
suite; `extended` adds what that one does not look at.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import math
import sys
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, asynccontextmanager, suppress
from dataclasses import dataclass, field, replace
from itertools import product
from pathlib import Path
from typing import Any, TypeAlias

from rich.console import Console

from ...agents.wire.auth import bare
from ...clock import system_clock
from ...errors import BotError, UnreadableInput
from ...http_client import Request, Response
from ...observe.facts import AgentEvent, Fact
from ...settings.load import Settings, load
from ...testing import virtual_clock
from ...testing.agent.asgi_transport import AsgiTransport
from ...testing.harness import bot_settings, emulated
from ...testing.overrides import with_overrides
from ...testing.tape.tape import Recording, Tape
from ...text.redaction import Redactor
from ..capture.agent_address import card_of, masks_of, settings_for
from ..capture.http_tap import tapped_call
from ..files import OutputFile, check_distinct
from ..replay.replay import ReplayQuestions, observe, replayed
from ..sent import visible_chars
from ..terminal import EXIT_INTERRUPTED, ended_by_ctrl_c, told_if_interrupted
from ..turn_log import TurnLog
from .cases import PLAYGROUND, Case, CaseResult, CaseRun, Suite, SuiteResult, open_suite
from .checks import CheckResult
from .measures import Measures, measure
from .reports import SuiteProgress, as_json, as_junit, as_markdown, as_table, as_text, file_name

_OUR_AGENT = "Playground agent"
_LIMIT = 300.0  # seconds
_TICK = 0.25  # seconds
WaitListener: TypeAlias = Callable[[float], None]
"""Is told how many seconds a case has been running."""
_LONG_WAIT = 3.0  # seconds; who reads nothing until then thinks that nothing happens
_LONG_ANSWER = 200  # characters; a sentence or two always come at once
_MOSTLY = 0.5
_MORE = (
    "note: these are the CAIPE suite's questions and checks, for an agent that searches; --suite agent suits"
    " any agent, and --suite extended also asks whether an answer came live, whole and once\n"
)


def main(args: argparse.Namespace, reference: Callable[[str | None], Target]) -> int:
    """The verb. `args`: url, suite, only, mode, limit, report, json, junit, repeat, verbose.

    `reference` makes the playground's agent in a mode. Raises UnreadableInput for wrong usage and for
    files, BotError where there is no agent to ask.
    """
    _check_usage(args)
    if args.from_tape:
        from . import truth

        return truth.main(args)
    named = args.suite or "caipe"
    suite, tapes = open_suite(named)
    suite = _selected(suite, args.only)
    target = _live(args.url, args.limit or _LIMIT) if args.url else reference(args.mode)
    _check_selected(suite, args.only, target)
    started = system_clock().wall()
    report = file_name(started) if args.report == "" else args.report
    check_distinct(report, args.junit or None)
    masks = target.masks
    inputs = [named, *(str(Path(named).parent / tape) for tape in tapes)]
    with ExitStack() as files:
        outputs = [
            (files.enter_context(OutputFile(name, inputs)), form)
            for name, form in ((report, as_markdown), (args.junit, as_junit))
            if name
        ]
        progress = SuiteProgress(sys.stderr, verbose=args.verbose, tells_failures=args.json)
        no_report = ", no report was written" if outputs else ""
        with told_if_interrupted(lambda: progress.position + no_report), progress:
            result = run_suite(suite, tapes, target, args.repeat, progress, started)
        if result.is_interrupted:
            sys.stderr.write(f"interrupted; {progress.position}, and these are the results until then\n")
        sys.stderr.writelines(_replacements(result))
        if named == "caipe" or args.url:
            sys.stderr.writelines([*_bursts(result), *([_MORE] if named == "caipe" else [])])
        for output, form in outputs:
            output.text(masks.text(form(result)))
            sys.stderr.write(f"-> {output.path}\n")
    if not args.json and sys.stdout.isatty():
        Console().print(as_table(result, masks))
    else:
        sys.stdout.write(masks.text(json.dumps(as_json(result)) + "\n" if args.json else as_text(result)))
    if result.is_interrupted:
        return EXIT_INTERRUPTED
    return 0 if result.verdict == "PASS" else 1


def _bursts(result: SuiteResult) -> Iterator[str]:
    """The cases whose reader waited long and then got most of a long answer at once."""
    for case in result.cases:
        m = case.shown.measures
        first, share = (None, None) if m is None else (m.summary.first_visible, m.summary.burst_share)
        is_judged = any(check.name == "burst_share" for check in case.case.checks)
        if m is None or first is None or share is None or is_judged:
            continue
        if first > _LONG_WAIT and share > _MOSTLY and m.total > _LONG_ANSWER:
            is_agent = (m.agent_burst_share or 0.0) > _MOSTLY
            whose = "the agent wrote it so" if is_agent else "the agent did not mark it as its answer earlier"
            yield (
                f"warning: {case.case.name}: nothing of the answer could be read for {first:.1f} s, and then"
                f" {share:.0%} of it came within half a second: {whose}\n"
            )


def _replacements(result: SuiteResult) -> Iterator[str]:
    """The cases whose agent sent the pieces of its answer so that each takes the place of the one before."""
    joined, lost = list[str](), list[str]()
    for case in result.cases:
        m = case.shown.measures
        if m is None or (found := m.replaced) is None:
            continue
        sent, shown = visible_chars(found.text), visible_chars(m.text)
        named = f"{case.case.name} ({found.count} updates of the artifact {found.name!r}"
        if sent in shown:
            joined.append(f"{named})")
        else:
            lost.append(f"{named}; the reader has {len(shown):,} of the {len(sent):,} characters)")
    for cases, reads in (
        (
            joined,
            ": the bot took them for pieces of one text, and another A2A client shows only the last one",
        ),
        (lost, ""),
    ):
        if cases:
            yield (
                f"warning: {', '.join(cases)}: they came without append=true, so that each replaces the one"
                f" before{reads}; send append=true from the second piece on\n"
            )


def _check_usage(args: argparse.Namespace) -> None:
    if args.repeat < 1:
        raise UnreadableInput("--repeat wants a number of runs, 1 at least")
    if args.limit is not None and not 0 < args.limit < math.inf:
        raise UnreadableInput("--limit wants a number of seconds, more than 0")
    suites = (
        *(args.url, args.only, args.mode, args.report is not None, args.junit, args.repeat > 1),
        *(args.verbose, args.suite is not None, args.limit is not None),
    )
    if args.from_tape and any(suites):
        raise UnreadableInput("--from-tape asks no agent and runs no suite; leave its options out")
    if not args.from_tape and any((args.truth, args.after, args.cuts, args.key)):
        raise UnreadableInput("--truth, --after, --cuts and --key belong to --from-tape TAPE")
    if args.url and args.mode:
        raise UnreadableInput("--mode is the playground agent's; leave it out with --url")


def _selected(suite: Suite, only: Sequence[str]) -> Suite:
    names = [case.name for case in suite.cases]
    for name in only:
        if name not in names:
            raise UnreadableInput(f"--only {name}: the suite has no such case; there are: {', '.join(names)}")
    return replace(suite, cases=tuple(case for case in suite.cases if not only or case.name in only))


def _check_selected(suite: Suite, only: Sequence[str], target: Target) -> None:
    """A case that was named is not skipped silently."""
    for case in suite.cases:
        if case.name in only and (why := target.refusal(case)) is not None:
            raise UnreadableInput(f"--only {case.name}: {why}, so it cannot be put to {target.name}")


def _live(url: str, limit: float) -> LiveTarget:
    """The agent at `url`, once it has shown its card. Raises BotError where there is none."""
    settings = settings_for(url, load())
    name = asyncio.run(card_of(settings, "--url")).name
    return LiveTarget(bare(url).partition("?")[0], settings, is_ours=name == _OUR_AGENT, limit=limit)


# -- targets -------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class MemoryTarget:
    """The playground's agent, on virtual time. `build` makes it for a pace, None: its own.

    What it makes has an `asgi` application, and ends with `aclose()`.
    """

    name: str
    build: Callable[[float | None], Any]
    masks: Redactor = field(default_factory=Redactor)
    limit: float | None = None  # an answer ends, or the virtual time does

    def refusal(self, case: Case) -> str | None:
        return None

    def ask(self, case: Case, on_wait: WaitListener) -> Measures:
        """Ask what `case` asks, and measure. Nobody waits. Raises BotError where that cannot be done."""
        return virtual_clock.run(self._ask(case))

    async def _ask(self, case: Case) -> Measures:
        settings, served = bot_settings(case.around.settings), self.build(case.pace)
        counter, log = QuestionCounter(served.asgi), TurnLog(keeps_events=True)
        asking = ReplayQuestions(follow_ups=case.then)
        try:
            seen = await observe(case.around, settings, virtual_clock.new_clock(), counter, log, asking)
        finally:
            await served.aclose()
        return measure(replace(seen, sent=counter.questions, said=counter.last))


@dataclass(frozen=True, slots=True)
class LiveTarget:
    """The agent of `settings`, over the network. `is_ours`: it is the playground's, served elsewhere.

    `profiles` is what the bot learned of it in earlier cases. `limit`: seconds after which a question
    without an end is judged as it is.
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
        """Why `case` cannot be run on it; None: it can."""
        if case.tape is not None:
            return "it plays a tape and asks no agent"
        if case.needs == PLAYGROUND and not self.is_ours:
            return "it asks for something that only the playground's agent understands"
        return None

    def ask(self, case: Case, on_wait: WaitListener) -> Measures:
        """Ask in real time, and measure. Raises BotError where that cannot be done."""
        return asyncio.run(self._ask(case, on_wait))

    async def _ask(self, case: Case, on_wait: WaitListener) -> Measures:
        overrides, log = case.around.settings, _RedactedLog(self.masks)
        settings = emulated(with_overrides(self.settings, overrides) if overrides else self.settings)
        with ended_by_ctrl_c() as ended:
            asking = ReplayQuestions(case.then, limit=self.limit, profiles=self.profiles, ended=ended)
            async with ticking(on_wait):
                seen = await observe(case.around, settings, system_clock(), log=log, asking=asking)
        return measure(seen, self.masks)


@asynccontextmanager
async def ticking(on_wait: WaitListener) -> AsyncIterator[None]:
    """Inside, `on_wait` is told now and then how many seconds have passed."""
    loop = asyncio.get_running_loop()
    began = loop.time()

    async def tick() -> None:
        while True:
            await asyncio.sleep(_TICK)
            on_wait(loop.time() - began)

    task = asyncio.create_task(tick())
    try:
        yield
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task


Target: TypeAlias = MemoryTarget | LiveTarget
"""An agent that is tested."""


class _RedactedLog(TurnLog):
    def __init__(self, masks: Redactor) -> None:
        super().__init__(keeps_events=True)
        self._masks = masks

    def take(self, fact: Fact) -> None:
        if isinstance(fact, AgentEvent):
            fact = replace(fact, raw=self._masks.value(fact.raw))
        super().take(fact)


class QuestionCounter(AsgiTransport):
    """Counts the questions that reach the application. `last`: the parameters of the last one."""

    questions = 0
    last: Mapping[str, Any] | None = None

    async def handle_async_request(self, request: Request) -> Response:
        call = await tapped_call(request)
        if call is not None and call.verb == "ask":
            self.questions += 1
            self.last = json.loads(request.content)["params"]
        return await super().handle_async_request(request)


def run_suite(
    suite: Suite,
    tapes: Mapping[str, Tape | Recording],
    target: Target,
    repeat: int,
    progress: SuiteProgress,
    started: float,
) -> SuiteResult:
    """Run all cases of `suite` on `target`, each `repeat` times.

    Ctrl-C ends it: what was seen until then is judged, and is the result. Raises KeyboardInterrupt if that is
    nothing.
    """
    skipped = {case.name: why for case in suite.cases if (why := target.refusal(case)) is not None}
    cases = [case for case in suite.cases if case.name not in skipped]
    progress.begin(len(cases) * repeat, target.limit)
    runs: dict[str, list[CaseRun]] = {case.name: [] for case in cases}
    is_interrupted = False
    try:
        for case, number in product(cases, range(1, repeat + 1)):
            progress.on_run(case)
            runs[case.name].append(run := run_case(case, target, tapes, progress.on_wait))
            is_interrupted = run.is_interrupted
            if is_interrupted or number == repeat:
                progress.on_result(CaseResult(case, tuple(runs[case.name])))
            if is_interrupted:
                break
    except KeyboardInterrupt:
        is_interrupted = True
        if not any(runs.values()):
            raise
    results = [CaseResult(case, tuple(runs[case.name])) for case in cases if runs[case.name]]
    skipped |= {case.name: "interrupted before it was judged" for case in cases if not runs[case.name]}
    return SuiteResult(
        suite=suite.name,
        target=target.name,
        started=started,
        seconds=sum(run.seconds for result in results for run in result.runs),
        cases=tuple(results),
        skipped=tuple(skipped.items()),
        is_interrupted=is_interrupted,
    )


def run_case(
    case: Case, target: Target, tapes: Mapping[str, Tape | Recording], on_wait: WaitListener
) -> CaseRun:
    """One run of `case`: of its tape where it has one, else of `target`'s answer."""
    try:
        if case.tape is None:
            measures = target.ask(case, on_wait)
        else:
            measures = measure(replayed(tapes[case.tape], case.around, log=TurnLog(keeps_events=True)))
    except BotError as error:
        failed = CheckResult(False, "could not be run")
        return CaseRun(0.0, None, (failed,) * len(case.checks), str(error))
    results = tuple(check.judge(measures) for check in case.checks)
    return CaseRun(measures.summary.end, measures, results)
