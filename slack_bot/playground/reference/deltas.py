"""The chunks of a chat completion, as OpenAI-compatible endpoints stream them, become utterances.

Endpoints differ: some give each call an index, some only an id, some the whole call in one chunk, and some
begin with chunks that hold nothing. Text beside a tool call says what the call is for: the call comes first.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from .model import CallPart, ModelFailed, Token, ToolCall


class Deltas:
    """The chunks of one message, in their order."""

    def __init__(self) -> None:
        self._text: list[str] = []
        self._calls: dict[object, ToolCall] = {}
        self._latest: object = None

    @property
    def calls(self) -> list[ToolCall]:
        """The calls so far."""
        return list(self._calls.values())

    @property
    def is_empty(self) -> bool:
        """Nothing was said yet."""
        return not self._text and not self._calls

    def message(self) -> dict[str, Any]:
        """The message as the endpoint wants it back."""
        calls = [
            {
                "id": call.id,
                "type": "function",
                "function": {"name": call.tool, "arguments": call.arguments or "{}"},
            }
            for call in self.calls
        ]
        text = "".join(self._text)
        return {"role": "assistant", "content": text or None, **({"tool_calls": calls} if calls else {})}

    def feed(self, data: str) -> Iterator[Token | CallPart]:
        """What one chunk says. Raises ModelFailed where it is an error or cannot be read."""
        delta = _delta(data)
        calls = delta.get("tool_calls")
        for part in calls if isinstance(calls, list) else []:
            if isinstance(part, Mapping) and (said := self._part(part)) is not None:
                yield said
        text = delta.get("content")
        if isinstance(text, str) and text:
            self._text.append(_whole(text))
            yield Token(_whole(text))

    def _part(self, part: Mapping[str, Any]) -> CallPart | None:
        key = part.get("index")
        key = part.get("id") or self._latest if key is None else key
        self._latest = key
        said = part.get("function")
        function = said if isinstance(said, Mapping) else {}
        name, arguments = function.get("name"), _whole(function.get("arguments") or "")
        known = self._calls.get(key)
        if known is None and not name:
            return None  # a piece of a call that never began
        call = known or ToolCall(str(part.get("id") or f"call-{len(self._calls) + 1}"), str(name), "")
        self._calls[key] = ToolCall(call.id, call.tool, call.arguments + arguments)
        return CallPart(call.id, call.tool, arguments)


def _delta(data: str) -> Mapping[str, Any]:
    try:
        chunk = json.loads(data)
    except (ValueError, RecursionError):
        raise ModelFailed("The language model sent something that cannot be read.") from None
    if not isinstance(chunk, dict) or chunk.get("error"):
        raise ModelFailed("The language model broke off with an error.")
    choices = chunk.get("choices")
    first = choices[0] if isinstance(choices, list) and choices else {}
    delta = first.get("delta") if isinstance(first, dict) else None
    return delta if isinstance(delta, dict) else {}


def _whole(text: object) -> str:
    """Text without half surrogate pairs, which cannot go on a wire."""
    return str(text).encode("utf-16", "surrogatepass").decode("utf-16", "replace")
