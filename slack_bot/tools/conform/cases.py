"""A suite of conformance cases, as data: what is asked, in which scenario, and the checks of the answer.

    {"name": "mine", "about": "...", "cases": [
      {"name": "refunds", "query": "how do refunds work?",
       "checks": ["live_streamed", {"check": "content_delivered", "over": 200, "about": "A whole page"}]}]}

Every mistake in a suite is named, one line each: a misspelt check would otherwise be a check that never
fails.
"""

from __future__ import annotations

import difflib
import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from importlib import resources
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any

from ...errors import UnreadableInput
from ...testing.tape.json_file import load_document
from ...testing.tape.tape import Recording, Tape, read_tape
from ..replay.scenario import Scenario, make_scenario
from .checks import CHECKS, Check, Kind

BUILT_IN: Mapping[str, tuple[str, ...]] = {"caipe": ("caipe",), "extended": ("caipe", "extended")}
"""The suites of the package, and their files."""

PLAYGROUND = "playground"
"""`needs` of a case that only the playground's agent understands."""
_NAME = re.compile(r"[a-z0-9][a-z0-9_-]*")
_SUITE_KEYS = ("name", "about", "cases")
_CASE_KEYS = ("name", "about", "query", "then", "tape", "needs", "pace", "around", "checks")
_KINDS = {"number": "a number", "text": "a text", "texts": "a list of texts"}


@dataclass(frozen=True, slots=True)
class CheckRequest:
    """A check of a case, with its sentence and its parameters."""

    check: Check
    about: str
    params: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Case:
    """One question, or several in one thread, and the checks of the answer.

    `tape` is a capture, relative to the suite's file, that is played instead of asking an agent. `pace` is in
    tokens a second for the playground's agent, None: its own. `around` is a scenario of `replay`.
    """

    name: str
    query: str
    checks: tuple[CheckRequest, ...]
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
    about: str = ""


def read_suite(text: str, name: str) -> Suite:
    """The suite in `text`, JSON from the file `name`.

    Raises:
        UnreadableInput: not JSON, or no suite; one line for each mistake.
    """
    document = load_document(text, name)
    mistakes = list[str]()
    if not isinstance(document, dict) or not isinstance(document.get("cases"), list) or not document["cases"]:
        raise UnreadableInput(
            f'{name}: a suite must be a JSON object with a list of "cases" that is not empty'
        )
    _unknown(document, _SUITE_KEYS, "a key of a suite", mistakes)
    cases = [_case(each, number, mistakes) for number, each in enumerate(document["cases"], 1)]
    names = [case.name for case in cases if case is not None]
    mistakes += [f"two cases are called {each!r}" for each in dict.fromkeys(names) if names.count(each) > 1]
    if mistakes:
        raise UnreadableInput("\n".join(f"{name}: {mistake}" for mistake in mistakes))
    title, about = str(document.get("name", name)), str(document.get("about", ""))
    return Suite(title, tuple(case for case in cases if case is not None), about)


def open_suite(name: str) -> tuple[Suite, dict[str, Tape | Recording]]:
    """A built-in suite, or that of the file `name`, and the tapes of its cases.

    Raises UnreadableInput for what cannot be read, and for a name that is neither.
    """
    folder: Traversable
    if name in BUILT_IN:
        folder = resources.files(__package__) / "suites"
        parts = [_read(folder / f"{part}.json", f"{part}.json") for part in BUILT_IN[name]]
        suite = Suite(name, tuple(case for part in parts for case in part.cases))
    else:
        path = Path(name)
        if not path.exists():
            raise UnreadableInput(f"{name}: no such file; there are the suites {' and '.join(BUILT_IN)}")
        folder, suite = path.parent, _read(path, name)
    tapes = dict.fromkeys(case.tape for case in suite.cases if case.tape is not None)
    return suite, {tape: read_tape(_bytes(folder / tape, tape), tape) for tape in tapes}


def _read(path: Traversable, name: str) -> Suite:
    try:
        return read_suite(_bytes(path, name).decode("utf-8-sig"), name)
    except UnicodeDecodeError as error:
        raise UnreadableInput(f"{name}: not UTF-8 text") from error


def _bytes(path: Traversable, name: str) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise UnreadableInput(f"{name}: {error.strerror or 'cannot be read'}") from error


