"""What an agent asks of a person, and the person's answer.

A form is kept until it is answered, days later and perhaps by another process. `Field.name` and
`Choice.value` are the agent's own: they go back to it as they are, and are never shown.
"""

import json
import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import date
from enum import StrEnum
from typing import TypeAlias

from ..text.words import (
    FIELD_CHARACTERS,
    FIELD_CHOICES,
    FIELD_IS_NEEDED,
    FIELD_LEAST,
    FIELD_LEAST_OF_UNIT,
    FIELD_MOST,
    FIELD_MOST_OF_UNIT,
    FIELD_WANTS_CHOICE,
    FIELD_WANTS_CHOICES,
    FIELD_WANTS_DATE,
    FIELD_WANTS_JSON,
    FIELD_WANTS_NUMBER,
    FIELD_WANTS_PATTERN,
    FIELD_WANTS_TEXT,
    FIELD_WANTS_WHOLE_NUMBER,
    FIELD_WANTS_YES_OR_NO,
    FORM_MORE_CHOICES_IN_LIST,
    FORM_MORE_FIELDS_IN_LIST,
    FORM_OPTIONAL_FIELD,
    FORM_WANTS_INPUT,
    FORM_WANTS_SIGN_IN,
)

_SHORT = 80  # characters of what a field says of itself, which is said again with the error
Value: TypeAlias = str | float | bool | tuple[str, ...]
"""A date is `YYYY-MM-DD`; of choices it is their `value`."""

_PATTERN_CHARS = 255  # of a text that is matched, and of a pattern
_MOST_REPEATS = 3  # in a pattern that is used: any pattern of an agent could keep the process busy for hours
_REPEATS = re.compile(r"[*+?{]")
_GROUPS = re.compile(r"(?<!\\)[(|]|\\[1-9]")


class FieldKind(StrEnum):
    """What a field takes."""

    TEXT = "text"
    NUMBER = "number"
    BOOLEAN = "boolean"
    DATE = "date"
    SELECT = "select"
    MULTI_SELECT = "multi-select"


class FormKind(StrEnum):
    """What is wanted: words or values, a decision, or a sign-in elsewhere."""

    INPUT = "input"
    APPROVAL = "approval"
    AUTH = "auth"


class Verdict(StrEnum):
    """On what an agent wants to do."""

    APPROVE = "approve"
    REJECT = "reject"


@dataclass(frozen=True, slots=True)
class Choice:
    """One of those that a field offers. No `label`: the value is shown."""

    value: str
    label: str = ""

    @property
    def shown(self) -> str:
        return self.label or self.value


@dataclass(frozen=True, slots=True)
class Field:
    """One thing the agent wants to know.

    `least`, `most`: of a number; characters of a text; choices of a multi-select. `pattern`: a regular
    expression that a text must hold. `hidden_choices` more are not offered.
    """

    name: str
    label: str = ""
    kind: FieldKind = FieldKind.TEXT
    choices: tuple[Choice, ...] = ()
    required: bool = False
    help: str = ""
    default: Value | None = None
    is_secret: bool = False
    is_long: bool = False
    is_whole: bool = False
    least: float | None = None
    most: float | None = None
    pattern: str = ""
    hidden_choices: int = 0

    @property
    def shown(self) -> str:
        return self.label or self.name


@dataclass(frozen=True, slots=True)
class ProposedCall:
    """What the agent does once it is approved. `details`: the arguments as Markdown; `arguments`: as JSON."""

    name: str
    details: str = ""
    arguments: str = ""


@dataclass(frozen=True, slots=True)
class ReplyFormat:
    """How the asker wants the answer (`a2a.content.replies`). `data`: what it needs of the question, JSON."""

    name: str = "text"
    data: str = ""


@dataclass(frozen=True, slots=True)
class Form:
    """What an agent asks. `prompt` is its own words; `hidden_fields` more are not shown.

    `is_told`: the thread shows the prompt already. `takes_words`: a message in the thread answers it. Of an
    approval: all of `calls` are approved or rejected together; `may_edit`: the arguments of the only one may
    be changed. Of a sign-in: `url`, unchecked; `schemes`: the names of security schemes of its card.
    """

    prompt: str
    fields: tuple[Field, ...] = ()
    title: str = ""
    kind: FormKind = FormKind.INPUT
    hidden_fields: int = 0
    is_told: bool = False
    takes_words: bool = True
    calls: tuple[ProposedCall, ...] = ()
    may_edit: bool = False
    url: str = ""
    schemes: tuple[str, ...] = ()
    reply: ReplyFormat = ReplyFormat()

    @property
    def has_secrets(self) -> bool:
        """It is answered in the form alone: everybody reads a thread, and what is typed there is kept."""
        return any(each.is_secret for each in self.fields)

    @property
    def is_auth(self) -> bool:
        return self.kind is FormKind.AUTH

    def as_markdown(self) -> str:
        head = [f"**{self.title}**"] if self.title else []
        if self.prompt:
            head.append(self.prompt)
        if not (head or self.fields or self.calls or self.is_told):
            head.append(FORM_WANTS_SIGN_IN if self.is_auth else FORM_WANTS_INPUT)
        head += ["\n".join(filter(None, [f"**{call.name}**", call.details])) for call in self.calls]
        lines = [_line(each) for each in self.fields]
        if self.hidden_fields:
            lines.append(FORM_MORE_FIELDS_IN_LIST.format(self.hidden_fields))
        return "\n\n".join([*head, *(["\n".join(lines)] if lines else [])])


