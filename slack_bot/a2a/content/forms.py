"""PURE. What an agent asks of the human, in each framework's own shape, as words that a person can answer.

There is no standard form: ADK sends the tool call that waits, Strands a list of interrupts, LangGraph an
artifact with a value, others fields (facts: A2A 3). A text is never turned into an approval here; this is
only about what is shown.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ...turn.form import Field, Form
from ..wire.frames import Part
from .data_markdown import TextBeside, as_markdown, beside
from .fields import form_in, words
from .tool_parts import tool_part

_MOST_PARAGRAPHS = 100  # of a question, besides its prompt; that there are more is said


def question_in(parts: tuple[Part, ...], prompt: str = "") -> Form | None:
    """The question in `parts`, with `prompt`, the text beside them. None: no more than the prompt."""
    if (form := form_in(parts, prompt) or _schema_in(parts, prompt)) is not None:
        return form
    said = [prompt.strip()] if prompt.strip() else []
    beside_it, most = TextBeside("\n".join(said)), len(said) + _MOST_PARAGRAPHS
    for part in parts:
        for each in _asked(part, beside_it):
            if len(said) == most:
                return Form("\n\n".join([*said, "_… and more, which is not shown here_"]))
            said.append(each)
            beside_it = TextBeside("\n".join(said))
    return Form("\n\n".join(said)) if len(said) > bool(prompt.strip()) else None


def _schema_in(parts: tuple[Part, ...], prompt: str) -> Form | None:
    """A question as a JSON schema of the answer, bare or in an object that calls itself a form."""
    for part in parts:
        data = part.data if isinstance(part.data, Mapping) else {}
        inner = data.get("schema") or data.get("form")
        schema = inner if isinstance(inner, Mapping) else data
        properties = schema.get("properties")
        if schema.get("type") == "object" and isinstance(properties, Mapping) and properties:
            needed = schema.get("required")
            required = {each for each in needed if isinstance(each, str)} if isinstance(needed, list) else ()
            rows = [(str(name), about) for name, about in properties.items() if isinstance(about, Mapping)]
            fields = tuple(_field(name, about, required=name in required) for name, about in rows)
            said = prompt or words(data.get("instructions"))
            return Form(said, fields, words(schema.get("title")) or words(data.get("title")))
    return None


def _field(name: str, about: Mapping[str, Any], *, required: bool) -> Field:
    choices = about.get("enum")
    offered = tuple(str(each) for each in choices) if isinstance(choices, list) else ()
    return Field(name, words(about.get("title")) or words(about.get("description")), offered, required)


def _asked(part: Part, said: TextBeside) -> Iterator[str]:
    data = part.data if isinstance(part.data, Mapping) else {}
    tool = tool_part(part)
    if tool is not None:
        if tool.begins:
            yield _named(tool.name, data.get("args") or data.get("arguments") or data.get("input"))
    elif isinstance(data.get("interrupts"), list):
        for each in data["interrupts"]:
            if isinstance(each, Mapping):
                name = words(each.get("name"))
                if not said.says(name):
                    yield _named(name, each.get("reason"))
    elif set(data) == {"id", "value"}:
        yield from filter(None, [_value(data["value"])])
    elif text := beside(part, said):
        yield text


def _value(value: Any) -> str:
    if isinstance(value, Mapping):
        for key in ("question", "prompt", "description"):
            if text := words(value.get(key)):
                rest = {name: each for name, each in value.items() if name != key}
                return "\n\n".join(filter(None, [text, as_markdown(rest)]))
    return as_markdown(value)


def _named(name: str, details: Any) -> str:
    head = f"**{name}**" if name else ""
    body = as_markdown(details)
    return "\n".join(filter(None, [head, body]))
