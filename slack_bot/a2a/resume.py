"""PURE. How a stream ended, and what to do about it.

A connection that ends is not a task that ends: only a terminal state, a question to the human, a final result
or a message in place of a task says that nothing more will come. Everything else is asked for, by polling the
task, because re-joining a stream loses what was said in between on 0.3 (facts: A2A 2.3). The question itself
is never sent again.
"""

from __future__ import annotations

from collections.abc import Iterator
from enum import StrEnum

from .frames import TaskState

TASK_NOT_FOUND = -32001
NOT_CANCELABLE = -32002


class Next(StrEnum):
    """What to do after a stream ended."""

    DONE = "done"
    ASK_TASK = "ask the task"
    GIVE_UP = "give up"


def after_end(
    *, state: TaskState, has_final: bool, asks: bool, task_id: str | None, said_something: bool
) -> Next:
    """What to do when the stream is over, by what it said before.

    `asks`: the agent wants something of the human. `said_something`: at least one event came. Without a task
    there is nobody to ask.
    """
    if state.is_terminal or has_final or asks:
        return Next.DONE
    if task_id is not None:
        return Next.ASK_TASK
    return Next.DONE if said_something else Next.GIVE_UP


def pauses() -> Iterator[float]:
    """Seconds to wait between two looks at a task: 1, 2, 3, then 5 for ever (facts: A2A 2.4)."""
    yield from (1.0, 2.0, 3.0)
    while True:
        yield 5.0
