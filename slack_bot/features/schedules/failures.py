"""Tells where `on_failure` says that a schedule fails, and when it works again.

Each run of such a schedule is looked at until it is over. What is told is a message with a key of that run,
so it is told once, whichever process looks (`features/outbound` delivers it).
"""

from __future__ import annotations

import asyncio
import logging
from dataclasses import replace

from ...clock import Clock
from ...errors import StoreError
from ...settings.places import is_person
from ...store.contracts import Store
from ...store.outbound import accept_outbound, outbound
from ...text.feature_words import SCHEDULE_FAILED, SCHEDULE_THREAD, SCHEDULE_WORKS
from ...turn.failure import why_failed
from ...turn.outbound import OutboundMessage, OutboundRecord
from ...turn.progress import Stage
from ...turn.record import Outcome, QuestionOrigin
from .records import RUNS, SCHEDULES, WatchedRun, failed, worked

_log = logging.getLogger(__name__)

_INTERVAL = 5.0  # seconds between looks
_LATER = 60.0  # seconds until a task that outlives its run is looked at again
_LOST = 3600.0  # seconds after which a run that never began is forgotten
_AT_ONCE = 50
_NO_NEWS = frozenset({Outcome.STOPPED, Outcome.GONE, Outcome.MERGED})
"""Ends by people: whether the schedule works is not known."""


class RunWatch:
    """Looks at the runs that are not over, once some are `wanted`. `secrets` must never be shown."""

    def __init__(self, store: Store, clock: Clock, secrets: tuple[str, ...], wanted: asyncio.Event) -> None:
        self._store, self._wall, self._secrets = store, clock.wall, secrets
        self._wanted = wanted

    async def run(self) -> None:
        """Look every few seconds. Never returns."""
        while True:
            await self._wanted.wait()
            try:
                for run in await self._store.due(RUNS, self._wall(), _AT_ONCE):
                    await self._look(run)
            except StoreError as error:
                _log.log(error.log_level, "runs of schedules are looked at later: %s", error)
            await asyncio.sleep(_INTERVAL)

    async def _look(self, run: WatchedRun) -> None:
        record = await outbound(self._store, run.key)
        if record is None:
            await self._look_again(run, None if self._wall() - run.at > _LOST else _INTERVAL)
            return
        turn = None if record.turn is None else await self._store.turn(record.turn)
        if record.ended_at is None or (turn is not None and turn.stage is not Stage.ENDED):
            is_long = turn is not None and turn.stage is Stage.WATCHED
            await self._look_again(run, _LATER if is_long else _INTERVAL)
            return
        if record.error is not None:
            await self._tell_failure(run, record.error)
        elif reason := why_failed(turn, self._secrets):
            await self._tell_failure(run, reason, record.link)
        elif turn is not None and turn.outcome not in _NO_NEWS:
            await self._tell_that_it_works(run)
        await self._look_again(run, None)

    async def _look_again(self, run: WatchedRun, seconds: float | None) -> None:
        """None: it is over."""
        now = self._wall()
        due = None if seconds is None else now + seconds

        def revised(kept: WatchedRun | None) -> WatchedRun | None:
            return None if kept is None else replace(kept, due=due)

        await self._store.change(RUNS, (run.key,), revised, now)

    async def _tell_failure(self, run: WatchedRun, reason: str, link: str = "") -> None:
        revision = await self._store.change(
            SCHEDULES, (run.name,), lambda kept: failed(kept, run), self._wall()
        )
        if revision.after is not None and revision.after.told != run.key:
            _log.warning("the schedule %s failed again: %s", run.name, reason, extra={"turn": run.key})
            return
        _log.warning("the schedule %s failed: %s", run.name, reason, extra={"turn": run.key})
        words = SCHEDULE_FAILED.format(run.name, reason)
        is_linked = link.startswith("https://")
        await self._say(run, "failed", SCHEDULE_THREAD.format(words, link) if is_linked else words)

    async def _tell_that_it_works(self, run: WatchedRun) -> None:
        revision = await self._store.change(
            SCHEDULES, (run.name,), lambda kept: worked(kept, run), self._wall()
        )
        if revision.after is not None and revision.after.works == run.key:
            await self._say(run, "works", SCHEDULE_WORKS.format(run.name))

    async def _say(self, run: WatchedRun, what: str, text: str) -> None:
        to_person = is_person(run.place)
        message = OutboundMessage(
            text,
            channel="" if to_person else run.place,
            user=run.place if to_person else "",
            origin=QuestionOrigin.SCHEDULE,
            team=run.team,
        )
        await accept_outbound(self._store, OutboundRecord(f"{run.key}:{what}", message, self._wall()))
