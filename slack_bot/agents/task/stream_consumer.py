"""Listening to one stream: until it ends, is no longer waited for, or is silent too long.

One task reads; another wakes only for the deadline: an event creates no task and no timer. The silence counts
from event to event, because pings keep a dead stream alive (delivery.md 7.2).
"""

import asyncio
import math
from collections.abc import AsyncGenerator, Awaitable, Callable, Coroutine
from contextlib import aclosing, suppress
from enum import StrEnum
from typing import Any, TypeVar

from ...errors import AgentError, BadAgentData, StreamCut
from ...settings.models import AgentSettings
from ...text.buffer import TIMER_TOLERANCE
from ..wire.frames import TERMINAL, Received, TaskState
from .task_view import TaskView

T = TypeVar("T")

_LAST = TERMINAL | {TaskState.INPUT_REQUIRED}


class TurnHandle:
    """One turn's reasons to stop listening to the agent. None is taken back."""

    def __init__(self) -> None:
        self.stopped_by: str | None = None
        """The user who stopped the turn."""
        self.is_gone = False
        """Nothing can be shown any more: not even a task's id is waited for."""
        self.is_waiting_for_human = False
        """The agent waits for a sign-in; the turn sets it."""
        self.interruption: asyncio.Task[str | None] | None = None
        """Asks the agent to end the task, for another question of its asker."""
        self.interrupted_by: str | None = None
        """The user for whom the agent ended the task."""
        self.over = asyncio.Event()
        """The agent is listened to no longer."""
        self.left_task: str | None = None
        """The task that goes on when its turn is over."""
        self._task_id: str | None = None
        self._is_named = asyncio.Event()
        self._exit = asyncio.Event()
        self._callbacks: list[Callable[[], None]] = []

    @property
    def must_exit(self) -> bool:
        return self._exit.is_set()

    def know_task(self, task_id: str) -> None:
        """The agent named its task."""
        self._task_id = task_id
        self._is_named.set()

    async def task_to_cancel(self) -> str | None:
        """Wait for the task's id. None: the turn was over before."""
        waits = [asyncio.ensure_future(each.wait()) for each in (self._is_named, self.over)]
        try:
            await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for each in waits:
                each.cancel()
        return None if self.over.is_set() else self._task_id

    def leave_task(self, task_id: str | None) -> None:
        """The turn ends without its task."""
        self.left_task = task_id

    async def end_listening(self) -> None:
        """The agent is listened to no longer. Returns when it is known whether it was interrupted."""
        self.over.set()
        if self.interruption is not None:
            await asyncio.wait({self.interruption})

    def stop(self, user: str) -> None:
        """End the turn for `user`; the first caller counts."""
        self.stopped_by = self.stopped_by or user
        self.leave()

    def mark_gone(self) -> None:
        self.is_gone = True
        self.leave()

    def on_exit(self, callback: Callable[[], None]) -> None:
        """Call `callback` at each reason; at once if there is one."""
        self._callbacks.append(callback)
        if self.must_exit:
            callback()

    async def race(self, work: Coroutine[Any, Any, T]) -> T | None:
        if self.must_exit:
            work.close()
            return None
        task, leaving = asyncio.ensure_future(work), asyncio.ensure_future(self._exit.wait())
        try:
            await asyncio.wait({task, leaving}, return_when=asyncio.FIRST_COMPLETED)
            return task.result() if task.done() else None
        finally:
            leaving.cancel()
            task.cancel()
            with suppress(asyncio.CancelledError, AgentError):
                await task

    def leave(self, interrupted_by: str | None = None) -> None:
        """Listen no longer, for example where the sign-in that is waited for was answered.

        `interrupted_by`: the user for whom the agent ended the task.
        """
        self.interrupted_by = self.interrupted_by or interrupted_by
        self._exit.set()
        for callback in self._callbacks:
            callback()


class StreamExit(StrEnum):
    """How the listening ended."""

    CLOSED = "closed"  # by the agent
    LEFT = "left"  # by this side: a stop, nothing can be shown any more, or enough waited after the end
    SILENT = "silent"  # the stream is not to be relied on any more


