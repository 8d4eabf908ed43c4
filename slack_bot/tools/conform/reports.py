"""The results of a suite as text, JSON, JUnit XML and Markdown; and what a terminal shows while it runs.

The same results give the same bytes; only date and durations differ from one run to the next. The Markdown
has a table of the whole and five sections, as CAIPE's reports have.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import UTC, datetime
from typing import Self, TextIO
from xml.sax.saxutils import escape, quoteattr

from rich.box import SIMPLE
from rich.console import Console, Group, RenderableType
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn
from rich.table import Table
from rich.text import Text

from ...testing.tape.json_file import Json
from ..capture.redaction import Redactor
from ..trace.table import printable
from .cases import Case
from .measures import Measures
from .runner import CaseResult, Finding, SuiteResult

_MISSING = "-"
_RESULT = {True: "PASS", False: "**FAIL**", None: "n/a"}
_WORDS = {True: "pass", False: "fail", None: "n/a"}
_STYLES = {"PASS": "green", "FAIL": "bold red", "ERROR": "bold red"}
_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def duration(seconds: float) -> str:
    """12.3s, or 1m5s."""
    if round(seconds, 1) < 60:
        return f"{seconds:.1f}s"
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes}m{rest}s"


def file_name(started: float) -> str:
    """The report's file where none was named. `started`: seconds since 1970."""
    return f"streaming_{datetime.fromtimestamp(started, UTC):%Y-%m-%d_%H%M%S}.md"


# -- while it runs -------------------------------------------------------------------------------------------


class SuiteProgress:
    """Writes to `out`: a bar on a terminal, a line a case elsewhere. `verbose`: every check too."""

    def __init__(self, out: TextIO, *, verbose: bool = False) -> None:
        self._out, self._verbose = out, verbose
        self._console = Console(file=out)
        columns = (BarColumn(), MofNCompleteColumn(), TextColumn("{task.description}", markup=False))
        is_hidden = not self._console.is_terminal
        self._bar = Progress(*columns, console=self._console, transient=True, disable=is_hidden)
        self._task = self._bar.add_task("", total=0)
        self._runs = self._total = 0

    def __enter__(self) -> Self:
        self._bar.start()
        return self

    def __exit__(self, *exc_info: object) -> None:
        self._bar.stop()

    @property
    def position(self) -> str:
        """Where it is."""
        return f"it was at {self._runs} of {self._total}"

    def begin(self, runs: int) -> None:
        """There will be so many runs."""
        self._total = runs

    def on_run(self, case: Case) -> None:
        """A run begins."""
        said = f"{case.name}: {' '.join(case.query.split())}"
        self._bar.update(self._task, total=self._total, completed=self._runs, description=said)
        self._runs += 1

    def on_result(self, result: CaseResult) -> None:
        """A case is done."""
        if self._console.is_terminal and not self._verbose:
            return
        took = duration(result.shown.seconds)
        self._say(f"[{self._runs}/{self._total}] {result.verdict} {result.case.name} {took}")
        for finding in result.findings if self._verbose else ():
            word = "FAIL" if finding.ok is False else _WORDS[finding.ok]
            rate = f" [{finding.rate}]" if finding.runs > 1 else ""
            self._say(f"    {word:4} {finding.request.check.name}: {finding.detail}{rate}")

    def _say(self, line: str) -> None:
        if self._console.is_terminal:
            self._console.out(line, highlight=False)
        else:
            self._out.write(line + "\n")
            self._out.flush()


# -- on stdout -----------------------------------------------------------------------------------------------


def as_text(result: SuiteResult) -> str:
    """A line a case, the checks that failed, the verdict."""
    wide = max((len(each.case.name) for each in result.cases), default=0)
    lines = list[str]()
    for each in result.cases:
        took = duration(each.shown.seconds)
        lines.append(f"{each.verdict:5} {each.case.name:{wide}}  {each.checks:>5}  {took:>7}")
        lines += [f"      {line}" for line in _failures(each)]
    return "\n".join([*lines, *_last_lines(result)]) + "\n"


def as_table(result: SuiteResult, masks: Redactor) -> RenderableType:
    """The same for a terminal, without secrets and control characters."""
    table = Table("", "case", "checks", "time", "what failed", box=SIMPLE)
    for each in result.cases:
        verdict = Text(each.verdict, _STYLES[each.verdict])
        failed = Text("\n".join(printable(masks.text(line)) for line in _failures(each)))
        table.add_row(verdict, Text(each.case.name), each.checks, duration(each.shown.seconds), failed)
    *left_out, total = (masks.text(line) for line in _last_lines(result))
    return Group(table, *map(Text, left_out), Text(total, _STYLES[result.verdict]))


