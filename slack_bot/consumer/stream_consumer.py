"""Listening to one stream: until it ends, until it is no longer waited for, or until it is silent too long.

Events are watched for, not bytes, because pings keep a dead stream alive for ever. A silent stream is not a
dead one either, so it stays open while the task is asked for, and is left only if the task knows more than
the stream told (delivery.md 7.2).
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing, suppress
from enum import StrEnum
from typing import Any, cast

from ..a2a.wire.frames import Received, TaskState
from ..errors import AgentError, BadAgentData, StreamCut
from ..settings.models import AgentSettings
from ..turn.buffer import TIMER_TOLERANCE
from .task_view import TaskView
from .turn_handle import ExitSignals


class StreamExit(StrEnum):
    """How the listening ended."""

    CLOSED = "closed"  # by the agent
    LEFT = "left"  # by this side: a stop, nobody to be shown anything, or enough waited after the end
    SILENT = "silent"  # the stream is not to be relied on any more


class StreamConsumer:
    """Listens to the streams of one turn, one after the other."""

    def __init__(
        self, standing: TaskView, leaving: ExitSignals, settings: AgentSettings, now: Callable[[], float]
    ) -> None:
        self._standing, self._leaving, self._settings, self._now = standing, leaving, settings, now
        self._grace_until: float | None = None
        self._silent_from = 0.0
        self._told_quiet = False  # of the present silence
        self._stop_until: float | None = None  # when a stop is waited for no longer

    async def consume(
        self, stream: AsyncGenerator[Received, None], on_silence: Callable[[], Awaitable[bool]]
    ) -> StreamExit:
        """Take what `stream` yields, to its end. `on_silence` decides whether to go on listening.

        Raises what the stream raises; what cannot be read counts as a cut where there is a task to ask for.
        """
        self._grace_until, self._silent_from, self._told_quiet = None, self._now(), False
        async with aclosing(stream):
            while True:
                coming = asyncio.ensure_future(cast(Any, anext(stream, None)))
                try:
                    if (left := await self._wait(coming, on_silence)) is not None:
                        return left
                    received = self._result(coming)
                finally:
                    coming.cancel()
                    with suppress(asyncio.CancelledError, AgentError):
                        await coming
                if received is None:
                    return StreamExit.CLOSED
                await self._on_frame(received)

    async def _wait(
        self, coming: asyncio.Future[Received | None], on_silence: Callable[[], Awaitable[bool]]
    ) -> StreamExit | None:
        """Wait for the next event. None when it has come; otherwise why it is not waited for."""
        while True:
            if self._must_exit():
                return StreamExit.LEFT
            if coming.done():
                return None
            watched = {coming} if self._leaving.is_set else {coming, *self._leaving.tasks}
            done, _ = await asyncio.wait(
                watched, timeout=self._idle_timeout(), return_when=asyncio.FIRST_COMPLETED
            )
            if done or self._stop_until is not None:
                continue
            if self._grace_until is not None:
                return StreamExit.LEFT
            if not self._told_quiet:
                if self._standing.asks_quietly:
                    return StreamExit.LEFT
                self._told_quiet = True
                self._standing.notify_quiet()
                continue
            if not await on_silence():
                return StreamExit.SILENT
            self._silent_from = self._now()

    def _must_exit(self) -> bool:
        """A stop is carried out once there is a task to stop, or none was named in time: people wait."""
        if self._leaving.is_gone or not self._leaving.is_set:
            return self._leaving.is_gone
        if self._standing.task_id is not None:
            return True
        now = self._now()
        self._stop_until = now + self._settings.stop_timeout if self._stop_until is None else self._stop_until
        return now + TIMER_TOLERANCE >= self._stop_until

    def _idle_timeout(self) -> float:
        if self._stop_until is not None:
            return max(0.0, self._stop_until - self._now())
        settings, until = self._settings, self._grace_until
        if until is None:
            idle = (
                settings.idle_timeout
                if self._told_quiet
                else min(settings.quiet_notice_after, settings.idle_timeout)
            )
            until = self._silent_from + idle
        return max(0.0, until - self._now())

    def _result(self, coming: asyncio.Future[Received | None]) -> Received | None:
        try:
            return coming.result()
        except BadAgentData as error:
            if self._standing.heard and self._standing.task_id is not None:
                raise StreamCut(str(error), safe=error.safe) from error
            raise

    async def _on_frame(self, received: Received) -> None:
        await self._standing.on_frame(received)
        self._silent_from, self._told_quiet = self._now(), False
        state, settings = self._standing.state, self._settings
        if self._grace_until is None and state.is_terminal:
            self._grace_until = self._now() + settings.terminal_grace
        elif self._grace_until is None and state is TaskState.INPUT_REQUIRED:
            self._grace_until = self._now() + settings.input_required_grace
