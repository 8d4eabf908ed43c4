"""How a task that did not complete is told: in our words, with what the agent itself says about it."""

from __future__ import annotations

from .actions import Close
from .events import TaskEnd, TaskEnded
from .record import Outcome

_SAYS = {
    TaskEnd.COMPLETED: "",
    TaskEnd.FAILED: "The agent could not finish this.",
    TaskEnd.CANCELED: "The agent cancelled this.",
    TaskEnd.REJECTED: "The agent declined this.",
}
_MOST = 300  # characters of what the agent says


def failure(end: TaskEnded) -> Close:
    """The end of a turn whose task ended so."""
    said = f" It says: {_clipped(end.text)}" if end.text.strip() else ""
    return Close(Outcome.FAILED, f"{_SAYS[end.end]}{said}", offer_retry=True, reason=f"task {end.end}")


def _clipped(text: str) -> str:
    flat = " ".join(text.split())
    return flat if len(flat) <= _MOST else f"{flat[: _MOST - 1]}…"
