"""Tables of the file that `SLACK_BOT_CONFIG` names, one for each name: `[schedules.NAME]` and the like."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, TypeVar, get_args

from pydantic import ValidationError

from .names import nearest
from .refusals import refusal_line
from .section import SettingsSection

NAME = re.compile(r"[a-z][a-z0-9_-]{0,31}\Z")
"""Of a table below `[schedules.]` and the like."""
NAMES = "a name has small letters, digits, _ and -, and at most 32 of them"
_Entry = TypeVar("_Entry", bound=SettingsSection)


def named_entries(
    kind: str, model: type[_Entry], tables: object, problems: list[str]
) -> Iterator[tuple[str, _Entry]]:
    """The tables below `[kind.NAME]` that are as they should be. Each other one adds to `problems`."""
    if not isinstance(tables, dict):
        problems.append(f"{kind} should be tables: write [{kind}.NAME], and its settings below")
        return
    for name, own in tables.items():
        where = f"{kind}.{name}"
        if not NAME.match(name):
            problems.append(f"{where}: {NAMES}")
        elif not isinstance(own, dict):
            problems.append(f"{where} should be a table: write [{where}], and its settings below")
        else:
            unknown = list(_unknown(where, model, own))
            problems += unknown
            entry = _validated(where, model, _meant(model, own), problems)
            if entry is not None and not unknown:
                yield name, entry


def tables_below(model: type[SettingsSection], tables: object) -> Iterator[tuple[str, dict[str, Any]]]:
    """The tables of the file, also those with mistakes."""
    for name, own in tables.items() if isinstance(tables, dict) else ():
        if NAME.match(name) and isinstance(own, dict):
            yield name, _meant(model, own)


def _meant(model: type[SettingsSection], own: Mapping[str, object]) -> dict[str, Any]:
    """What is known of `own`. A misspelt setting counts under the name that was probably meant, so that its
    value is looked at too, and nothing is called missing.
    """
    known, fields = dict[str, Any](), model.model_fields
    for leaf, value in own.items():
        name = leaf if leaf in fields else nearest(leaf, fields)
        if name is not None and (name == leaf or name not in own):
            known[name] = value
    return known


def _unknown(where: str, model: type[SettingsSection], own: Mapping[str, object]) -> Iterator[str]:
    for leaf in own:
        if leaf not in model.model_fields:
            guess = nearest(leaf, model.model_fields)
            end = f"did you mean {guess}?" if guess else f"they are {', '.join(model.model_fields)}"
            yield f"{where}.{leaf} is not a setting here; {end}"


def _validated(
    where: str, model: type[_Entry], own: Mapping[str, object], problems: list[str]
) -> _Entry | None:
    lines: dict[str, None] = {}
    try:
        entry = model.model_validate(own)
    except ValidationError as error:
        entry = None
        for problem in error.errors(include_url=False):
            if not problem["loc"]:
                lines[f"{where}: {problem['msg'].removeprefix('Value error, ')}"] = None
                continue
            leaf = str(problem["loc"][0])
            if problem["type"] == "missing":
                lines[f"{where}.{leaf} is not set"] = None
                continue
            field = model.model_fields[leaf]
            line = refusal_line(f"{where}.{leaf}", field, problem["input"], problem["msg"])
            choices = [each for each in get_args(field.annotation) if isinstance(each, str)]
            guess = nearest(str(problem["input"]), choices, 0.6)
            lines[f"{line}; did you mean {guess!r}?" if guess else line] = None
    lines |= dict.fromkeys(f"{where}: {sentence}" for sentence in model.contradictions(own))
    problems += lines
    return None if lines else entry
