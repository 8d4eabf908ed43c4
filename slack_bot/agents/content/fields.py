"""PURE. Reads the fields of a form from a list of fields, or from a JSON schema.

CAIPE names a field by `field_name`, AgentStack and others by `id` or `name`, and each has its own words for
the kinds. A file or an object, which no field can take, is left out.
"""

import json
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

from ...turn.form import Choice, Field, FieldKind, Value
from ...turn.json_values import object_of, objects_of, text_of
from .parts import first_text, is_true

RawValues: TypeAlias = Mapping[str, Mapping[str, Any]]
"""By field and choice: the JSON value of a choice that is not a text."""

MOST_FIELDS = 1_000
_MOST_CHOICES = 5_000  # of a field, that are read
_DEEPEST = 4  # references in a schema that are followed
_REFERENCES = frozenset({"$ref", "anyOf", "allOf"})
_LONG = 256  # characters: what may be as long takes several lines
_LARGEST = 1e15
_NUMBERS = frozenset({"number", "integer", "int", "float", "decimal", "numeric"})
_WHOLE = frozenset({"integer", "int"})
_YES_NO = frozenset({"boolean", "bool", "checkbox", "toggle", "switch"})
_MANY = frozenset({"multiselect", "checkboxgroup", "checkboxes", "multichoice", "array"})
_LONG_TEXTS = frozenset({"textarea", "multiline", "longtext", "markdown"})
_SECRETS = frozenset({"password", "secret"})
_NO_FIELDS = frozenset({"file", "object"})


@dataclass(frozen=True, slots=True)
class Fields:
    """The fields of a form.

    `raw`: the values of choices that are not texts. `hidden`: how many fields cannot be shown.
    """

    fields: tuple[Field, ...] = ()
    raw: RawValues = field(default_factory=dict)
    hidden: int = 0


def listed_fields(rows: Any) -> Fields:
    """Read a list of objects, one for each field."""
    row_list = objects_of(rows)
    fields_by_name = {each.name: each for each in map(_listed, row_list[:MOST_FIELDS]) if each is not None}
    return Fields(tuple(fields_by_name.values()), hidden=len(row_list) - len(fields_by_name))


def _listed(row: Mapping[str, Any]) -> Field | None:
    word = _word(first_text(row, ("type", "field_type", "input_type")))
    if word in _NO_FIELDS:
        return None
    options = row.get("field_values") or row.get("options") or row.get("choices")
    boxes = objects_of(row.get("fields"))  # AgentStack's group of check boxes
    choices = _choices(boxes or options)
    ticked_ids = [first_text(box, ("id",)) for box in boxes if box.get("default_value") is True]
    defaults = (row[key] for key in ("default_value", "default", "value") if row.get(key) is not None)
    kind = _kind(word, choices)
    return Field(
        first_text(row, ("field_name", "id", "name", "key")) or "answer",
        first_text(row, ("label", "title")),
        kind,
        choices,
        required=is_true(row, "required"),
        help=first_text(row, ("field_description", "description", "help", "content", "placeholder")),
        default=default_of(kind, ticked_ids or next(defaults, None), choices),
        is_secret=word in _SECRETS,
        is_long=word in _LONG_TEXTS,
        is_whole=word in _WHOLE,
        least=_first_limit(row, ("min", "minimum", "min_length", "minLength")),
        most=_first_limit(row, ("max", "maximum", "max_length", "maxLength")),
        pattern=text_of(row.get("pattern")),
    )


def _kind(word: str, choices: tuple[Choice, ...]) -> FieldKind:
    if choices:
        return FieldKind.MULTI_SELECT if word in _MANY else FieldKind.SELECT
    if word in _NUMBERS:
        return FieldKind.NUMBER
    if word in _YES_NO:
        return FieldKind.BOOLEAN
    return FieldKind.DATE if word == "date" else FieldKind.TEXT


def _choices(options: Any) -> tuple[Choice, ...]:
    option_list = options[:_MOST_CHOICES] if isinstance(options, list) else []
    choices: dict[str, Choice] = {}
    for each in option_list:
        row = object_of(each)
        label = first_text(row, ("label", "title", "content", "name"))
        value = first_text(row, ("value", "id", "key", "const")) or label or ("" if row else _text(each))
        if value:
            choices.setdefault(value, Choice(value, "" if label == value else label))
    return tuple(choices.values())


def default_of(field_kind: FieldKind, value: Any, choices: tuple[Choice, ...] = ()) -> Value | None:
    """`value` as the default of a field of this kind; None if it cannot be one."""
    choice_values = {each.value for each in choices}
    match field_kind:
        case FieldKind.TEXT | FieldKind.DATE:
            return _text(value) or None
        case FieldKind.NUMBER:
            return _limit(value)
        case FieldKind.BOOLEAN:
            return value if isinstance(value, bool) else None
        case FieldKind.SELECT:
            return _text(value) if _text(value) in choice_values else None
        case FieldKind.MULTI_SELECT:
            values = value if isinstance(value, list) else [value]
            return tuple(text for text in map(_text, values) if text in choice_values) or None


# -- a JSON schema -------------------------------------------------------------------------------------------


