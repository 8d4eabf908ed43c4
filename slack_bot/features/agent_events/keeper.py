"""Stores the raw events of agents if a setting asks for it, so that a turn can become a tape."""

import asyncio
import json
import logging
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from ...clock import Clock
from ...errors import StoreError
from ...observe.facts import AgentEvent, Fact, TurnEnded
from ...store.contracts import EventStore, KeptEvent
from ...text.redaction import Redactor, StreamRedactor
from ...turn.record import Outcome
from ..feature import BotParts, Feature, FeatureWork

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class _Event:
    at: float
    raw: Any


class EventKeeper:
    """An observer that stores new events every `interval` seconds.

    It keeps at most `most_bytes` of each turn, as JSON, and drops the rest. Known secrets and what looks like
    a secret are masked, even if the agent sent them in pieces; for that, events may wait until the next ones.
    An error with which the agent ended its answer is the last of them.
    """

    wants_details, wants_events = False, True

    def __init__(
        self,
        store: EventStore,
        clock: Clock,
        *,
        interval: float,
        most_bytes: int,
    ) -> None:
        self._store, self._clock = store, clock
        self._interval, self._most_bytes = interval, most_bytes
        self._masks: dict[str, Redactor] = {}  # of turns: a token for the agent is another one tomorrow
        self._streams: dict[str, StreamRedactor[_Event]] = {}
        self._sizes: dict[str, int] = {}
        self._waiting: list[KeptEvent] = []
        self._writer: asyncio.Task[None] | None = None

    def __call__(self, fact: Fact) -> None:
        if isinstance(fact, AgentEvent) and fact.raw.get("asked") is not True:
            self._take(fact)
        elif isinstance(fact, TurnEnded):
            masks = self._masks.get(fact.turn) or Redactor()
            self._end(fact.turn)
            self._sizes.pop(fact.turn, None)
            if fact.code is not None and fact.outcome == Outcome.FAILED:  # however much was kept
                error = {"error": {"code": fact.code, "message": fact.said}}
                self._add(KeptEvent(fact.turn, self._clock.wall(), _as_json(masks.value(error))))

    def _take(self, fact: AgentEvent) -> None:
        if self._sizes.get(fact.turn, 0) > self._most_bytes:
            return
        stream = self._streams.get(fact.turn)
        if stream is None:
            masks = self._masks[fact.turn] = Redactor()
            stream = self._streams[fact.turn] = StreamRedactor(masks)
        self._masks[fact.turn].learn(*fact.secrets)
        event = _Event(self._clock.wall(), json.loads(json.dumps(fact.raw)))
        self._keep(fact.turn, stream.push(event, event.raw))

    def _end(self, turn: str) -> None:
        stream = self._streams.pop(turn, None)
        if stream is not None:
            self._keep(turn, stream.end())
            del self._masks[turn]

    def _keep(self, turn: str, events: Iterable[_Event]) -> None:
        for event in events:
            data = _as_json(self._masks[turn].value(event.raw))
            size = self._sizes[turn] = self._sizes.get(turn, 0) + len(data)
            if size > self._most_bytes:
                return
            self._add(KeptEvent(turn, event.at, data))

    def _add(self, event: KeptEvent) -> None:
        self._waiting.append(event)
        if self._writer is None or self._writer.done():
            self._writer = asyncio.create_task(self._write(), name="event keeper")

    async def _write(self) -> None:
        while self._waiting:
            await asyncio.sleep(self._interval)
            await self._store_waiting()

    async def _store_waiting(self) -> None:
        events, self._waiting = self._waiting, []
        try:
            await self._store.save_events(*events)
        except StoreError as error:
            _log.error("%d events of agents were not stored: %s", len(events), error)

    async def close(self) -> None:
        if self._writer is not None:
            self._writer.cancel()
        for turn in list(self._streams):
            self._end(turn)
        if self._waiting:
            await self._store_waiting()


def _as_json(value: Any) -> str:
    return json.dumps(value, separators=(",", ":"))


def start(bot: BotParts) -> FeatureWork:
    """Store events if `event_bytes` is set."""
    common = bot.common
    settings = common.settings.store
    if not settings.event_bytes:
        return FeatureWork()
    keeper = EventKeeper(
        common.store,
        common.clock,
        interval=settings.checkpoint_interval,
        most_bytes=settings.event_bytes,
    )
    return FeatureWork(observe=keeper, close=keeper.close)


FEATURE = Feature("agent_events", start)
