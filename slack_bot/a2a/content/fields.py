"""PURE. What stands inside an artifact: tool names, plan steps, form fields.

Agents put these into descriptions, metadata or data parts, each in several spellings; every function here
takes what is there and never fails on what is not.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from ...turn.events import PlanStep, StepState
from ...turn.form import Field, Form
from ..wire.frames import Artifact, Metadata, Part

_TOOL_KEYS = ("tool_name", "toolName", "name", "tool", "function_name", "functionName", "function")
_DESCRIBED = re.compile(r"Tool call (?:started|completed|failed):\s*(.+)", re.DOTALL)
_SAID = re.compile(r"(?:Running|Calling|Executing|Tool):\s*(\S+)")
_FAILED = re.compile(r"^\s*❌|Tool call failed:")
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
_UNSAID_AGENTS = frozenset({"", "supervisor"})


def words(value: object) -> str:
    """`value` as text if it is text, else ""."""
    return value if isinstance(value, str) else ""


def is_true(metadata: Metadata, key: str) -> bool:
    """A flag is set: true, or a word that says so."""
    value = metadata.get(key)
    return value is True or (isinstance(value, str) and value.lower() == "true")


def tool_name(artifact: Artifact) -> str:
    """What the tool is called, as the agent would say it to a person."""
    for key in _TOOL_KEYS:
        if name := words(artifact.metadata.get(key)):
            return name
    if match := _DESCRIBED.search(artifact.description):
        return match.group(1).strip()
    for part in artifact.parts:
        if isinstance(part.data, Mapping):
            for key in _TOOL_KEYS:
                if name := words(part.data.get(key)):
                    return name
    if match := _SAID.search(artifact.text):
        return match.group(1)
    return words(artifact.metadata.get("sourceAgent")) or "tool"


def tool_label(artifact: Artifact) -> str:
    """What this call does, in words that the agent wrote for a person; "" where it wrote none."""
    return words(artifact.metadata.get("tool_title")).strip()


def tool_call_id(artifact: Artifact) -> str | None:
    """The id of the call, where the agent has one."""
    for key in ("tool_call_id", "toolCallId", "call_id"):
        if name := words(artifact.metadata.get(key)):
            return name
    return None


def tool_failed(artifact: Artifact) -> bool:
    """The agent says that the tool failed. The word "error" in a tool's output says nothing."""
    if _FAILED.search(artifact.text) or _FAILED.search(artifact.description):
        return True
    return words(artifact.metadata.get("status")).lower() in ("failed", "error")


def plan_steps(parts: tuple[Part, ...]) -> tuple[PlanStep, ...]:
    """The steps of the first data part that lists any, in their order."""
    rows = [step for step in _plan(parts).get("steps", ()) if isinstance(step, Mapping)]
    rows.sort(key=_order)
    return tuple(_step(number, row) for number, row in enumerate(rows))


def plan_title(parts: tuple[Part, ...]) -> str:
    """The title beside the steps; "" where there is none."""
    return words(_plan(parts).get("title"))


def _plan(parts: tuple[Part, ...]) -> Mapping[str, Any]:
    found = (part.data for part in parts if isinstance(part.data, Mapping))
    return next((data for data in found if isinstance(data.get("steps"), list)), {})


def _order(row: Mapping[str, Any]) -> float:
    order = row.get("order")
    return order if isinstance(order, int | float) else 0.0  # not made a float: JSON's integers have no end


def _step(number: int, row: Mapping[str, Any]) -> PlanStep:
    title = words(row.get("title")) or words(row.get("description")) or f"Step {number + 1}"
    agent = words(row.get("agent")).strip()
    if agent.lower() not in _UNSAID_AGENTS and not title.startswith(f"[{agent}]"):
        title = f"[{agent}] {title}"
    state = _STATES.get(words(row.get("status")).lower(), StepState.PENDING)
    return PlanStep(words(row.get("step_id")) or words(row.get("id")) or f"step-{number}", title, state)


def form_in(parts: tuple[Part, ...], prompt: str = "") -> Form | None:
    """The question that a data part describes; None if none does."""
    for part in parts:
        if isinstance(part.data, Mapping) and (form := form_of(part.data, prompt)) is not None:
            return form
    return None


def form_of(data: Mapping[str, Any], prompt: str = "") -> Form | None:
    """The question that an object describes by its fields or its flags; None if it describes none."""
    inner = data.get("metadata")
    source = inner if isinstance(inner, Mapping) and inner.get("input_fields") else data
    rows = source.get("input_fields") or source.get("fields")
    fields = tuple(_field(row) for row in rows if isinstance(row, Mapping)) if isinstance(rows, list) else ()
    wants = any(
        is_true(where, key) for where in (data, source) for key in ("user_input", "require_user_input")
    )
    if not fields and not wants:
        return None
    said = prompt or words(data.get("content")) or words(source.get("input_description"))
    said = said or words(data.get("description"))
    title = words(source.get("input_title")) or words(data.get("title"))
    return Form(prompt=said, fields=fields, title=title)


def _field(row: Mapping[str, Any]) -> Field:
    name = words(row.get("field_name")) or words(row.get("id")) or words(row.get("name")) or "answer"
    label = words(row.get("field_description")) or words(row.get("label"))
    choices = row.get("field_values") or row.get("options")
    return Field(name, label, _choices(choices), required=is_true(row, "required"))


def _choices(choices: object) -> tuple[str, ...]:
    if not isinstance(choices, list):
        return ()
    found = [
        words(each.get("label")) or words(each.get("value")) if isinstance(each, Mapping) else words(each)
        for each in choices
    ]
    return tuple(each for each in found if each)
