"""PURE. JSON from files that people give us: strict, and with one sentence for what is wrong with it."""

from __future__ import annotations

import json
from typing import Any, TypeAlias

from ...errors import UnreadableInput

Json: TypeAlias = dict[str, Any]


def load_document(text: str, name: str) -> Any:
    """The JSON value that is all of file `name`. Raises UnreadableInput."""
    if not text.strip():
        raise UnreadableInput(f"{name}: the file is empty")
    return load_json(text, name)


def load_row(text: str, name: str, line: int) -> Any:
    """The JSON value that is one line of file `name`. Raises UnreadableInput."""
    return load_json(text, name, line, "; take this line out to read the others")


def load_json(text: str, name: str, line: int = 1, remedy: str = "") -> Any:
    """The JSON value in `text`, which starts on line `line` of file `name`. Raises UnreadableInput.

    `remedy` is what helps where the text ends in the middle.
    """
    try:
        return json.loads(text, parse_constant=_no_constant)
    except json.JSONDecodeError as error:
        at = f"{name}, line {line + error.lineno - 1}"
        if error.pos >= len(text.rstrip()) or error.msg.startswith("Unterminated string"):
            ends = "the JSON ends in the middle; the file is truncated"
            raise UnreadableInput(f"{at}: {ends}{remedy}") from error
        raise UnreadableInput(f"{at}: not valid JSON ({error.msg})") from error
    except RecursionError as error:
        raise UnreadableInput(f"{name}, line {line}: the JSON is nested too deep") from error
    except ValueError as error:
        raise UnreadableInput(f"{name}, line {line}: the JSON holds a number that cannot be read") from error


def _no_constant(word: str) -> None:
    raise ValueError(word)
