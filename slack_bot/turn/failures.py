"""What a reader is told of a turn that failed: our words, and where it may be shown the agent's own.

Frameworks put the text of an exception into a failed status and into a JSON-RPC error: it does not help a
reader and may show internals. Why an agent rejected a task is meant for the reader.
"""

from __future__ import annotations

from .actions import EndTurn
from .events import StreamEnd, StreamEnded, TaskEnd, TaskEnded
from .record import Outcome

_SAYS = {
    TaskEnd.COMPLETED: "",
    TaskEnd.FAILED: "The agent could not finish this.",
    TaskEnd.CANCELED: "The agent cancelled this.",
    TaskEnd.REJECTED: "The agent declined this.",
}
_OUTCOMES = {
    StreamEnd.CLOSED: Outcome.ANSWERED,
    StreamEnd.REFUSED: Outcome.REFUSED,
    StreamEnd.FAILED: Outcome.FAILED,
    StreamEnd.LOST: Outcome.LOST,
}
_UNFINISHED = " What was written stays; the rest is missing."
_MOST = 300  # characters of what the agent says


def task_failure(end: TaskEnded, *, shows_words: bool, is_unfinished: bool) -> EndTurn:
    """The end of a turn whose task ended so.

    `shows_words`: the agent's own words are for readers. `is_unfinished`: an answer was begun.
    """
    words = end.text if shows_words or end.end is TaskEnd.REJECTED else ""
    note = _note(_SAYS[end.end], words, is_unfinished=is_unfinished)
    return EndTurn(Outcome.FAILED, note, offer_retry=True, reason=f"task {end.end}")


def stream_failure(end: StreamEnded, *, shows_words: bool, is_unfinished: bool) -> EndTurn:
    """The end of a turn whose stream ended so, with the task's end unknown. Arguments as above."""
    words = end.text if shows_words else ""
    note = _note(end.safe or "The agent could not answer.", words, is_unfinished=is_unfinished)
    return EndTurn(_OUTCOMES[end.end], note, offer_retry=True, reason=end.reason)


def _note(says: str, words: str, *, is_unfinished: bool) -> str:
    flat = " ".join(words.split())
    clipped = flat if len(flat) <= _MOST else f"{flat[: _MOST - 1]}…"
    said = f" It says: {clipped}" if clipped else ""
    said += "" if not said or said[-1] in ".!?…" else "."  # something may stand behind it
    return f"{says}{said}{_UNFINISHED if is_unfinished else ''}"
