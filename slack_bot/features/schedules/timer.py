"""Gives each run of a schedule to the store when its time has come, once over all processes.

From there on it is a message like any other that the bot posts by itself (`features/outbound`).
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping
from contextlib import suppress

from ...clock import Clock
from ...errors import BotError, StoreError
from ...settings.schedules import ScheduleEntry
from ...store.contracts import Store
from ...store.outbound import accept_outbound, outbound
from ...turn.outbound import OutboundRecord
from ...turn.progress import Stage
from .records import (
    RUNS,
    SCHEDULES,
    LastRun,
    ScheduleState,
    ScheduleStatus,
    WatchedRun,
    due_run,
    last_run,
    message_of,
    passed,
    paused,
    resumed,
    run_key,
    seen,
    statuses,
)

_log = logging.getLogger(__name__)

_LONGEST_SLEEP = 60.0  # seconds: the clock of the machine may be set, and another process may stop a schedule
_AGAIN = 5.0  # seconds until the store is asked again
_SOON = 0.01  # seconds: the clock has surely passed the time that is due


class ScheduleTimer:
    """All schedules of a bot."""

    def __init__(self, schedules: Mapping[str, ScheduleEntry], store: Store, clock: Clock) -> None:
        self._schedules, self._store = schedules, store
        self._clock = clock
        self.tells_failures = asyncio.Event()
        """Some schedule says where its failures are told."""
        self._changed = asyncio.Event()
        self._settled: dict[str, float] = {}  # by schedule: up to when this process knows of every run
        self.use(schedules)

    def use(self, schedules: Mapping[str, ScheduleEntry]) -> None:
        """These are the schedules from now on. What runs is not touched."""
        self._schedules = schedules
        self._settled.clear()
        if any(each.on_failure is not None for each in schedules.values()):
            self.tells_failures.set()
        self._changed.set()

    async def run(self) -> None:
        """Give runs to the store until it is cancelled."""
        while True:
            self._changed.clear()
            pause = await self._look_at_all() if self._schedules else None
            with suppress(TimeoutError):
                async with asyncio.timeout(pause):
                    await self._changed.wait()

    async def _look_at_all(self) -> float:
        """Begin what is due. Returns the seconds until the next look."""
        now, settled = self._clock.wall(), self._settled
        for name, schedule in list(self._schedules.items()):
            is_due = name not in settled or schedule.rule.latest(settled[name], now) is not None
            if is_due and await self._try(name, schedule):
                settled[name] = now
        is_behind = any(
            name not in settled or schedule.rule.latest(settled[name], now) is not None
            for name, schedule in self._schedules.items()
        )
        soonest = min(schedule.rule.next_after(now) for schedule in self._schedules.values())
        pause = _AGAIN if is_behind else _LONGEST_SLEEP
        return min(max(0.0, soonest - self._clock.wall()) + _SOON, pause)

    async def _try(self, name: str, schedule: ScheduleEntry) -> bool:
        """Look whether a schedule is due. False: the store does not say."""
        try:
            await self._look(name, schedule)
        except StoreError as error:
            _log.log(error.log_level, "the schedule %s is looked at later: %s", name, error)
            return False
        return True

    async def _look(self, name: str, schedule: ScheduleEntry) -> None:
        now = self._clock.wall()
        state = (
            await self._store.change(SCHEDULES, (name,), lambda kept: seen(kept, schedule, now), now)
        ).after
        if state is None or (run := due_run(name, schedule, state, now)) is None:
            return
        begun = run.key
        if run.was_missed and schedule.missed == "drop":
            _log.warning("a run of the schedule %s was missed, and is not made up for", name)
            begun = ""
        elif schedule.if_running == "skip" and await self._is_running(state, run.key):
            _log.warning("a run of the schedule %s is left out: the one before still runs", name)
            begun = ""
        if begun:
            await self._begin(begun, name, schedule, now)
        await self._store.change(SCHEDULES, (name,), lambda kept: passed(kept, run.at, begun), now)

    async def _begin(self, key: str, name: str, schedule: ScheduleEntry, now: float) -> None:
        if schedule.on_failure is not None:
            run = WatchedRun(key, name, schedule.on_failure, now, due=now, team=schedule.team or "")
            await self._store.change(RUNS, (key,), lambda kept: kept or run, now)
        await accept_outbound(self._store, OutboundRecord(key, message_of(name, schedule), now))
        _log.info("the schedule %s runs", name, extra={"turn": key})

    async def _is_running(self, state: ScheduleState, key: str) -> bool:
        """Whether the run before `key` has not ended."""
        if state.last in ("", key) or (record := await outbound(self._store, state.last)) is None:
            return False
        turn = None if record.turn is None else await self._store.turn(record.turn)
        return record.ended_at is None or (turn is not None and turn.stage in (Stage.ACCEPTED, Stage.SENT))

    # -- for people

    async def statuses(self) -> list[ScheduleStatus]:
        """All schedules. Raises StoreError."""
        states, last = dict[str, ScheduleState](), dict[str, LastRun]()
        for name in self._schedules:
            if (state := await self._store.get(SCHEDULES, (name,))) is None:
                continue
            states[name] = state
            if state.last and (record := await outbound(self._store, state.last)) is not None:
                turn = None if record.turn is None else await self._store.turn(record.turn)
                last[name] = last_run(record, turn)
        return statuses(self._schedules, states, self._clock.wall(), last)

    def is_of(self, name: str, team: str) -> bool:
        """Whether people of the workspace `team` may change it. One that is gone is nobody's."""
        return name not in self._schedules or self._schedules[name].is_of(team)

    async def pause(self, name: str, user: str) -> None:
        """`user` stops a schedule. Raises StoreError."""
        now = self._clock.wall()
        await self._store.change(SCHEDULES, (name,), lambda kept: paused(kept, user), now)
        _log.info("the schedule %s is stopped by %s", name, user)

    async def resume(self, name: str, user: str) -> None:
        """`user` lets a schedule go on. Raises StoreError."""
        now = self._clock.wall()
        await self._store.change(SCHEDULES, (name,), lambda kept: resumed(kept, now), now)
        _log.info("the schedule %s goes on by %s", name, user)

    async def run_now(self, name: str) -> str:
        """Run a schedule once, beside its times. Returns the key of the run. Raises BotError."""
        if (schedule := self._schedules.get(name)) is None:
            names = ", ".join(self._schedules) or "none"
            raise BotError(f"there is no schedule {name!r}; the schedules are: {names}")
        now = self._clock.wall()
        key = f"{run_key(name, now)}:now"
        await self._begin(key, name, schedule, now)
        return key
