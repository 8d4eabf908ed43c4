"""PURE. Values in metadata and data parts, and the plan in a data part. Odd values are left out."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from ...turn.events import PlanStep, StepState
from ..wire.frames import Metadata, Part

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


def words(value: object) -> str:
    """`value` if it is text, else ""."""
    return value if isinstance(value, str) else ""


def first_text(data: Mapping[str, Any], keys: Iterable[str]) -> str:
    """The first text that is not empty among these keys, else ""."""
    return next((data[key] for key in keys if isinstance(data.get(key), str) and data[key]), "")


def is_true(metadata: Metadata, key: str) -> bool:
    """A flag is true, or the word "true"."""
    value = metadata.get(key)
    return value is True or (isinstance(value, str) and value.lower() == "true")


def plan_steps(parts: tuple[Part, ...]) -> tuple[PlanStep, ...]:
    """The steps of the first data part that lists any, in their order."""
    rows = [step for step in _plan(parts).get("steps", ()) if isinstance(step, Mapping)]
    rows.sort(key=_order)
    return tuple(_step(number, row) for number, row in enumerate(rows))


def plan_title(parts: tuple[Part, ...]) -> str:
    """The title beside the steps, or ""."""
    return words(_plan(parts).get("title"))


def _plan(parts: tuple[Part, ...]) -> Mapping[str, Any]:
    found = (part.data for part in parts if isinstance(part.data, Mapping))
    return next((data for data in found if isinstance(data.get("steps"), list)), {})


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
