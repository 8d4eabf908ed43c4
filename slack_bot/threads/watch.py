"""A task that outlives its turn: it is asked for now and then until it ends or waits for a person.

A hint of its agent only makes the next question come sooner.
"""

import asyncio
import logging
import random
from contextlib import suppress

from ..agents.agent import Agent
from ..agents.recovery_policy import NOT_OFFERED, TASK_NOT_FOUND
from ..clock import Clock
from ..errors import AgentError, AgentFailed
from ..settings.push import PushSettings
from ..text.words import AGENT_FORGOT_QUESTION, WATCH_GIVEN_UP
from ..turn.progress import TurnRecord

_log = logging.getLogger(__name__)

_UNKNOWN_MOST = 2  # answers in a row that must not know the task


class TaskWatch:
    """The task of one turn."""

    def __init__(self, turn: TurnRecord, agent: Agent, settings: PushSettings, clock: Clock) -> None:
        self._turn, self._clock = turn, clock
        self._push, self._settings = settings, agent.settings
        self._agent = agent.in_conversation(turn.question.thread, asker=turn.question.asker)
        self._hint = asyncio.Event()

    def hint(self) -> None:
        """There may be news."""
        self._hint.set()

    async def wait_for_news(self, *, is_offered: bool) -> str | None:
        """Until the task has ended or asks something; else why it is watched no longer.

        `is_offered`: its agent gives hints from now on, so what it did before is looked at first.
        """
        intervals, unknown, dice = self._settings.watch_intervals, 0, random.Random(self._turn.key)
        until = (self._turn.watched_at or 0.0) + self._settings.watch_for
        pauses = iter(intervals)
        pause = 0.0 if is_offered else next(pauses, intervals[-1])
        while True:
            jitter = 1.0 + self._settings.poll_jitter * dice.uniform(-1.0, 1.0)
            await self._wait(pause * jitter)
            has_news = await self._look()
            unknown = unknown + 1 if has_news is None else 0
            is_over = unknown >= _UNKNOWN_MOST or self._clock.wall() >= until
            if has_news or is_over:
                note = AGENT_FORGOT_QUESTION if unknown >= _UNKNOWN_MOST else WATCH_GIVEN_UP
                return None if has_news else note
            # an agent that lost the task does not find it again: soon it is asked for the last time
            pause = intervals[0] if unknown else next(pauses, intervals[-1])

    async def _wait(self, seconds: float) -> None:
        """So long, or until shortly after a hint: they come in bursts."""
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._hint.wait()
            await asyncio.sleep(self._push.hint_delay)
        self._hint.clear()

    async def _look(self) -> bool | None:
        """Whether the task ended or asks something; None: the agent does not know it."""
        turn = self._turn
        fields = {"turn": turn.key, "thread_ts": turn.question.thread.ts, "task": turn.task_id}
        try:
            task = await self._agent.task("get", turn.task_id or "")
        except AgentError as error:
            _log.info("a watched task could not be asked for: %s", self._agent.why(error), extra=fields)
            is_unknown = isinstance(error, AgentFailed) and error.code in {TASK_NOT_FOUND, *NOT_OFFERED}
            return None if is_unknown else False
        return task.state.is_terminal or task.state.is_asking
