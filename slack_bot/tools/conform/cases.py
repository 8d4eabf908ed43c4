"""A suite of conformance cases, as data: what is asked, in which scenario, and the checks of the answer.

    {"name": "mine", "about": "...", "cases": [
      {"name": "refunds", "query": "how do refunds work?",
       "checks": ["live_streamed", {"check": "content_delivered", "over": 200, "about": "A whole page"}]}]}

Every mistake in a suite is named, one line each: a misspelt check would otherwise be a check that never
fails.
"""

import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from importlib import resources
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any

from ...errors import UnreadableInput
from ...settings.names import nearest
from ...testing.tape.json_file import load_document
from ...testing.tape.tape import Recording, Tape, read_tape
from ..files import kind_of, read_bytes, read_text
from ..replay.scenario import Scenario, hint, make_scenario, unknown
from .checks import CHECKS, KINDS, Check, CheckResult
from .measures import Measures

BUILT_IN: Mapping[str, tuple[str, ...]] = {
    "agent": ("agent.json",),
    "caipe": ("caipe.json",),
    "extended": ("caipe.json", "extended.json"),
}
"""The suites of the package, and their files."""

PLAYGROUND = "playground"
"""`needs` of a case that only the playground's agent understands."""
_NAME = re.compile(r"[a-z0-9][a-z0-9_-]*")
_SUITE_KEYS = ("name", "about", "cases")
_CASE_KEYS = ("name", "about", "query", "then", "tape", "needs", "pace", "around", "checks")


@dataclass(frozen=True, slots=True)
class Case:
    """One question, or several in one thread, and the checks of the answer.

    `tape` is a capture, relative to the suite's file, that is played instead of asking an agent. `pace` is in
    tokens a second for the playground's agent, None: its own. `around` is a scenario of `replay`.
    """

    name: str
    query: str
    checks: tuple[Check, ...]
    about: str = ""
    then: tuple[str, ...] = ()
    tape: str | None = None
    needs: str | None = None
    pace: float | None = None
    around: Scenario = field(default_factory=Scenario)


@dataclass(frozen=True, slots=True)
class Suite:
    """Cases in order."""

    name: str
    cases: tuple[Case, ...]


def read_suite(text: str, name: str) -> Suite:
    """The suite in `text`, JSON from the file `name`. Raises UnreadableInput, a line a mistake."""
    document = load_document(text, name)
    if not isinstance(document, dict) or not isinstance(document.get("cases"), list) or not document["cases"]:
        raise UnreadableInput(
            f'{name}: a suite must be a JSON object with a list of "cases" that is not empty'
        )
    if mistakes := list(_mistakes(document)):
        raise UnreadableInput("\n".join(f"{name}: {mistake}" for mistake in mistakes))
    cases = tuple(map(_case, document["cases"]))
    return Suite(str(document.get("name", name)), cases)


def _case(given: Mapping[str, Any]) -> Case:
    more = {key: given[key] for key in ("about", "tape", "needs", "pace") if key in given}
    around = make_scenario({**given.get("around", {}), "text": given["query"]})
    checks = tuple(map(_check, given["checks"]))
    then = tuple(given.get("then", ()))
    return Case(given["name"], given["query"], checks, then=then, around=around, **more)


def _check(given: str | Mapping[str, Any]) -> Check:
    if isinstance(given, str):
        return CHECKS[given]
    params = {key: value for key, value in given.items() if key not in ("check", "about")}
    check = CHECKS[given["check"]]
    return replace(check, about=given.get("about", check.about), given=params)


