"""PURE. Values of somebody's JSON, which may be anything: what is of another kind counts as missing."""

import json
import math
from collections.abc import Mapping
from typing import Any, TypeAlias

import msgspec

Object: TypeAlias = Mapping[str, Any]

_NOTHING: Object = {}


def read_json(text: str) -> Any:
    """The value in somebody's JSON. ValueError, RecursionError: it cannot be read.

    What Python writes and reads but JSON does not have (NaN, Infinity, a number too large for a float) is
    read as its text, so that all that is written of it is JSON.
    """
    try:
        return _DECODE(text)
    except (msgspec.DecodeError, UnicodeEncodeError):  # not JSON, or not to msgspec: half a surrogate pair
        pass
    text = text.strip(_WHITE)
    value, end = _LENIENT.raw_decode(text)  # `decode` looks for white space by other rules
    if end < len(text):
        raise ValueError("more follows the JSON")
    return value


def has_halves(value: Any) -> bool:
    """Whether a text in this JSON value has half of a surrogate pair, which no store accepts."""
    try:
        _ENCODE(value)
    except UnicodeEncodeError:
        return True
    return False


def _number(text: str) -> float | str:
    value = float(text)
    return value if math.isfinite(value) else text


_WHITE = " \t\n\r"
_DECODE = msgspec.json.Decoder().decode  # four times as quick as json's
_ENCODE = msgspec.json.Encoder().encode
_LENIENT = json.JSONDecoder(parse_constant=str, parse_float=_number)


def object_of(value: Any) -> Object:
    """`value` if it is a JSON object, else an empty one."""
    return value if isinstance(value, dict) else _NOTHING


def list_of(value: Any) -> list[Any]:
    """`value` if it is a list, else an empty one."""
    return value if isinstance(value, list) else []


def first_of(value: object) -> Mapping[str, Any]:
    """The first object of an array; empty if there is none."""
    return object_of(value[0] if isinstance(value, list) and value else None)


def objects_of(value: Any) -> list[Object]:
    """The objects in `value` if it is a list."""
    return [each for each in list_of(value) if isinstance(each, dict)]


def text_of(value: Any) -> str:
    """`value` if it is text, else ""."""
    return value if isinstance(value, str) else ""


def text_in(source: Object, name: str) -> str:
    """The field `name` of `source` if it is text, else ""."""
    return text_of(source.get(name))
