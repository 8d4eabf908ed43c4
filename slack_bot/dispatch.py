"""Every turn of this process, one at a time in a thread.

A second question in a thread waits until the first is answered: agents drop or mix up questions that come
while they work (facts: A2A 2.6). A turn that broke ends here, and only here: the traceback is logged and the
reader gets a notice.
"""

import asyncio
import logging
from collections import deque
from collections.abc import Collection, Coroutine
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from .a2a.agent import Agent
from .clock import Clock
from .consumer.stream_consumer import TurnHandle
from .errors import BotError, StoreError
from .journal import Journal, TurnJournal
from .notices import BROKE, GIVEN_UP, NOT_BEGUN, RESTARTING, TOO_LONG, Notices
from .observe.facts import MessageIgnored, Observer
from .observe.health import STORE_FAILED, Health, HealthCheck
from .replicas import Replicas
from .runner import TurnRunner
from .settings.channels import ChannelPolicies
from .settings.load import Settings
from .slack.api import SlackApi
from .slack.sink import Sink
from .slack.status import QueuedReaction
from .slack.stream_starts import StreamStartTracker
from .store.contracts import Signal, Store
from .turn.progress import Stage, TurnRecord
from .turn.record import Outcome, Question, ThreadKey
from .watches import WatchedPush, Watches, watched_push

log = logging.getLogger(__name__)

_NOTIFY_SECONDS = 5.0
_NOTIFY_ROUNDS = 5  # as long as each round ends some: within Slack's budgets some forty readers get a notice
_CLOSING = "The bot is ending and takes no more questions."
_NOT_YOURS = "Only the person who asked can ask again. Mention me with your own question."
_OVER = "This is over already."
_NOT_YOURS_TO_STOP = "Only the person who asked can stop this."
_FORGOTTEN = "I no longer know the question. Please ask it again."
_ALREADY = "This question is already being asked again."
_THANKS = "Thanks for your feedback."
_MOST_ACCEPTED = _MOST_REFUSED = 1000  # questions


@dataclass(slots=True)
class _Running:
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


