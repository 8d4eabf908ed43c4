"""The agent's side of one turn: ask, listen, find out what became of the task, and report how it ended."""

from __future__ import annotations

import asyncio
import logging
import math
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
from .task_view import OnEvent, OnRaw, TaskView
from .turn_handle import TurnHandle

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
    """Consumes the agent's side of one turn. `view` is what is known of its task."""

    def __init__(
        self,
        question: Question,
        agent: Agent,
        settings: AgentSettings,
        clock: Clock,
        handle: TurnHandle,
        on_event: OnEvent,
        on_raw: OnRaw,
    ) -> None:
        self._question, self._agent, self._settings = question, agent, settings
        self._handle, self._on_event, self._now = handle, on_event, clock.monotonic
        self.view = TaskView(
            question.task_id, question.context_id, settings, on_event, on_raw, self._now, agent.habits
        )
        self._stream_consumer = StreamConsumer(self.view, handle, settings, self._now)
        self._recovery = TaskRecovery(
            agent, self.view, self._stream_consumer, handle, settings, self._now, question.message_id
        )

    async def consume(self) -> None:
        """Ask and listen; report all events, and how it ended. Raises no AgentError."""
        try:
            async with asyncio.timeout(self._settings.turn_timeout):
                end = await self._listen()
        except TimeoutError:
            end = StreamEnded(StreamEnd.LOST, _TOO_LONG, reason="the turn's time is up")
        if (user := self._handle.stopped_by) is not None:
            self._on_event(StopRequested(user))
            end = await self._cancel(end)
        await self.view.finish()
        self._on_event(end)

    async def _listen(self) -> StreamEnded:
        """Follow the stream to its end, and the task past it where its end is not known."""
        try:
            left = await self._ask()
            if left is StreamExit.SILENT:
                return await self._after(_SILENT, why="the stream fell silent", cut=True)
            return await self._after(_CLOSED_EARLY, why=f"stream {left}")
        except StreamLost as error:
            safe, why = error.safe, self._log(error)
        except (AgentUnreachable, CardError, AgentRefused) as error:
            return StreamEnded(StreamEnd.REFUSED, error.safe, reason=self._log(error), text=error.said)
        except AgentError as error:
            return StreamEnded(StreamEnd.FAILED, error.safe, reason=self._log(error), text=error.said)
        return await self._after_cut(safe, why)

    async def _ask(self) -> StreamExit:
        """Send the question and listen; send it again only while it cannot have been taken (D5)."""
        asked, now = self._question, self._now
        retries = RetryPolicy(self._settings.connect_retries, now() + self._settings.accept_timeout)
        if asked.task_id is not None:
            await self._recovery.poll_baseline()
        while True:
            stream = self._agent.ask(
                asked.text,
                message_id=asked.message_id,
                context_id=asked.context_id,
                task_id=asked.task_id,
                patience=math.inf,
            )
            try:
                return await self._stream_consumer.consume(stream, self._recovery.on_silence)
            except (AgentUnreachable, AgentRefused) as error:
                pause = None if self.view.heard else retries.pause_after(error, now())
                if pause is None or self._handle.must_exit:
                    raise
                log.info("the question was not taken, once more in %g s: %s", pause, error.brief)
                await self._handle.pause(pause)
                if self._handle.must_exit:
                    raise

    async def _after_cut(self, safe: str, why: str) -> StreamEnded:
        try:
            return await self._after(safe, why, cut=True)
        except AgentError as error:
            return StreamEnded(StreamEnd.FAILED, error.safe, reason=self._log(error), text=error.said)

    async def _after(self, safe: str, why: str, *, cut: bool = False) -> StreamEnded:
        """The stream is over: learn how the task ended, where that is not known."""
        view = self.view
        step = after_end(
            cut=cut,
            state=view.state,
            is_settled=view.is_settled,
            task_id=view.task_id,
            said_something=view.heard > 0,
            has_replied=view.has_replied,
        )
        if step is AfterStream.DONE:
            return StreamEnded(StreamEnd.CLOSED, reason=why)
        if step is AfterStream.GIVE_UP or self._handle.must_exit:
            return StreamEnded(StreamEnd.LOST, safe, reason=why)
        if step is AfterStream.LOOK_ONCE:
            result = await self._recovery.poll()
            found = "the task was asked" if result is PollResult.OVER else "its result is known"
            return StreamEnded(StreamEnd.CLOSED, reason=f"{why}; {found}")
        end = await self._recovery.follow()
        if isinstance(end, TaskLost):
            note = _FORGOTTEN if end.is_forgotten else safe
            return StreamEnded(StreamEnd.LOST, note, reason=f"{why}; {end.why}")
        return StreamEnded(StreamEnd.CLOSED, reason=f"{why}; the task was asked")

    async def _cancel(self, end: StreamEnded) -> StreamEnded:
        """Ask the agent to stop; how that went (delivery.md D6)."""
        if self.view.task_id is None:
            note = _NOT_BEGUN if end.end is StreamEnd.REFUSED else _MAY_GO_ON
            return StreamEnded(StreamEnd.CLOSED, note, reason="no task to stop")
        try:
            await self._agent.cancel(self.view.task_id)
        except AgentError as error:
            code = error.code if isinstance(error, AgentFailed) else None
            return StreamEnded(
                StreamEnd.CLOSED, _REFUSED_STOPS.get(code, _MAY_GO_ON), reason=self._log(error)
            )
        return StreamEnded(StreamEnd.CLOSED, _STOPPED, reason="the agent stopped")

    def _log(self, error: AgentError) -> str:
        """Log an error, and name it. What the agent's server wrote is logged at debug only."""
        asked = self._question
        extra = {"turn": asked.key, "thread_ts": asked.thread.ts, "task": self.view.task_id}
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
