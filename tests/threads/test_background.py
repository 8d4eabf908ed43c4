"""Tasks that nobody awaits: what breaks one is logged, and the end of the process waits for them so long."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from slack_bot.testing.virtual_clock import on_virtual_time
from slack_bot.threads.background import TaskSet, wait_for_tasks


async def broken() -> None:
    raise ZeroDivisionError


@on_virtual_time
async def test_what_breaks_a_task_is_logged_with_its_turn_and_the_others_go_on(
    caplog: pytest.LogCaptureFixture,
) -> None:
    tasks, done = TaskSet(), list[str]()

    async def work() -> None:
        await asyncio.sleep(1)
        done.append("work")

    tasks.spawn(work())
    tasks.spawn(broken(), "T1:C1:1.0")
    assert len(tasks) == 2
    await asyncio.sleep(2)
    assert (len(tasks), done) == (0, ["work"])
    (record,) = caplog.records
    assert (record.getMessage(), vars(record)["turn"]) == ("a background task broke", "T1:C1:1.0")
    assert record.exc_info is not None and record.exc_info[0] is ZeroDivisionError


@on_virtual_time
async def test_what_breaks_a_task_that_is_awaited_elsewhere_is_not_logged(
    caplog: pytest.LogCaptureFixture,
) -> None:
    tasks = TaskSet()
    task = asyncio.create_task(broken())
    tasks.add(task)
    assert {*tasks} == {task}
    with pytest.raises(ZeroDivisionError):
        await task
    assert len(tasks) == 0
    assert caplog.records == []


@on_virtual_time
async def test_cancelled_tasks_are_gone_and_nothing_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    tasks = TaskSet()
    for _ in range(3):
        tasks.spawn(asyncio.sleep(60))
    await asyncio.sleep(0)
    tasks.cancel()
    await wait_for_tasks({*tasks}, 1.0)
    assert len(tasks) == 0
    assert caplog.records == []


@pytest.mark.parametrize(
    ("work", "hurries_at", "seconds"),
    [
        ([3.0, 5.0], None, 5.0),  # all are done
        ([3.0, 60.0], None, 20.0),  # the time is up
        ([3.0, 60.0], 7.0, 7.0),
        ([3.0, 5.0], 7.0, 5.0),
        ([60.0], 0.0, 0.0),
        ([], None, 0.0),
    ],
)
@on_virtual_time
async def test_the_end_waits_for_tasks_until_they_are_done_the_time_is_up_or_somebody_hurries(
    work: list[float], hurries_at: float | None, seconds: float
) -> None:
    loop, hurry, tasks = asyncio.get_running_loop(), asyncio.Event(), TaskSet()
    for each in work:
        tasks.spawn(asyncio.sleep(each))
    if hurries_at is not None:
        loop.call_at(hurries_at, hurry.set)
    running: set[asyncio.Task[Any]] = {*tasks}
    await wait_for_tasks(running, 20.0, hurry)
    assert loop.time() == seconds
    assert {task for task in running if task.cancelled()} == set(), "nobody who only waits cancels"
    assert len(tasks) == sum(each > seconds for each in work)