def _failures(result: CaseResult) -> Iterator[str]:
    if result.shown.error:
        yield result.shown.error
        return
    for finding in result.findings:
        if finding.ok is False:
            rate = f" [{finding.rate}]" if finding.runs > 1 else ""
            yield f"{finding.request.check.name}: {finding.detail}{rate}"


def _last_lines(result: SuiteResult) -> Iterator[str]:
    for why in dict.fromkeys(why for _, why in result.skipped):
        names = [name for name, because in result.skipped if because == why]
        yield f"left out: {len(names)} (such as {names[0]}): {why}"
    idle = f", {result.not_applicable} did not apply" if result.not_applicable else ""
    total = result.passed + result.failed
    yield f"{result.passed} of {total} checks passed{idle}: {result.verdict} ({result.target})"


# -- JSON ----------------------------------------------------------------------------------------------------


def as_json(result: SuiteResult) -> Json:
    """The object of `conform --json`."""
    return {
        "suite": result.suite,
        "target": result.target,
        "date": result.date.isoformat(timespec="seconds"),
        "seconds": round(result.seconds, 3),
        "verdict": result.verdict,
        "passed": result.passed,
        "failed": result.failed,
        "not_applicable": result.not_applicable,
        "cases": [_case_json(case) for case in result.cases],
        "skipped": [{"name": name, "reason": why} for name, why in result.skipped],
    }


def _case_json(result: CaseResult) -> Json:
    run = result.shown
    return {
        "name": result.case.name,
        "query": result.case.query,
        "result": result.verdict,
        "error": run.error,
        "seconds": round(run.seconds, 3),
        "runs": len(result.runs),
        "checks": [
            {
                "name": finding.request.check.name,
                "about": finding.request.about,
                "result": _WORDS[finding.ok],
                "detail": finding.detail,
                "passes": finding.passes,
                "runs": finding.runs,
            }
            for finding in result.findings
        ],
        "measures": None if run.measures is None else _measures_json(run.measures),
    }


def _measures_json(m: Measures) -> Json:
    return {
        "outcomes": list(m.outcomes),
        "total_chars": m.total,
        "streamed_chars": m.streamed,
        "stopped_chars": m.stopped,
        "append_text_calls": m.append_calls,
        "final_chunk_count": m.final_chunks,
        "tool_counts": dict(m.tools),
        "event_counts": m.result["events"],
        "streaming_final_answer": m.latched,
        "stream_opened": m.opened,
        "plan_steps": m.plan_steps,
        "already_streamed": m.already_streamed,
        "delivery": m.delivery,
        "first_visible": m.summary.first_visible,
        "longest_gap": m.result["longest_gap"],
        "burst_share": m.summary.burst_share,
        "live_share": m.result["live_share"],
    }


# -- JUnit XML: a suite a case, a test a check ---------------------------------------------------------------


def as_junit(result: SuiteResult) -> str:
    """The document."""
    total = result.passed + result.failed + result.not_applicable
    counts = f'tests="{total}" failures="{result.failed}" skipped="{result.not_applicable}"'
    suites = "\n".join(_junit_suite(result.suite, case) for case in result.cases)
    name = _attribute(f"slack-bot conform: {result.suite}")
    head = '<?xml version="1.0" encoding="UTF-8"?>'
    return f'{head}\n<testsuites name={name} {counts} time="{result.seconds:.3f}">\n{suites}\n</testsuites>\n'


def _junit_suite(suite: str, result: CaseResult) -> str:
    findings = result.findings
    failed, idle = (sum(finding.ok is ok for finding in findings) for ok in (False, None))
    tests = "\n".join(_junit_test(f"{suite}.{result.case.name}", finding) for finding in findings)
    counts = f'tests="{len(findings)}" failures="{failed}" skipped="{idle}"'
    head = f'name={_attribute(result.case.name)} {counts} time="{result.shown.seconds:.3f}"'
    return f" <testsuite {head}>\n{tests}\n </testsuite>"


def _junit_test(class_name: str, finding: Finding) -> str:
    names = f"classname={_attribute(class_name)} name={_attribute(finding.request.check.name)}"
    message = _attribute(f"{finding.request.about}: {finding.detail}")
    if finding.ok is None:
        return f"  <testcase {names}><skipped message={message}/></testcase>"
    if finding.ok:
        return f"  <testcase {names}/>"
    rate = f"passed in {finding.passes} of {finding.runs} runs" if finding.runs > 1 else ""
    return f"  <testcase {names}><failure message={message}>{escape(rate)}</failure></testcase>"


def _attribute(text: str) -> str:
    return quoteattr(_NOT_XML.sub("\ufffd", text))


