"""The results of a suite as text, JSON, JUnit XML and Markdown, and what a terminal shows while it runs.

The same results give the same bytes. The Markdown has the sections of CAIPE's reports.
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, Self, TextIO
from xml.sax.saxutils import escape, quoteattr

from rich.console import Console, Group, RenderableType
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn
from rich.text import Text

from ...testing.tape.json_file import Json
from ...text.redaction import Redactor
from ..tables import cell, markdown_table, printable, terminal_table
from .cases import Case, CaseResult, Finding, SuiteResult, duration
from .measures import Measures

_RESULT = {True: "PASS", False: "**FAIL**", None: "n/a"}
_WORDS = {True: "pass", False: "fail", None: "n/a"}
_METRICS = {
    "Total Chars": "total_chars",
    "Streamed (append)": "streamed_chars",
    "Stopped": "stopped_chars",
    "Append Calls": "append_text_calls",
    "Final Chunks": "final_chunk_count",
    "Tools": "tool_counts",
    "Delivery": "delivery",
}
_FLAGS = ("streaming_final_answer", "stream_opened", "plan_steps", "already_streamed")
_STYLES = {"PASS": "green", "FAIL": "bold red", "ERROR": "bold red"}
_LINE_EVERY = 10.0  # seconds
_AS_IT_STOOD = "ended with Ctrl-C, and judged as it stood"
_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


# -- while it runs -------------------------------------------------------------------------------------------


class SuiteProgress:
    """Writes to `out`: a bar on a terminal, a line a case elsewhere. `verbose`: every check too.
    `tells_failures`: what failed too, because no table follows that has it.

    `line_every`: seconds between the lines about a long wait, where there is no terminal.
    """

    def __init__(
        self,
        out: TextIO,
        *,
        verbose: bool = False,
        tells_failures: bool = False,
        line_every: float = _LINE_EVERY,
    ) -> None:
        self._verbose, self._tells_failures = verbose, tells_failures and not verbose
        self._line_every = line_every
        self._console = Console(file=out)
        columns = (BarColumn(), MofNCompleteColumn(), TextColumn("{task.description}", markup=False))
        is_hidden = not self._console.is_terminal
        self._bar = Progress(*columns, console=self._console, transient=True, disable=is_hidden)
        self._task = self._bar.add_task("", total=0)
        self._runs = self._total = self._failed = 0
        self._name, self._said, self._limit = "", "", ""
        self._line_at = 0.0

    def __enter__(self) -> Self:
        self._bar.start()
        return self

    def __exit__(self, *exc_info: object) -> None:
        self._bar.stop()

    @property
    def position(self) -> str:
        return f"it was at {self._runs} of {self._total}"

    def begin(self, runs: int, limit: float | None = None) -> None:
        """`limit`: seconds after which an answer without an end is judged as it stands."""
        self._total = runs
        if limit is not None:
            self._limit = f", at most {limit:g} s an answer (--limit)"

    def on_run(self, case: Case) -> None:
        failed = f"{self._failed} failed; " if self._failed else ""
        self._name, self._said = case.name, f"{failed}{case.name}: {' '.join(case.query.split())}"
        self._bar.update(self._task, total=self._total, completed=self._runs, description=self._said)
        self._runs += 1
        self._line_at = self._line_every

    def on_wait(self, seconds: float) -> None:
        """The case has been running for `seconds`: a terminal shows them all, a file a line now and then."""
        self._bar.update(self._task, description=f"{seconds:.0f} s{self._limit}; {self._said}")
        if not self._console.is_terminal and seconds >= self._line_at:
            self._line_at += self._line_every
            place = f"[{self._runs}/{self._total}] {self._name}"
            line = f"{place}: it has run for {seconds:.0f} s, and waits for the end{self._limit}"
            self._console.out(line, highlight=False)

    def on_result(self, result: CaseResult) -> None:
        self._failed += result.verdict != "PASS"
        if self._console.is_terminal and not self._verbose:
            return
        head = f"[{self._runs}/{self._total}] {result.verdict} {result.case.name} {result.took}"
        self._console.out(head, highlight=False)
        for finding in result.findings if self._verbose else ():
            word = "FAIL" if finding.ok is False else _WORDS[finding.ok]
            self._console.out(f"    {word:4} {finding.line}", highlight=False)
        for line in _failures(result) if self._tells_failures else ():
            self._console.out(f"    {line}", highlight=False)


# -- on stdout -----------------------------------------------------------------------------------------------


def as_text(result: SuiteResult) -> str:
    """A line a case, the checks that failed, the verdict."""
    wide = max((len(each.case.name) for each in result.cases), default=0)
    lines = list[str]()
    for each in result.cases:
        lines.append(f"{each.verdict:5} {each.case.name:{wide}}  {each.checks:>5}  {each.took:>7}")
        lines += [f"      {line}" for line in _failures(each)]
    return "\n".join([*lines, *_last_lines(result)]) + "\n"


def as_table(result: SuiteResult, masks: Redactor) -> RenderableType:
    """The same for a terminal, without secrets and control characters."""
    heads = ("", "case", "checks", "time", "what failed")
    rows = (
        (each.verdict, each.case.name, each.checks, each.took, _failed_lines(each, masks))
        for each in result.cases
    )
    table = terminal_table(heads, rows, _STYLES)
    *left_out, total = (masks.text(line) for line in _last_lines(result))
    return Group(table, *map(Text, left_out), Text(total, _STYLES[result.verdict]))


def _failed_lines(result: CaseResult, masks: Redactor) -> str:
    return "\n".join(printable(masks.text(line)) for line in _failures(result))


def _failures(result: CaseResult) -> list[str]:
    if result.shown.error:
        return [result.shown.error]
    ended = [_AS_IT_STOOD] if result.is_interrupted else []
    return [*ended, *(finding.line for finding in result.findings if finding.ok is False)]


def _last_lines(result: SuiteResult) -> Iterator[str]:
    for why in dict.fromkeys(why for _, why in result.skipped):
        names = [name for name, because in result.skipped if because == why]
        yield f"left out: {len(names)} (such as {names[0]}): {why}"
    passed, idle = result.count(True), result.count(None)
    of = f"{passed} of {passed + result.count(False)} checks passed"
    yield f"{of}{f', {idle} did not apply' if idle else ''}: {result.verdict} ({result.target})"


# -- JSON ----------------------------------------------------------------------------------------------------


def as_json(result: SuiteResult) -> Json:
    """The object of `conform --json`."""
    return {
        "suite": result.suite,
        "target": result.target,
        "date": result.date.isoformat(timespec="seconds"),
        "seconds": round(result.seconds, 3),
        "verdict": result.verdict,
        "passed": result.count(True),
        "failed": result.count(False),
        "not_applicable": result.count(None),
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
        **({"interrupted": True} if result.is_interrupted else {}),
        "checks": [
            {
                "name": finding.check.name,
                "about": finding.check.about,
                "result": _WORDS[finding.ok],
                "detail": finding.detail,
                "passes": finding.passes,
                "runs": finding.runs,
            }
            for finding in result.findings
        ],
        "measures": _measures_json(run.measures),
    }


def _measures_json(m: Measures | None) -> Json | None:
    if m is None:
        return None
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
        "first_sign": m.summary.first_sign,
        "first_visible": m.summary.first_visible,
        "longest_gap": m.result["longest_gap"],
        "burst_share": m.summary.burst_share,
        "live_share": m.live_share,
    }


# -- JUnit XML -----------------------------------------------------------------------------------------------


def as_junit(result: SuiteResult) -> str:
    """The document: a suite a case, a test a check."""
    counts = _junit_counts([finding for case in result.cases for finding in case.findings])
    suites = "\n".join(_junit_suite(result.suite, case) for case in result.cases)
    name = _attribute(f"slack-bot conform: {result.suite}")
    head = '<?xml version="1.0" encoding="UTF-8"?>'
    return f'{head}\n<testsuites name={name} {counts} time="{result.seconds:.3f}">\n{suites}\n</testsuites>\n'


def _junit_suite(suite: str, result: CaseResult) -> str:
    tests = "\n".join(_junit_test(f"{suite}.{result.case.name}", finding) for finding in result.findings)
    head = f"name={_attribute(result.case.name)} {_junit_counts(result.findings)}"
    return f' <testsuite {head} time="{result.shown.seconds:.3f}">\n{tests}\n </testsuite>'


def _junit_counts(findings: Sequence[Finding]) -> str:
    oks = [finding.ok for finding in findings]
    return f'tests="{len(oks)}" failures="{oks.count(False)}" skipped="{oks.count(None)}"'


def _junit_test(class_name: str, finding: Finding) -> str:
    names = f"classname={_attribute(class_name)} name={_attribute(finding.check.name)}"
    message = _attribute(f"{finding.check.about}: {finding.detail}")
    if finding.ok is None:
        return f"  <testcase {names}><skipped message={message}/></testcase>"
    if finding.ok:
        return f"  <testcase {names}/>"
    rate = f"passed in {finding.passes} of {finding.runs} runs" if finding.runs > 1 else ""
    return f"  <testcase {names}><failure message={message}>{escape(rate)}</failure></testcase>"


def _attribute(text: str) -> str:
    return quoteattr(_NOT_XML.sub("\ufffd", text))


# -- Markdown ------------------------------------------------------------------------------------------------


def file_name(started: float) -> str:
    """The report's file where none was named. `started`: seconds since 1970."""
    return f"streaming_{datetime.fromtimestamp(started, UTC):%Y-%m-%d_%H%M%S}.md"


