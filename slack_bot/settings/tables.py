"""Tables of the file that `SLACK_BOT_CONFIG` names, one for each name: `[schedules.NAME]` and the like."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import TypeVar, get_args

from pydantic import ValidationError

from .names import nearest
from .refusals import refusal_line
from .section import SettingsSection

_NAME = re.compile(r"[a-z][a-z0-9_-]{0,31}\Z")
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
        if not _NAME.match(name):
            problems.append(f"{where}: a name has small letters, digits, _ and -, and at most 32 of them")
        elif not isinstance(own, dict):
            problems.append(f"{where} should be a table: write [{where}], and its settings below")
        elif lines := list(_unknown(where, model, own)):
            problems += lines
        elif (entry := _validated(where, model, own, problems)) is not None:
            yield name, entry


def _unknown(where: str, model: type[SettingsSection], own: Mapping[str, object]) -> Iterator[str]:
    for leaf in own:
        if leaf not in model.model_fields:
            guess = nearest(leaf, model.model_fields)
            end = f"did you mean {guess}?" if guess else f"they are {', '.join(model.model_fields)}"
            yield f"{where}.{leaf} is not a setting here; {end}"


def _validated(
    where: str, model: type[_Entry], own: Mapping[str, object], problems: list[str]
) -> _Entry | None:
    try:
        return model.model_validate(own)
    except ValidationError as error:
        lines: dict[str, None] = {}
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
        problems += lines
        return None
