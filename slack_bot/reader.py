"""The reading side of a turn: the agent's events, to the end and past it where the end is not known.

A stream that broke is not a task that ended. What the task became is asked for, never by sending the question
again; a stop is carried out as soon as there is a task to stop (delivery.md 7, D6).
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import aclosing, suppress
from dataclasses import dataclass
from typing import Any, cast

from .a2a.agent import Agent
from .a2a.frames import Frame, Received, TaskState
from .a2a.parser import EventParser
from .a2a.resume import NOT_CANCELABLE, TASK_NOT_FOUND, Next, after_end, pauses
from .clock import Clock
from .errors import (
    AgentError,
    AgentFailed,
    AgentRefused,
    AgentUnreachable,
    CardError,
    StreamCut,
    StreamIdle,
    StreamLost,
)
from .sections import AgentSettings
from .turn.events import Event, StopPressed, StreamEnd, StreamEnded, TaskKnown
from .turn.record import Question

log = logging.getLogger(__name__)

_MAY_GO_ON = "Stopped here. The agent could not be stopped and may still be working."
_NAMES: Mapping[type[AgentError], str] = {
    AgentUnreachable: "the agent could not be reached",
    CardError: "the agent's card could not be used",
    StreamCut: "the connection to the agent was cut",
    StreamIdle: "the agent said nothing for too long",
}


class Control:
    """The handle on a running turn, for those outside it."""

    def __init__(self) -> None:
        self._stopped_by: str | None = None
        self._changed = asyncio.Event()

    @property
    def stopped_by(self) -> str | None:
        """Who stopped the turn, if anybody did."""
        return self._stopped_by

    def stop(self, user: str) -> None:
        """End the turn for `user`. May be called at any time, more than once; the first caller counts."""
        if self._stopped_by is None:
            self._stopped_by = user
            self._changed.set()

    async def wait(self) -> None:
        """Return when the turn has been stopped."""
        await self._changed.wait()


@dataclass(frozen=True, slots=True)
class Hearing:
    """Who is told what was read: `event` what it meant, `raw` what it was (its kind, the JSON)."""

    event: Callable[[Event], None]
    raw: Callable[[str, Mapping[str, Any]], None]


class Reader:
    """Reads one turn. `gone` is set from outside when nobody can be shown anything any more."""

    def __init__(
        self,
        question: Question,
        agent: Agent,
        settings: AgentSettings,
        clock: Clock,
        control: Control,
        gone: asyncio.Event,
        hearing: Hearing,
    ) -> None:
        self._question, self._agent, self._settings, self._clock = question, agent, settings, clock
        self._control, self._gone, self._hearing = control, gone, hearing
        self._parser = EventParser(
            settings.convention,
            settings.answer_from,
            settings.max_turn_chars,
            marker=settings.answer_marker,
            habits=agent.habits,
        )
        self._task_id = question.task_id
        self._events = 0
        self._grace_until: float | None = None

    @property
    def waits_for_human(self) -> bool:
        """The task is not over: the agent waits for an answer."""
        return not self._parser.state.is_terminal

    async def read(self) -> None:
        """Ask and listen; tell all events, and how it ended. Raises nothing that the agent does."""
        try:
            async with asyncio.timeout(self._settings.turn_timeout):
                end = await self._listen()
        except TimeoutError:
            end = StreamEnded(StreamEnd.LOST, "The agent took too long.", why="the turn's time is up")
        if (user := self._control.stopped_by) is not None:
            self._hearing.event(StopPressed(user))
            end = await self._cancelled()
        for event in self._parser.finish():
            self._hearing.event(event)
        self._agent.habits.update(self._parser.lessons())
        self._hearing.event(end)

    async def _listen(self) -> StreamEnded:
        """Read the stream to its end, and past it where the end is not known."""
        try:
            await self._stream()
        except StreamLost as error:
            return await self._recover(error.safe, why=self._told(error))
        except (AgentUnreachable, CardError, AgentRefused) as error:
            return StreamEnded(StreamEnd.REFUSED, error.safe, why=self._told(error))
        except AgentError as error:
            return StreamEnded(StreamEnd.FAILED, error.safe, why=self._told(error))
        return await self._recover("The agent closed the connection before it was done.", why="stream closed")

    async def _stream(self) -> None:
        asked = self._question
        stream = self._agent.ask(
            asked.text,
            message_id=asked.message_id,
            context_id=asked.context_id,
            task_id=asked.task_id,
        )
        async with aclosing(cast(Any, stream)), _Leaving(self._control, self._gone) as leaving:
            while (received := await self._next(stream, leaving)) is not None:
                self._received(received)

    async def _next(self, stream: AsyncIterator[Received], leaving: _Leaving) -> Received | None:
        """The next event; None when there is none, or when it is no longer waited for."""
        if leaving.now and (self._task_id is not None or self._gone.is_set()):
            return None
        coming = asyncio.ensure_future(anext(stream, None))
        try:
            watched = {coming} if leaving.now else {coming, *leaving.tasks}
            while not coming.done():
                done, _ = await asyncio.wait(
                    watched, timeout=self._grace_left(), return_when=asyncio.FIRST_COMPLETED
                )
                if not done or (leaving.now and (self._task_id is not None or self._gone.is_set())):
                    return None
                watched = {coming}
            return coming.result()
        finally:
            coming.cancel()
            with suppress(asyncio.CancelledError, AgentError):
                await coming

    def _grace_left(self) -> float | None:
        return None if self._grace_until is None else max(0.0, self._grace_until - self._now())

    def _received(self, received: Received) -> None:
        self._events += 1
        self._feed(received.frame, received.raw)
        state = self._parser.state
        if self._grace_until is None and state.is_terminal:
            self._grace_until = self._now() + self._settings.terminal_grace
        elif self._grace_until is None and state is TaskState.INPUT_REQUIRED:
            self._grace_until = self._now() + self._settings.asked_grace

    def _feed(self, frame: Frame, raw: Mapping[str, Any]) -> None:
        events = self._parser.feed(frame)
        self._hearing.raw(self._parser.kind_of(frame), raw)
        for event in events:
            if isinstance(event, TaskKnown):
                self._task_id = event.task_id or self._task_id
            self._hearing.event(event)

    async def _recover(self, safe: str, why: str) -> StreamEnded:
        """Learn how the task ended after its stream did, by asking it, within `poll_for` seconds."""
        parser = self._parser
        step = after_end(
            state=parser.state,
            has_final=parser.has_final,
            asks=parser.asks,
            task_id=self._task_id,
            said_something=self._events > 0,
        )
        if step is Next.DONE:
            return StreamEnded(StreamEnd.CLOSED, why=why)
        if step is Next.GIVE_UP or self._control.stopped_by or self._gone.is_set():
            return StreamEnded(StreamEnd.LOST, safe, why=why)
        until = self._now() + self._settings.poll_for
        for pause in pauses():
            if await self._task_is_over():
                return StreamEnded(StreamEnd.CLOSED, why=f"{why}; the task was asked")
            if self._control.stopped_by or self._now() + pause > until or self._task_id is None:
                break
            with suppress(TimeoutError):
                await asyncio.wait_for(self._control.wait(), pause)
        return StreamEnded(StreamEnd.LOST, safe, why=f"{why}; the task's end could not be learned")

    async def _task_is_over(self) -> bool:
        assert self._task_id is not None
        try:
            snapshot = await self._agent.get(self._task_id)
        except AgentFailed as error:
            if error.code == TASK_NOT_FOUND:
                self._task_id = None  # nobody left to ask
            return False
        except AgentError:
            return False
        self._feed(snapshot, {"kind": "task", "asked": True, "state": snapshot.state.value})
        return self._parser.state.is_terminal or self._parser.state.is_asking

    async def _cancelled(self) -> StreamEnded:
        """Tell the agent to stop, and what became of that (delivery.md D6)."""
        if self._task_id is None:
            return StreamEnded(StreamEnd.CLOSED, "Stopped before the agent had begun.", why="no task yet")
        try:
            await self._agent.cancel(self._task_id)
        except AgentError as error:
            done = isinstance(error, AgentFailed) and error.code == NOT_CANCELABLE
            said = "Stopped. The agent had already finished." if done else _MAY_GO_ON
            return StreamEnded(StreamEnd.CLOSED, said, why=self._told(error))
        return StreamEnded(StreamEnd.CLOSED, "Stopped.", why="the agent stopped")

    def _told(self, error: AgentError) -> str:
        """Log an error in full, and give it a name that carries nothing the agent's server wrote."""
        asked = self._question
        extra = {"turn": asked.key, "thread_ts": asked.thread.ts, "task": self._task_id}
        log.warning("the agent's side failed: %s", error, extra=extra)
        match error:
            case AgentFailed(code=code):
                return f"the agent answered with error {code}"
            case AgentRefused(status=status):
                return f"the agent's server refused with HTTP {status}"
            case _:
                return _NAMES.get(type(error), "the agent's answer could not be read")

    def _now(self) -> float:
        return self._clock.monotonic()


class _Leaving:
    """Watches for a reason to stop reading: the human stopped the turn, or the thread is gone."""

    def __init__(self, control: Control, gone: asyncio.Event) -> None:
        self._control, self._gone = control, gone
        self.tasks: set[asyncio.Future[Any]] = set()

    @property
    def now(self) -> bool:
        return self._control.stopped_by is not None or self._gone.is_set()

    async def __aenter__(self) -> _Leaving:
        self.tasks = {asyncio.ensure_future(self._control.wait()), asyncio.ensure_future(self._gone.wait())}
        return self

    async def __aexit__(self, *_: object) -> None:
        for task in self.tasks:
            task.cancel()
        await asyncio.gather(*self.tasks, return_exceptions=True)