def as_markdown(result: SuiteResult) -> str:
    """The report."""
    measured = {each.case.name: _measures_json(each.shown.measures) for each in result.cases}
    events: dict[str, Counter[str] | None] = {
        name: None if m is None else Counter(m["event_counts"]) for name, m in measured.items()
    }
    kinds = {kind for counts in events.values() for kind in counts or ()}
    sections = (
        _overview(result),
        _scenarios(result),
        _figures("Per-Query Streaming Metrics", _METRICS, measured),
        _details(result),
        _figures("State Flags Per Scenario", {name: name for name in _FLAGS}, measured),
        _figures("Event Counts", {kind: kind for kind in sorted(kinds)}, events),
        ["_Generated by `slack-bot conform --report`_\n"],
    )
    return "\n\n---\n\n".join(map("\n".join, sections))


def _overview(result: SuiteResult) -> Iterator[str]:
    rows = {
        "Date": f"{result.date:%Y-%m-%d %H:%M:%S} UTC",
        "Target": f"`{_cell(result.target)}`",
        "Scenarios": len(result.cases),
        "Total Checks": result.count(True) + result.count(False),
        "Passed": result.count(True),
        "Failed": result.count(False),
        "Verdict": f"**{result.verdict}**",
        "Suite Duration": duration(result.seconds),
    }
    yield "# Slack Streaming Conformance Report\n"
    yield from markdown_table(
        ("Field", "Value"), [(f"**{name}**", f"{value}") for name, value in rows.items()]
    )
    for name, why in result.skipped:
        yield f"\n`{name}` was left out: {_cell(why)}"


