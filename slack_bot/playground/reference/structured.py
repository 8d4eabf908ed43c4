"""The structured response: the answer as one field of a JSON object, read while it is being written.

The arguments of the response tool grow; `content` in them is the answer, and is told as it grows, by words.
When they are whole, the rest of them counts: what the human is asked. The final result carries the object as
data where the reader takes structured output and it is valid, else its text, else what was said before it
(facts: CAIPE 2, 6).
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ...a2a.answer.json_filter import JsonContentFilter
from .scenarios import InputField
from .word_pieces import WordBuffer

_ASKS = re.compile(r'"require_user_input"\s*:\s*true')


@dataclass(frozen=True, slots=True)
class Response:
    """A structured response (facts: CAIPE 6)."""

    content: str
    is_task_complete: bool = True
    require_user_input: bool = False
    was_task_successful: bool = True
    fields: tuple[InputField, ...] = ()

    def flags(self) -> dict[str, Any]:
        """All but the text."""
        asked = {"user_input": True, "input_fields": [field_data(each) for each in self.fields]}
        return {
            "is_task_complete": self.is_task_complete,
            "require_user_input": self.require_user_input,
            "was_task_successful": self.was_task_successful,
            **({"metadata": asked} if self.fields else {}),
        }

    def data(self) -> dict[str, Any]:
        """The object, as it goes on the wire."""
        return {**self.flags(), "content": self.content}


@dataclass(frozen=True, slots=True)
class Final:
    """What the final result says: `data` where it is the object, else `text` alone."""

    text: str
    data: Mapping[str, Any] | None = None
    flags: Mapping[str, Any] = field(default_factory=dict)


class ResponseReader:
    """The arguments of one call of the response tool, however they are cut.

    `asks`: by what came before the text, the text is a question to the human.
    """

    def __init__(self) -> None:
        self._gate = JsonContentFilter(known=True)
        self._words = WordBuffer()
        self._raw: list[str] = []
        self._content: list[str] = []
        self.asks = False

    @property
    def content(self) -> str:
        """All of the answer that was told."""
        return "".join(self._content)

    def feed(self, arguments: str) -> str:
        """Take the next piece; what a reader sees of it, in whole words."""
        self._raw.append(arguments)
        begins = not self._gate.has_content
        text = self._gate.feed(arguments)
        if begins and self._gate.has_content:
            self.asks = _ASKS.search("".join(self._raw)) is not None
        return self._told(self._words.feed(text))

    def end(self) -> str:
        """The call is over: the last word."""
        return self._told(self._words.feed(self._gate.end()) + self._words.end())

    def response(self) -> Response | None:
        """The object, if the arguments are one with a text in it."""
        return read_response("".join(self._raw))

    def _told(self, text: str) -> str:
        self._content.append(text)
        return text


def read_response(arguments: str) -> Response | None:
    """The response in `arguments`; None where they are not JSON, no object, or have no text as `content`."""
    try:
        found = json.loads(arguments, strict=False)
    except (ValueError, RecursionError):
        return None
    if not isinstance(found, dict) or not isinstance(found.get("content"), str):
        return None
    metadata = found.get("metadata")
    asked = metadata.get("input_fields") if isinstance(metadata, dict) else None
    fields = tuple(filter(None, map(field_of, asked))) if isinstance(asked, list) else ()
    return Response(
        _whole(found["content"]),
        found.get("is_task_complete") is not False,
        found.get("require_user_input") is True,
        found.get("was_task_successful") is not False,
        fields,
    )


def wrapped(answer: str) -> Response:
    """The response around an answer that was streamed as text, read when it is whole.

    Where a model wrote the object as its text all the same, that is the response.
    """
    text = answer.strip()
    bare = text.removeprefix("```json").removeprefix("```").removesuffix("```") if text[:3] == "```" else text
    return (read_response(bare) if '"is_task_complete"' in bare else None) or Response(answer)


def final_of(response: Response | None, streamed: str, said: str, *, structured: bool) -> Final:
    """The final result. `streamed` is the answer as told, `said` all that was said in its stead."""
    if response is None:
        return Final(streamed or said)
    if structured:
        return Final(response.content, response.data(), response.flags())
    return Final(response.content or streamed or said, None, response.flags())


def field_data(asked: InputField) -> dict[str, Any]:
    """A field as it goes on the wire."""
    return {
        "field_name": asked.name,
        "field_description": asked.description,
        "field_values": list(asked.values),
        "required": asked.required,
    }


def field_of(data: object) -> InputField | None:
    """The field in `data`; None where it has no name."""
    if not isinstance(data, dict) or not isinstance(name := data.get("field_name"), str) or not name:
        return None
    values = data.get("field_values")
    return InputField(
        _whole(name),
        _whole(str(data.get("field_description") or "")),
        tuple(_whole(str(each)) for each in values) if isinstance(values, list) else (),
        data.get("required") is not False,
    )


def _whole(text: str) -> str:
    """JSON may escape half a surrogate pair; nothing that goes on the wire may hold one."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
