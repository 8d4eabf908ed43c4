"""PURE. The security schemes that an agent names whose task waits for a sign-in: A2A has no place for them.

They are written as in a card (`security`, `securityRequirements`, `securitySchemes`), or as in the
authentication of push notifications (`scheme`, `schemes`), in a data part or in the metadata of the message.
"""

import re
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any

from ...turn.json_values import object_of

_DEEPEST = 4
_MOST = 10
_KEYS = re.compile(r"(?:security_?)?schemes?|security(?:_?requirements)?", re.IGNORECASE)


def schemes_in(roots: Iterable[Any]) -> tuple[str, ...]:
    """The names in these JSON values, each once."""
    return tuple(islice(dict.fromkeys(_schemes_in(roots)), _MOST))


def _schemes_in(roots: Iterable[Any], depth: int = 0) -> Iterator[str]:
    for value in roots:
        if not isinstance(value, dict | list) or depth > _DEEPEST:
            continue
        for key, each in value.items() if isinstance(value, dict) else ():
            if _KEYS.fullmatch(key):
                yield from _names_in(each)
        yield from _schemes_in(value.values() if isinstance(value, dict) else value, depth + 1)


def _names_in(value: object) -> Iterator[str]:
    """Reads `"a"`, `["a", "b"]`, `[{"a": [...]}]` and `{"a": {...}}`."""
    for each in value if isinstance(value, list) else [value]:
        yield from [each] if isinstance(each, str) else object_of(each)