class TurnDispatcher:
    """Accepts questions, runs their turns, ends them. One for a process."""

    def __init__(
        self,
        agent: Agent,
        store: Store,
        api: SlackApi,
        settings: Settings,
        policies: ChannelPolicies,
        clock: Clock,
        observer: Observer,
        health: Health,
    ) -> None:
        self._agent, self._store, self._health = agent, store, health
        self._settings, self._policies, self._clock, self._observer = settings, policies, clock, observer
        self._store_failures = 0  # questions in a row that could not be stored
        self._store_error: StoreError | None = None  # once there were too many
        self._store_broken = asyncio.Event()
        self._stream_starts = StreamStartTracker(self._spawn)
        interval = settings.store.checkpoint_interval
        self._journal = Journal(store, agent.name, clock, interval, self._lose_thread)
        self._notices = Notices(api, settings.stream, clock, observer, self._journal, self._stream_starts)
        self.post_ephemeral, self.client = self._notices.post_ephemeral, self._notices.client
        self._replicas = Replicas(store, self.go_on, self._lose_thread, self._on_signal)
        self.watches = Watches(agent, settings, clock, self._start, self._lose, self._journal.keep)
        self._running: dict[ThreadKey, _Running] = {}
        self._turns: set[asyncio.Task[None]] = set()
        self._background: set[asyncio.Task[Any]] = set()
        self._accepted: dict[str, None] = {}  # keys of questions, the oldest first
        self._refused: deque[str] = deque(maxlen=_MOST_REFUSED)
        self._closing = False

    async def accept(self, question: Question) -> bool:
        """Store `question` and start its turn; False if it was accepted before.

        Raises BotError when it cannot be accepted: then it must not be acknowledged to Slack. Once stored, it
        is started even if the caller is cancelled: Slack's redelivery would count as accepted before.
        """
        if self._closing:
            raise BotError(_CLOSING)
        if question.key in self._accepted:  # the same mention as another event: no need to ask the store
            return False
        task = asyncio.create_task(self._accept(question), name=f"accept {question.key}")
        self._background.add(task)
        task.add_done_callback(self._background.discard)
        return await asyncio.shield(task)

    async def _accept(self, question: Question) -> bool:
        turn = TurnRecord(question, self._clock.wall())
        try:
            is_new = await self._store.accept(turn)
        except StoreError as error:
            self._health.failed(HealthCheck.STORE, STORE_FAILED)
            self._store_failures += 1
            if self._store_failures >= self._settings.store.max_failures:
                self._store_error = error
                self._store_broken.set()
            raise
        self._health.passed(HealthCheck.STORE)
        self._store_failures = 0
        self._store_broken.clear()
        if is_new and self._closing:  # since the store was asked
            await self._store.withdraw(question.key)
            raise BotError(_CLOSING)
        self._accepted[question.key] = None
        if len(self._accepted) > _MOST_ACCEPTED:
            del self._accepted[next(iter(self._accepted))]
        if is_new and (claimed := await self._replicas.claim(turn)) is not None:
            if self._store.lease and question.thread not in self._running:
                await self._replicas.take_over(question.thread, before=turn.key)
            self._start(claimed)
        return is_new

    async def take_over(self) -> None:
        """Go on with what other processes accepted and did not end, now and later. Raises StoreError."""
        await self._replicas.start()

    def go_on(self, turn: TurnRecord) -> None:
        """The process is gone that worked on this turn."""
        if self._has(turn):
            return
        if turn.stage is Stage.WATCHED:
            self.watches.add(turn)
        elif turn.takeovers < self._settings.turns.max_takeovers:
            log.info("a turn is taken over", extra=_fields(turn))
            is_next = turn.question.thread not in self._running
            self._start(turn)
            if is_next:  # it may have waited
                reaction = self._notices.reaction(turn.question, is_shown=True)
                reaction.over()
                self._spawn(reaction.show(), turn.question)
        else:
            log.error("a turn is given up: each process that went on with it ended", extra=_fields(turn))
            sink, reason = self._notices.sink(turn.question, turn.messages), "too many takeovers"
            work = self._notices.break_off(turn, Outcome.LOST, reason, GIVEN_UP, sink)
            self._spawn(work, turn.question)

    def _has(self, turn: TurnRecord) -> bool:
        """It runs, waits or is watched in this process."""
        running = self._running.get(turn.question.thread)
        own = [] if running is None else [running.turn, *(each for each, _ in running.waiting)]
        return turn.key in {each.key for each in own} or self.watches.get(turn.key) is not None

    def _lose_thread(self, thread: ThreadKey) -> None:
        """Another process works on it: nothing of this one may appear there any more."""
        log.error("a thread is another process's now", extra={"thread_ts": thread.ts})
        for turn in self.watches.turns_in(thread):
            self.watches.take(turn.key)
        running = self._running.get(thread)
        if running is None:
            return
        while running.waiting:
            running.waiting.popleft()[1].over()
        running.is_lost = True
        if running.task is not None:
            running.task.cancel()

    async def _on_signal(self, signal: Signal) -> None:
        """Another process got what is meant for a thread of this one."""
        values = signal.values
        match signal.kind:
            case "question":
                turn = await self._store.turn(values["turn"])
                if turn is None or self._has(turn):
                    return
                if (claimed := await self._replicas.claim(turn)) is not None:
                    self._start(claimed)
            case "stop":
                await self.stop(signal.thread, values["user"], values["messages"].split())
            case "stop watch":
                await self.stop_watch(values["turn"], values["user"])
            case "hint":
                await self.watches.on_hint(values["push"])
            case "stream":
                self.on_stream_started(signal.thread, values["ts"])
            case kind:
                log.warning("another process sent what is not known here: %s", kind)

    async def push_watch(self, push_id: str) -> WatchedPush | None:
        """The watch whose agent posts to this id, here or at another process. Raises StoreError."""
        watch = self.watches.push_watch(push_id)
        if watch is not None or not self._store.lease:
            return watch
        turn = await self._store.watched(push_id)
        return None if turn is None else watched_push(turn)

    async def on_hint(self, push_id: str) -> None:
        """An agent says that there is news of a watched task."""
        if self.watches.push_watch(push_id) is not None:
            await self.watches.on_hint(push_id)
        elif (turn := await self._store.watched(push_id)) is not None:
            await self._replicas.tell(turn.question.thread, "hint", push=push_id)

    def _let_go(self, thread: ThreadKey) -> None:
        if self._store.lease and thread not in self._running and not self.watches.turns_in(thread):
            self._spawn(self._replicas.let_go(thread))

    async def wait_for_broken_store(self) -> StoreError:
        """Wait until `store.max_failures` questions in a row could not be stored, and no answer runs."""
        while True:
            await self._store_broken.wait()
            problem = f"{self._store_failures} questions in a row could not be stored. {self._store_error}"
            log.error("%s The bot ends as soon as no answer runs.", problem)
            await self.idle()
            if self._store_broken.is_set():
                end = "The bot ends so that it is started again and opens the store again."
                return StoreError(f"{problem} {end}")

    def refuse(self, question: Question, words: str = "") -> None:
        """Say, once, that `question` is not taken; `words` are for its asker only."""
        if question.key not in self._refused:
            self._refused.append(question.key)
            self._spawn(self._notices.refuse(question, words), question)

    def _start(self, turn: TurnRecord) -> None:
        question = turn.question
        running = self._running.get(question.thread)
        if not question.text:
            self._spawn(self._hint(turn), question)
        elif turn.stage is Stage.ACCEPTED and self._is_stop(question):
            self._spawn(self._stop_by_word(turn), question)
        elif running is None:
            self._launch(turn, deque())
        else:
            if running.is_waiting_for(question.user):
                running.handle.leave()
            reaction = self._notices.reaction(question)
            running.waiting.append((turn, reaction))
            self._spawn(reaction.show(), question)

    def _is_stop(self, question: Question) -> bool:
        """The asker of what runs or is watched here wants it to end."""
        running = self._running.get(question.thread)
        is_asker = running is not None and running.question.is_of(question.user)
        is_word = question.text.strip(" .!").casefold() == "stop"
        return is_word and (is_asker or bool(self.watches.of(question.thread, question.user)))

    def _lose(self, turn: TurnRecord, note: str) -> None:
        """A task is watched no longer, and its end is not known."""
        self._spawn(self._notices.break_off(turn, Outcome.LOST, "watched no longer", note), turn.question)

    async def is_waiting_for(self, thread: ThreadKey, user: str) -> bool:
        """Whether the agent waits for `user` in this thread. Raises StoreError."""
        running = self._running.get(thread)
        if running is not None and running.is_waiting_for(user):
            return True
        known = await self._store.conversation(self._agent.name, thread)
        return known.task_for(user) is not None

    def ignored(self, message: Question, reason: str) -> None:
        thread, now = message.thread, self._clock.monotonic()
        self._observer(
            MessageIgnored(now, message.user, thread.channel, thread.ts, message.ts, message.text, reason)
        )

    async def stop(self, thread: ThreadKey, user: str, messages: Collection[str] = ()) -> bool:
        """End the running turn of a thread for `user`, and what is watched for them. False: there is none.

        `messages`: the streams that the stop is about, if it is about some.
        """
        running = self._running.get(thread)
        if running is not None and not await self._are_others(messages, running):
            running.handle.stop(user)
            if running.journal is not None:
                await running.journal.stop(user)
            else:
                await self._journal.keep(replace(running.turn, stopped_by=user))
            return True
        watched = self.watches.of(thread, user)
        for turn in watched:
            await self.stop_watch(turn.key, user)
        if watched or running is not None:
            return bool(watched)
        return await self._replicas.tell(thread, "stop", user=user, messages=" ".join(messages))

    async def _are_others(self, messages: Collection[str], running: _Running) -> bool:
        """A stop that comes late names messages of another turn."""
        if not messages:
            return False
        shown = {message.ts for message in running.sink.delivery.messages}
        return (await self._journal.messages_in(running.question.thread) - shown).issuperset(messages)

    async def _stop_by_word(self, turn: TurnRecord) -> None:
        await self.stop(turn.question.thread, turn.question.user)
        await self._journal.end(turn, Outcome.STOPPED)

    async def stop_watch(self, key: str, user: str) -> str | None:
        """Cancel the watched task of a turn: only its asker may. Else why not."""
        turn = self.watches.get(key)
        if turn is None:
            known = await self._store.turn(key)
            is_watched = known is not None and known.stage is Stage.WATCHED
            if known is None or not is_watched or not known.question.is_of(user):
                return _OVER
            is_told = await self._replicas.tell(known.question.thread, "stop watch", turn=key, user=user)
            return None if is_told else _OVER
        if not turn.question.is_of(user):
            return _NOT_YOURS_TO_STOP
        self.watches.take(key)
        turn = replace(turn, stopped_by=user)
        await self._journal.keep(turn)
        self._start(turn)
        return None

    async def retry(self, turn: str, user: str) -> str | None:
        """Ask the question of `turn` again: only its asker may, and once. Else why not. Raises BotError."""
        known = await self._store.turn(turn)
        if known is None:
            return _FORGOTTEN
        if not known.question.is_of(user):
            return _NOT_YOURS
        await self.stop_watch(turn, user)
        attempt = known.question.attempt + 1
        again = replace(known.question, attempt=attempt, context_id=None, task_id=None)
        return None if await self.accept(again) else _ALREADY

    async def feedback(self, turn: str, user: str, value: str) -> str | None:
        """Store it. Gives thanks for what was not stored before. Raises StoreError."""
        is_new = await self._store.save_feedback(turn, user, value, self._clock.wall())
        return _THANKS if is_new else None

    def on_stream_started(self, thread: ThreadKey, ts: str) -> None:
        if self._stream_starts.saw(thread.channel, thread.ts, ts):
            log.debug("a missing stream was found by its event", extra={"thread_ts": thread.ts})
        elif self._store.lease and thread not in self._running:
            self._spawn(self._tell_of_stream(thread, ts))

    async def _tell_of_stream(self, thread: ThreadKey, ts: str) -> None:
        await self._replicas.tell(thread, "stream", ts=ts)

    async def close(self, grace: float, hurry: asyncio.Event | None = None) -> None:
        """Accept nothing more, wait `grace` seconds for running turns or until `hurry` is set, and leave the
        rest to the next process. Where the store does not outlive this one, they end with a notice.
        """
        self._closing = True
        for running in self._running.values():
            while running.waiting:
                turn, reaction = running.waiting.popleft()
                reaction.over(stays=self._store.is_durable)
                if not self._store.is_durable:
                    self._spawn(self._notices.notify(turn.question, RESTARTING), turn.question)
        await _wait(self._turns, grace, hurry)
        for task in tuple(self._turns):
            task.cancel()
        for _ in range(_NOTIFY_ROUNDS):
            left = self._turns | self._background
            await _wait(left, _NOTIFY_SECONDS)
            if left <= self._turns | self._background:
                break
        for task in tuple(self._turns | self._background):
            task.cancel()
        await _wait(self._turns | self._background, _NOTIFY_SECONDS)
        await self.watches.close()
        await self._replicas.close()
        await self._journal.close()

    async def idle(self) -> None:
        """Return when no turn runs or waits, and no background task is left."""
        while busy := self._turns | self._background:
            await asyncio.wait(busy)

    def _launch(self, turn: TurnRecord, waiting: deque[tuple[TurnRecord, QueuedReaction]]) -> None:
        question = turn.question
        sink = self._notices.sink(question, turn.messages)
        running = self._running[question.thread] = _Running(turn, waiting, sink)
        if turn.stopped_by is not None:
            running.handle.stop(turn.stopped_by)
        task = running.task = asyncio.create_task(self._turn(running), name=f"turn {turn.key}")
        self._turns.add(task)
        task.add_done_callback(partial(self._on_turn_done, running=running))

    def _on_turn_done(self, task: asyncio.Task[None], running: _Running) -> None:
        self._turns.discard(task)
        _log_if_broken(task, running.question)
        del self._running[running.question.thread]
        if running.waiting:
            turn, reaction = running.waiting.popleft()
            reaction.over()
            self._launch(turn, running.waiting)
        else:
            self._let_go(running.question.thread)

    async def _turn(self, running: _Running) -> None:
        turn, sink, end = running.turn, running.sink, self._notices.break_off
        try:
            async with asyncio.timeout(self._settings.turns.turn_deadline):
                if turn.stage is Stage.ACCEPTED and turn.stopped_by is not None:
                    await end(turn, Outcome.STOPPED, "stopped", NOT_BEGUN, sink)
                    return
                running.journal = await self._journal.begin(turn)
                await self._answer(running.journal, sink, running.handle)
        except asyncio.CancelledError:
            if running.is_lost:
                await sink.leave()
            elif self._store.is_durable:  # the next process goes on with it
                if running.journal is not None:
                    await running.journal.hand_over(sink.delivery.records)
                await sink.hand_over()
            else:
                await end(running.record, Outcome.LOST, "the bot was stopped", RESTARTING, sink)
            raise
        except TimeoutError:
            log.error("turn exceeded turns.turn_deadline", extra=_fields(turn))
            await end(running.record, Outcome.LOST, "its deadline has passed", TOO_LONG, sink)
        except Exception:  # the only one: a turn that broke ends here
            log.exception("turn broke", extra=_fields(turn))
            await end(running.record, Outcome.FAILED, "the turn broke; see the log", BROKE, sink)

    async def _answer(self, journal: TurnJournal, sink: Sink, handle: TurnHandle) -> None:
        clock, observer = self._clock, self._observer
        turn = TurnRunner(journal, self._agent, sink, self._settings, clock, observer, handle)
        ended = await turn.run()
        await journal.shown(sink.delivery.records)
        if ended.outcome == Outcome.WATCHED:
            await journal.watch()
            self.watches.add(journal.record)
        else:
            await journal.end(Outcome(ended.outcome), ended.awaiting_task_id)
        await self._save_profile()

    async def _save_profile(self) -> None:
        agent, store = self._agent, self._store
        try:
            known = await store.profile(agent.name) if agent.profile else {}
            for name, value in agent.profile.items():
                if known.get(name) != value:
                    await store.save_fact(agent.name, name, value, self._clock.wall())
        except StoreError as error:
            log.error("the agent's profile was not stored: %s", error)

    async def _hint(self, turn: TurnRecord) -> None:
        await self._notices.hint(turn)
        self._let_go(turn.question.thread)

    def _spawn(self, work: Coroutine[Any, Any, None], question: Question | None = None) -> asyncio.Task[None]:
        task = asyncio.create_task(work)
        self._background.add(task)
        task.add_done_callback(self._background.discard)
        task.add_done_callback(partial(_log_if_broken, question=question))
        return task


def _fields(turn: TurnRecord) -> dict[str, str | None]:
    return {"turn": turn.key, "thread_ts": turn.question.thread.ts, "task": turn.task_id}


async def _wait(tasks: set[asyncio.Task[Any]], seconds: float, hurry: asyncio.Event | None = None) -> None:
    """Until all `tasks` are done."""
    if not tasks:
        return
    ends: set[asyncio.Future[Any]] = {asyncio.ensure_future(asyncio.wait(tuple(tasks)))}
    if hurry is not None:
        ends.add(asyncio.ensure_future(hurry.wait()))
    await asyncio.wait(ends, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
    for each in ends:
        each.cancel()


def _log_if_broken(task: asyncio.Task[None], question: Question | None) -> None:
    if not task.cancelled() and (error := task.exception()) is not None:
        log.error("a background task broke", exc_info=error, extra={"turn": question and question.key})
