"""PURE. Tool calls that travel as data parts, as frameworks write them.

A data part is a call or a result where it says so itself, in its metadata (`adk_type: function_call`) or in
its own `type`, or where the artifact or message around it says so; a name alone says nothing, because an
answer may have one too.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from ..wire.frames import Metadata, Part

_BEGINS = frozenset({"functioncall", "toolcall", "tooluse", "toolstart", "toolcallstart", "toolinvocation"})
_ENDS = frozenset(
    {
        "functionresponse",
        "functioncalloutput",
        "toolresult",
        "toolresponse",
        "tooloutput",
        "toolend",
        "toolcallend",
    }
)
_ALL = _BEGINS | _ENDS
_FAILED = frozenset({"failed", "error"})
_OVER = _FAILED | {"completed", "complete", "success", "succeeded", "done", "finished"}
_DEEPEST = 2  # objects inside metadata in which a type is looked for
_TYPE_KEYS = re.compile(r"(?:^|_)(?:type|kind)\Z")
_NAMES = ("name", "tool_name", "toolName", "tool")
_IDS = ("id", "call_id", "callId", "tool_call_id", "toolCallId", "tool_use_id", "toolUseId")
_THOUGHTS = frozenset({"thought", "thinking", "reasoning"})
_THOUGHT = re.compile(r"(?:^|_)(?:is_)?(?:thought|thinking|reasoning)\Z")
_LONG = re.compile(r"(?:^|_)is_long_running\Z")


@dataclass(frozen=True, slots=True)
class ToolPart:
    """A call (`begins`) or its result. `waits`: the call waits for somebody outside. `id` may be ""."""

    name: str
    id: str
    begins: bool
    failed: bool = False
    waits: bool = False


def tool_part(part: Part, around: Collection[str] = ()) -> ToolPart | None:
    """The call or result that `part` is, None if it is neither. `around`: `tool_words` of what holds it."""
    data = _opened(part.text) if part.text is not None and around else part.data
    if not isinstance(data, Mapping) or not (part.has_data or around):
        return None
    said = (_own_words(part.metadata) | _own_words(data)) & _ALL or around
    if not said:
        return None
    status = str(data.get("status")).lower()
    inner = data.get("function")
    name = _first(data, _NAMES) or (_first(inner, _NAMES) if isinstance(inner, Mapping) else "") or "tool"
    return ToolPart(
        name=name,
        id=_first(data, _IDS),
        begins=not _BEGINS.isdisjoint(said) and status not in _OVER,
        failed=data.get("is_error") is True or status in _FAILED,
        waits=any(_LONG.search(key) and value is True for key, value in part.metadata.items()),
    )


def is_thought(metadata: Metadata) -> bool:
    """The text so marked is what the model thinks, not what it answers."""
    if not metadata:
        return False
    flagged = (value for key, value in metadata.items() if _THOUGHT.search(key))
    return any(value is True or value == "true" for value in flagged) or bool(_words_of(metadata) & _THOUGHTS)


def is_type(value: str) -> bool:
    """`value` is a word by which a framework says that something is a tool call, its result or a thought."""
    return _word(value) in _ALL | _THOUGHTS


def tool_words(metadata: Metadata | None) -> set[str]:
    """What metadata says of tools: its types that mean a call or a result."""
    return _words_of(metadata) & _ALL if metadata else set()


def is_of_tools(metadata: Metadata) -> bool:
    """All that is so marked is a tool's: its calls, or what it wrote."""
    return bool(tool_words(metadata))


def _words_of(metadata: Metadata, depth: int = _DEEPEST) -> set[str]:
    """The types that metadata tells, further down too: `{"shared": {"stream": {"block_type": ..}}}`."""
    found = _own_words(metadata)
    if depth:
        for value in metadata.values():
            if isinstance(value, Mapping):
                found |= _words_of(value, depth - 1)
    return found


def _own_words(source: Mapping[str, Any]) -> set[str]:
    return {_word(value) for key, value in source.items() if _TYPE_KEYS.search(key)}


def _opened(text: str) -> Any:
    """The JSON in `text`, None if it is none."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _word(value: Any) -> str:
    return re.sub(r"[-_ ]", "", value).lower() if isinstance(value, str) else ""


def _first(data: Mapping[str, Any], keys: tuple[str, ...]) -> str:
    return next((data[key] for key in keys if isinstance(data.get(key), str) and data[key]), "")
