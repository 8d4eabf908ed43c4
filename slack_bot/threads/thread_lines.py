"""The line of each thread: the turn that runs there, and the questions that wait behind it."""

import asyncio
from collections.abc import Callable, Coroutine, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Protocol

from ..agents.task.stream_consumer import TurnHandle
from ..clock import Clock
from ..observe.logs import log_if_broken
from ..settings.channels import ChannelPolicies, ChannelSettings
from ..settings.models import TurnSettings
from ..slack.sink import Sink
from ..slack.status import QueuedReaction
from ..text.words import RESTARTING
from ..turn.progress import Stage, TurnRecord
from ..turn.record import Outcome, Question, ThreadKey
from .journal import Journal, TurnJournal
from .notices import Notices


@dataclass(slots=True)
class WaitingQuestion:
    """A question that waits, since `at` on the clock. `mark` is its reaction, `saving` its last change."""

    turn: TurnRecord
    at: float
    mark: QueuedReaction | None = None
    saving: asyncio.Task[None] | None = None

    def take_off(self) -> None:
        """It waits no longer."""
        if self.mark is not None:
            self.mark.over()


@dataclass(slots=True)
class RunningTurn:
    """The turn of a thread. `asked`: the questions that it answers together. `offered`: the last one that
    its asker could drop at a Stop.
    """

    turn: TurnRecord
    sink: Sink
    asked: Sequence[WaitingQuestion]
    handle: TurnHandle = field(default_factory=TurnHandle)
    journal: TurnJournal | None = None
    task: asyncio.Task[None] | None = None
    is_lost: bool = False  # another process works on the thread
    offered: str = ""
    unseen_since: Callable[[], float | None] = lambda: None
    """When the oldest text came that the reader cannot see yet."""

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

    async def hand_over(self) -> None:
        """The next process goes on with it, from what is stored, even if this one ends in between."""
        if self.journal is not None:
            await self.journal.hand_over(self.sink.delivery.records)
        if await self.sink.hand_over() and self.journal is not None:
            await self.journal.hand_over(self.sink.delivery.records)


