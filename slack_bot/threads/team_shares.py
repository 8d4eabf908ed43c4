"""What one workspace may take of the process, where the bot is in several.

Slack's budgets are each workspace's own. The agents and this process are everybody's: so only so many turns
of one workspace run at once, and the next ones wait in their order. A workspace that floods takes nothing
from the others.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from typing import Any

from ..agents.task.stream_consumer import TurnHandle
from ..slack.status import QueuedReaction
from .background import TaskSet


class TeamShares:
    """The places of running turns. `most`: of one workspace; 0: any number."""

    def __init__(self, most: int, background: TaskSet) -> None:
        self._most, self._background = most, background
        self._places: dict[str, asyncio.Semaphore] = {}

    @asynccontextmanager
    async def place(
        self, team: str, handle: TurnHandle, new_mark: Callable[[], QueuedReaction]
    ) -> AsyncIterator[None]:
        """Wait for a place, and hold it inside the block; a turn that is to end gets in without one.

        `new_mark`: makes the mark of a question that waits.
        """
        if not self._most:
            yield
            return
        places = self._places.setdefault(team, asyncio.Semaphore(self._most))
        has_place = await self._wait(places.acquire(), handle, new_mark() if places.locked() else None)
        try:
            yield
        finally:
            if has_place:
                places.release()

    async def _wait(
        self, place: Coroutine[Any, Any, bool], handle: TurnHandle, mark: QueuedReaction | None
    ) -> bool:
        if mark is None:
            return await place
        self._background.spawn(mark.show())
        try:
            return bool(await handle.race(place))
        finally:
            mark.over()
