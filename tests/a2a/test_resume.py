"""Cut and ended are different things."""

from __future__ import annotations

from itertools import islice

import pytest

from slack_bot.a2a.frames import TaskState
from slack_bot.a2a.resume import Next, after_end, pauses


@pytest.mark.parametrize(
    ("state", "has_final", "task_id", "said", "then"),
    [
        (TaskState.COMPLETED, False, "t", True, Next.DONE),
        (TaskState.FAILED, False, "t", True, Next.DONE),
        (TaskState.INPUT_REQUIRED, False, "t", True, Next.DONE),
        (TaskState.WORKING, True, "t", True, Next.DONE),
        (TaskState.WORKING, False, "t", True, Next.ASK_TASK),
        (TaskState.UNKNOWN, False, "t", False, Next.ASK_TASK),
        (TaskState.UNKNOWN, False, None, True, Next.DONE),
        (TaskState.UNKNOWN, False, None, False, Next.GIVE_UP),
    ],
)
def test_what_to_do(state: TaskState, has_final: bool, task_id: str | None, said: bool, then: Next) -> None:
    assert after_end(state=state, has_final=has_final, task_id=task_id, said_something=said) is then


def test_the_looks_at_a_task_grow_apart() -> None:
    assert list(islice(pauses(), 5)) == [1.0, 2.0, 3.0, 5.0, 5.0]
