"""The structured response: the answer as one field of a JSON object, read while it is being written.

`content` in the growing arguments of the response tool is the answer, and is written in whole words. The rest
counts when the arguments are complete: it may ask the human. The final result has the object as data if
structured output is on and it is valid, else its text, else the text before it (facts: CAIPE 2, 6).
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from ...a2a.answer.filters import JsonContentFilter
from ...turn.graphemes import inside_cluster
from .scenarios import InputField

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
    """The final result: `data` if it is the object, else `text` alone."""

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
        """The answer as it was written so far."""
        return "".join(self._content)

    def feed(self, arguments: str) -> str:
        """Take the next piece. Returns new text of the answer, in whole words."""
        self._raw.append(arguments)
        begins = not self._gate.has_content
        text = self._gate.feed(arguments)
        if begins and self._gate.has_content:
            self.asks = _ASKS.search("".join(self._raw)) is not None
        return self._told(self._words.feed(text))

    def end(self) -> str:
        """The call is over. Returns the last word."""
        return self._told(self._words.feed(self._gate.end()) + self._words.end())

    def response(self) -> Response | None:
        """The response, if the arguments are a JSON object with a text."""
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
    """The final result. `streamed`: the answer as written; `said`: the text to use without an answer."""
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


BOUNDARIES = frozenset(" \n\r\t.,!?:;-)]}>*#/\\[({<\"'`")
LONGEST_WORD = 80
CHUNK = 200


class WordBuffer:
    """Holds the beginning of a word until its end, or up to `LONGEST_WORD` characters."""

    def __init__(self, held: str = "") -> None:
        self._held = held

    @property
    def held(self) -> str:
        """The text that waits."""
        return self._held

    def feed(self, text: str) -> str:
        """Take more text. Returns the whole words."""
        text = self._held + text
        end = next((at for at in range(len(text), 0, -1) if text[at - 1] in BOUNDARIES), 0)
        if end == 0 and len(text) > LONGEST_WORD:
            end = _drawn(text, len(text))
        self._held = text[end:]
        return text[:end]

    def end(self) -> str:
        """No more text. Returns what waited."""
        text, self._held = self._held, ""
        return text


def chunks(text: str, size: int = CHUNK) -> Iterator[str]:
    """`text` in pieces of at most `size` characters, cut behind a space where there is one."""
    at = 0
    while len(text) - at > size:
        space = text.rfind(" ", at, at + size)
        end = space + 1 if space >= at else _drawn(text, at + size, at)
        yield text[at:end]
        at = end
    if at < len(text):
        yield text[at:]


def _drawn(text: str, end: int, start: int = 0) -> int:
    """The nearest cut at or before `end` that halves no character; `end` itself where there is none."""
    return next((at for at in range(end, start, -1) if not inside_cluster(text, at)), end)
