"""PURE. Values of somebody's JSON, which may be anything: what is of another kind counts as missing."""

from collections.abc import Mapping
from typing import Any

_NOTHING: Mapping[str, Any] = {}


def object_of(value: object) -> Mapping[str, Any]:
    """`value` if it is a JSON object, else an empty one."""
    return value if isinstance(value, Mapping) else _NOTHING


def objects_of(value: object) -> list[Mapping[str, Any]]:
    """The objects in `value` if it is a list."""
    return [each for each in value if isinstance(each, Mapping)] if isinstance(value, list) else []


def text_of(source: Mapping[str, Any], name: str) -> str:
    """The field `name` of `source` if it is text, else ""."""
    value = source.get(name)
    return value if isinstance(value, str) else ""
