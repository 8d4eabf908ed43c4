"""The line of each thread: the turn that runs there, and the questions that wait behind it."""

import asyncio
import logging
from collections import deque
from collections.abc import Callable, Coroutine, Iterator
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Protocol

from .consumer.stream_consumer import TurnHandle
from .journal import TurnJournal
from .notices import RESTARTING, Notices
from .slack.sink import Sink
from .slack.status import QueuedReaction
from .turn.progress import TurnRecord
from .turn.record import Question, ThreadKey

_log = logging.getLogger(__name__)


@dataclass(slots=True)
class RunningTurn:
    """The turn of a thread, and the questions that wait behind it, each with its reaction."""

    turn: TurnRecord
    waiting: deque[tuple[TurnRecord, QueuedReaction]]
    sink: Sink
    handle: TurnHandle = field(default_factory=TurnHandle)
    journal: TurnJournal | None = None
    task: asyncio.Task[None] | None = None
    is_lost: bool = False  # another process works on the thread

    @property
    def question(self) -> Question:
        return self.turn.question

    @property
    def record(self) -> TurnRecord:
        """How far the turn has come."""
        return self.turn if self.journal is None else self.journal.record

    def is_waiting_for(self, user: str) -> bool:
        """The agent waits for a sign-in of `user`: what they write meanwhile continues its task."""
        return self.handle.is_waiting_for_human and self.question.is_of(user)


class Spawn(Protocol):
    """Runs `work` beside the turns; what breaks is logged, with the question it is about."""

    def __call__(
        self, work: Coroutine[Any, Any, None], question: Question | None = None
    ) -> asyncio.Task[None]: ...


class ThreadLines:
    """All lines of this process.

    `run` carries out a turn; `on_free` gets a thread in which nothing runs or waits any more. `tasks` are the
    running turns'.
    """

    def __init__(
        self,
        notices: Notices,
        run: Callable[[RunningTurn], Coroutine[Any, Any, None]],
        on_free: Callable[[ThreadKey], None],
        spawn: Spawn,
    ) -> None:
        self._notices, self._run, self._on_free, self._spawn = notices, run, on_free, spawn
        self._running: dict[ThreadKey, RunningTurn] = {}
        self.tasks: set[asyncio.Task[None]] = set()

    def __iter__(self) -> Iterator[RunningTurn]:
        return iter(tuple(self._running.values()))

    def __contains__(self, thread: ThreadKey) -> bool:
        return thread in self._running

    def get(self, thread: ThreadKey) -> RunningTurn | None:
        """What runs in a thread."""
        return self._running.get(thread)

    def has(self, turn: TurnRecord) -> bool:
        """It runs or waits here."""
        running = self._running.get(turn.question.thread)
        own = [] if running is None else [running.turn, *(each for each, _ in running.waiting)]
        return turn.key in {each.key for each in own}

    def add(self, turn: TurnRecord, *, is_left: bool = False) -> None:
        """Begin `turn`, or let it wait, marked, until those before it are over.

        `is_left`: another process may have marked it.
        """
        question = turn.question
        running = self._running.get(question.thread)
        if running is None:
            self._launch(turn, deque())
            return
        if running.is_waiting_for(question.user):
            running.handle.leave()
        reaction = self._notices.reaction(question, is_shown=is_left)
        running.waiting.append((turn, reaction))
        self._spawn(reaction.show(), question)

    def lose(self, thread: ThreadKey) -> None:
        """Nothing of this process may appear in the thread any more."""
        running = self._running.get(thread)
        if running is None:
            return
        while running.waiting:
            running.waiting.popleft()[1].over()
        running.is_lost = True
        if running.task is not None:
            running.task.cancel()

    def leave_waiting(self, *, is_durable: bool) -> None:
        """What waits is the next process's; where nothing is stored for it, who asked is told."""
        for running in self._running.values():
            while running.waiting:
                turn, reaction = running.waiting.popleft()
                reaction.over(stays=is_durable)
                if not is_durable:
                    self._spawn(self._notices.notify(turn.question, RESTARTING), turn.question)

    def _launch(self, turn: TurnRecord, waiting: deque[tuple[TurnRecord, QueuedReaction]]) -> None:
        question = turn.question
        sink = self._notices.sink(question, turn.messages)
        running = self._running[question.thread] = RunningTurn(turn, waiting, sink)
        if turn.stopped_by is not None:
            running.handle.stop(turn.stopped_by)
        task = running.task = asyncio.create_task(self._run(running), name=f"turn {turn.key}")
        self.tasks.add(task)
        task.add_done_callback(partial(self._on_done, running=running))

    def _on_done(self, task: asyncio.Task[None], running: RunningTurn) -> None:
        self.tasks.discard(task)
        log_if_broken(task, running.question)
        del self._running[running.question.thread]
        if running.waiting:
            turn, reaction = running.waiting.popleft()
            reaction.over()
            self._launch(turn, running.waiting)
        else:
            self._on_free(running.question.thread)


def log_if_broken(task: asyncio.Task[None], question: Question | None) -> None:
    """For a task that nobody waits for."""
    if not task.cancelled() and (error := task.exception()) is not None:
        _log.error("a background task broke", exc_info=error, extra={"turn": question and question.key})
