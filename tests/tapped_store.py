"""A store that is stopped, breaks or is watched where it is asked for the records of a collection."""

from __future__ import annotations

from slack_bot.store.collection import Change, Collection, Key, R, Revision
from slack_bot.testing.memory_store import MemoryStore
from slack_bot.turn.record import ThreadKey


class TappedStore(MemoryStore):
    """`tap` is awaited before each use of a collection."""

    async def tap(self, kind: str) -> None:
        """`kind`: the name of the collection."""

    async def get(self, collection: Collection[R], key: Key) -> R | None:
        await self.tap(collection.name)
        return await super().get(collection, key)

    async def change(self, collection: Collection[R], key: Key, revise: Change[R], now: float) -> Revision[R]:
        await self.tap(collection.name)
        return await super().change(collection, key, revise, now)

    async def in_thread(self, collection: Collection[R], thread: ThreadKey) -> list[R]:
        await self.tap(collection.name)
        return await super().in_thread(collection, thread)

    async def due(self, collection: Collection[R], now: float, most: int) -> list[R]:
        await self.tap(collection.name)
        return await super().due(collection, now, most)
