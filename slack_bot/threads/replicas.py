"""This process among the others of one bot: it holds its threads, hears of people, takes over what was left.

Where there is one process only, nothing of this runs but the first look.
"""

import asyncio
import logging
from collections.abc import Callable, Coroutine
from contextlib import suppress
from typing import Any

from ..errors import StoreError
from ..observe.health import Health, HealthCheck
from ..observe.logs import log_if_broken
from ..slack.workspaces import Workspaces
from ..store.contracts import Store
from ..turn.progress import TurnRecord
from ..turn.record import ThreadKey
from .background import TaskSet
from .leases import Leases, SignalKind
from .registry import Registry

_log = logging.getLogger(__name__)


class Replicas:
    """The loops of a process that has company. `gap`: seconds without Slack after which one looks back."""

    def __init__(
        self,
        store: Store,
        leases: Leases,
        registry: Registry,
        background: TaskSet,
        health: Health,
        gap: float,
        workspaces: Workspaces,
    ) -> None:
        self._workspaces = workspaces
        self._store, self._leases, self._registry = store, leases, registry
        self._background, self._health, self._gap = background, health, gap
        self._loops: list[asyncio.Task[None]] = []
        self._problem: StoreError | None = None
        self._is_ending = self._is_looking_back = False

    async def start(self) -> None:
        """Take over what was left, now and whenever a process is gone. Raises StoreError."""
        await self.take_over_left()
        if self._leases.is_shared:
            loops = (self._hold(), self._listen(), self._lose())
            self._loops = [asyncio.create_task(each, name="replicas") for each in loops]

    def keep_only(self) -> None:
        """The process ends: what it has it holds on to, and takes nothing over."""
        self._is_ending = True

    async def close(self) -> None:
        """Hold, hear and tell nothing more."""
        for task in self._loops:
            task.cancel()
        await asyncio.gather(*self._loops, return_exceptions=True)

    async def look_back(self, look: Callable[[], Coroutine[Any, Any, None]]) -> None:
        """Have `look` find what was asked while Slack reached no process. To be called whenever Slack reaches
        this one again. With other processes it goes on until it is cancelled.

        A process that starts looks if no other one was connected, and one of the others does if that one is
        gone before it has. Later one does where all had been out for so long.
        """
        if not self._leases.is_shared:
            await look()
            return
        if self._is_looking_back:
            return
        self._is_looking_back = True
        looking: asyncio.Task[None] | None = None
        longest = 0.0
        try:
            while True:
                if self._health.is_ok(HealthCheck.SLACK) and not self._is_ending:
                    has_looked = looking is not None and looking.done()
                    with suppress(StoreError):  # said by the loop that holds the threads
                        is_due = await self._store.connected(longest, has_looked=has_looked)
                        longest = self._gap
                        looking = None if has_looked else looking
                        if is_due and looking is None:
                            looking = self._background.spawn(look())
                await asyncio.sleep(self._leases.pause)
        finally:
            self._is_looking_back = False
            if looking is not None:
                looking.cancel()

    async def take_over_left(self) -> None:
        """All of a thread, in order, where one of its turns was left. Who has seen nothing yet goes first.
        The store gives no process more than its part. What is of a workspace without a token waits for one.
        """
        threads: dict[ThreadKey, list[TurnRecord]] = {
            turn.question.thread: []
            for turn in await self._store.left()
            if self._workspaces.has(turn.question.thread.team)
        }
        for turn in await self._store.unfinished() if threads else ():
            if turn.question.thread in threads:
                threads[turn.question.thread].append(turn)
        for turns in threads.values():
            for turn in turns:
                await self._registry.claim_left(turn)

    async def _lose(self) -> None:
        while True:
            await self._worked(self._registry.lose(await self._leases.lost.get()))

    async def _hold(self) -> None:
        while True:
            await asyncio.sleep(self._leases.pause)
            await self._worked(self._renew())

    async def _listen(self) -> None:
        while True:
            if not await self._worked(self._hear()):
                await asyncio.sleep(self._leases.pause)

    async def _worked(self, work: Coroutine[Any, Any, None]) -> bool:
        """Only logs what breaks: without its loops a process cannot hold its threads, nor hear of a Stop."""
        task = asyncio.create_task(work, name="replicas")
        try:
            await asyncio.wait({task})
        finally:
            task.cancel()
        error = task.exception()
        if isinstance(error, StoreError):
            self._note(error)
        else:
            log_if_broken(task)
        return error is None

    async def _renew(self) -> None:
        await self._leases.renew()
        if not self._is_ending:
            await self.take_over_left()
        self._note(None)

    async def _hear(self) -> None:
        signals = await self._leases.signals()
        for signal in signals:
            if signal.kind != SignalKind.LEFT:
                await self._worked(self._registry.obey(signal))
        if not self._is_ending and any(signal.kind == SignalKind.LEFT for signal in signals):
            await self.take_over_left()

    def _note(self, error: StoreError | None) -> None:
        """Said once: running answers go on."""
        if error is not None and self._problem is None:
            _log.log(error.log_level, "the replicas do not hear of each other: %s", error)
        if error is None and self._problem is not None:
            _log.log(min(self._problem.log_level, logging.INFO), "the replicas hear of each other again")
        self._problem = error