def _scenarios(result: SuiteResult) -> Iterator[str]:
    yield "## Scenario Results\n"
    rows = [
        (
            f"{number}",
            f"`{each.case.name}`",
            _cell(" / ".join((each.case.query, *each.case.then))),
            each.took,
            each.checks,
            f"**{each.verdict}**",
        )
        for number, each in enumerate(result.cases, 1)
    ]
    yield from markdown_table(("#", "Scenario", "Query", "Duration", "Checks", "Result"), rows)


def _details(result: SuiteResult) -> Iterator[str]:
    yield "## Conformance Check Details\n"
    is_repeated = any(len(case.runs) > 1 for case in result.cases)
    heads = ("Check", "Description", "Result", "Detail", *(["Pass Rate"] if is_repeated else []))
    for number, each in enumerate(result.cases):
        yield ("\n" if number else "") + f"### `{each.case.name}`\n"
        if each.case.about:
            yield f"{_cell(each.case.about)}\n"
        if each.shown.error:
            yield f"Could not be run: {_cell(each.shown.error)}\n"
        if each.is_interrupted:
            yield f"It was {_AS_IT_STOOD}.\n"
        rows = [
            (
                f"`{finding.check.name}`",
                _cell(finding.check.about),
                _RESULT[finding.ok],
                _cell(finding.detail),
                finding.rate,
            )[: len(heads)]
            for finding in each.findings
        ]
        yield from markdown_table(heads, rows)


def _figures(
    title: str, columns: Mapping[str, str], measured: Mapping[str, Mapping[str, Any] | None]
) -> Iterator[str]:
    yield f"## {title}\n"
    rows = [
        (f"`{name}`", *("-" if m is None else _figure(m[key]) for key in columns.values()))
        for name, m in measured.items()
    ]
    yield from markdown_table(("Scenario", *map(_cell, columns)), rows)


def _figure(value: object) -> str:
    if isinstance(value, Mapping):
        return _cell(", ".join(f"{name}({count})" for name, count in value.items())) or "none"
    return str(value)


def _cell(text: str) -> str:
    return cell(text, "|")
