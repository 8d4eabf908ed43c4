"""PURE. What an agent asks of the human, in each framework's shape, and the plan it announces.

There is no standard form: ADK sends the tool call that waits, Strands a list of interrupts, LangGraph an
artifact with a value, others fields or a JSON schema (facts: A2A 3).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ...turn.events import PlanStep, StepState
from ...turn.form import Field, Form
from ..wire.decode import object_of, text_of
from ..wire.frames import Part
from .data_markdown import TextBeside, as_markdown, beside
from .parts import first_text, is_true, tool_part

_MOST_PARAGRAPHS = 100  # of a question, besides its prompt
_STATES = {
    "in_progress": StepState.RUNNING,
    "running": StepState.RUNNING,
    "completed": StepState.DONE,
    "complete": StepState.DONE,
    "done": StepState.DONE,
    "failed": StepState.FAILED,
    "error": StepState.FAILED,
}  # any other word: pending
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
    forms = (form_of(object_of(part.data), prompt) for part in parts)
    return next((form for form in forms if form is not None), None)


def form_of(data: Mapping[str, Any], prompt: str = "") -> Form | None:
    """The question in an object with fields or flags; None if there is none."""
    inner = object_of(data.get("metadata"))
    source = inner if inner.get("input_fields") else data
    rows = _as_list(source.get("input_fields") or source.get("fields"))
    fields = tuple(_listed_field(row) for row in rows if isinstance(row, dict))
    asks = [is_true(where, key) for where in (data, source) for key in ("user_input", "require_user_input")]
    if not fields and not any(asks):
        return None
    prompt = prompt or text_of(data.get("content")) or text_of(source.get("input_description"))
    title = text_of(source.get("input_title")) or text_of(data.get("title"))
    return Form(prompt or text_of(data.get("description")), fields, title)


def _listed_field(row: Mapping[str, Any]) -> Field:
    name = first_text(row, ("field_name", "id", "name")) or "answer"
    label = first_text(row, ("field_description", "label"))
    offered = _as_list(row.get("field_values") or row.get("options"))
    choices = (first_text(object_of(each), ("label", "value")) or text_of(each) for each in offered)
    return Field(name, label, tuple(filter(None, choices)), required=is_true(row, "required"))


def _as_list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _schema_in(parts: tuple[Part, ...], prompt: str) -> Form | None:
    """A question as a JSON schema of the answer, bare or in an object that calls itself a form."""
    for part in parts:
        data = object_of(part.data)
        schema = object_of(data.get("schema") or data.get("form")) or data
        properties = object_of(schema.get("properties"))
        if schema.get("type") == "object" and properties:
            required = {each for each in _as_list(schema.get("required")) if isinstance(each, str)}
            fields = tuple(
                Field(
                    name,
                    first_text(about, ("title", "description")),
                    tuple(map(str, _as_list(about.get("enum")))),
                    name in required,
                )
                for name, about in properties.items()
                if isinstance(about, dict)
            )
            prompt = prompt or text_of(data.get("instructions"))
            return Form(prompt, fields, text_of(schema.get("title")) or text_of(data.get("title")))
    return None


def _questions(part: Part, shown: TextBeside) -> Iterator[str]:
    data = object_of(part.data)
    tool = tool_part(part)
    if tool is not None:
        if tool.begins:
            yield _named(tool.name, data.get("args") or data.get("arguments") or data.get("input"))
    elif isinstance(data.get("interrupts"), list):
        for each in data["interrupts"]:
            if isinstance(each, dict) and not shown.contains(name := text_of(each.get("name"))):
                yield _named(name, each.get("reason"))
    elif set(data) == {"id", "value"}:
        yield from filter(None, [_value(data["value"])])
    elif text := beside(part, shown):
        yield text


def _value(value: Any) -> str:
    for key in ("question", "prompt", "description"):
        if text := text_of(object_of(value).get(key)):
            rest = {name: each for name, each in value.items() if name != key}
            return "\n\n".join(filter(None, [text, as_markdown(rest)]))
    return as_markdown(value)


def _named(name: str, details: Any) -> str:
    return "\n".join(filter(None, [f"**{name}**" if name else "", as_markdown(details)]))


def plan_in(parts: tuple[Part, ...]) -> tuple[tuple[PlanStep, ...], str]:
    """The steps, in their order, of the first data part that lists any; and the title beside them, or ""."""
    plans = (object_of(part.data) for part in parts)
    plan = next((data for data in plans if isinstance(data.get("steps"), list)), {})
    rows = sorted((step for step in plan.get("steps", ()) if isinstance(step, dict)), key=_order)
    return tuple(_step(number, row) for number, row in enumerate(rows)), text_of(plan.get("title"))


def _order(row: Mapping[str, Any]) -> float:
    order = row.get("order")
    return order if isinstance(order, int | float) else 0.0  # not made a float: JSON's integers have no end


def _step(number: int, row: Mapping[str, Any]) -> PlanStep:
    title = first_text(row, ("title", "description")) or f"Step {number + 1}"
    agent = text_of(row.get("agent")).strip()
    if agent.lower() not in _UNNAMED_AGENTS and not title.startswith(f"[{agent}]"):
        title = f"[{agent}] {title}"
    state = _STATES.get(text_of(row.get("status")).lower(), StepState.PENDING)
    return PlanStep(first_text(row, ("step_id", "id")) or f"step-{number}", title, state)
