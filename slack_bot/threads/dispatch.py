"""Every turn of this process, one at a time in a thread.

A second question in a thread waits until the first is answered: agents drop or mix up questions that come
while they work (facts: A2A 2.6). A turn that broke ends here, and only here: the traceback is logged and the
reader gets a notice.
"""

import asyncio
import logging
from collections import deque
from collections.abc import Callable, Coroutine, Mapping
from dataclasses import replace
from functools import partial
from itertools import takewhile
from typing import Any

from ..agents.agent import Agent
from ..clock import Clock
from ..errors import BotError, StoreAway, StoreError
from ..observe.facts import MessageIgnored, Observer, QuestionStored, TurnRecorded, TurnTakenOver
from ..observe.health import STORE_FAILED, Health, HealthCheck
from ..observe.logs import log_if_broken
from ..settings.channels import ChannelPolicies
from ..settings.load import Settings
from ..slack.api import SlackApi
from ..slack.stream_starts import StreamStartTracker
from ..store.contracts import Signal, Store
from ..store.knowledge import Profiles, conversation, workspace_name
from ..text.words import BROKE, GIVEN_UP, NOT_BEGUN, RESTARTING, THREAD_FORGOTTEN, TOO_LONG
from ..turn.progress import Stage, TurnRecord
from ..turn.quotes import Heard, Surroundings
from ..turn.record import Outcome, Question, ThreadKey, is_direct
from .context import ThreadContext
from .controls import TurnControls
from .follow import FollowedThreads
from .form_handler import FormAccess, FormHandler
from .interruptions import Interruptions
from .journal import Journal, TurnJournal
from .notices import Notices
from .replicas import Replicas, SignalKind
from .runner import TurnRunner
from .thread_lines import RunningTurn, ThreadLines
from .watches import WatchedPush, Watches, watched_push

log = logging.getLogger(__name__)

