"""What the processes of one bot do for each other over their store: hold threads, tell each other, take over.

Where there is one process only, nothing of this runs.
"""

import asyncio
import logging
from collections import Counter
from collections.abc import Callable, Coroutine, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import replace
from enum import StrEnum
from typing import Any

from ..errors import StoreError
from ..observe.logs import log_if_broken
from ..store.contracts import RENEWALS, Signal, Store
from ..turn.progress import TurnRecord
from ..turn.record import ThreadKey

_log = logging.getLogger(__name__)


class SignalKind(StrEnum):
    """What one process tells another. A store tells of the first two."""

    LEFT = "left"
    QUESTION = "question"
    STOP = "stop"
    STOP_WATCH = "stop watch"
    CHANGE = "change"
    DROP = "drop"
    HINT = "hint"
    STREAM = "stream"


KINDS = frozenset(SignalKind)
"""What this process knows; the rest is kept for one that does."""


class Replicas:
    """This process among the others. `is_closing`: it takes nothing over any more.

    `on_left` gets a turn whose process is gone, `on_lost` a thread that is another process's now, `on_signal`
    what another process tells. `is_used`: something runs, waits or is watched in a thread. `spawn` runs what
    nobody waits for.
    """

    def __init__(
        self,
        store: Store,
        on_left: Callable[[TurnRecord], None],
        on_lost: Callable[[ThreadKey], None],
        on_signal: Callable[[Signal], Coroutine[Any, Any, None]],
        is_used: Callable[[ThreadKey], bool],
        spawn: Callable[[Coroutine[Any, Any, None]], asyncio.Task[Any]],
    ) -> None:
        self._store, self._is_used, self._spawn = store, is_used, spawn
        self._keepers = Counter[ThreadKey]()
        self._on_left, self._on_lost, self._on_signal = on_left, on_lost, on_signal
        self._tasks: list[asyncio.Task[None]] = []
        self.is_closing = self._is_looking_back = False
        self._problem: StoreError | None = None

    async def start(self) -> None:
        """Take over what was left, now and whenever a process is gone. Raises StoreError."""
        await self._take_over()
        if self._store.lease:
            loops = (self._hold(), self._listen())
            self._tasks = [asyncio.create_task(each, name="replicas") for each in loops]

    async def claim(self, turn: TurnRecord) -> TurnRecord | None:
        """The turn as it is now, if this process is to work on it."""
        try:
            claimed, answer = await self._store.claim(turn), turn.question.answer
            if claimed is None or answer is None:
                return claimed
            # what is secret in an answer is in no store
            return replace(claimed, question=replace(claimed.question, answer=answer))
        except StoreError as error:
            message = "a turn waits until a process finds it: %s"
            _log.log(error.log_level, message, error, extra={"turn": turn.key})
            return None

    @contextmanager
    def keep(self, thread: ThreadKey) -> Iterator[None]:
        """`thread` is not let go meanwhile: what is claimed is not begun yet, or its end not stored."""
        self._keepers[thread] += 1
        try:
            yield
        finally:
            self._keepers[thread] -= 1
            if not self._keepers[thread]:
                del self._keepers[thread]
            self.let_go_of(thread)

    def keep_until(self, task: asyncio.Task[None], thread: ThreadKey) -> None:
        """`thread` is not let go before `task` is done."""
        keeping = ExitStack()
        keeping.enter_context(self.keep(thread))
        task.add_done_callback(lambda _: keeping.close())

    def let_go_of(self, thread: ThreadKey) -> None:
        """Let `thread` go, if this process has nothing more to do there."""
        if self._store.lease and not self._is_needed(thread):
            self._spawn(self._let_go(thread))

    def _is_needed(self, thread: ThreadKey) -> bool:
        return thread in self._keepers or self._is_used(thread)

    async def _let_go(self, thread: ThreadKey) -> None:
        if self._is_needed(thread):  # since it was said
            return
        try:
            await self._store.let_go(thread, self.is_closing)
        except StoreError as error:
            message = "a thread is held until its lease ends: %s"
            _log.log(error.log_level, message, error, extra={"thread_ts": thread.ts})

    async def tell(self, thread: ThreadKey, kind: SignalKind, **values: str) -> bool:
        """Tell the process that works on this thread. False: there is no other one."""
        try:
            return await self._store.signal(Signal(thread, kind, values))
        except StoreError as error:
            message = "another process was not told: %s"
            _log.log(error.log_level, message, error, extra={"thread_ts": thread.ts})
            return False

    async def look_back(
        self, look: Callable[[], Coroutine[Any, Any, None]], is_connected: Callable[[], bool], gap: float
    ) -> None:
        """Have `look` find what was asked while Slack reached no process. To be called whenever Slack reaches
        this one again. With other processes it goes on until it is cancelled.

        A process that starts looks if no other one was connected, and one of the others does if that one is
        gone before it has. Later one does where all had been out for `gap` seconds.
        """
        if not self._store.lease:
            await look()
            return
        if self._is_looking_back:
            return
        self._is_looking_back = True
        looking: asyncio.Task[None] | None = None
        longest = 0.0
        try:
            while True:
                if is_connected() and not self.is_closing:
                    has_looked = looking is not None and looking.done()
                    with suppress(StoreError):  # said by the loop that holds the threads
                        is_due = await self._store.connected(longest, has_looked=has_looked)
                        longest = gap
                        looking = None if has_looked else looking
                        looking = self._spawn(look()) if is_due and looking is None else looking
                await asyncio.sleep(self._store.lease / RENEWALS)
        finally:
            self._is_looking_back = False
            if looking is not None:
                looking.cancel()

    async def close(self) -> None:
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def take_over(self, thread: ThreadKey, *, before: str) -> None:
        """What was left in a thread of this process goes before its newest turn."""
        try:
            for turn in await self._store.unfinished():
                is_left = turn.question.thread == thread and turn.key != before
                if is_left and (claimed := await self._store.claim(turn)) is not None:
                    self._on_left(claimed)
        except StoreError as error:
            message = "what was left in a thread is found later: %s"
            _log.log(error.log_level, message, error, extra={"thread_ts": thread.ts})

    async def _take_over(self) -> None:
        """All of a thread, in order, where one of its turns was left. Who has seen nothing yet goes first."""
        threads: dict[ThreadKey, list[TurnRecord]] = {
            turn.question.thread: [] for turn in await self._store.left()
        }
        for turn in await self._store.unfinished() if threads else ():
            if turn.question.thread in threads:
                threads[turn.question.thread].append(turn)
        for thread, turns in threads.items():
            for turn in turns:
                with self.keep(thread):
                    if (claimed := await self._store.claim(turn)) is not None:
                        self._on_left(claimed)

    async def _hold(self) -> None:
        while True:
            await asyncio.sleep(self._store.lease / RENEWALS)
            await self._worked(self._renew())

    async def _listen(self) -> None:
        while True:
            if not await self._worked(self._hear()):
                await asyncio.sleep(self._store.lease / RENEWALS)

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
        for thread in await self._store.renew():
            self._on_lost(thread)
        if not self.is_closing:
            await self._take_over()
        self._note(None)

    async def _hear(self) -> None:
        signals = await self._store.signals(KINDS)
        for signal in signals:
            if signal.kind != SignalKind.LEFT:
                await self._worked(self._on_signal(signal))
        if not self.is_closing and any(signal.kind == SignalKind.LEFT for signal in signals):
            await self._take_over()

    def _note(self, error: StoreError | None) -> None:
        """Said once: running answers go on."""
        if error is not None and self._problem is None:
            _log.log(error.log_level, "the replicas do not hear of each other: %s", error)
        if error is None and self._problem is not None:
            _log.log(min(self._problem.log_level, logging.INFO), "the replicas hear of each other again")
        self._problem = error
