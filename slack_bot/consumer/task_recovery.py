"""Following a task whose stream is lost: ask for it, join its stream again or ask again, to its end.

What comes this way is laid against what is known, so nothing is told twice and nothing in between is lost.
Where the agent's stream can be joined it is (1.0); where not, the task is read again and again (0.3).
"""

from __future__ import annotations

import logging
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from dataclasses import replace
from typing import assert_never

from ..a2a.agent import Agent
from ..a2a.recovery_policy import (
    NOT_OFFERED,
    TASK_NOT_FOUND,
    PollPolicy,
    PollResult,
    Resubscribe,
    TaskDone,
    TaskLost,
    Wait,
)
from ..a2a.wire.frames import Received, Snapshot, TaskState
from ..a2a.wire.requests import MISSED_MESSAGES
from ..errors import AgentError, AgentFailed, AgentRefused
from ..settings.models import AgentSettings
from ..turn.events import TaskKnowledge
from .stream_consumer import StreamConsumer
from .task_view import TaskView
from .turn_handle import ExitSignals

log = logging.getLogger(__name__)

_ASKED = {"asked": True}  # in a raw event: the answer to our own asking, not the agent's own word
_KNOWN = {PollResult.RUNNING: TaskKnowledge.WORKING, PollResult.NEWS: TaskKnowledge.WORKING}


class TaskRecovery:
    """Asks for the task of one turn. `seed` spreads the looks of different turns."""

    def __init__(
        self,
        agent: Agent,
        standing: TaskView,
        ear: StreamConsumer,
        leaving: ExitSignals,
        settings: AgentSettings,
        now: Callable[[], float],
        seed: str,
    ) -> None:
        self._agent, self._standing, self._ear, self._leaving = agent, standing, ear, leaving
        self._settings, self._now, self._seed = settings, now, seed
        self._retry_after = 0.0
        self._has_gap = False

    async def on_silence(self) -> bool:
        """Nothing came for a while: whether the stream is still to be listened to.

        Where there is no task to ask for, or the agent cannot be asked, the stream is all there is.
        """
        look = PollResult.CANNOT if self._standing.task_id is None else await self.poll()
        if self._standing.state is TaskState.AUTH_REQUIRED:
            return True  # people take their time to sign in, and the reader knows what is waited for
        if look not in (PollResult.RUNNING, PollResult.CANNOT):
            return False
        self._standing.notify_waiting("no event on the stream", _KNOWN.get(look, TaskKnowledge.UNKNOWN))
        return True

    async def poll_baseline(self) -> None:
        """Note how the task stands whose question is about to be answered; best effort."""
        assert self._standing.task_id is not None
        try:
            task = await self._leaving.race(self._agent.get(self._standing.task_id, MISSED_MESSAGES))
        except AgentError as error:
            log.info(
                "the task could not be asked for: %s", error.brief, extra={"task": self._standing.task_id}
            )
        else:
            if task is not None:
                await self._standing.set_baseline(task)

    async def poll(self) -> PollResult:
        """Ask for the task once, and tell what is new."""
        assert self._standing.task_id is not None
        self._retry_after = 0.0
        try:
            snapshot = await self._leaving.race(self._agent.get(self._standing.task_id, MISSED_MESSAGES))
        except AgentFailed as error:
            if error.code == TASK_NOT_FOUND:
                return PollResult.UNKNOWN
            return PollResult.CANNOT if error.code in NOT_OFFERED else PollResult.AWAY
        except AgentError as error:
            if isinstance(error, AgentRefused):
                self._retry_after = error.retry_after or 0.0
            log.info(
                "the task could not be asked for: %s", error.brief, extra={"task": self._standing.task_id}
            )
            return PollResult.AWAY
        if snapshot is None:
            return PollResult.AWAY
        is_news = await self._merge(snapshot)
        if self._standing.is_over:
            return PollResult.OVER
        return PollResult.NEWS if is_news else PollResult.RUNNING

    async def follow(self) -> TaskDone | TaskLost:
        """Follow the task to its end; returns early when there is a reason to leave."""
        settings = self._settings
        pursuit = PollPolicy(
            settings.poll_intervals,
            settings.poll_jitter,
            self._seed,
            patience=settings.poll_timeout,
            joins=self._agent.can_resubscribe,
            now=self._now(),
        )
        while True:
            is_known = self._standing.is_over and not self._has_gap
            look = PollResult.OVER if is_known else await self.poll()
            if self._leaving.is_set:
                return TaskLost("left")
            match step := pursuit.after(look, self._now(), self._retry_after):
                case TaskDone() | TaskLost():
                    return step
                case Resubscribe():
                    await self._join(pursuit)
                case Wait(seconds):
                    why = "the task goes on" if look in _KNOWN else "no answer yet"
                    self._standing.notify_waiting(why, _KNOWN.get(look, TaskKnowledge.UNKNOWN))
                    await self._leaving.pause(seconds)
                case _:
                    assert_never(step)

    async def _join(self, pursuit: PollPolicy) -> None:
        assert self._standing.task_id is not None
        heard, possible = self._standing.heard, True
        self._has_gap = False
        try:
            await self._ear.consume(self._joined(self._standing.task_id), self.on_silence)
        except AgentError as error:
            possible = not (isinstance(error, AgentFailed) and error.code in NOT_OFFERED)
            log.info("the task's stream was not joined, or broke again: %s", error.brief)
        # the task as it stands is no news: it was asked for a moment ago
        pursuit.joined(brought_news=self._standing.heard > heard + 1, possible=possible)

    async def _joined(self, task_id: str) -> AsyncGenerator[Received, None]:
        """The stream; one that does not begin with the task as it stands may have left something out."""
        is_first = True
        async with aclosing(self._agent.subscribe(task_id, patience=self._settings.turn_timeout)) as coming:
            async for received in coming:
                if is_first:
                    is_first, self._has_gap = False, not isinstance(received.frame, Snapshot)
                    if not self._has_gap:
                        received = replace(received, raw={**received.raw, **_ASKED})
                yield received

    async def _merge(self, snapshot: Snapshot) -> bool:
        self._has_gap = self._has_gap and not (snapshot.state.is_terminal or snapshot.state.is_asking)
        raw = {"kind": "task", "state": snapshot.state.value, **_ASKED}
        return await self._standing.merge_snapshot(snapshot, raw)
