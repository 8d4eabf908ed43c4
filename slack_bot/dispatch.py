"""The desk: every turn of this process, one at a time in a thread.

A second question in a thread waits until the first is answered: agents drop or mix up what comes in while
they work (facts: A2A 2.6). The desk also knows what a thread and its agent have in common (the context id,
and whom it waits for), who may stop a turn, and what to tell the readers when the process ends.

A turn that broke ends here, and here only: the traceback is logged and the reader is told.
"""

from __future__ import annotations

import asyncio
import logging
from collections import OrderedDict, deque
from collections.abc import Coroutine
from contextlib import AsyncExitStack
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any

from .a2a.agent import Agent
from .clock import Clock
from .consumer import TurnHandle
from .errors import BotError, StoreError
from .observe.facts import MessageIgnored, Observer, TurnEnded
from .runner import RunnerOptions, referred, run_turn
from .settings.load import Settings, secrets_of
from .slack.api import SlackApi
from .slack.orders import Destination, TurnEnd
from .slack.sink import Sink
from .slack.status import QueuedReaction
from .slack.stream_starts import StreamStartTracker
from .slack.surfaces.fallback import StreamingRefusalCache
from .store.contracts import Conversation, FeedbackEntry, Store
from .store.health import StoreHealth
from .turn.actions import SaveIds
from .turn.record import Outcome, Question, ThreadKey, TurnResult

log = logging.getLogger(__name__)

_NOTIFY_SECONDS = 5.0
_NOTIFY_ROUNDS = 5  # times that, while readers are told in each: Slack's budgets let some forty be told so
_TOO_LONG = "This took too long and was ended."
_BROKE = "Something went wrong in the bot while it was answering."
_CLOSING = "The bot is ending and takes no more questions."
_ENDING = "The bot is being restarted and could not finish this answer. Please ask again in a minute."
_NOT_TAKEN = "The bot has a problem and could not take this question. Please ask again in a few minutes."
_MOST_REFUSED = 1000  # questions that are remembered as refused
_HINT = "Hello! Write your question in the same message as the mention, and I will ask the agent for you."


class StopResult(StrEnum):
    """What became of a wish to stop."""

    STOPPING = "stopping"
    NOT_RUNNING = "not running"
    NOT_YOURS = "not yours"


class RetryResult(StrEnum):
    """What became of a wish to ask again."""

    STARTED = "started"
    ALREADY = "already"
    NOT_YOURS = "not yours"
    FORGOTTEN = "forgotten"


@dataclass(frozen=True, slots=True)
class _Running:
    question: Question
    handle: TurnHandle

    def is_waiting_for(self, user: str) -> bool:
        """The agent waits for a sign-in of `user`: what they write meanwhile goes to it."""
        return self.handle.is_waiting_for_human and self.question.user == user