def open_suite(name: str) -> tuple[Suite, dict[str, Tape | Recording]]:
    """A built-in suite, or that of the file `name`, and the tapes of its cases. Raises UnreadableInput."""
    folder: Traversable
    if name in BUILT_IN:
        folder = resources.files(__package__) / "suites"
        parts = [read_suite(read_text(folder / each, each), each) for each in BUILT_IN[name]]
        suite = Suite(name, tuple(_joined(case for part in parts for case in part.cases)))
    else:
        path = Path(name)
        if kind_of(path) is None:
            raise UnreadableInput(f"{name}: no such file; there are the suites {', '.join(BUILT_IN)}")
        folder, suite = path.parent, read_suite(read_text(path, name), name)
    tapes = dict.fromkeys(case.tape for case in suite.cases if case.tape is not None)
    return suite, {tape: read_tape(read_bytes(folder / tape, tape), tape) for tape in tapes}


def _joined(cases: Iterable[Case]) -> Iterable[Case]:
    """A case that comes again adds its checks to the first one."""
    found = dict[str, Case]()
    for case in cases:
        first = found.setdefault(case.name, case)
        found[case.name] = case if first is case else replace(first, checks=(*first.checks, *case.checks))
    return found.values()


# -- mistakes ------------------------------------------------------------------------------------------------


def _mistakes(document: Mapping[str, Any]) -> Iterator[str]:
    yield from unknown(document, _SUITE_KEYS, "a key of a suite")
    names = list[str]()
    for number, given in enumerate(document["cases"], 1):
        found = list(_in_case(given, number))
        yield from found
        names += [] if found else [given["name"]]
    yield from (f"two cases are called {each!r}" for each, count in Counter(names).items() if count > 1)


def _in_case(given: Any, number: int) -> Iterator[str]:
    if not isinstance(given, dict):
        yield f"case {number} must be an object"
        return
    # values of misspelt keys count under the names that were meant, so that those are not called missing
    strange = [key for key in given if key not in _CASE_KEYS]
    meant = {near: given[key] for key in strange if (near := nearest(key, _CASE_KEYS, 0.6))}
    given = {**meant, **given}
    name, where = given.get("name"), f"case {number}"
    if isinstance(name, str) and _NAME.fullmatch(name):
        where = f"case {name!r}"
    else:
        yield f'{where} needs a "name" of small letters, digits, - and _, such as "long-answer"'
    yield from (f"{where}: {each}" for each in unknown(strange, _CASE_KEYS, "a key of a case"))
    yield from (f"{where}: {key} must be {wanted}" for key, wanted in _wrong(given))
    yield from _in_around(given, where)
    checks = given.get("checks")
    if not isinstance(checks, list) or not checks:
        yield f'{where} needs "checks", a list that is not empty; there are: {", ".join(CHECKS)}'
        return
    for each in checks:
        yield from _in_check(each, where)