_NOTIFY_SECONDS = 5.0
_NOTIFY_ROUNDS = 5  # as long as each round ends some: within Slack's budgets some forty readers get a notice
_CLOSING = "The bot is ending and takes no more questions."
_MOST_ACCEPTED = _MOST_REFUSED = 1000  # questions


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
        self._profiles = Profiles(store)
        self._settings, self._policies, self._clock, self._observer = settings, policies, clock, observer
        self._store_failures = 0  # questions in a row that could not be stored
        self._store_error: StoreError | None = None  # once there were too many
        self._store_broken = asyncio.Event()
        self._stream_starts = StreamStartTracker(self._spawn)
        turns, interval, spawn = settings.turns, settings.store.checkpoint_interval, self._spawn
        journal = Journal(store, agent.name, clock, interval, self._lose_thread, self._recorded)
        starts, is_sure = self._stream_starts, lambda: store.is_sure
        notices = Notices(api, settings.stream, policies, clock, observer, journal, starts, is_sure)
        replicas = Replicas(store, self.go_on, self._lose_thread, self._on_signal, self._is_used, spawn)
        let_go = replicas.let_go_of
        lines = ThreadLines(notices, journal, policies, turns, clock, self._turn, let_go, spawn)
        self._journal, self._notices, self._replicas, self._lines = journal, notices, replicas, lines
        self.reply, self.client = notices.reply, notices.client
        self.watches = Watches(agent, settings, clock, self._start, self._lose, journal.keep)
        self.context = ThreadContext(agent.name, api, store, settings, policies, clock)
        self.follow = FollowedThreads(
            store, policies, turns.follow_for, clock, notices, spawn, turns.stop_grace
        )
        self._interruptions = Interruptions(agent, lines, notices, settings.agent.stop_timeout, spawn)
        access = FormAccess(policies, self.context.people, clock, settings.store.form_days)
        self.forms = FormHandler(agent, store, notices, access, clock, observer, self.accept, spawn)
        self.controls = TurnControls(
            lines, self.watches, journal, replicas, notices, store, self.accept, turns.stop_grace
        )
        self._background: set[asyncio.Task[Any]] = set()
        self._accepted: dict[str, None] = {}  # keys of questions, the oldest first
        self._refused: deque[str] = deque(maxlen=_MOST_REFUSED)
        self._ignored: deque[str] = deque(maxlen=_MOST_REFUSED)
        self._closing = False

    async def accept(self, question: Question) -> bool:
        """Store `question` and start its turn; False if it was accepted before.

        Raises BotError when it cannot be accepted: then it must not be acknowledged to Slack. Once stored, it
        is started even if the caller is cancelled: Slack's redelivery would count as accepted before.
        """
        if question.key in self._accepted:  # the same mention as another event: no need to ask the store
            return False
        if self._closing:
            raise BotError(_CLOSING)
        task = asyncio.create_task(self._accept(question), name=f"accept {question.key}")
        self._background.add(task)
        task.add_done_callback(self._background.discard)
        self.controls.arrives(question.key, task)
        return await asyncio.shield(task)

    async def _accept(self, question: Question) -> bool:
        is_stored, is_new, began = False, True, self._clock.monotonic()
        try:
            turn = TurnRecord(question, self._clock.wall())
            is_new = await self._store.accept(turn)
            if is_new and (thread := await self._thread_of_message_before(question)) is not None:
                await self._store.withdraw(turn.key)
                turn = replace(turn, question=(question := replace(question, thread=thread)))
                is_new = await self._store.accept(turn)
            is_stored = True
        except StoreError as error:
            self._health.failed(HealthCheck.STORE, STORE_FAILED)
            self._store_failures += 1
            is_broken = self._store_failures >= self._settings.store.max_failures
            if is_broken and not isinstance(error, StoreAway):  # what is away comes back by itself
                self._store_error = error
                self._store_broken.set()
            raise
        finally:
            now = self._clock.monotonic()
            self._observer(QuestionStored(now, question.key, now - began, is_stored, is_new))
        self._health.passed(HealthCheck.STORE)
        self._store_failures = 0
        self._store_broken.clear()
        if is_new and self._closing:  # since the store was asked
            await self._store.withdraw(question.key)
            raise BotError(_CLOSING)
        self._accepted[question.key] = None
        if len(self._accepted) > _MOST_ACCEPTED:
            del self._accepted[next(iter(self._accepted))]
        if is_new:
            await self._begin(turn)
        return is_new

    async def _begin(self, turn: TurnRecord) -> None:
        with self._replicas.keep(thread := turn.question.thread):
            claimed = await self._replicas.claim(turn)
            if claimed and self._store.lease and thread not in self._lines:
                await self._replicas.take_over(thread, before=turn.key)
            # it may have been found as left meanwhile
            if claimed and not self._has(claimed) and (now := await self.controls.as_changed(claimed)):
                self._start(now, is_new=True)

    async def _thread_of_message_before(self, question: Question) -> ThreadKey | None:
        """In a direct message each message begins a thread. One that is written shortly after one that is not
        asked yet joins the thread of that one; "stop" joins that of the turn it ends. `question` is stored
        already: so of two that come at once, even to two processes, one sees the other.
        """
        channel, delay = question.thread.channel, self._settings.turns.collect_delay
        begins = is_direct(channel) and question.ts == question.thread.ts and not question.attempt
        thread = await self.controls.thread_to_stop(question) if begins else None
        if thread is not None or not begins or not self._policies.of(channel).collects:
            return thread
        before = takewhile(lambda turn: turn.key != question.key, await self._store.unfinished())
        waiting = [
            turn.question
            for turn in before
            if turn.stage is Stage.ACCEPTED
            and (turn.question.thread.channel, turn.question.user) == (channel, question.user)
        ]
        roots = {each.thread for each in waiting if each.ts == each.thread.ts}
        near = [each.thread for each in waiting if abs(float(question.ts) - float(each.ts)) <= delay]
        return next((thread for thread in near if thread in roots), None)

    async def take_over(self) -> None:
        """Go on with what other processes accepted and did not end, now and later. Raises StoreError."""
        await self._replicas.start()

    async def look_back(self, look: Callable[[], Coroutine[Any, Any, None]]) -> None:
        """Have `look` find what was asked while Slack reached no process. See `Replicas`."""
        is_connected = partial(self._health.is_ok, HealthCheck.SLACK)
        await self._replicas.look_back(look, is_connected, self._settings.slack.backfill_after)

    def go_on(self, turn: TurnRecord) -> None:
        """The process is gone that worked on this turn."""
        if self._has(turn):
            return
        if self._closing:
            self._start(turn)
        elif turn.stage is Stage.WATCHED:
            self.watches.add(turn)
        elif turn.takeovers < self._settings.turns.max_takeovers:
            log.info("a turn is taken over", extra=_fields(turn))
            self._observer(TurnTakenOver(self._clock.monotonic(), turn.key, turn.accepted_at))
            self._start(turn, is_left=True)
        else:
            log.error("a turn is given up: each process that went on with it ended", extra=_fields(turn))
            sink, reason = self._notices.sink(turn.question, turn.messages), "too many takeovers"
            ending = self._notices.break_off(turn, Outcome.LOST, reason, GIVEN_UP, sink)
            self._see_to(ending, turn.question)

    def _has(self, turn: TurnRecord) -> bool:
        """It runs, waits or is watched in this process."""
        return self._lines.has(turn) or self.watches.get(turn.key) is not None

    def _lose_thread(self, thread: ThreadKey) -> None:
        """Another process works on it: nothing of this one may appear there any more."""
        log.error("a thread is another process's now", extra={"thread_ts": thread.ts})
        for turn in self.watches.turns_in(thread):
            self.watches.remove(turn.key)
        self._lines.lose(thread)

    async def _on_signal(self, signal: Signal) -> None:
        """Another process got what is meant for a thread of this one."""
        values = signal.values
        match signal.kind:
            case SignalKind.QUESTION:
                turn = await self._store.turn(values["turn"])
                if turn and not self._has(turn):
                    await self._begin(turn)
            case SignalKind.STOP:
                await self.controls.stop(signal.thread, values["user"], values["messages"].split())
            case SignalKind.STOP_WATCH:
                await self.controls.stop_watch(values["turn"], values["user"])
            case SignalKind.CHANGE:
                await self.controls.change(values["turn"], signal.thread, values["text"] or None)
            case SignalKind.DROP:
                await self.controls.drop(values["turn"], values["user"])
            case SignalKind.HINT:
                self.watches.hint(values["push"])
            case SignalKind.STREAM:
                self.on_stream_started(signal.thread, values["ts"])

    async def push_watch(self, push_id: str) -> WatchedPush | None:
        """The watch whose agent posts to this id, here or at another process. Raises StoreError."""
        watch = self.watches.push_watch(push_id)
        if watch is not None or not self._store.lease:
            return watch
        turn = await self._store.watched(push_id)
        return None if turn is None else watched_push(turn)

    async def on_hint(self, push_id: str) -> None:
        """An agent says that there is news of a watched task."""
        if not self.watches.hint(push_id) and (turn := await self._store.watched(push_id)) is not None:
            await self._replicas.tell(turn.question.thread, SignalKind.HINT, push=push_id)

    def _is_used(self, thread: ThreadKey) -> bool:
        return thread in self._lines or bool(self.watches.turns_in(thread))

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

    def _start(self, turn: TurnRecord, *, is_new: bool = False, is_left: bool = False) -> None:
        question = turn.question
        if self._closing:  # it is stored: another process, or the next one, begins it
            self._replicas.let_go_of(question.thread)
        elif question.is_empty:
            self._see_to(self._notices.hint(turn), question)
        elif turn.stage is Stage.ACCEPTED and self.controls.is_stop(question):
            self._see_to(self.controls.stop_by_word(turn), question)
        elif turn.stage is Stage.ACCEPTED and self.follow.is_stop(question):
            self._see_to(self._stop_listening(turn), question)
        elif is_new and not question.handle and self._is_full(question.thread):
            self._see_to(self._notices.turn_away(turn), question)
        else:
            self._line_up(turn, is_new=is_new, is_left=is_left)

    def _line_up(self, turn: TurnRecord, *, is_new: bool, is_left: bool) -> None:
        question = turn.question
        self._lines.add(turn, is_left=is_left)
        if is_new and (place := self._lines.place_of(turn)) > 1:  # the next one has its mark
            self._spawn(self._notices.tell_place(question, place), question)
        is_interrupting = self._policies.of(question.thread.channel).interrupts
        if is_new and is_interrupting and not question.handle:
            self._interruptions.begin(question)

    def _is_full(self, thread: ThreadKey) -> bool:
        return len(self._lines.waiting(thread)) >= self._settings.turns.max_waiting

    async def _stop_listening(self, turn: TurnRecord) -> None:
        await self.follow.stop(turn.question, float(turn.question.ts))
        await self._journal.end(turn, Outcome.STOPPED)

    async def stop_listening(self, key: str) -> str | None:
        """Only a mention counts from now on in the thread of this turn. Else why not. Raises StoreError."""
        turn = await self._store.turn(key)
        if turn is None:
            return THREAD_FORGOTTEN
        await self.follow.stop(turn.question, self._clock.wall())
        return None

    def _lose(self, turn: TurnRecord, note: str) -> None:
        """A task is watched no longer, and its end is not known."""
        self._see_to(self._notices.break_off(turn, Outcome.LOST, "watched no longer", note), turn.question)

    async def is_waiting_for(self, thread: ThreadKey, user: str) -> bool:
        """Whether the agent waits for `user` in this thread. Raises StoreError."""
        running = self._lines.get(thread)
        if running is not None and running.is_waiting_for(user):
            return True
        return (await conversation(self._store, self._agent.name, thread)).task_for(user) is not None

    def was_ignored(self, message: Question) -> bool:
        """Slack sends a mention as two events."""
        return message.key in self._ignored

    def ignored(self, message: Question, reason: str) -> None:
        """Say why, once."""
        if self.was_ignored(message):
            return
        self._ignored.append(message.key)
        thread, now = message.thread, self._clock.monotonic()
        self._observer(
            MessageIgnored(now, message.user, thread.channel, thread.ts, message.ts, message.text, reason)
        )

    def _recorded(self, turn: TurnRecord) -> None:
        self._observer(TurnRecorded(self._clock.monotonic(), turn.key, self._agent.name, turn))

    def load(self) -> Mapping[str, int]:
        """How many turns run, questions wait and tasks are watched in this process."""
        return {
            "running": len(self._lines.tasks),
            "waiting": self._lines.waiting_count,
            "watched": len(self.watches),
        }

    def unseen_since(self) -> float | None:
        """When the oldest text came, of all answers that run, that its reader cannot see yet."""
        times = (running.unseen_since() for running in self._lines)
        return min((each for each in times if each is not None), default=None)

    def on_stream_started(self, thread: ThreadKey, ts: str) -> None:
        if self._stream_starts.saw(thread.channel, thread.ts, ts):
            log.debug("a missing stream was found by its event", extra={"thread_ts": thread.ts})
        elif self._store.lease and thread not in self._lines:
            self._spawn(self._replicas.tell(thread, SignalKind.STREAM, ts=ts))

    async def close(self, grace: float, hurry: asyncio.Event | None = None) -> None:
        """Accept nothing more, wait `grace` seconds for running turns or until `hurry` is set, and leave the
        rest to the next process. If the store does not outlive this one, they end with a notice.
        """
        self._closing = self._replicas.is_closing = True
        self._lines.leave_waiting(is_durable=self._store.is_durable)
        if grace and self._lines.tasks:
            log.info("running answers: %d; they get %g s", len(self._lines.tasks), grace)
        await _wait(self._lines.tasks, grace, hurry)
        await self._journal.wait_for_names(hurry)
        for task in tuple(self._lines.tasks):
            task.cancel()
        for _ in range(_NOTIFY_ROUNDS):
            left = self._lines.tasks | self._background
            await _wait(left, _NOTIFY_SECONDS)
            if left <= self._lines.tasks | self._background:
                break
        for task in tuple(self._lines.tasks | self._background):
            task.cancel()
        await _wait(self._lines.tasks | self._background, _NOTIFY_SECONDS)
        await self.watches.close()
        await self._replicas.close()
        await self._journal.close()

    async def idle(self) -> None:
        """Return when no turn runs or waits, and no background task is left."""
        while busy := self._lines.tasks | self._background:
            await asyncio.wait(busy)

    async def _turn(self, running: RunningTurn) -> None:
        turn, sink, end = running.turn, running.sink, self._notices.break_off
        try:
            async with asyncio.timeout(self._settings.turns.turn_deadline):
                if turn.stage is Stage.ACCEPTED and turn.stopped_by is not None:
                    await end(turn, Outcome.STOPPED, "stopped", NOT_BEGUN, sink)
                    return
                await self._lines.prepare(running)
                running.journal = await self._journal.begin(running.turn)
                if await self._may_ask(running.journal):
                    await self._answer(running, running.journal)
        except asyncio.CancelledError:
            if running.is_lost:
                await sink.leave()
            elif self._store.is_durable:  # the next process goes on with it
                await running.hand_over()
            else:
                await end(running.record, Outcome.LOST, "the bot was stopped", RESTARTING, sink)
            raise
        except TimeoutError:
            log.error("turn exceeded turns.turn_deadline", extra=_fields(turn))
            await end(running.record, Outcome.LOST, "its deadline has passed", TOO_LONG, sink)
        except Exception:  # the only one: a turn that broke ends here
            log.exception("turn broke", extra=_fields(turn))
            await end(running.record, Outcome.FAILED, "the turn broke; see the log", BROKE, sink)

    async def _may_ask(self, journal: TurnJournal) -> bool:
        """False: what answers a form may not, or ends its task, so the turn is over."""
        if await self.forms.is_stop(journal):
            await journal.end(Outcome.STOPPED)
            return False
        words = await self.forms.before(journal)
        if words is None:
            return True
        asked = journal.question
        place = asked.thread.channel, asked.thread.ts
        await self._notices.post_ephemeral(*place, asked.answered_by or asked.user, words)
        await journal.end(Outcome.REFUSED)
        return False

    async def _answer(self, running: RunningTurn, journal: TurnJournal) -> None:
        question, sink = journal.question, running.sink
        sink.listens_to = partial(self.follow.listens_to, question)
        given = sink, self._settings, self._clock, self._observer, running.handle, self._look_around
        runner = TurnRunner(journal, self._agent, *given)
        running.unseen_since = lambda: runner.unseen_since
        sink.know_workspace(known := await self._known_of(question.thread.team))
        ended = await runner.run()
        await journal.shown(sink.delivery.records)
        outcome = Outcome(ended.outcome)
        if outcome is Outcome.WATCHED:
            await journal.watch()
            self.watches.add(journal.record)
        else:
            why = ended.reason or "", ended.said
            await journal.end(outcome, ended.awaiting_task_id, ended.trace_id, *why)
            if outcome is not Outcome.ASKED:
                self.controls.ended(question)
                await self.forms.close(journal)
        await self.follow.answered(question, is_told=outcome.has_completed)
        await self._save_facts(self._agent.name, self._agent.profile)
        if learned := dict(sink.workspace.items() - known.items()):
            await self._save_facts(workspace_name(question.thread.team), learned)

    async def _look_around(self, question: Question, heard: Heard) -> Surroundings:
        """Which files the agent does not get is said in the thread: its answer is without them."""
        around = await self.context.look_around(question, heard)
        if around.is_alone:
            await self.follow.read_alone(question)
        if around.not_given and (question.text or around.files):
            self._spawn(self._notices.post(question, "\n".join(around.not_given)), question)
        return around

    async def _known_of(self, team: str) -> dict[str, str]:
        try:
            return await self._profiles.profile(workspace_name(team))
        except StoreError as error:
            log.error("what is known of the workspace was not read: %s", error)
            return {}

    async def _save_facts(self, whose: str, facts: Mapping[str, str]) -> None:
        try:
            known = await self._profiles.profile(whose) if facts else {}
            for name, value in facts.items():
                if known.get(name) != value:
                    await self._profiles.save_fact(whose, name, value, self._clock.wall())
        except StoreError as error:
            log.error("what was learned was not stored: %s", error)

    def _see_to(self, ending: Coroutine[Any, Any, None], question: Question) -> None:
        self._replicas.keep_until(self._spawn(ending, question), question.thread)

    def _spawn(self, work: Coroutine[Any, Any, Any], question: Question | None = None) -> asyncio.Task[Any]:
        task = asyncio.create_task(work)
        self._background.add(task)
        task.add_done_callback(self._background.discard)
        task.add_done_callback(partial(log_if_broken, turn=None if question is None else question.key))
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
