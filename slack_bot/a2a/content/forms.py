"""PURE. What an agent asks of the human, in each framework's shape, and the plan it announces.

There is no standard form: ADK sends the tool call that waits, Strands a list of interrupts, LangGraph an
artifact with a value, others fields or a JSON schema (facts: A2A 3).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ...turn.events import PlanStep, StepState
from ...turn.form import Field, Form
from ..wire.frames import Part
from .data_markdown import TextBeside, as_markdown, beside
from .parts import first_text, is_true, tool_part, words

_MOST_PARAGRAPHS = 100  # of a question, besides its prompt
_STATES = {
    "pending": StepState.PENDING,
    "in_progress": StepState.RUNNING,
    "running": StepState.RUNNING,
    "completed": StepState.DONE,
    "complete": StepState.DONE,
    "done": StepState.DONE,
    "failed": StepState.FAILED,
    "error": StepState.FAILED,
}
_UNNAMED_AGENTS = frozenset({"", "supervisor"})


def question_in(parts: tuple[Part, ...], prompt: str = "") -> Form | None:
    """The question in `parts`, with `prompt`, the text beside them. None: no more than the prompt."""
    if (form := form_in(parts, prompt) or _schema_in(parts, prompt)) is not None:
        return form
    paragraphs = [prompt.strip()] if prompt.strip() else []
    shown, most = TextBeside("\n".join(paragraphs)), len(paragraphs) + _MOST_PARAGRAPHS
    for part in parts:
        for each in _questions(part, shown):
            if len(paragraphs) == most:
                return Form("\n\n".join([*paragraphs, "_… and more, which is not shown here_"]))
            paragraphs.append(each)
            shown = TextBeside("\n".join(paragraphs))
    return Form("\n\n".join(paragraphs)) if len(paragraphs) > bool(prompt.strip()) else None


def form_in(parts: tuple[Part, ...], prompt: str = "") -> Form | None:
    """The first question in the data parts."""
    for part in parts:
        if isinstance(part.data, Mapping) and (form := form_of(part.data, prompt)) is not None:
            return form
    return None


def form_of(data: Mapping[str, Any], prompt: str = "") -> Form | None:
    """The question in an object with fields or flags; None if there is none."""
    inner = data.get("metadata")
    source = inner if isinstance(inner, Mapping) and inner.get("input_fields") else data
    rows = source.get("input_fields") or source.get("fields")
    fields = (
        tuple(_listed_field(row) for row in rows if isinstance(row, Mapping))
        if isinstance(rows, list)
        else ()
    )
    wants = any(
        is_true(where, key) for where in (data, source) for key in ("user_input", "require_user_input")
    )
    if not fields and not wants:
        return None
    prompt = prompt or words(data.get("content")) or words(source.get("input_description"))
    title = words(source.get("input_title")) or words(data.get("title"))
    return Form(prompt or words(data.get("description")), fields, title)


def _listed_field(row: Mapping[str, Any]) -> Field:
    name = first_text(row, ("field_name", "id", "name")) or "answer"
    label = first_text(row, ("field_description", "label"))
    choices = row.get("field_values") or row.get("options")
    return Field(name, label, _choices(choices), required=is_true(row, "required"))


def _choices(choices: object) -> tuple[str, ...]:
    if not isinstance(choices, list):
        return ()
    found = [
        first_text(each, ("label", "value")) if isinstance(each, Mapping) else words(each) for each in choices
    ]
    return tuple(each for each in found if each)


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
            fields = tuple(_schema_field(name, about, required=name in required) for name, about in rows)
            prompt = prompt or words(data.get("instructions"))
            return Form(prompt, fields, words(schema.get("title")) or words(data.get("title")))
    return None


def _schema_field(name: str, about: Mapping[str, Any], *, required: bool) -> Field:
    choices = about.get("enum")
    offered = tuple(str(each) for each in choices) if isinstance(choices, list) else ()
    return Field(name, first_text(about, ("title", "description")), offered, required)


def _questions(part: Part, shown: TextBeside) -> Iterator[str]:
    data = part.data if isinstance(part.data, Mapping) else {}
    tool = tool_part(part)
    if tool is not None:
        if tool.begins:
            yield _named(tool.name, data.get("args") or data.get("arguments") or data.get("input"))
    elif isinstance(data.get("interrupts"), list):
        for each in data["interrupts"]:
            if isinstance(each, Mapping):
                name = words(each.get("name"))
                if not shown.contains(name):
                    yield _named(name, each.get("reason"))
    elif set(data) == {"id", "value"}:
        yield from filter(None, [_value(data["value"])])
    elif text := beside(part, shown):
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


def plan_in(parts: tuple[Part, ...]) -> tuple[tuple[PlanStep, ...], str]:
    """The steps, in their order, of the first data part that lists any; and the title beside them, or ""."""
    plans = (part.data for part in parts if isinstance(part.data, Mapping))
    plan = next((data for data in plans if isinstance(data.get("steps"), list)), {})
    rows = sorted((step for step in plan.get("steps", ()) if isinstance(step, Mapping)), key=_order)
    return tuple(_step(number, row) for number, row in enumerate(rows)), words(plan.get("title"))


def _order(row: Mapping[str, Any]) -> float:
    order = row.get("order")
    return order if isinstance(order, int | float) else 0.0  # not made a float: JSON's integers have no end


def _step(number: int, row: Mapping[str, Any]) -> PlanStep:
    title = first_text(row, ("title", "description")) or f"Step {number + 1}"
    agent = words(row.get("agent")).strip()
    if agent.lower() not in _UNNAMED_AGENTS and not title.startswith(f"[{agent}]"):
        title = f"[{agent}] {title}"
    state = _STATES.get(words(row.get("status")).lower(), StepState.PENDING)
    return PlanStep(first_text(row, ("step_id", "id")) or f"step-{number}", title, state)
