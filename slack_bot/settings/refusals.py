"""What is said of a value that a setting cannot have: one line, in plain words."""

import re
from collections.abc import Iterable
from typing import Literal, get_args, get_origin

from pydantic.fields import FieldInfo

from .section import is_secret


def refusal_line(name: str, field: FieldInfo, value: object, message: str) -> str:
    """The line that says why `value` is wrong.

    `name`: what the person calls the setting; `message`: pydantic's.
    """
    words = expected(field, message)
    hides = is_secret(field.annotation) or re.search(r"@|xox|xapp-|sbk_", str(value)) is not None
    if not words.startswith("should"):
        return f"{name} {words}"
    return f"{name}: {words}" if hides else f"{name} is {value!r}: {words}"


def expected(field: FieldInfo, message: str) -> str:
    """How a value of `field` should look, in plain words: `should be true or false`.

    `message`: pydantic's error, which is used if it comes from a validator of ours.
    """
    if message.startswith("Value error, "):
        return message.removeprefix("Value error, ")
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
    list_words = 'a list of texts: write a,b or ["a","b"]'
    return f"should be {list_words if origin is tuple else kinds.get(field.annotation, 'text')}"


def _unit(field: FieldInfo) -> str:
    """The unit, which is the first word of the setting's description."""
    first = (field.description or "").split(" ")[0].rstrip(",")
    return f" of {first.lower()}" if first in ("Seconds", "Hours") else ""


def _range(constraints: Iterable[object]) -> str:
    bounds = {"gt": "greater than", "ge": "at least", "lt": "less than", "le": "at most"}
    words = [
        f"{words} {getattr(bound, name)}"
        for bound in constraints
        for name, words in bounds.items()
        if hasattr(bound, name)
    ]
    return ", " + " and ".join(words) if words else ""
