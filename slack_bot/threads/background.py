"""Tasks that are not awaited where they begin, but before the process ends."""

import asyncio
from collections.abc import Coroutine, Iterator
from functools import partial
from typing import Any, TypeVar

from ..observe.logs import log_if_broken

T = TypeVar("T")


class TaskSet:
    """The tasks of one kind that are not done. What breaks one is logged."""

    def __init__(self) -> None:
        self._tasks: set[asyncio.Task[Any]] = set()

    def __len__(self) -> int:
        return len(self._tasks)

    def __iter__(self) -> Iterator[asyncio.Task[Any]]:
        return iter(tuple(self._tasks))

    def add(self, task: asyncio.Task[Any]) -> None:
        """One that is awaited elsewhere too."""
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def spawn(
        self, work: Coroutine[Any, Any, T], turn: str | None = None, name: str | None = None
    ) -> asyncio.Task[T]:
        """Run `work`, which is about the turn with this key."""
        task = asyncio.create_task(work, name=name)
        self.add(task)
        task.add_done_callback(partial(log_if_broken, turn=turn))
        return task

    def cancel(self) -> None:
        """Cancel all."""
        for task in self:
            task.cancel()


async def wait_for_tasks(
    tasks: set[asyncio.Task[Any]], seconds: float, hurry: asyncio.Event | None = None
) -> None:
    """Until all `tasks` are done, `seconds` have passed, or `hurry` is set."""
    if not tasks:
        return
    ends: set[asyncio.Future[Any]] = {asyncio.ensure_future(asyncio.wait(tuple(tasks)))}
    if hurry is not None:
        ends.add(asyncio.ensure_future(hurry.wait()))
    await asyncio.wait(ends, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
    for each in ends:
        each.cancel()
