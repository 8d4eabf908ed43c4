"""PURE. Tool calls that travel as data parts, as frameworks write them.

A data part is a call or a result where it says so itself, in its metadata (`adk_type: function_call`) or in
its own `type`; a name alone says nothing, because an answer may have one too.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from .frames import Metadata, Part

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
_TYPE_KEYS = re.compile(r"(?:^|_)(?:type|kind)\Z")
_NAMES = ("name", "tool_name", "toolName", "tool")
_IDS = ("id", "call_id", "callId", "tool_call_id", "toolCallId", "tool_use_id", "toolUseId")
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


def tool_part(part: Part) -> ToolPart | None:
    """The call or result that `part` is, None if it is neither."""
    data = part.data
    if not part.has_data or not isinstance(data, Mapping):
        return None
    said = {
        _word(value)
        for each in (part.metadata, data)
        for key, value in each.items()
        if _TYPE_KEYS.search(key)
    }
    if not said & (_BEGINS | _ENDS):
        return None
    inner = data.get("function")
    name = _first(data, _NAMES) or (_first(inner, _NAMES) if isinstance(inner, Mapping) else "") or "tool"
    return ToolPart(
        name=name,
        id=_first(data, _IDS),
        begins=bool(said & _BEGINS),
        failed=data.get("is_error") is True or str(data.get("status")).lower() in ("failed", "error"),
        waits=any(_LONG.search(key) and value is True for key, value in part.metadata.items()),
    )


def is_thought(metadata: Metadata) -> bool:
    """The text so marked is what the model thinks, not what it answers."""
    for key, value in metadata.items():
        if _THOUGHT.search(key) and (value is True or value == "true"):
            return True
        if _TYPE_KEYS.search(key) and _word(value) in ("thought", "thinking", "reasoning"):
            return True
    return False


def _word(value: Any) -> str:
    return re.sub(r"[-_ ]", "", value).lower() if isinstance(value, str) else ""


def _first(data: Mapping[str, Any], keys: tuple[str, ...]) -> str:
    return next((data[key] for key in keys if isinstance(data.get(key), str) and data[key]), "")
