"""PURE. JSON from files that people give us: strict, one sentence for what is wrong (UnreadableInput)."""

import json
import math
from typing import Any, TypeAlias

from ...errors import UnreadableInput

Json: TypeAlias = dict[str, Any]


def load_document(text: str, name: str) -> Any:
    """The JSON value that is all of file `name`."""
    if not text.strip():
        raise UnreadableInput(f"{name}: the file is empty; name another one")
    return load_json(text, name)


def load_row(text: str, name: str, line: int) -> Any:
    """The JSON value that is one line of file `name`."""
    return load_json(text, name, line, "; take this line out to read the others")


def load_json(text: str, name: str, line: int = 1, remedy: str = "") -> Any:
    """The JSON value in `text`, from `line` of file `name` on. `remedy`: what helps where it ends early."""
    cause: Exception
    try:
        return _DECODER.decode(text)
    except json.JSONDecodeError as error:
        line, cause, reason = line + error.lineno - 1, error, f"not valid JSON ({error.msg})"
        if error.pos >= len(text.rstrip()) or error.msg.startswith("Unterminated string"):
            reason = f"the JSON ends in the middle; the file is truncated{remedy}"
    except RecursionError as error:
        cause, reason = error, "the JSON is nested too deep"
    except ValueError as error:
        cause, reason = error, "the JSON holds a number that cannot be read"
    raise UnreadableInput(f"{name}, line {line}: {reason}") from cause


def _no_constant(word: str) -> None:
    raise ValueError(word)


def _finite(text: str) -> float:
    if not math.isfinite(value := float(text)):
        raise ValueError(text)
    return value


_DECODER = json.JSONDecoder(parse_constant=_no_constant, parse_float=_finite)