def _case(given: Any, number: int, mistakes: list[str]) -> Case | None:
    """The case, or None and at least one more mistake."""
    where = f"case {number}"
    if not isinstance(given, dict):
        mistakes.append(f"{where} must be an object")
        return None
    given = {**_meant(given), **given}
    before, name = len(mistakes), given.get("name")
    if isinstance(name, str) and _NAME.fullmatch(name):
        where = f"case {name!r}"
    else:
        mistakes.append(f'{where} needs a "name" of small letters, digits, - and _, such as "long-answer"')
    _unknown(given, _CASE_KEYS, "a key of a case", mistakes, where)
    mistakes += [f"{where}: {key} must be {wanted}" for key, wanted in _wrong(given)]
    around = _around(given, where, mistakes)
    checks = _checks(given.get("checks"), where, mistakes)
    if len(mistakes) > before:
        return None
    return Case(
        name=str(name),
        query=given["query"],
        checks=checks,
        about=given.get("about", ""),
        then=tuple(given.get("then", ())),
        tape=given.get("tape"),
        needs=given.get("needs"),
        pace=given.get("pace"),
        around=around,
    )


def _wrong(given: Mapping[str, Any]) -> Iterable[tuple[str, str]]:
    """Keys with wrong values, and what they must be."""
    if not _is(given.get("query"), "text"):
        yield "query", "the text of the question"
    if not _is(given.get("about", "-"), "text"):
        yield "about", "a text"
    if not _is(given.get("then", []), "texts"):
        yield "then", "a list of follow-up questions"
    if not _is(given.get("tape", "-"), "text"):
        yield "tape", "the path of a capture, beside this file"
    if "tape" in given and "then" in given:
        yield "then", "left out: the follow-ups are the tape's"
    if given.get("needs", PLAYGROUND) != PLAYGROUND:
        yield "needs", f'"{PLAYGROUND}", or be left out'
    pace = given.get("pace", 0)
    if not _is(pace, "number") or pace < 0:
        yield "pace", "a number of tokens a second, 0 for as fast as it goes"


def _around(given: Mapping[str, Any], where: str, mistakes: list[str]) -> Scenario:
    around = given.get("around", {})
    if not isinstance(around, dict):
        mistakes.append(f"{where}: around must be an object, as for `replay --scenario`")
    elif "text" in around:
        mistakes.append(f"{where}: the question stands in query, not in around")
    else:
        try:
            return make_scenario({**around, "text": given.get("query") or "-"}, f"{where}, around")
        except UnreadableInput as error:
            mistakes.append(str(error))
    return Scenario()


def _checks(given: Any, where: str, mistakes: list[str]) -> tuple[CheckRequest, ...]:
    if not isinstance(given, list) or not given:
        mistakes.append(f'{where} needs "checks", a list that is not empty; there are: {", ".join(CHECKS)}')
        return ()
    found = [_check(each, where, mistakes) for each in given]
    return tuple(each for each in found if each is not None)


def _check(given: Any, where: str, mistakes: list[str]) -> CheckRequest | None:
    document = {"check": given} if isinstance(given, str) else given
    if not isinstance(document, dict) or not isinstance(document.get("check"), str):
        mistakes.append(f'{where}: a check is a name, or an object with the name as "check"')
        return None
    name, before = document["check"], len(mistakes)
    check = CHECKS.get(name)
    if check is None:
        mistakes.append(f"{where}: there is no check {name!r}; {_hint(name, CHECKS)}")
        return None
    where = f"{where}, check {name!r}"
    _unknown(document, ("check", "about", *check.params), "a key of this check", mistakes, where)
    for key, param in check.params.items():
        if not _is(document.get(key, param.default), param.kind):
            mistakes.append(f"{where}: {key} must be {_KINDS[param.kind]}")
    if not _is(document.get("about", "-"), "text"):
        mistakes.append(f"{where}: about must be a text")
    if len(mistakes) > before:
        return None
    params = {key: document.get(key, param.default) for key, param in check.params.items()}
    return CheckRequest(check, document.get("about", check.about), params)


def _is(value: Any, kind: Kind) -> bool:
    match kind:
        case "number":
            is_number = isinstance(value, int | float) and not isinstance(value, bool)
            return is_number and math.isfinite(value)
        case "text":
            return isinstance(value, str) and bool(value.strip())
        case _:
            return isinstance(value, list | tuple) and all(_is(each, "text") for each in value)


def _unknown(
    given: Iterable[str], known: Iterable[str], what: str, mistakes: list[str], where: str = ""
) -> None:
    names = list(known)
    prefix = f"{where}: " if where else ""
    mistakes += [f"{prefix}{key!r} is not {what}; {_hint(key, names)}" for key in given if key not in names]


def _meant(given: Mapping[str, Any]) -> dict[str, Any]:
    """The values of misspelt keys, under the names that were meant, so that those are not called missing."""
    near = {key: _near(key, _CASE_KEYS) for key in given if key not in _CASE_KEYS}
    return {meant: given[key] for key, meant in near.items() if meant is not None}


def _near(given: str, names: Iterable[str]) -> str | None:
    return next(iter(difflib.get_close_matches(given, list(names), n=1)), None)


def _hint(given: str, names: Iterable[str]) -> str:
    near = _near(given, names)
    return f"there are: {', '.join(names)}" if near is None else f"did you mean {near!r}?"
