"""Following a task whose stream is lost, to its end: poll it, join its stream again or poll again.

What comes this way is compared with what is known, so nothing is reported twice and nothing is lost. The
agent's stream is joined again where that is possible (1.0); otherwise the task is polled (0.3).
"""

from __future__ import annotations

import logging
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from dataclasses import replace

from ..a2a.agent import Agent
from ..a2a.recovery_policy import (
    NOT_OFFERED,
    TASK_NOT_FOUND,
    PollPolicy,
    PollResult,
    TaskLost,
)
from ..a2a.wire.frames import Received, Snapshot, TaskState
from ..a2a.wire.requests import MISSED_MESSAGES
from ..errors import AgentError, AgentFailed, AgentRefused
from ..settings.models import AgentSettings
from ..turn.events import TaskKnowledge
from .stream_consumer import StreamConsumer
from .task_view import TaskView
from .turn_handle import TurnHandle

log = logging.getLogger(__name__)

_POLLED = {"asked": True}  # in a raw event: it answers a poll of ours
_KNOWN = {PollResult.RUNNING: TaskKnowledge.WORKING, PollResult.NEWS: TaskKnowledge.WORKING}


class TaskRecovery:
    """Polls the task of one turn. `seed` spreads the polls of different turns."""

    def __init__(
        self,
        agent: Agent,
        view: TaskView,
        stream_consumer: StreamConsumer,
        handle: TurnHandle,
        settings: AgentSettings,
        now: Callable[[], float],
        seed: str,
    ) -> None:
        self._agent, self._view, self._handle = agent, view, handle
        self._stream_consumer = stream_consumer
        self._settings, self._now, self._seed = settings, now, seed
        self._retry_after = 0.0
        self._has_gap = False

    async def on_silence(self) -> bool:
        """Nothing came for a while: whether to go on listening.

        Where there is no task to poll, or the agent cannot be polled, the stream is all there is.
        """
        result = PollResult.CANNOT if self._view.task_id is None else await self.poll()
        if self._view.state is TaskState.AUTH_REQUIRED:
            return True  # people take their time to sign in, and know what is waited for
        if result not in (PollResult.RUNNING, PollResult.CANNOT):
            return False
        self._view.notify_waiting("no event on the stream", _KNOWN.get(result, TaskKnowledge.UNKNOWN))
        return True

    async def poll_baseline(self) -> None:
        """Note the task as it is before its question is answered. Best effort."""
        assert self._view.task_id is not None
        try:
            task = await self._handle.race(self._agent.get(self._view.task_id, MISSED_MESSAGES))
        except AgentError as error:
            log.info("the task could not be asked for: %s", error.brief, extra={"task": self._view.task_id})
        else:
            if task is not None:
                await self._view.set_baseline(task)

    async def poll(self) -> PollResult:
        """Ask for the task once, and report what is new."""
        assert self._view.task_id is not None
        self._retry_after = 0.0
        try:
            snapshot = await self._handle.race(self._agent.get(self._view.task_id, MISSED_MESSAGES))
        except AgentFailed as error:
            if error.code == TASK_NOT_FOUND:
                return PollResult.UNKNOWN
            return PollResult.CANNOT if error.code in NOT_OFFERED else PollResult.AWAY
        except AgentError as error:
            if isinstance(error, AgentRefused):
                self._retry_after = error.retry_after or 0.0
            log.info("the task could not be asked for: %s", error.brief, extra={"task": self._view.task_id})
            return PollResult.AWAY
        if snapshot is None:
            return PollResult.AWAY
        self._has_gap = self._has_gap and not (snapshot.state.is_terminal or snapshot.state.is_asking)
        raw = {"kind": "task", "state": snapshot.state.value, **_POLLED}
        is_news = await self._view.on_frame(Received(raw, snapshot), is_polled=True)
        if self._view.is_over:
            return PollResult.OVER
        return PollResult.NEWS if is_news else PollResult.RUNNING

    async def follow(self) -> TaskLost | None:
        """Follow the task to its end, or until there is a reason to leave. None: its end is known."""
        settings = self._settings
        policy = PollPolicy(
            settings.poll_intervals,
            settings.poll_jitter,
            self._seed,
            patience=settings.poll_timeout,
            joins=self._agent.can_resubscribe,
            now=self._now(),
        )
        while not self._view.is_over or self._has_gap:
            result = await self.poll()
            if self._handle.must_exit:
                return TaskLost("left")
            if result is PollResult.OVER:
                return None
            step = policy.after(result, self._now(), self._retry_after)
            if isinstance(step, TaskLost):
                return step
            if step is None:
                await self._join(policy)
            else:
                why = "the task goes on" if result in _KNOWN else "no answer yet"
                self._view.notify_waiting(why, _KNOWN.get(result, TaskKnowledge.UNKNOWN))
                await self._handle.pause(step)
        return TaskLost("left") if self._handle.must_exit else None

    async def _join(self, policy: PollPolicy) -> None:
        assert self._view.task_id is not None
        heard, possible = self._view.heard, True
        self._has_gap = False
        try:
            await self._stream_consumer.consume(self._subscribe(self._view.task_id), self.on_silence)
        except AgentError as error:
            possible = not (isinstance(error, AgentFailed) and error.code in NOT_OFFERED)
            log.info("the task's stream was not joined, or broke again: %s", error.brief)
        # the snapshot that a joined stream begins with is no news: the task was polled a moment ago
        policy.joined(brought_news=self._view.heard > heard + 1, possible=possible)

    async def _subscribe(self, task_id: str) -> AsyncGenerator[Received, None]:
        """The joined stream. One that does not begin with a snapshot may have left something out."""
        is_first = True
        async with aclosing(self._agent.subscribe(task_id)) as stream:
            async for received in stream:
                if is_first:
                    is_first, self._has_gap = False, not isinstance(received.frame, Snapshot)
                    if not self._has_gap:
                        received = replace(received, raw={**received.raw, **_POLLED})
                yield received