class TurnDispatcher:
    """Takes questions, runs their turns, ends them. One for a process."""

    def __init__(
        self, agent: Agent, store: Store, api: SlackApi, settings: Settings, clock: Clock, observer: Observer
    ) -> None:
        self._agent, self._store, self._api = agent, store, api
        self._settings, self._clock, self._observer = settings, clock, observer
        self._secrets = secrets_of(settings)
        self.store_health = StoreHealth(settings.store.max_failures)
        self._streaming_refusals = StreamingRefusalCache(settings.stream.streaming_refusal_ttl)
        self._stream_starts = StreamStartTracker(self._spawn)
        self._queues: dict[ThreadKey, deque[Question]] = {}
        self._running: dict[ThreadKey, _Running] = {}
        self._turns: set[asyncio.Task[None]] = set()
        self._background: set[asyncio.Task[Any]] = set()
        self._queued_reactions: dict[str, QueuedReaction] = {}  # of the questions that wait
        self._retryable: OrderedDict[str, Question] = OrderedDict()
        self._refused: deque[str] = deque(maxlen=_MOST_REFUSED)
        self._closing = False

    # -- taking questions ------------------------------------------------------------------------------------

    async def accept(self, question: Question) -> bool:
        """Take `question` and begin its answer, once; False where it was taken before.

        Raises BotError when it cannot be taken: then Slack must not be told that it was. Once the question is
        stored its answer begins, even where the caller is cancelled, or it is released: what is stored and
        not begun would be lost, because Slack's redelivery would count as taken before.
        """
        if self._closing:
            raise BotError(_CLOSING)
        if question.key in self._retryable:  # the same mention as another event: no need to ask the store
            return False
        taking = asyncio.create_task(self._accept(question), name=f"accept {question.key}")
        self._background.add(taking)
        taking.add_done_callback(self._background.discard)
        return await asyncio.shield(taking)

    async def _accept(self, question: Question) -> bool:
        inbox = self._store.inbox
        try:
            is_new = await inbox.accept(question.key, self._clock.wall())
        except StoreError as error:
            self.store_health.record_failure(error)
            raise
        self.store_health.record_success()
        if is_new:
            async with AsyncExitStack() as on_failure:
                on_failure.push_async_callback(inbox.release, question.key)
                if self._closing:  # it was told to end meanwhile
                    raise BotError(_CLOSING)
                self._start(question)
                on_failure.pop_all()
        return is_new

    def refuse(self, question: Question) -> None:
        """Tell the asker, once, that `question` could not be taken. The store is not needed for that."""
        if question.key not in self._refused:
            self._refused.append(question.key)
            self._spawn(self._tell(question, self._sink(question), _NOT_TAKEN))

    def _start(self, question: Question) -> None:
        """Answer an accepted question: now, or when those before it in its thread are answered."""
        if not question.text:
            self._spawn(self._hint(question))
            return
        if self._is_stop_word(question):
            self.stop(question.thread, question.user)
            return
        self._remember_for_retry(question)
        lane = self._queues.setdefault(question.thread, deque())
        lane.append(question)
        if len(lane) == 1:
            self._launch(question)
        else:
            running = self._running[question.thread]
            if running.is_waiting_for(question.user):
                running.handle.answered()
            mark = QueuedReaction(self._api, question.thread.channel, question.ts, question.key)
            self._queued_reactions[question.key] = mark
            self._spawn(mark.show())

    async def is_waiting_for(self, thread: ThreadKey, user: str) -> bool:
        """Whether the agent waits for `user` in this thread. Raises StoreError."""
        running = self._running.get(thread)
        if running is not None and running.is_waiting_for(user):
            return True
        conversation = await self._store.conversations.get(self._agent.name, thread)
        return user in conversation.waits

    def ignored(self, message: Question, reason: str) -> None:
        """Tell the watcher that `message` is no question to the bot, and why."""
        thread, now = message.thread, self._clock.monotonic()
        self._observer(
            MessageIgnored(now, message.user, thread.channel, thread.ts, message.ts, message.text, reason)
        )

    # -- what people do to turns -----------------------------------------------------------------------------

    def stop(self, thread: ThreadKey, user: str, *, sealed: bool = False) -> StopResult:
        """End the running turn of a thread. Only its asker may.

        `sealed`: Slack itself has closed the stream for `user` already, so the turn ends whoever that was.
        """
        running = self._running.get(thread)
        if running is None:
            return StopResult.NOT_RUNNING
        if running.question.user != user and not sealed:
            return StopResult.NOT_YOURS
        running.handle.stop(user)
        return StopResult.STOPPING

    async def retry(self, turn: str, user: str) -> RetryResult:
        """Ask the question of `turn` again, as a new turn. Only its asker may, and once. Raises BotError."""
        question = self._retryable.get(turn)
        if question is None:
            return RetryResult.FORGOTTEN
        if question.user != user:
            return RetryResult.NOT_YOURS
        again = replace(question, attempt=question.attempt + 1)
        return RetryResult.STARTED if await self.accept(again) else RetryResult.ALREADY

    async def feedback(self, turn: str, user: str, value: str) -> bool:
        """Keep a press of a feedback button. False: that was kept before. Raises StoreError."""
        return await self._store.feedback.record(FeedbackEntry(turn, user, value, self._clock.wall()))

    def on_stream_started(self, thread: ThreadKey, ts: str) -> None:
        """Slack tells of a stream of the bot's own in a thread: a turn may be looking for it."""
        if self._stream_starts.saw(thread.channel, thread.ts, ts):
            log.debug("a stream that was missing began", extra={"thread_ts": thread.ts})

    async def post_ephemeral(self, channel: str, thread_ts: str, user: str, text: str) -> None:
        """Tell one person something in a thread. Best effort."""
        args = {"channel": channel, "thread_ts": thread_ts, "user": user, "text": text}
        await self._api.call("chat.postEphemeral", args)

    # -- ending ----------------------------------------------------------------------------------------------

    async def close(self, grace: float) -> None:
        """Take nothing more, wait `grace` seconds for what runs, end the rest and tell its readers."""
        self._closing = True
        waiting = [question for lane in self._queues.values() for question in list(lane)[1:]]
        for lane in self._queues.values():
            while len(lane) > 1:
                lane.pop()
        for question in waiting:
            self._queued_reactions.pop(question.key).over()
            self._spawn(self._tell(question, self._sink(question), _ENDING))
        await _settle(self._turns, grace)
        for turn in tuple(self._turns):
            turn.cancel()
        await self._notify_interrupted()
        for task in tuple(self._turns | self._background):
            task.cancel()
        await _settle(self._turns | self._background, _NOTIFY_SECONDS)

    async def _notify_interrupted(self) -> None:
        """Wait while the readers of what was ended are told."""
        for _ in range(_NOTIFY_ROUNDS):
            left = self._turns | self._background
            await _settle(left, _NOTIFY_SECONDS)
            if left <= self._turns | self._background:
                return

    async def idle(self) -> None:
        """Return when no turn runs or waits, and nothing else is being done."""
        while busy := self._turns | self._background:
            await asyncio.wait(busy)

    # -- one turn --------------------------------------------------------------------------------------------

    def _launch(self, question: Question) -> None:
        control = TurnHandle()
        self._running[question.thread] = _Running(question, control)
        task = asyncio.create_task(self._turn(question, control), name=f"turn {question.key}")
        self._turns.add(task)
        task.add_done_callback(lambda done: self._on_turn_done(done, question))

    def _on_turn_done(self, task: asyncio.Task[None], question: Question) -> None:
        """A turn is over: the next question of its thread may begin."""
        self._turns.discard(task)
        _log_if_broken(task)
        del self._running[question.thread]
        lane = self._queues[question.thread]
        lane.popleft()
        if not lane:
            del self._queues[question.thread]
            return
        self._queued_reactions.pop(lane[0].key).over()
        self._launch(lane[0])

    async def _turn(self, question: Question, control: TurnHandle) -> None:
        sink = self._sink(question)
        try:
            async with asyncio.timeout(self._settings.turns.turn_deadline):
                await self._answer(question, sink, control)
        except asyncio.CancelledError:
            self._report_ended(question, Outcome.LOST, "the bot was ended")
            await self._tell(question, sink, _ENDING)
            raise
        except TimeoutError:
            log.error("turn took longer than turns.turn_deadline", extra={"turn": question.key})
            self._report_ended(question, Outcome.LOST, "the desk's time was up")
            await self._tell(question, sink, _TOO_LONG, offer_retry=True)
        except Exception:  # the only one: a turn that broke ends here
            log.exception("turn broke", extra={"turn": question.key})
            self._report_ended(question, Outcome.FAILED, "the turn broke; see the log")
            await self._tell(question, sink, _BROKE, offer_retry=True)

    async def _answer(self, question: Question, sink: Sink, control: TurnHandle) -> None:
        known = await self._store.conversations.get(self._agent.name, question.thread)
        answers = known.waits.get(question.user)
        question = replace(question, context_id=known.context_id, task_id=answers)
        kept = _ConversationSaver(self, question.thread, known)
        options = RunnerOptions(
            agent=self._settings.agent,
            stream=self._settings.stream,
            secrets=self._secrets,
            remember=kept.remember,
            start_slot_timeout=self._settings.governor.start_slot_timeout,
        )
        result = await run_turn(question, self._agent, sink, options, self._clock, self._observer, control)
        await kept.keep(conversation_after(kept.conversation, question, result))
        await self._save_profile()

    async def save_conversation(self, thread: ThreadKey, conversation: Conversation) -> None:
        """Keep what is known of a thread. A store that fails costs the context, not the answer."""
        try:
            await self._store.conversations.put(self._agent.name, thread, conversation, self._clock.wall())
        except StoreError as error:
            log.error("a thread's context was not kept: %s", error, extra={"thread_ts": thread.ts})

    async def _save_profile(self) -> None:
        """Keep what the turn taught about the agent: it saves an attempt next time."""
        facts, profiles = self._agent.profile, self._store.profiles
        try:
            known = await profiles.get(self._agent.name) if facts else {}
            for name, value in facts.items():
                if known.get(name) != value:
                    await profiles.set(self._agent.name, name, value, self._clock.wall())
        except StoreError as error:
            log.error("what was learned about the agent was not kept: %s", error)

    # -- small things ----------------------------------------------------------------------------------------

    def _sink(self, question: Question) -> Sink:
        place = Destination(
            turn=question.key,
            channel=question.thread.channel,
            thread_ts=question.thread.ts,
            user=question.user,
            user_team=question.user_team,
            can_stream=not question.asker_is_bot,
            asked_ts=question.ts,
        )
        return Sink(
            self._api,
            place,
            self._settings.stream,
            self._clock,
            self._streaming_refusals,
            self._stream_starts,
        )

    async def _tell(self, question: Question, sink: Sink, note: str, *, offer_retry: bool = False) -> None:
        told = referred(note, question.key) if offer_retry else note
        try:
            await sink.finish(TurnEnd(Outcome.FAILED, note=told, offer_retry=offer_retry))
        except BotError as error:
            log.error("the reader could not be told: %s", error, extra={"turn": question.key})

    async def _hint(self, question: Question) -> None:
        metadata = {"event_type": "slack_bot_turn", "event_payload": {"turn": question.key, "kind": "note"}}
        await self._api.for_turn(question.key).call(
            "chat.postMessage",
            {
                "channel": question.thread.channel,
                "thread_ts": question.thread.ts,
                "text": _HINT,
                "metadata": metadata,
            },
        )

    def _report_ended(self, question: Question, outcome: Outcome, reason: str) -> None:
        """Tell the watcher what the runner could not."""
        now = self._clock.monotonic()
        self._observer(TurnEnded(now, question.key, outcome, reason, None, None, None, latches={}, late=0))

    def _is_stop_word(self, question: Question) -> bool:
        """The asker of a running turn wrote nothing but "stop": a wish to us, not a question."""
        running = self._running.get(question.thread)
        is_asker = running is not None and running.question.user == question.user
        return is_asker and question.text.strip(" .!").casefold() == "stop"

    def _remember_for_retry(self, question: Question) -> None:
        self._retryable[question.key] = question
        while len(self._retryable) > self._settings.turns.retry_cache_size:
            self._retryable.popitem(last=False)

    def _spawn(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        task = asyncio.create_task(work)
        self._background.add(task)
        task.add_done_callback(self._background.discard)
        task.add_done_callback(_log_if_broken)
        return task


class _ConversationSaver:
    """What is kept of one thread while its turn runs: written only when it changes."""

    def __init__(self, dispatcher: TurnDispatcher, thread: ThreadKey, conversation: Conversation) -> None:
        self._dispatcher, self._thread = dispatcher, thread
        self.conversation = conversation

    async def remember(self, ids: SaveIds) -> None:
        """Keep a context id as soon as the agent named it."""
        if ids.context_id is not None:
            await self.keep(replace(self.conversation, context_id=ids.context_id))

    async def keep(self, conversation: Conversation) -> None:
        """Keep `conversation` if it is news, and if only who was asked last is."""
        before = self.conversation
        if conversation != before or tuple(conversation.waits) != tuple(before.waits):
            self.conversation = conversation
            await self._dispatcher.save_conversation(self._thread, conversation)


def conversation_after(before: Conversation, question: Question, result: TurnResult) -> Conversation:
    """What is known of a thread when a turn in it is over.

    An agent goes on waiting for each person it asked while others ask, are asked and answer in the same
    thread, and after an answer of that person that never reached it.
    """
    known = replace(before, context_id=result.context_id or before.context_id)
    if result.awaiting_task_id is not None:
        return known.asked(question.user, result.awaiting_task_id)
    was_answered = question.task_id is not None and result.outcome is not Outcome.REFUSED
    return known.answered(question.user) if was_answered else known


async def _settle(tasks: set[asyncio.Task[None]], seconds: float) -> None:
    if tasks:
        await asyncio.wait(tuple(tasks), timeout=seconds)


def _log_if_broken(task: asyncio.Task[None]) -> None:
    if not task.cancelled() and (error := task.exception()) is not None:
        log.error("%s broke", task.get_name(), exc_info=error)