def _wrong(given: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    if not _is(given.get("query"), "str"):
        yield "query", "the text of the question"
    if not _is(given.get("about", "-"), "str"):
        yield "about", "a text"
    if not _is(given.get("then", []), "Texts"):
        yield "then", "a list of follow-up questions"
    if not _is(given.get("tape", "-"), "str"):
        yield "tape", "the path of a capture, beside this file"
    if "tape" in given and "then" in given:
        yield "then", "left out: the follow-ups are the tape's"
    if given.get("needs", PLAYGROUND) != PLAYGROUND:
        yield "needs", f'"{PLAYGROUND}", or be left out'
    if not _is(pace := given.get("pace", 0), "float") or pace < 0:
        yield "pace", "a number of tokens a second, 0 for as fast as it goes"


def _in_around(given: Mapping[str, Any], where: str) -> Iterator[str]:
    around = given.get("around", {})
    if not isinstance(around, dict):
        yield f"{where}: around must be an object, as for `replay --scenario`"
    elif "text" in around:
        yield f"{where}: the question stands in query, not in around"
    else:
        try:
            make_scenario({**around, "text": given.get("query") or "-"}, f"{where}, around")
        except UnreadableInput as error:
            yield str(error)


def _in_check(given: Any, where: str) -> Iterator[str]:
    document = {"check": given} if isinstance(given, str) else given
    if not isinstance(document, dict) or not isinstance(name := document.get("check"), str):
        yield f'{where}: a check is a name, or an object with the name as "check"'
    elif (check := CHECKS.get(name)) is None:
        yield f"{where}: there is no check {name!r}; {hint(name, list(CHECKS))}"
    else:
        where = f"{where}, check {name!r}"
        for each in unknown(document, ("check", "about", *check.params), "a key of this check"):
            yield f"{where}: {each}"
        for key, (kind, default) in check.params.items():
            if not _is(document.get(key, default), kind):
                yield f"{where}: {key} must be {KINDS[kind]}"
        if not _is(document.get("about", "-"), "str"):
            yield f"{where}: about must be a text"


def _is(value: Any, kind: str) -> bool:
    """`value` is of `kind`, one of `KINDS`."""
    if kind == "float":
        return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
    if kind == "str":
        return isinstance(value, str) and bool(value.strip())
    return isinstance(value, list | tuple) and all(_is(each, "str") for each in value)


# -- results -------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class CaseRun:
    """One run of a case. `measures` is None and `error` a sentence where it could not be run."""

    seconds: float
    measures: Measures | None
    results: tuple[CheckResult, ...]
    error: str | None = None

    @property
    def is_interrupted(self) -> bool:
        """Ctrl-C ended it, and it was judged as it stood."""
        return self.measures is not None and self.measures.is_interrupted


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
        return f"{self.passes}/{self.runs} ({self.passes / self.runs:.0%})" if self.runs else "n/a"

    @property
    def line(self) -> str:
        rate = f" [{self.rate}]" if self.runs > 1 else ""
        return f"{self.check.name}: {self.detail}{rate}"


@dataclass(frozen=True, slots=True)
class CaseResult:
    """A case and its runs, one at least."""

    case: Case
    runs: tuple[CaseRun, ...]

    @property
    def findings(self) -> list[Finding]:
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
        if any(run.error for run in self.runs):
            return "ERROR"
        return "FAIL" if any(finding.ok is False for finding in self.findings) else "PASS"

    @property
    def checks(self) -> str:
        """How many checks passed, of those that applied: `5/6`."""
        oks = [finding.ok for finding in self.findings]
        return f"{oks.count(True)}/{len(oks) - oks.count(None)}"

    @property
    def is_interrupted(self) -> bool:
        """Its last run was ended with Ctrl-C."""
        return self.runs[-1].is_interrupted

    @property
    def took(self) -> str:
        return duration(self.shown.seconds)


def _finding(check: Check, results: Sequence[CheckResult]) -> Finding:
    oks = [result.ok for result in results]
    shown = results[oks.index(False) if False in oks else 0]
    return Finding(check, shown.detail, oks.count(True), len(oks) - oks.count(None))


@dataclass(frozen=True, slots=True)
class SuiteResult:
    """A suite and all results. `started` is in seconds since 1970; `skipped` are names and reasons.

    `is_interrupted`: Ctrl-C ended it before the last case.
    """

    suite: str
    target: str
    started: float
    seconds: float
    cases: tuple[CaseResult, ...]
    skipped: tuple[tuple[str, str], ...] = ()
    is_interrupted: bool = False

    def count(self, ok: bool | None) -> int:
        """How many checks passed in every run, failed in one, or never applied (None)."""
        return sum(finding.ok is ok for case in self.cases for finding in case.findings)

    @property
    def verdict(self) -> str:
        """PASS or FAIL. A suite fails if nothing of it passed, or if it was not run to its end."""
        is_right = self.count(True) and not self.count(False) and not self.is_interrupted
        return "PASS" if is_right else "FAIL"

    @property
    def date(self) -> datetime:
        return datetime.fromtimestamp(self.started, UTC)


def duration(seconds: float) -> str:
    """12.3s, or 1m5s."""
    if round(seconds, 1) < 60:
        return f"{seconds:.1f}s"
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes}m{rest}s"
