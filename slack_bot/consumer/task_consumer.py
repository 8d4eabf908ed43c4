"""The course of one turn's reading: ask, listen, find out what became of the task, and say how it ended."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping

from ..a2a.agent import Agent
from ..a2a.recovery_policy import (
    NOT_CANCELABLE,
    TASK_NOT_FOUND,
    AfterStream,
    PollResult,
    RetryPolicy,
    TaskLost,
    after_end,
)
from ..clock import Clock
from ..errors import (
    AgentError,
    AgentFailed,
    AgentRefused,
    AgentUnreachable,
    CardError,
    StreamCut,
    StreamIdle,
    StreamLost,
)
from ..settings.models import AgentSettings
from ..turn.events import StopRequested, StreamEnd, StreamEnded
from ..turn.record import Question
from .stream_consumer import StreamConsumer, StreamExit
from .task_recovery import TaskRecovery
from .task_view import EventCallback, TaskView
from .turn_handle import ExitSignals, TurnHandle

log = logging.getLogger(__name__)

_NOT_BEGUN = "Stopped before the agent had begun."
_STOPPED = "Stopped."
_REFUSED_STOPS: Mapping[int | None, str] = {
    NOT_CANCELABLE: "Stopped. The agent had already finished.",
    TASK_NOT_FOUND: _STOPPED,  # an agent that was restarted does not work on it any more
}
_MAY_GO_ON = "Stopped here. The agent could not be stopped and may still be working."
_TOO_LONG = "The agent took too long and may still be working on it."
_FORGOTTEN = "The agent no longer knows this question: it was probably restarted."
_CLOSED_EARLY = "The agent closed the connection before it was done."
_SILENT = "The agent has gone silent."
_NAMES: Mapping[type[AgentError], str] = {
    AgentUnreachable: "the agent could not be reached",
    CardError: "the agent's card could not be used",
    StreamCut: "the connection to the agent was cut",
    StreamIdle: "the agent said nothing for too long",
}


class TaskConsumer:
    """Reads one turn. `gone` is set from outside when nobody can be shown anything any more."""

    def __init__(
        self,
        question: Question,
        agent: Agent,
        settings: AgentSettings,
        clock: Clock,
        control: TurnHandle,
        gone: asyncio.Event,
        hearing: EventCallback,
    ) -> None:
        self._question, self._agent, self._settings, self._clock = question, agent, settings, clock
        self._control, self._hearing = control, hearing
        self._leaving = ExitSignals(control, gone)
        self._standing = TaskView(question.task_id, settings, hearing, clock.monotonic, agent.habits)
        self._ear = StreamConsumer(self._standing, self._leaving, settings, clock.monotonic)
        self._continuation = TaskRecovery(
            agent, self._standing, self._ear, self._leaving, settings, clock.monotonic, question.message_id
        )

    @property
    def is_waiting_for_human(self) -> bool:
        """The task is not over: the agent waits for an answer."""
        return not self._standing.state.is_terminal

    async def consume(self) -> None:
        """Ask and listen; tell all events, and how it ended. Raises nothing that the agent does."""
        try:
            async with asyncio.timeout(self._settings.turn_timeout), self._leaving:
                end = await self._listen()
        except TimeoutError:
            end = StreamEnded(StreamEnd.LOST, _TOO_LONG, reason="the turn's time is up")
        if (user := self._control.stopped_by) is not None:
            self._hearing.event(StopRequested(user))
            end = await self._cancelled(end)
        await self._standing.finish()
        self._hearing.event(end)

    async def _listen(self) -> StreamEnded:
        """Read the stream to its end, and past it where the end is not known."""
        try:
            heard = await self._ask()
            if heard is StreamExit.SILENT:
                return await self._after(_SILENT, why="the stream fell silent", cut=True)
            return await self._after(_CLOSED_EARLY, why=f"stream {heard}")
        except StreamLost as error:
            lost, why = error.safe, self._told(error)
        except (AgentUnreachable, CardError, AgentRefused) as error:
            return StreamEnded(StreamEnd.REFUSED, error.safe, reason=self._told(error), text=error.said)
        except AgentError as error:
            return StreamEnded(StreamEnd.FAILED, error.safe, reason=self._told(error), text=error.said)
        return await self._after_cut(lost, why)

    async def _ask(self) -> StreamExit:
        """Send the question and listen; send it again only while it cannot have been taken (D5)."""
        asked, now = self._question, self._clock.monotonic
        offers = RetryPolicy(self._settings.connect_retries, now() + self._settings.accept_timeout)
        if asked.task_id is not None:
            await self._continuation.poll_baseline()
        while True:
            stream = self._agent.ask(
                asked.text,
                message_id=asked.message_id,
                context_id=asked.context_id,
                task_id=asked.task_id,
                patience=self._settings.turn_timeout,
            )
            try:
                return await self._ear.consume(stream, self._continuation.on_silence)
            except (AgentUnreachable, AgentRefused) as error:
                pause = None if self._standing.heard else offers.pause_after(error, now())
                if pause is None or self._leaving.is_set:
                    raise
                log.info("the question was not taken, once more in %g s: %s", pause, error.brief)
                await self._leaving.pause(pause)
                if self._leaving.is_set:
                    raise

    async def _after_cut(self, safe: str, why: str) -> StreamEnded:
        try:
            return await self._after(safe, why, cut=True)
        except AgentError as error:
            return StreamEnded(StreamEnd.FAILED, error.safe, reason=self._told(error), text=error.said)

    async def _after(self, safe: str, why: str, *, cut: bool = False) -> StreamEnded:
        """The stream is over: learn how the task ended, where that is not known."""
        standing = self._standing
        step = after_end(
            cut=cut,
            state=standing.state,
            is_settled=standing.is_settled,
            task_id=standing.task_id,
            said_something=standing.heard > 0,
            has_replied=standing.has_replied,
        )
        if step is AfterStream.DONE:
            return StreamEnded(StreamEnd.CLOSED, reason=why)
        if step is AfterStream.GIVE_UP or self._leaving.is_set:
            return StreamEnded(StreamEnd.LOST, safe, reason=why)
        if step is AfterStream.LOOK_ONCE:
            look = await self._continuation.poll()
            found = "the task was asked" if look is PollResult.OVER else "its result is known"
            return StreamEnded(StreamEnd.CLOSED, reason=f"{why}; {found}")
        end = await self._continuation.follow()
        if isinstance(end, TaskLost):
            told = _FORGOTTEN if end.is_forgotten else safe
            return StreamEnded(StreamEnd.LOST, told, reason=f"{why}; {end.why}")
        return StreamEnded(StreamEnd.CLOSED, reason=f"{why}; the task was asked")

    async def _cancelled(self, end: StreamEnded) -> StreamEnded:
        """Tell the agent to stop, and what became of that (delivery.md D6)."""
        if self._standing.task_id is None:
            said = _NOT_BEGUN if end.end is StreamEnd.REFUSED else _MAY_GO_ON
            return StreamEnded(StreamEnd.CLOSED, said, reason="no task to stop")
        try:
            await self._agent.cancel(self._standing.task_id)
        except AgentError as error:
            code = error.code if isinstance(error, AgentFailed) else None
            return StreamEnded(
                StreamEnd.CLOSED, _REFUSED_STOPS.get(code, _MAY_GO_ON), reason=self._told(error)
            )
        return StreamEnded(StreamEnd.CLOSED, _STOPPED, reason="the agent stopped")

    def _told(self, error: AgentError) -> str:
        """Log an error, and give it a name. What the agent's server wrote is logged at debug only."""
        asked = self._question
        extra = {"turn": asked.key, "thread_ts": asked.thread.ts, "task": self._standing.task_id}
        log.warning("the agent's side failed: %s", error.brief, extra=extra)
        if error.said:
            log.debug("the agent's server wrote: %s", error.said, extra=extra)
        match error:
            case AgentFailed(code=code):
                return f"the agent answered with error {code}"
            case AgentRefused(status=status):
                return f"the agent's server refused with HTTP {status}"
            case _:
                return _NAMES.get(type(error), "the agent's answer could not be read")