# -- Markdown ------------------------------------------------------------------------------------------------


def as_markdown(result: SuiteResult) -> str:
    """The report."""
    sections = (_overview, _scenarios, _metrics, _details, _flags, _events)
    body = "\n\n---\n\n".join("\n".join(section(result)) for section in sections)
    return body + "\n\n---\n\n_Generated by `slack-bot conform --report`_\n"


def _overview(result: SuiteResult) -> Iterator[str]:
    rows = {
        "Date": f"{result.date:%Y-%m-%d %H:%M:%S} UTC",
        "Target": f"`{_cell(result.target)}`",
        "Scenarios": str(len(result.cases)),
        "Total Checks": str(result.passed + result.failed),
        "Passed": str(result.passed),
        "Failed": str(result.failed),
        "Verdict": f"**{result.verdict}**",
        "Suite Duration": duration(result.seconds),
    }
    yield "# Slack Streaming Conformance Report\n"
    yield from _table(("Field", "Value"), [(f"**{name}**", value) for name, value in rows.items()])
    for name, why in result.skipped:
        yield f"\n`{name}` was left out: {_cell(why)}"


def _scenarios(result: SuiteResult) -> Iterator[str]:
    yield "## Scenario Results\n"
    rows = [
        (
            str(number),
            _name(each),
            _cell(" / ".join((each.case.query, *each.case.then))),
            duration(each.shown.seconds),
            each.checks,
            f"**{each.verdict}**",
        )
        for number, each in enumerate(result.cases, 1)
    ]
    yield from _table(("#", "Scenario", "Query", "Duration", "Checks", "Result"), rows)


def _metrics(result: SuiteResult) -> Iterator[str]:
    def figures(m: Measures) -> Sequence[str]:
        tools = ", ".join(f"{name}({count})" for name, count in m.tools.items()) or "none"
        sizes = (m.total, m.streamed, m.stopped, m.append_calls, m.final_chunks)
        return (*map(str, sizes), _cell(tools), m.delivery)

    yield "## Per-Query Streaming Metrics\n"
    sizes = ("Total Chars", "Streamed (append)", "Stopped", "Append Calls", "Final Chunks")
    heads = ("Scenario", *sizes, "Tools", "Delivery")
    yield from _table(heads, [_figures(each, figures, len(heads)) for each in result.cases])


def _details(result: SuiteResult) -> Iterator[str]:
    yield "## Conformance Check Details\n"
    heads = ("Check", "Description", "Result", "Detail", *(["Pass Rate"] if result.is_repeated else []))
    for number, each in enumerate(result.cases):
        yield ("\n" if number else "") + f"### {_name(each)}\n"
        if each.case.about:
            yield f"{_cell(each.case.about)}\n"
        if each.shown.error:
            yield f"Could not be run: {_cell(each.shown.error)}\n"
        rows = [
            (
                f"`{finding.request.check.name}`",
                _cell(finding.request.about),
                _RESULT[finding.ok],
                _cell(finding.detail),
                finding.rate,
            )[: len(heads)]
            for finding in each.findings
        ]
        yield from _table(heads, rows)


def _flags(result: SuiteResult) -> Iterator[str]:
    def figures(m: Measures) -> Sequence[str]:
        return [str(each) for each in (m.latched, m.opened, m.plan_steps, m.already_streamed)]

    yield "## State Flags Per Scenario\n"
    heads = ("Scenario", "streaming_final_answer", "stream_opened", "plan_steps", "already_streamed")
    yield from _table(heads, [_figures(each, figures, len(heads)) for each in result.cases])


def _events(result: SuiteResult) -> Iterator[str]:
    measured = [each.shown.measures for each in result.cases]
    kinds = sorted({kind for m in measured if m is not None for kind in m.result["events"]})

    def figures(m: Measures) -> Sequence[str]:
        return [str(m.result["events"].get(kind, 0)) for kind in kinds]

    yield "## Event Counts\n"
    rows = [_figures(each, figures, len(kinds) + 1) for each in result.cases]
    yield from _table(("Scenario", *map(_cell, kinds)), rows)


def _figures(result: CaseResult, figures: Callable[[Measures], Sequence[str]], width: int) -> Sequence[str]:
    """A row of `width` cells: the case, and its `figures` where it has any."""
    m = result.shown.measures
    return (_name(result), *([_MISSING] * (width - 1) if m is None else figures(m)))


def _name(result: CaseResult) -> str:
    return f"`{result.case.name}`"


def _table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> Iterator[str]:
    yield f"| {' | '.join(heads)} |"
    yield f"|{'|'.join('---' for _ in heads)}|"
    yield from (f"| {' | '.join(row)} |" for row in rows)


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")