def _line(asked: Field) -> str:
    text = f"- **{asked.shown}**"
    if asked.help and asked.help != asked.shown:
        text += f": {asked.help}"
    if asked.choices:
        more = FORM_MORE_CHOICES_IN_LIST.format(asked.hidden_choices) if asked.hidden_choices else ""
        text += f" ({', '.join(each.shown for each in asked.choices)}{more})"
    return text if asked.required else FORM_OPTIONAL_FIELD.format(text)


@dataclass(frozen=True, slots=True)
class Answer:
    """What a person filled in, or decided. `arguments`: edited ones, JSON.

    `secrets` are never stored. `secret_names` tells which there were.
    """

    values: Mapping[str, Value] = field(default_factory=dict, hash=False)
    verdict: Verdict | None = None
    reason: str = ""
    arguments: str = ""
    secrets: Mapping[str, str] = field(default_factory=dict, hash=False, repr=False)
    secret_names: tuple[str, ...] = ()

    @property
    def has_lost_secrets(self) -> bool:
        """It was stored since it was given."""
        return not self.secrets.keys() >= set(self.secret_names)


def answer_of(form: Form, values: Mapping[str, Value]) -> Answer:
    """What was filled in, by field name. What was left empty may be missing."""
    hidden = {each.name for each in form.fields if each.is_secret}
    secrets = {name: str(value) for name, value in values.items() if name in hidden and value != ""}
    plain = {name: value for name, value in values.items() if name not in hidden and value not in ("", ())}
    return Answer(plain, secrets=secrets, secret_names=tuple(secrets))


def number_of(text: str) -> float | str:
    """What a person typed as a number; text that is none stays, for `check` to tell."""
    try:
        return float(text.strip().replace(",", "."))
    except ValueError:
        return text


_WANTED = {
    FieldKind.TEXT: FIELD_WANTS_TEXT,
    FieldKind.NUMBER: FIELD_WANTS_NUMBER,
    FieldKind.BOOLEAN: FIELD_WANTS_YES_OR_NO,
    FieldKind.DATE: FIELD_WANTS_DATE,
    FieldKind.SELECT: FIELD_WANTS_CHOICE,
    FieldKind.MULTI_SELECT: FIELD_WANTS_CHOICES,
}


def check(form: Form, answer: Answer) -> dict[str, str]:
    """All that is wrong, by field. Of an approval the field is `arguments`."""
    if form.kind is FormKind.APPROVAL:
        return {} if _is_decided(form, answer) else {"arguments": FIELD_WANTS_JSON}
    given = {**answer.values, **answer.secrets}
    found = ((each.name, " ".join(_faults(each, given.get(each.name)))) for each in form.fields)
    return {name: fault for name, fault in found if fault}


def _is_decided(form: Form, answer: Answer) -> bool:
    if answer.verdict is None or not answer.arguments:
        return answer.verdict is not None
    try:
        return form.may_edit and isinstance(json.loads(answer.arguments), dict)
    except (ValueError, RecursionError):
        return False


def _faults(asked: Field, value: Value | None) -> Iterator[str]:
    if value is None or value in ("", ()):
        if asked.required:
            yield FIELD_IS_NEEDED.format(_WANTED[asked.kind])
        return
    match asked.kind:
        case FieldKind.TEXT:
            yield from _text_faults(asked, value)
        case FieldKind.NUMBER:
            yield from _number_faults(asked, value)
        case FieldKind.BOOLEAN if not isinstance(value, bool):
            yield FIELD_WANTS_YES_OR_NO
        case FieldKind.DATE if not _is_date(value):
            yield FIELD_WANTS_DATE
        case FieldKind.SELECT if value not in {each.value for each in asked.choices}:
            yield FIELD_WANTS_CHOICE
        case FieldKind.MULTI_SELECT:
            yield from _choice_faults(asked, value)


def _text_faults(asked: Field, value: Value) -> Iterator[str]:
    if not isinstance(value, str):
        yield FIELD_WANTS_TEXT
        return
    yield from _size_faults(asked, len(value), FIELD_CHARACTERS)
    if not _has_pattern(value, asked.pattern):
        yield FIELD_WANTS_PATTERN
        if 0 < len(asked.help) <= _SHORT:
            yield asked.help


def _number_faults(asked: Field, value: Value) -> Iterator[str]:
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        yield FIELD_WANTS_NUMBER
        return
    if asked.is_whole and not float(value).is_integer():
        yield FIELD_WANTS_WHOLE_NUMBER
    yield from _size_faults(asked, value, "")


def _choice_faults(asked: Field, value: Value) -> Iterator[str]:
    if not isinstance(value, tuple) or not set(value) <= {each.value for each in asked.choices}:
        yield FIELD_WANTS_CHOICES
        return
    yield from _size_faults(asked, len(value), FIELD_CHOICES)


def _size_faults(asked: Field, size: float, unit: str) -> Iterator[str]:
    if asked.least is not None and size < asked.least:
        yield (FIELD_LEAST_OF_UNIT if unit else FIELD_LEAST).format(asked.least, unit)
    if asked.most is not None and size > asked.most:
        yield (FIELD_MOST_OF_UNIT if unit else FIELD_MOST).format(asked.most, unit)


def _is_date(value: Value) -> bool:
    try:
        return isinstance(value, str) and date.fromisoformat(value).isoformat() == value
    except ValueError:
        return False


def _has_pattern(text: str, pattern: str) -> bool:
    """True where the pattern is not one that is surely quick: then only the agent can tell."""
    if max(len(pattern), len(text)) > _PATTERN_CHARS or _GROUPS.search(pattern):
        return True
    if len(_REPEATS.findall(pattern)) > _MOST_REPEATS - (not pattern.startswith("^")):
        return True
    try:
        return re.search(pattern, text) is not None
    except (re.error, OverflowError):
        return True
