"""The structured response: the answer as one field of a JSON object, read while it is being written.

It is written in whole words. The other fields count when the object is complete (facts: CAIPE 2, 6).
"""

import re
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

from ...agents.answer.filters import JsonContentFilter
from ...text.markdown import cluster_cut
from .scenarios import InputField
from .toolbox import parse_object

BOUNDARIES = frozenset(" \n\r\t.,!?:;-)]}>*#/\\[({<\"'`")
LONGEST_WORD = 80
CHUNK = 200
_ASKS = re.compile(r'"require_user_input"\s*:\s*true')


@dataclass(frozen=True, slots=True)
class Response:
    """A structured response."""

    content: str
    is_task_complete: bool = True
    require_user_input: bool = False
    was_task_successful: bool = True
    fields: tuple[InputField, ...] = ()

    def flags(self) -> dict[str, Any]:
        """All but the text, as it goes on the wire."""
        asked = {"user_input": True, "input_fields": [asdict(each) for each in self.fields]}
        return {
            "is_task_complete": self.is_task_complete,
            "require_user_input": self.require_user_input,
            "was_task_successful": self.was_task_successful,
            **({"metadata": asked} if self.fields else {}),
        }

    def data(self) -> dict[str, Any]:
        """The whole object. The flags come first: a reader waits for them."""
        return {**self.flags(), "content": self.content}


class ResponseReader:
    """The arguments of one call of the response tool, however they are cut.

    Where what came before the text says that it is a question to the human, there is no answer.
    """

    def __init__(self) -> None:
        self._filter = JsonContentFilter(known=True)
        self._raw: list[str] = []
        self._content: list[str] = []
        self._held = ""  # the beginning of a word
        self._asks = False

    @property
    def content(self) -> str:
        """The answer so far."""
        return "".join(self._content)

    def feed(self, arguments: str) -> str:
        """Take the next piece. Returns new text of the answer, in whole words."""
        self._raw.append(arguments)
        begins = not self._filter.has_content
        self._held += self._filter.feed(arguments)
        if begins and self._filter.has_content:
            self._asks = _ASKS.search("".join(self._raw)) is not None
        return self._take(end_of_words(self._held))

    def end(self) -> str:
        """The call is over. Returns the last word."""
        self._held += self._filter.end()
        return self._take(len(self._held))

    def response(self) -> Response | None:
        return read_response("".join(self._raw))

    def _take(self, end: int) -> str:
        text, self._held = self._held[:end], self._held[end:]
        text = "" if self._asks else text
        self._content.append(text)
        return text


def read_response(arguments: str) -> Response | None:
    """The response in `arguments`; None where they are no JSON object with a text as `content`."""
    found = parse_object(arguments, strict=False)
    if not isinstance(content := found.get("content"), str):
        return None
    metadata = found.get("metadata")
    return Response(
        whole_characters(content),
        found.get("is_task_complete") is not False,
        found.get("require_user_input") is True,
        found.get("was_task_successful") is not False,
        read_fields(metadata.get("input_fields") if isinstance(metadata, dict) else None),
    )


def wrapped(answer: str) -> Response:
    """The response around an answer that was streamed as text, or the one that a model wrote as its text."""
    text = answer.strip()
    bare = text.removeprefix("```json").removeprefix("```").removesuffix("```") if text[:3] == "```" else text
    return (read_response(bare) if '"is_task_complete"' in bare else None) or Response(answer)


def read_fields(asked: object) -> tuple[InputField, ...]:
    """The fields in what a model wrote; those without a name are left out."""
    found = []
    for each in asked if isinstance(asked, list) else ():
        if isinstance(each, dict) and isinstance(name := each.get("field_name"), str) and name:
            values = each.get("field_values")
            found.append(
                InputField(
                    whole_characters(name),
                    whole_characters(str(each.get("field_description") or "")),
                    tuple(whole_characters(str(each)) for each in values) if isinstance(values, list) else (),
                    each.get("required") is not False,
                )
            )
    return tuple(found)


def whole_characters(text: str) -> str:
    """JSON may escape half a surrogate pair; nothing that goes on the wire may hold one."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def end_of_words(text: str) -> int:
    """Where the last whole word ends. A word of more than `LONGEST_WORD` characters is not waited for."""
    end = next((at for at in range(len(text), 0, -1) if text[at - 1] in BOUNDARIES), 0)
    return cluster_cut(text, len(text)) if end == 0 and len(text) > LONGEST_WORD else end


def chunks(text: str) -> Iterator[str]:
    """`text` in pieces of at most `CHUNK` characters, cut behind a space where there is one."""
    while len(text) > CHUNK:
        end = text.rfind(" ", 0, CHUNK) + 1 or cluster_cut(text, CHUNK)
        yield text[:end]
        text = text[end:]
    if text:
        yield text
