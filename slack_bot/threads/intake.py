"""What Slack brings becomes stored questions. Only then is it acknowledged, and only then asked."""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from functools import partial
from itertools import takewhile
from typing import Any

from ..clock import Clock
from ..errors import BotError, StoreAway, StoreError, StoreFailover
from ..observe.facts import Observer, QuestionStored
from ..observe.health import STORE_FAILED, STORE_FAILOVER, Health, HealthCheck
from ..store.contracts import Store
from ..store.quoted import keep_quoted
from ..text.words import ALREADY_ASKED_AGAIN, NOT_YOURS_TO_ASK_AGAIN, QUESTION_FORGOTTEN
from ..turn.progress import Stage, TurnRecord
from ..turn.quotes import ThreadMessage
from ..turn.record import Outcome, Question, QuestionOrigin, ThreadKey, is_direct
from . import commands as c
from .background import TaskSet
from .journal import Journal
from .registry import Registry
from .thread_agents import ThreadAgents

_log = logging.getLogger(__name__)

_CLOSING = "The bot is ending and takes no more questions."
_MOST_ACCEPTED = 1000  # questions


@dataclass(slots=True, eq=False)
class _ArrivingEdit:
    """What became of a message while its question is being stored, and whether that was said in time."""

    command: c.Edit
    answer: asyncio.Future[c.Value] | None = None
    is_replaced: bool = False


class StoreTrouble:
    """Questions in a row that could not be stored: after `most` of them the store is broken for good."""

    def __init__(self, most: int, health: Health) -> None:
        self._most, self._health = most, health
        self._count = 0
        self._error: StoreError | None = None
        self._is_broken = asyncio.Event()

    @property
    def is_broken(self) -> bool:
        return self._is_broken.is_set()

    @property
    def problem(self) -> str:
        """What to tell the operator."""
        return f"{self._count} questions in a row could not be stored. {self._error}"

    def failed(self, error: StoreError) -> None:
        is_failover = isinstance(error, StoreFailover)
        self._health.failed(HealthCheck.STORE, STORE_FAILOVER if is_failover else STORE_FAILED)
        self._count += 1
        is_away = isinstance(error, StoreAway)  # that ends by itself
        if self._count >= self._most and not is_away:
            self._error = error
            self._is_broken.set()

    def passed(self) -> None:
        self._health.passed(HealthCheck.STORE)
        self._count = 0
        self._is_broken.clear()

    async def wait(self) -> None:
        """Until the store is broken."""
        await self._is_broken.wait()


