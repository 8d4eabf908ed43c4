"""PURE. Values of somebody's JSON, which may be anything: what is of another kind counts as missing."""

from collections.abc import Mapping
from typing import Any, TypeAlias

Object: TypeAlias = Mapping[str, Any]

_NOTHING: Object = {}


def object_of(value: Any) -> Object:
    """`value` if it is a JSON object, else an empty one."""
    return value if isinstance(value, dict) else _NOTHING


def objects_of(value: Any) -> list[Object]:
    """The objects in `value` if it is a list."""
    return [each for each in value if isinstance(each, dict)] if isinstance(value, list) else []


def text_of(value: Any) -> str:
    """`value` if it is text, else ""."""
    return value if isinstance(value, str) else ""


def text_in(source: Object, name: str) -> str:
    """The field `name` of `source` if it is text, else ""."""
    return text_of(source.get(name))
