"""Keeps the raw events of agents in the store, where a setting asks for it: a turn can become a tape."""

import asyncio
import json
import logging

from .clock import Clock
from .errors import StoreError
from .observe.facts import AgentEvent, Fact, Observer, TurnEnded, wants_details, wants_events
from .store.contracts import EventStore, KeptEvent

_log = logging.getLogger(__name__)


class EventKeeper:
    """An observer in front of another one. It stores every `interval` seconds what came, of all turns.

    `most_bytes` of a turn are kept, as JSON; what comes after that is left out.
    """

    wants_events = True

    def __init__(
        self, store: EventStore, observer: Observer, clock: Clock, interval: float, most_bytes: int
    ) -> None:
        self._store, self._observer, self._clock = store, observer, clock
        self._interval, self._most_bytes = interval, most_bytes
        self._sizes: dict[str, int] = {}
        self._waiting: list[KeptEvent] = []
        self._writer: asyncio.Task[None] | None = None

    def __call__(self, fact: Fact) -> None:
        if isinstance(fact, AgentEvent) and fact.raw.get("asked") is not True:
            self._keep(fact)
        elif isinstance(fact, TurnEnded):
            self._sizes.pop(fact.turn, None)
        if not isinstance(fact, AgentEvent) or wants_events(self._observer):
            self._observer(fact)

    @property
    def wants_details(self) -> bool:
        return wants_details(self._observer)

    def _keep(self, fact: AgentEvent) -> None:
        data = json.dumps(fact.raw, separators=(",", ":"))
        size = self._sizes[fact.turn] = self._sizes.get(fact.turn, 0) + len(data)
        if size > self._most_bytes:
            return
        self._waiting.append(KeptEvent(fact.turn, self._clock.wall(), data))
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
        if self._waiting:
            await self._store_waiting()