@dataclass(slots=True)
class _Line:
    """`hold`: nothing runs yet, because more may be written to the first question."""

    waiting: list[WaitingQuestion] = field(default_factory=list)
    running: RunningTurn | None = None
    hold: asyncio.Task[None] | None = None

    def end_hold(self) -> None:
        if self.hold is not None:
            self.hold.cancel()
            self.hold = None


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
        journal: Journal,
        policies: ChannelPolicies,
        settings: TurnSettings,
        clock: Clock,
        run: Callable[[RunningTurn], Coroutine[Any, Any, None]],
        on_free: Callable[[ThreadKey], None],
        spawn: Spawn,
    ) -> None:
        self._notices, self._journal, self._policies = notices, journal, policies
        self._settings, self._now = settings, clock.monotonic
        self._run, self._on_free, self._spawn = run, on_free, spawn
        self._lines: dict[ThreadKey, _Line] = {}
        self.tasks: set[asyncio.Task[None]] = set()

    def __iter__(self) -> Iterator[RunningTurn]:
        return iter([line.running for line in self._lines.values() if line.running is not None])

    @property
    def waiting_count(self) -> int:
        return sum(len(line.waiting) for line in self._lines.values())

    def __contains__(self, thread: ThreadKey) -> bool:
        return thread in self._lines

    def get(self, thread: ThreadKey) -> RunningTurn | None:
        """What runs in a thread."""
        line = self._lines.get(thread)
        return None if line is None else line.running

    def waiting(self, thread: ThreadKey, user: str | None = None) -> list[TurnRecord]:
        """What waits in a thread, of one person or all, in order."""
        turns = [each.turn for each in self._waiting_in(thread)]
        return [turn for turn in turns if user in (None, turn.question.user)]

    def place_of(self, turn: TurnRecord) -> int:
        """Which question of the line it is: 1 is the next; 0: it is asked now, or with one before it."""
        line = self._lines.get(turn.question.thread)
        if line is None or line.running is None:
            return 0
        before: list[TurnRecord] = []
        for each in (entry.turn for entry in line.waiting):
            is_joined = self._policy(line).merges and any(_belongs_to(first, each) for first in before)
            if each.key == turn.key:
                return 0 if is_joined else len(before) + 1
            before += [] if is_joined else [each]
        return 0

    def has(self, turn: TurnRecord) -> bool:
        """It runs or waits here."""
        running = self.get(turn.question.thread)
        asked = [] if running is None else [running.turn, *(each.turn for each in running.asked)]
        return turn.key in {each.key for each in (*asked, *self.waiting(turn.question.thread))}

    def add(self, turn: TurnRecord, *, is_left: bool = False) -> None:
        """Begin `turn`, or let it wait, marked, until those before it are over.

        `is_left`: another process may have marked it.
        """
        question = turn.question
        line = self._lines.setdefault(question.thread, _Line())
        entry = WaitingQuestion(turn, self._now())
        line.waiting.append(entry)
        if is_left:
            self._mark([entry], is_shown=True)
        if line.running is not None:
            if line.running.is_waiting_for(question.user):
                line.running.handle.leave()
            self._mark(line.waiting)
        elif turn.stage is not Stage.ACCEPTED:
            line.waiting.insert(0, line.waiting.pop())
            self._begin_next(line)
        elif line.hold is None:
            self._hold(line)

    def thread_of(self, key: str) -> ThreadKey | None:
        """Where a question waits: a line of several that are asked together is in the thread of the first."""
        return next((thread for thread in self._lines if self._find(key, thread) is not None), None)

    def _find(self, key: str, thread: ThreadKey) -> WaitingQuestion | None:
        return next((each for each in self._waiting_in(thread) if each.turn.key == key), None)

    def change(self, key: str, thread: ThreadKey, text: str) -> asyncio.Task[None] | None:
        """A question that waits has another text. Done when it is stored. None: it does not wait here."""
        if (found := self._find(key, thread)) is None:
            return None
        found.turn = replace(found.turn, question=replace(found.turn.question, text=text))
        found.saving = self._spawn(self._save(found.turn, found.saving), found.turn.question)
        return found.saving

    async def _save(self, turn: TurnRecord, before: asyncio.Task[None] | None) -> None:
        if before is not None:
            await asyncio.wait({before})
        await self._journal.keep(turn)

    def drop(self, thread: ThreadKey, keys: Sequence[str]) -> list[asyncio.Task[None]]:
        """These questions wait no longer, and are not asked. Each task is done when that is stored."""
        line, dropped = self._lines.get(thread), []
        for found in [each for each in self._waiting_in(thread) if each.turn.key in keys]:
            assert line is not None
            line.waiting.remove(found)
            found.take_off()
            dropped.append(self._spawn(self._end(found), found.turn.question))
        if line is not None and line.running is None and not line.waiting:
            self._end_line(thread, line)
        return dropped

    async def _end(self, dropped: WaitingQuestion) -> None:
        if dropped.saving is not None:
            await asyncio.wait({dropped.saving})
        await self._journal.end(dropped.turn, Outcome.STOPPED)

    def stop_waiting(self, key: str, thread: ThreadKey, user: str) -> TurnRecord | None:
        """A turn that waits is ended when it is its place. None: it does not wait here."""
        if (found := self._find(key, thread)) is None:
            return None
        found.turn = replace(found.turn, stopped_by=user)
        return found.turn

    def refer(self, key: str, thread: ThreadKey, task_id: str) -> None:
        """The question that waits refers to a task that it interrupted."""
        if (found := self._find(key, thread)) is not None:
            found.turn = replace(found.turn, question=replace(found.turn.question, references=(task_id,)))

    def lose(self, thread: ThreadKey) -> None:
        """Nothing of this process may appear in the thread any more."""
        line = self._lines.get(thread)
        if line is None:
            return
        for each in line.waiting:
            each.take_off()
        line.waiting.clear()
        if line.running is None:
            line.end_hold()
            del self._lines[thread]
            return
        line.running.is_lost = True
        if line.running.task is not None:
            line.running.task.cancel()

    def leave_waiting(self, *, is_durable: bool) -> None:
        """What waits is the next process's; where nothing is stored for it, who asked is told."""
        for line in self._lines.values():
            line.end_hold()
            for each in line.waiting:
                if each.mark is not None:
                    each.mark.over(stays=is_durable)
                if not is_durable:
                    self._spawn(self._notices.notify(each.turn.question, RESTARTING), each.turn.question)
            line.waiting.clear()

    async def prepare(self, running: RunningTurn) -> None:
        """What became one question is one in the store, before it is asked. If not, the others are alone."""
        savings = [each.saving for each in running.asked if each.saving is not None]
        if savings:
            await asyncio.wait(savings)
        first, *others = running.asked
        if others and not await self._journal.merge(running.turn, [each.turn for each in others]):
            running.turn, running.asked = first.turn, [first]
            for each in others:
                each.mark = None
            line = self._lines[running.question.thread]
            line.waiting[:0] = others
            self._mark(line.waiting)

    def _waiting_in(self, thread: ThreadKey) -> list[WaitingQuestion]:
        line = self._lines.get(thread)
        return [] if line is None else line.waiting

    def _mark(self, waiting: Sequence[WaitingQuestion], *, is_shown: bool = False) -> None:
        for each in waiting:
            if each.mark is None:
                each.mark = self._notices.reaction(each.turn.question, is_shown=is_shown)
                self._spawn(each.mark.show(), each.turn.question)

    def _policy(self, line: _Line) -> ChannelSettings:
        return self._policies.of(line.waiting[0].turn.question.thread.channel)

    def _hold(self, line: _Line) -> None:
        """Begin the first question, as soon as its asker has written nothing more for a moment."""
        if (seconds := self._seconds_to_hold(line)) > 0:
            line.hold = self._spawn(self._hold_on(line, seconds), line.waiting[0].turn.question)
        else:
            self._begin_next(line)

    async def _hold_on(self, line: _Line, seconds: float) -> None:
        await asyncio.sleep(seconds)
        line.hold = None
        self._hold(line)

    def _seconds_to_hold(self, line: _Line) -> float:
        user = line.waiting[0].turn.question.user
        last = max(each.at for each in line.waiting if each.turn.question.user == user)
        return last + self._settings.collect_delay - self._now() if self._policy(line).collects else 0.0

    def _begin_next(self, line: _Line) -> None:
        line.end_hold()
        asked = [line.waiting[0]]
        if self._policy(line).merges:
            asked += [each for each in line.waiting[1:] if _belongs_to(asked[0].turn, each.turn)]
        line.waiting = [each for each in line.waiting if each not in asked]
        for each in asked:
            each.take_off()
        turn = _merged([each.turn for each in asked])
        running = line.running = RunningTurn(turn, self._notices.sink(turn.question, turn.messages), asked)
        self._mark(line.waiting)
        if turn.stopped_by is not None:
            running.handle.stop(turn.stopped_by)
        task = running.task = asyncio.create_task(self._run(running), name=f"turn {turn.key}")
        self.tasks.add(task)
        task.add_done_callback(partial(self._on_done, line=line, running=running))

    def _on_done(self, task: asyncio.Task[None], line: _Line, running: RunningTurn) -> None:
        self.tasks.discard(task)
        log_if_broken(task, running.question.key)
        line.running = None
        if line.waiting:
            self._hold(line)
        else:
            self._end_line(running.question.thread, line)

    def _end_line(self, thread: ThreadKey, line: _Line) -> None:
        line.end_hold()
        del self._lines[thread]
        self._on_free(thread)


def _belongs_to(first: TurnRecord, other: TurnRecord) -> bool:
    """Whether the agent may get both as one question."""
    is_new = all(each.stage is Stage.ACCEPTED and each.stopped_by is None for each in (first, other))
    is_said = not any(each.question.attempt or each.question.handle for each in (first, other))
    return is_new and is_said and bool(first.question.user) and first.question.user == other.question.user


def _merged(turns: Sequence[TurnRecord]) -> TurnRecord:
    """As one question, in the order in which they were written: Slack keeps none."""
    first, *others = turns
    if not others:
        return first
    written = sorted((each.question for each in turns), key=lambda question: float(question.ts))
    text = "\n".join(question.text for question in written if question.text)
    files = tuple(file for question in written for file in question.files)
    more = tuple(each.question.ts for each in others)
    tasks = tuple(task for each in turns for task in each.question.references)
    whole = replace(first.question, text=text, merged=more, files=files, references=tasks)
    return replace(first, question=whole)