def schema_of(data: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """`data` if it is the JSON schema of an object with properties, else None."""
    is_schema = data.get("type") == "object" and object_of(data.get("properties"))
    return data if is_schema else None


def schema_fields(schema: Mapping[str, Any], defaults: Mapping[str, Any] | None = None) -> Fields:
    """Read the JSON schema of an object. `defaults`: what is filled in already.

    A server on protobuf does not keep the order of an object; `propertyOrdering` of Gemini's schemas has it.
    """
    required_names = schema.get("required")
    required = (
        {each for each in required_names if isinstance(each, str)}
        if isinstance(required_names, list)
        else set()
    )
    fields: list[Field] = []
    raw: dict[str, Mapping[str, Any]] = {}
    properties, order = object_of(schema.get("properties")), schema.get("propertyOrdering")
    names = [each for each in order if isinstance(each, str)] if isinstance(order, list) else []
    properties = {**{name: properties[name] for name in names if name in properties}, **properties}
    abouts = [(name, each) for name, each in properties.items() if isinstance(each, dict)]
    for name, about in abouts[:MOST_FIELDS]:
        whole = _resolved(about, schema)
        items = _resolved(object_of(whole.get("items")), schema)
        if (field_read := _property(name, whole, items)) is None:
            continue
        if (defaults or {}).get(name) is not None:
            field_read = replace(
                field_read, default=default_of(field_read.kind, (defaults or {})[name], field_read.choices)
            )
        fields.append(replace(field_read, required=name in required))
        others = {_text(each): each for each in _offered(whole) or _offered(items)}
        if others and not all(isinstance(each, str) for each in others.values()):
            raw[name] = others
    return Fields(tuple(fields), raw, len(abouts) - len(fields))


def _property(name: str, about: Mapping[str, Any], items: Mapping[str, Any]) -> Field | None:
    word, shape = _type(about), text_of(about.get("format"))
    choices = _schema_choices(about) or (_schema_choices(items) if word == "array" else ())
    if word in _NO_FIELDS or (word == "array" and not choices):
        return None
    kind = _kind("date" if shape == "date" else word, choices)
    limits = {
        FieldKind.NUMBER: ("minimum", "maximum"),
        FieldKind.MULTI_SELECT: ("minItems", "maxItems"),
    }.get(kind, ("minLength", "maxLength"))
    least, most = (_limit(about.get(key)) for key in limits)
    return Field(
        name,
        text_of(about.get("title")),
        kind,
        choices,
        help=text_of(about.get("description")),
        default=default_of(kind, about.get("default"), choices),
        is_secret=shape in _SECRETS or about.get("writeOnly") is True,
        is_long=_word(shape) in _LONG_TEXTS or (most is not None and most >= _LONG),
        is_whole=word in _WHOLE,
        least=least,
        most=most,
        pattern=text_of(about.get("pattern")),
    )


def _resolved(about: Mapping[str, Any], schema: Mapping[str, Any]) -> Mapping[str, Any]:
    """The schema without references to definitions, and without the "or null" of pydantic's optional
    fields.
    """
    for _ in range(_DEEPEST):
        place, _, name = text_of(about.get("$ref")).rpartition("/")
        definitions = object_of(schema.get(place.removeprefix("#/"))) if name else {}
        options = [*objects_of(about.get("anyOf")), *objects_of(about.get("allOf"))]
        others = [each for each in options if each.get("type") != "null"]
        inner = object_of(definitions.get(name)) or (others[0] if len(others) == 1 else {})
        if not inner:
            break
        own = {key: each for key, each in about.items() if key not in _REFERENCES}
        about = {**inner, **own}
    return about


def _type(about: Mapping[str, Any]) -> str:
    kind = about.get("type")
    names = kind if isinstance(kind, list) else [kind]
    return next((_word(each) for each in names if isinstance(each, str) and each != "null"), "")


def _offered(about: Mapping[str, Any]) -> Iterable[Any]:
    if isinstance(values := about.get("enum"), list):
        return values[:_MOST_CHOICES]
    rows = objects_of(about.get("oneOf")) or objects_of(about.get("anyOf"))
    return [row["const"] for row in rows[:_MOST_CHOICES] if "const" in row]


def _schema_choices(about: Mapping[str, Any]) -> tuple[Choice, ...]:
    names = about.get("enumNames")
    rows = objects_of(about.get("oneOf")) or objects_of(about.get("anyOf"))
    labels = names if isinstance(names, list) else [row.get("title") for row in rows if "const" in row]
    return tuple(_labelled(map(_text, _offered(about)), labels))


def _labelled(choices: Iterable[str], titles: list[Any]) -> Iterator[Choice]:
    seen: set[str] = set()
    for number, value in enumerate(choices):
        if value and value not in seen:
            seen.add(value)
            label = text_of(titles[number]) if number < len(titles) else ""
            yield Choice(value, "" if label == value else label)


def _first_limit(row: Mapping[str, Any], keys: Sequence[str]) -> float | None:
    return next((limit for key in keys if (limit := _limit(row.get(key))) is not None), None)


def _limit(value: Any) -> float | None:
    """A number that is not a flag, is finite and not huge; else None."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not abs(value) < _LARGEST:
        return None
    return float(value) if math.isfinite(value) else None


def _text(value: Any) -> str:
    """A single value as people read it. Servers on protobuf send 1 as 1.0 (facts: A2A 1.4)."""
    if isinstance(value, str):
        return value
    if value is None or isinstance(value, dict | list):
        return ""
    return f"{value:.0f}" if isinstance(value, float) and value.is_integer() else json.dumps(value)


def _word(text: str) -> str:
    return text.replace("_", "").replace("-", "").replace(" ", "").lower()
