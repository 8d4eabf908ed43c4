"""Cut and ended are different things."""

from __future__ import annotations

from itertools import islice

import pytest

from slack_bot.a2a.frames import TaskState
from slack_bot.a2a.resume import Next, after_end, pauses


@pytest.mark.parametrize(
    ("state", "has_final", "asks", "task_id", "said", "then"),
    [
        (TaskState.COMPLETED, False, False, "t", True, Next.DONE),
        (TaskState.FAILED, False, False, "t", True, Next.DONE),
        (TaskState.INPUT_REQUIRED, False, True, "t", True, Next.DONE),
        (TaskState.WORKING, True, False, "t", True, Next.DONE),
        (TaskState.WORKING, False, False, "t", True, Next.ASK_TASK),
        (TaskState.UNKNOWN, False, False, "t", False, Next.ASK_TASK),
        (TaskState.UNKNOWN, False, False, None, True, Next.DONE),
        (TaskState.UNKNOWN, False, False, None, False, Next.GIVE_UP),
    ],
)
def test_what_to_do(
    state: TaskState, has_final: bool, asks: bool, task_id: str | None, said: bool, then: Next
) -> None:
    found = after_end(state=state, has_final=has_final, asks=asks, task_id=task_id, said_something=said)
    assert found is then


def test_the_looks_at_a_task_grow_apart() -> None:
    assert list(islice(pauses(), 5)) == [1.0, 2.0, 3.0, 5.0, 5.0]
