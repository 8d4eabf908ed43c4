"""Collections in Redis: each record is JSON under its key, and sorted sets index records by thread and
person.

Redis itself removes expired records. An index may still hold their keys, which readers skip.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from typing import Any

from ..turn.record import ThreadKey
from .adapters import read, write
from .collection import (
    Ages,
    Change,
    Collection,
    CollectionStore,
    KeptPerson,
    Key,
    R,
    Revision,
    key_of,
    name_of,
)
from .redis_calls import RedisCalls
from .redis_format import PREFIX

_AT_ONCE = 500  # keys in one round trip


class RedisCollections(RedisCalls, CollectionStore):
    """The collections of a `RedisStore`. `lease`: seconds; `_replica`: the name of this process."""

    collections: Sequence[Collection[Any]]
    _ages: Ages
    _replica: str
    lease: float

    async def get(self, collection: Collection[R], key: Key) -> R | None:
        async with self._calling():
            return record_of(collection, await self._redis.get(record_key(collection, key)))

    async def change(self, collection: Collection[R], key: Key, revise: Change[R], now: float) -> Revision[R]:
        name = record_key(collection, key)

        async def work(pipeline: Any) -> Revision[R]:
            before = record_of(collection, await pipeline.get(name))
            after = revise(before)
            pipeline.multi()
            if after is None:
                return Revision(before, before)
            if after != before or collection.since is None:
                queue_record(pipeline, collection, key, after, self.age_of(collection), now)
            return Revision(before, after)

        return await self.transact(work, name)

    def age_of(self, collection: Collection[R]) -> float | None:
        """Seconds for which a record is kept; None: for ever."""
        return None if collection.age is None else collection.age(self._ages)

    async def remove(self, collection: Collection[R], *keys: Key) -> None:
        if keys:
            async with self._calling(), self._redis.pipeline() as pipeline:
                for key in keys:
                    queue_removal(pipeline, collection, key)
                await pipeline.execute()

    async def in_thread(self, collection: Collection[R], thread: ThreadKey) -> list[R]:
        entries = await self._in_set(collection, _of_thread(collection, thread))
        there = [each for each in entries if collection.thread_of(*each) == thread]
        return _in_order(collection, there)

    async def of_person(self, collection: Collection[R], person: KeptPerson) -> list[R]:
        entries = await self._in_set(collection, _of_person(collection, person))
        return _in_order(collection, [each for each in entries if person in collection.people_of(*each)])

    async def _in_set(self, collection: Collection[R], name: str) -> list[tuple[Key, R]]:
        async with self._calling():
            return await self._read(collection, await self._redis.zrange(name, 0, -1))

    async def _read(self, collection: Collection[R], names: Sequence[str]) -> list[tuple[Key, R]]:
        keys = [key_of(name) for name in names]
        data = await self._redis.mget([record_key(collection, key) for key in keys]) if keys else []
        records = zip(keys, (record_of(collection, each) for each in data), strict=True)
        return [(key, record) for key, record in records if record is not None]

    async def due(self, collection: Collection[R], now: float, most: int) -> list[R]:
        name = _due(collection)
        async with self._calling():
            names = await self._redis.zrangebyscore(name, "-inf", now, start=0, num=most)
            records = dict(await self._read(collection, names))
            erased_names = [each for each in names if key_of(each) not in records]
            if erased_names:  # they were erased
                await self._redis.zrem(name, *erased_names)
        return [records[key] for each in names if (key := key_of(each)) in records]

    async def hold(self, collection: Collection[R], key: Key) -> bool:
        name, lease = f"{PREFIX}hold:{collection.name}:{name_of(key)}", round(self.lease * 1000)
        async with self._calling():
            if await self._redis.set(name, self._replica, nx=True, px=lease):
                return True
            is_held = await self._redis.get(name) == self._replica
            if is_held:
                await self._redis.pexpire(name, lease)
            return bool(is_held)

    async def records(self, collection: Collection[R]) -> AsyncIterator[tuple[Key, R]]:
        """All records of a collection, in the order of their keys. Raises StoreError."""
        names = await self.record_names(collection)
        for at in range(0, len(names), _AT_ONCE):
            async with self._calling():
                entries = await self._read(collection, names[at : at + _AT_ONCE])
            for each in entries:
                yield each

    async def record_names(self, collection: Collection[Any]) -> list[str]:
        """The keys of all records as text (`name_of`). Raises StoreError."""
        start = record_key(collection, ()).removesuffix(name_of(()))
        return [name.removeprefix(start) for name in await self.names(f"{start}*")]

    async def names(self, pattern: str) -> list[str]:
        """All keys of Redis that match the pattern, sorted. Raises StoreError."""
        matches, cursor = set[str](), 0  # one may come twice
        while True:
            async with self._calling():
                cursor, page = await self._redis.scan(cursor, match=pattern, count=_AT_ONCE)
            matches.update(page)
            if not cursor:
                return sorted(matches)

    async def delete(self, *names: str) -> None:
        """Remove keys of Redis. Raises StoreError."""
        if names:
            async with self._calling():
                await self._redis.delete(*names)


def record_key(collection: Collection[Any], key: Key) -> str:
    """The key of a record in Redis."""
    return f"{PREFIX}record:{collection.name}:{name_of(key)}"


def record_of(collection: Collection[R], text: str | None) -> R | None:
    """Read a record from a value of Redis. Raises ValueError."""
    return None if text is None else read(collection, text)


def queue_record(
    pipeline: Any, collection: Collection[R], key: Key, record: R, age: float | None, now: float
) -> None:
    """Add the commands that store a record and its index entries to `pipeline`.

    `age`: seconds for which the record is kept; None: for ever. `now`: seconds since 1970.
    """
    since = collection.since(record) if collection.since is not None else now
    milliseconds = None if age is None or since is None else _milliseconds(age - (now - since))
    pipeline.set(record_key(collection, key), write(collection, record), px=milliseconds)
    queue_indices(pipeline, collection, key, record, age, now)


def queue_indices(
    pipeline: Any, collection: Collection[R], key: Key, record: R, age: float | None, now: float
) -> None:
    """Add the commands that write a record's index entries to `pipeline`."""
    name = name_of(key)
    for index in _indices(collection, key, record):
        pipeline.zadd(index, {name: now})
        if age is not None:
            pipeline.zremrangebyscore(index, "-inf", now - age)
            pipeline.pexpire(index, _milliseconds(age))
    if collection.due is not None and (due := collection.due(record)) is not None:
        pipeline.zadd(_due(collection), {name: due})
    elif collection.due is not None:
        pipeline.zrem(_due(collection), name)