class Intake:
    """Accepts questions. `background`: work that is not awaited."""

    def __init__(
        self,
        *,
        store: Store,
        registry: Registry,
        journal: Journal,
        thread_agents: ThreadAgents,
        store_trouble: StoreTrouble,
        clock: Clock,
        observer: Observer,
        background: TaskSet,
    ) -> None:
        self._store, self._registry, self._journal = store, registry, journal
        self._thread_agents = thread_agents
        self._clock, self._observer, self._background = clock, observer, background
        self.store_trouble = store_trouble
        self._arriving: dict[str, set[asyncio.Task[Any]]] = {}
        self._edits: dict[str, _ArrivingEdit] = {}
        self._accepted: dict[str, None] = {}  # keys of questions, the oldest first
        self._is_closing = False

    def close(self) -> None:
        """Accept nothing more."""
        self._is_closing = True

    # -- questions

    async def accept(
        self,
        question: Question,
        agent_name: str | None = None,
        reason: str = "",
        quoted: tuple[ThreadMessage, ...] = (),
    ) -> bool:
        """Store `question` and have its turn begin; False if it was accepted before.

        `agent_name`: of the one that is asked, unless the thread belongs to another one. `reason`: why it is.
        `quoted`: the messages that the question is about, where it has a key for them (`quoted`).

        Raises BotError when it cannot be accepted: then it must not be acknowledged to Slack. Once stored, it
        is started even if the caller is cancelled: Slack's redelivery would count as accepted before.
        """
        if question.key in self._accepted:  # the same mention as another event: no need to ask the store
            return False
        if self._is_closing:
            raise BotError(_CLOSING)
        accepting = self._accept(question, agent_name, reason, quoted)
        task = asyncio.create_task(accepting, name=f"accept {question.key}")
        self._background.add(task)
        self._arriving.setdefault(question.key, set()).add(task)
        task.add_done_callback(partial(self._has_arrived, question.key))
        return await asyncio.shield(task)

    def _has_arrived(self, key: str, task: asyncio.Task[bool]) -> None:
        self._arriving[key].discard(task)
        if not self._arriving[key]:
            del self._arriving[key]

    async def _accept(
        self, question: Question, agent_name: str | None, reason: str, quoted: tuple[ThreadMessage, ...]
    ) -> bool:
        turn, is_new = await self._stored(question, agent_name, reason, quoted)
        self.store_trouble.passed()
        if is_new and self._is_closing:  # since the store was asked
            await self._store.withdraw(question.key)
            raise BotError(_CLOSING)
        self._accepted[question.key] = None
        if len(self._accepted) > _MOST_ACCEPTED:
            del self._accepted[next(iter(self._accepted))]
        if is_new and question.cause:
            extra = {"turn": question.key, "thread_ts": question.thread.ts}
            _log.info("a question is taken without a message to the bot: %s", question.cause, extra=extra)
        if is_new:
            conversation = self._registry.conversations.of(turn.question.thread)
            asking = conversation.ask(turn)
            if (edit := self._edits.pop(question.key, None)) is not None:
                edit.answer = conversation.request(edit.command)
            await asking
        return is_new

    async def _stored(
        self, question: Question, agent_name: str | None, reason: str, quoted: tuple[ThreadMessage, ...]
    ) -> tuple[TurnRecord, bool]:
        """The turn, and whether it is a new one."""
        is_stored, is_new, began = False, True, self._clock.monotonic()
        try:
            if quoted:
                await keep_quoted(self._store, question, quoted, self._clock.wall())
            name = await self._thread_agents.pin(question.thread, agent_name)
            why = reason if name == agent_name else ""  # another question of the thread was quicker
            turn = TurnRecord(question, self._clock.wall(), agent=name, agent_reason=why)
            is_new = await self._store.accept(turn)
            thread = await self._thread_of_message_before(question) if is_new else None
            if thread is not None and await self._may_join(thread, turn):
                await self._store.withdraw(turn.key)
                name = await self._thread_agents.pin(thread, agent_name)
                turn = replace(turn, question=replace(question, thread=thread), agent=name)
                is_new = await self._store.accept(turn)
            is_stored = True
        except StoreError as error:
            self.store_trouble.failed(error)
            raise
        finally:
            now = self._clock.monotonic()
            self._observer(QuestionStored(now, question.key, now - began, is_stored, is_new))
        return turn, is_new

    async def _may_join(self, thread: ThreadKey, turn: TurnRecord) -> bool:
        """A question for another agent stays in a thread of its own. "stop" is for none."""
        if turn.question.is_stop_word:
            return True
        return await self._thread_agents.of(thread) in (None, turn.agent)

    async def _thread_of_message_before(self, question: Question) -> ThreadKey | None:
        """In a direct message each message begins a thread. One that is written shortly after one that is not
        asked yet joins the thread of that one; "stop" joins that of the turn it ends. `question` is stored
        already: so of two that come at once, even to two processes, one sees the other.
        """
        channel = question.thread.channel
        if not is_direct(channel) or question.ts != question.thread.ts or question.attempt:
            return None
        if question.origin is not QuestionOrigin.MESSAGE:  # it was not written in a row with others
            return None
        thread = await self._registry.thread_to_stop(question)
        rules = self._registry.conversations.rules(question.thread)
        if thread is not None or not rules.collects:
            return thread
        before = takewhile(lambda turn: turn.key != question.key, await self._store.unfinished())
        waiting = [
            turn.question
            for turn in before
            if turn.stage is Stage.ACCEPTED
            and (turn.question.thread.channel, turn.question.user) == (channel, question.user)
        ]
        roots = {each.thread for each in waiting if each.ts == each.thread.ts}
        near = [
            each.thread for each in waiting if abs(float(question.ts) - float(each.ts)) <= rules.collect_delay
        ]
        return next((thread for thread in near if thread in roots), None)

    async def ask_again(
        self, key: str, user: str, refusal: Callable[[], Awaitable[str | None]]
    ) -> str | None:
        """Ask the question of a turn again: only its asker may, and once. Else why not, with `refusal` as the
        last reason. Raises BotError.
        """
        turn = await self._store.turn(key)
        if turn is None:
            return QUESTION_FORGOTTEN
        if not turn.question.is_of(user):
            return NOT_YOURS_TO_ASK_AGAIN
        if (refused := await refusal()) is not None:
            return refused
        await self._registry.stop_watch_of(turn, user)
        question, attempt = turn.question, turn.question.attempt + 1
        task_id = question.task_id if question.handle else None  # it answers that task's form
        text = turn.reworded or question.text
        # who presses waits for the answer, in a thread that is there
        question = replace(question, thread=question.thread_in_slack, headline="", root="", is_addressed=True)
        again = replace(question, text=text, attempt=attempt, context_id=None, task_id=task_id)
        return None if await self.accept(again, turn.agent, turn.agent_reason) else ALREADY_ASKED_AGAIN

    # -- messages that change

    async def turn(self, key: str) -> TurnRecord | None:
        """The turn of the question with this key; None if it was not accepted. Raises StoreError."""
        return await self._store.turn(key)

    async def edit(self, key: str, thread: ThreadKey, text: str | None) -> bool:
        """A message was edited, or deleted (None). That counts as long as its question arrives or waits here;
        if not, another process may be informed. Whether it did here. Raises StoreError.
        """
        command = c.Edit(key, text)
        if key in self._arriving:
            if (older := self._edits.get(key)) is not None:
                older.is_replaced = True
            edit = self._edits[key] = _ArrivingEdit(command)
            try:
                await asyncio.wait(tuple(self._arriving[key]))
            finally:
                if self._edits.get(key) is edit:
                    del self._edits[key]
            if edit.is_replaced:
                return True
            if edit.answer is not None:
                return bool(await edit.answer)
        return await self._registry.edit(command, thread)

    async def never_ask(self, gone: Question) -> None:
        """The message of this question is deleted: if it comes only now, it is a repetition, to each process.

        Raises StoreError.
        """
        turn = TurnRecord(replace(gone, text="", files=()), self._clock.wall())
        if await self._store.accept(turn):
            await self._journal.end(turn, Outcome.STOPPED)
        else:
            await self._registry.edit(c.Edit(turn.key, None), gone.thread)