class StreamConsumer:
    """Listens to the streams of one turn, one after the other."""

    def __init__(
        self, view: TaskView, handle: TurnHandle, settings: AgentSettings, now: Callable[[], float]
    ) -> None:
        self._view, self._handle, self._settings, self._now = view, handle, settings, now
        self._busy = asyncio.Lock()  # held while an event is handled or a silence looked into
        self._wake = asyncio.Event()  # the deadline is earlier now, or the stream is over
        self._grace_until: float | None = None
        self._silent_since = 0.0
        self._is_quiet_notified = False  # of the present silence
        self._stop_until: float | None = None  # when a stop is waited for no longer
        handle.on_exit(self._wake.set)

    async def consume(
        self, stream: AsyncGenerator[Received, None], on_silence: Callable[[], Awaitable[bool]]
    ) -> StreamExit:
        """Handle what `stream` yields, and raise what it raises. `on_silence`: whether to go on listening.

        What cannot be read is a cut where there is a task to ask for.
        """
        self._grace_until, self._silent_since, self._is_quiet_notified = None, self._now(), False
        pump = asyncio.create_task(self._pump(stream), name="stream pump")
        pump.add_done_callback(lambda _: self._wake.set())
        try:
            while True:
                async with self._busy:
                    self._wake.clear()
                    if self._must_exit():
                        return StreamExit.LEFT
                    if pump.done():
                        pump.result()
                        return StreamExit.CLOSED
                    is_due = self._stop_until is None and self._seconds_left() <= TIMER_TOLERANCE
                    if is_due and (left := await self._on_deadline(on_silence)):
                        return left
                with suppress(TimeoutError):
                    async with asyncio.timeout(self._seconds_left()):
                        await self._wake.wait()
        finally:
            pump.cancel()
            with suppress(asyncio.CancelledError, AgentError):
                await pump

    async def _pump(self, stream: AsyncGenerator[Received, None]) -> None:
        view, is_reading = self._view, True
        try:
            async with aclosing(stream):
                async for received in stream:
                    is_reading = False
                    await self._busy.acquire()  # not `async with`, which takes as long as all of this
                    try:
                        await view.on_frame(received)
                        self._silent_since = max(self._silent_since, view.news.at)
                        if self._is_quiet_notified or (self._grace_until is None) is (view.state in _LAST):
                            self._move_deadline()
                    finally:
                        self._busy.release()
                    if self._handle.must_exit and self._must_exit():
                        return
                    is_reading = True
        except BadAgentData as error:
            if not is_reading or not view.heard or view.task_id is None:
                raise
            raise StreamCut(str(error), safe=error.safe) from error

    def _move_deadline(self) -> None:
        self._is_quiet_notified = False
        state, settings = self._view.state, self._settings
        if state not in _LAST:
            self._grace_until = None  # it works again: that it waited was old, or is over
        elif self._grace_until is None:
            grace = settings.terminal_grace if state.is_terminal else settings.input_required_grace
            self._grace_until = self._silent_since + grace
        self._wake.set()

    async def _on_deadline(self, on_silence: Callable[[], Awaitable[bool]]) -> StreamExit | None:
        if self._grace_until is not None:
            return StreamExit.LEFT
        if self._is_quiet_notified:
            if not await on_silence():
                return StreamExit.SILENT
            self._silent_since = self._now()
        elif self._view.asks_quietly:
            return StreamExit.LEFT
        else:
            self._is_quiet_notified = True
            self._view.notify_quiet()
        return None

    def _must_exit(self) -> bool:
        """A stop waits for a task to stop, for a while."""
        handle = self._handle
        if handle.is_gone or not handle.must_exit:
            return handle.is_gone
        if self._view.task_id is not None:
            return True
        now = self._now()
        if self._stop_until is None:
            self._stop_until = now + self._settings.stop_timeout
        return now + TIMER_TOLERANCE >= self._stop_until

    def _seconds_left(self) -> float:
        settings = self._settings
        until = self._grace_until if self._stop_until is None else self._stop_until
        if until is None:
            quiet = math.inf if self._is_quiet_notified else settings.quiet_notice_after
            until = self._silent_since + min(quiet, settings.idle_timeout)
        return max(0.0, until - self._now())