def queue_removal(pipeline: Any, collection: Collection[Any], key: Key) -> None:
    """Add the commands that remove a record to `pipeline`."""
    pipeline.delete(record_key(collection, key))
    if collection.due is not None:
        pipeline.zrem(_due(collection), name_of(key))


def _milliseconds(age: float) -> int:
    return max(1, round(age * 1000))


def _indices(collection: Collection[R], key: Key, record: R) -> list[str]:
    names = (
        [_of_person(collection, each) for each in collection.people_of(key, record)]
        if collection.by_person
        else []
    )
    thread = collection.thread_of(key, record) if collection.by_thread else None
    return names if thread is None else [*names, _of_thread(collection, thread)]


def _in_order(collection: Collection[R], entries: list[tuple[Key, R]]) -> list[R]:
    return [record for _, record in sorted(entries, key=lambda each: collection.order(*each))]


def _of_thread(collection: Collection[Any], thread: ThreadKey) -> str:
    return f"{PREFIX}of_thread:{collection.name}:{name_of(thread.parts)}"


def _of_person(collection: Collection[Any], person: KeptPerson) -> str:
    return f"{PREFIX}of_person:{collection.name}:{name_of(person)}"


def _due(collection: Collection[Any]) -> str:
    return f"{PREFIX}due:{collection.name}"
