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
from ..a2a.frames import Received, Snapshot, TaskState
from ..a2a.requests import MISSED_MESSAGES
from ..a2a.resume import NOT_OFFERED, TASK_NOT_FOUND, Done, Join, Look, Lost, Pause, Pursuit
from ..errors import AgentError, AgentFailed, AgentRefused
from ..sections import AgentSettings
from ..turn.events import Known
from .control import Leaving
from .ear import Ear
from .standing import Standing

log = logging.getLogger(__name__)

_ASKED = {"asked": True}  # in a raw event: the answer to our own asking, not the agent's own word
_KNOWN = {Look.RUNNING: Known.WORKING, Look.NEWS: Known.WORKING}


class Continuation:
    """Asks for the task of one turn. `seed` spreads the looks of different turns."""

    def __init__(
        self,
        agent: Agent,
        standing: Standing,
        ear: Ear,
        leaving: Leaving,
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
        look = Look.CANNOT if self._standing.task_id is None else await self.look()
        if self._standing.state is TaskState.AUTH_REQUIRED:
            return True  # people take their time to sign in, and the reader knows what is waited for
        if look not in (Look.RUNNING, Look.CANNOT):
            return False
        self._standing.waited("no event on the stream", _KNOWN.get(look, Known.UNKNOWN))
        return True

    async def look_before(self) -> None:
        """Note how the task stands whose question is about to be answered; best effort."""
        assert self._standing.task_id is not None
        try:
            task = await self._leaving.unless(self._agent.get(self._standing.task_id, MISSED_MESSAGES))
        except AgentError as error:
            log.info(
                "the task could not be asked for: %s", error.brief, extra={"task": self._standing.task_id}
            )
        else:
            if task is not None:
                await self._standing.stood_before(task)

    async def look(self) -> Look:
        """Ask for the task once, and tell what is new."""
        assert self._standing.task_id is not None
        self._retry_after = 0.0
        try:
            snapshot = await self._leaving.unless(self._agent.get(self._standing.task_id, MISSED_MESSAGES))
        except AgentFailed as error:
            if error.code == TASK_NOT_FOUND:
                return Look.UNKNOWN
            return Look.CANNOT if error.code in NOT_OFFERED else Look.AWAY
        except AgentError as error:
            if isinstance(error, AgentRefused):
                self._retry_after = error.retry_after or 0.0
            log.info(
                "the task could not be asked for: %s", error.brief, extra={"task": self._standing.task_id}
            )
            return Look.AWAY
        if snapshot is None:
            return Look.AWAY
        is_news = await self._lay(snapshot)
        if self._standing.is_over:
            return Look.OVER
        return Look.NEWS if is_news else Look.RUNNING

    async def follow(self) -> Done | Lost:
        """Follow the task to its end; returns early when there is a reason to leave."""
        settings = self._settings
        pursuit = Pursuit(
            settings.poll_pauses,
            settings.poll_jitter,
            self._seed,
            patience=settings.poll_for,
            joins=self._agent.may_join,
            now=self._now(),
        )
        while True:
            is_known = self._standing.is_over and not self._has_gap
            look = Look.OVER if is_known else await self.look()
            if self._leaving.now:
                return Lost("left")
            match step := pursuit.after(look, self._now(), self._retry_after):
                case Done() | Lost():
                    return step
                case Join():
                    await self._join(pursuit)
                case Pause(seconds):
                    why = "the task goes on" if look in _KNOWN else "no answer yet"
                    self._standing.waited(why, _KNOWN.get(look, Known.UNKNOWN))
                    await self._leaving.pause(seconds)
                case _:
                    assert_never(step)

    async def _join(self, pursuit: Pursuit) -> None:
        assert self._standing.task_id is not None
        heard, possible = self._standing.heard, True
        self._has_gap = False
        try:
            await self._ear.listen(self._joined(self._standing.task_id), self.on_silence)
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

    async def _lay(self, snapshot: Snapshot) -> bool:
        self._has_gap = self._has_gap and not (snapshot.state.is_terminal or snapshot.state.is_asking)
        raw = {"kind": "task", "state": snapshot.state.value, **_ASKED}
        return await self._standing.lay(snapshot, raw)
