"""A task that outlives its turn: it is asked for now and then until it ends or waits for a person.

What an agent posts about it (push) only makes the next question come sooner.
"""

import asyncio
import logging
import random
from contextlib import suppress
from dataclasses import dataclass, replace

from ..agents.agent import Agent
from ..agents.push_target import PushTarget
from ..agents.recovery_policy import NOT_OFFERED, TASK_NOT_FOUND
from ..clock import Clock
from ..errors import AgentError, AgentFailed
from ..settings.load import Settings
from ..text.words import AGENT_FORGOT_QUESTION, WATCH_GIVEN_UP
from ..turn.progress import TurnRecord

_log = logging.getLogger(__name__)

_UNKNOWN_MOST = 2  # answers in a row that must not know the task


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


class TaskWatch:
    """The task of one turn."""

    def __init__(self, turn: TurnRecord, agent: Agent, settings: Settings, clock: Clock) -> None:
        self._turn, self._settings, self._clock = turn, settings, clock
        self._agent = agent.in_conversation(turn.question.thread)
        self._hint = asyncio.Event()

    def hint(self) -> None:
        """There may be news."""
        self._hint.set()

    def new_target(self) -> PushTarget | None:
        """Where the agent may post. None: nowhere, or it knows already.

        Late, when the stream is over: servers wait for each post before they stream on (facts: A2A 12).
        """
        url, turn = self._settings.push.public_url, self._turn
        if url is None or turn.task_id is None or turn.push_id is not None:
            return None
        return PushTarget.new(url)

    async def offer(self, target: PushTarget) -> bool:
        """Tell the agent of `target`. Whether it will post there."""
        try:
            await self._agent.ensure_card()
            if self._agent.can_push and await self._agent.set_push(
                self._turn.task_id or "", target.push_id, target.url, target.secret
            ):
                self._turn = replace(self._turn, push_id=target.push_id, push_hash=target.secret_hash)
                return True
        except AgentError as error:
            _log.info("the agent was not told where to post news of a task: %s", error.brief)
        return False

    async def wait_for_news(self) -> str | None:
        """Until the task has ended or asks something; else why it is watched no longer."""
        intervals, unknown, dice = self._settings.agent.watch_intervals, 0, random.Random(self._turn.key)
        until = (self._turn.watched_at or 0.0) + self._settings.agent.watch_for
        pauses = iter(intervals)
        pause = 0.0 if self._turn.push_id is not None else next(pauses, intervals[-1])
        while True:
            jitter = 1.0 + self._settings.agent.poll_jitter * dice.uniform(-1.0, 1.0)
            await self._wait(pause * jitter)
            has_news = await self._look()
            unknown = unknown + 1 if has_news is None else 0
            is_over = unknown >= _UNKNOWN_MOST or self._clock.wall() >= until
            if has_news or is_over:
                await self._end_push()
                note = AGENT_FORGOT_QUESTION if unknown >= _UNKNOWN_MOST else WATCH_GIVEN_UP
                return None if has_news else note
            pause = next(pauses, intervals[-1])

    async def _wait(self, seconds: float) -> None:
        """So long, or until shortly after a hint: they come in bursts."""
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._hint.wait()
            await asyncio.sleep(self._settings.push.hint_delay)
        self._hint.clear()

    async def _look(self) -> bool | None:
        """Whether the task ended or asks something; None: the agent does not know it."""
        turn = self._turn
        fields = {"turn": turn.key, "thread_ts": turn.question.thread.ts, "task": turn.task_id}
        try:
            task = await self._agent.task("get", turn.task_id or "")
        except AgentError as error:
            _log.info("a watched task could not be asked for: %s", error.brief, extra=fields)
            is_unknown = isinstance(error, AgentFailed) and error.code in {TASK_NOT_FOUND, *NOT_OFFERED}
            return None if is_unknown else False
        return task.state.is_terminal or task.state.is_asking

    async def _end_push(self) -> None:
        turn = self._turn
        if turn.push_id is not None and turn.task_id is not None:
            with suppress(AgentError):
                await self._agent.delete_push(turn.task_id, turn.push_id)
