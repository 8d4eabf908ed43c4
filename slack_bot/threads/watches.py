"""Tasks that outlive their turn: they are asked for now and then until they end or wait for a person.

What an agent posts about a task (push) only makes the next question come sooner.
"""

import asyncio
import logging
import random
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial

from ..agents.agent import Agent
from ..agents.push_target import PushTarget
from ..agents.recovery_policy import FORGOTTEN, NOT_OFFERED, TASK_NOT_FOUND
from ..clock import Clock
from ..errors import AgentError, AgentFailed
from ..observe.logs import log_if_broken
from ..settings.load import Settings
from ..text.words import WATCH_GIVEN_UP
from ..turn.progress import TurnRecord
from ..turn.record import ThreadKey

_log = logging.getLogger(__name__)

_UNKNOWN_MOST = 2  # answers in a row that must not know the task


@dataclass(eq=False)
class _Watch:
    turn: TurnRecord
    task: asyncio.Task[None] | None = None
    hint: asyncio.Event = field(default_factory=asyncio.Event)


@dataclass(frozen=True, slots=True)
class WatchedPush:
    """What the receiver of posts needs to know of a watch."""

    task_id: str
    secret_hash: str


def watched_push(turn: TurnRecord) -> WatchedPush | None:
    """None: no agent posts about this turn."""
    if turn.task_id is None or turn.push_hash is None:
        return None
    return WatchedPush(turn.task_id, turn.push_hash)


class Watches:
    """All watched tasks of this process.

    `on_news` gets a turn whose task ended or asks something, `on_lost` one that is watched no longer and the
    note that says why. `save` stores a turn.
    """

    def __init__(
        self,
        agent: Agent,
        settings: Settings,
        clock: Clock,
        on_news: Callable[[TurnRecord], None],
        on_lost: Callable[[TurnRecord, str], None],
        save: Callable[[TurnRecord], Awaitable[object]],
    ) -> None:
        self._agent, self._settings, self._clock = agent, settings, clock
        self._on_news, self._on_lost, self._save = on_news, on_lost, save
        self._watches: dict[str, _Watch] = {}

    def __len__(self) -> int:
        return len(self._watches)

    def add(self, turn: TurnRecord) -> None:
        """Watch the task of `turn` from now on."""
        watch = self._watches[turn.key] = _Watch(turn)
        watch.task = asyncio.create_task(self._run(watch), name=f"watch {turn.key}")
        watch.task.add_done_callback(partial(log_if_broken, turn=turn.key))

    def get(self, key: str) -> TurnRecord | None:
        """The turn with this key, if it is watched."""
        watch = self._watches.get(key)
        return watch.turn if watch else None

    def of(self, thread: ThreadKey, user: str) -> list[TurnRecord]:
        """The watched turns of a person in a thread."""
        return [turn for turn in self.turns_in(thread) if turn.question.is_of(user)]

    def turns_in(self, thread: ThreadKey) -> list[TurnRecord]:
        """The watched turns of a thread."""
        turns = [watch.turn for watch in self._watches.values()]
        return [turn for turn in turns if turn.question.thread == thread]

    def remove(self, key: str) -> None:
        """Watch this turn no longer."""
        watch = self._watches.pop(key)
        if watch.task is not None and watch.task is not asyncio.current_task():
            watch.task.cancel()

    def push_watch(self, push_id: str) -> WatchedPush | None:
        """The watch of this process whose agent posts to this id."""
        watch = self._by_push_id(push_id)
        return None if watch is None else watched_push(watch.turn)

    def hint(self, push_id: str) -> bool:
        """The agent says that there is news. False: this process has no such watch."""
        watch = self._by_push_id(push_id)
        if watch is not None:
            watch.hint.set()
        return watch is not None

    async def close(self) -> None:
        tasks = [watch.task for watch in self._watches.values() if watch.task is not None]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def _by_push_id(self, push_id: str) -> _Watch | None:
        return next((each for each in self._watches.values() if each.turn.push_id == push_id), None)

    async def _run(self, watch: _Watch) -> None:
        await self._offer_push(watch)
        intervals, unknown, dice = iter(self._intervals), 0, random.Random(watch.turn.key)
        until = (watch.turn.watched_at or 0.0) + self._settings.agent.watch_for
        pause = 0.0 if watch.turn.push_id is not None else next(intervals, self._intervals[-1])
        while True:
            jitter = 1.0 + self._settings.agent.poll_jitter * dice.uniform(-1.0, 1.0)
            await self._wait(watch, pause * jitter)
            found = await self._look(watch.turn)
            unknown = unknown + 1 if found is None else 0
            is_over = unknown >= _UNKNOWN_MOST or self._clock.wall() >= until
            if found or is_over:
                await self._end_push(watch.turn)
                note = FORGOTTEN if unknown >= _UNKNOWN_MOST else WATCH_GIVEN_UP
                self._end(watch, None if found else note)
                return
            pause = next(intervals, self._intervals[-1])

    @property
    def _intervals(self) -> tuple[float, ...]:
        return self._settings.agent.watch_intervals

    async def _wait(self, watch: _Watch, seconds: float) -> None:
        """So long, or until shortly after a hint: they come in bursts."""
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await watch.hint.wait()
            await asyncio.sleep(self._settings.push.hint_delay)
        watch.hint.clear()

    async def _look(self, turn: TurnRecord) -> bool | None:
        """Whether the task ended or asks something; None: the agent does not know it."""
        fields = {"turn": turn.key, "thread_ts": turn.question.thread.ts, "task": turn.task_id}
        agent = self._agent.in_conversation(turn.question.thread)
        try:
            task = await agent.task("get", turn.task_id or "")
        except AgentError as error:
            _log.info("a watched task could not be asked for: %s", error.brief, extra=fields)
            is_unknown = isinstance(error, AgentFailed) and error.code in {TASK_NOT_FOUND, *NOT_OFFERED}
            return None if is_unknown else False
        return task.state.is_terminal or task.state.is_asking

    def _end(self, watch: _Watch, note: str | None) -> None:
        self.remove(watch.turn.key)
        if note is None:
            self._on_news(watch.turn)
        else:
            self._on_lost(watch.turn, note)

    async def _end_push(self, turn: TurnRecord) -> None:
        if turn.push_id is not None and turn.task_id is not None:
            with suppress(AgentError):
                await self._agent.delete_push(turn.task_id, turn.push_id)

    async def _offer_push(self, watch: _Watch) -> None:
        """Late, when the stream is over: servers wait for each post before they stream on (facts: A2A 12)."""
        turn, url = watch.turn, self._settings.push.public_url
        if url is None or turn.task_id is None or turn.push_id is not None:
            return
        target = PushTarget.new(url)
        watch.turn = replace(turn, push_id=target.push_id, push_hash=target.secret_hash)
        await self._save(watch.turn)
        try:
            await self._agent.ensure_card()
            is_offered = self._agent.can_push
            if is_offered and await self._agent.set_push(
                turn.task_id, target.push_id, target.url, target.secret
            ):
                return
        except AgentError as error:
            _log.info("the agent was not told where to post news of a task: %s", error.brief)
        watch.turn = turn
