"""What a setting may be, in plain words, in place of the validator's own message."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal, get_args, get_origin

from annotated_types import Ge, Gt, Le, Lt
from pydantic.fields import FieldInfo

_UNITS = ("Seconds", "Hours")
_OWN = "Value error, "


def expected(field: FieldInfo, message: str) -> str:
    """How a value of `field` should be: `should be true or false`.

    `message` is the validator's; it counts where it is our own.
    """
    if message.startswith(_OWN):
        return message.removeprefix(_OWN)
    origin, args = get_origin(field.annotation), get_args(field.annotation)
    if origin is Literal:
        return f"should be {', '.join(args[:-1])} or {args[-1]}"
    if origin is tuple and args[0] is not str:
        ranges = (bound for each in args[0].__metadata__ for bound in each.metadata)
        return f"should be one or more numbers{_unit(field)}{_range(ranges)}, with commas between them"
    kinds: dict[object, str] = {
        bool: "true or false",
        int: f"a whole number{_range(field.metadata)}",
        float: f"a finite number{_unit(field)}{_range(field.metadata)}",
    }
    listed = 'a list of texts: write a,b or ["a","b"]'
    return f"should be {listed if origin is tuple else kinds.get(field.annotation, 'text')}"


def _unit(field: FieldInfo) -> str:
    """The setting's description begins with its unit."""
    first = (field.description or "").split(" ")[0].rstrip(",")
    return f" of {first.lower()}" if first in _UNITS else ""


def _range(metadata: Iterable[object]) -> str:
    words = []
    for bound in metadata:
        match bound:
            case Gt(gt=limit):
                words.append(f"greater than {limit}")
            case Ge(ge=limit):
                words.append(f"at least {limit}")
            case Lt(lt=limit):
                words.append(f"less than {limit}")
            case Le(le=limit):
                words.append(f"at most {limit}")
    return ", " + " and ".join(words) if words else ""
