"""Format 1 of Redis becomes format 2: what had ways of its own beside the turns becomes records.

Each key is moved in one step, and `migrating` stands there until all are: a process that is killed leaves the
rest to the next one, and two at once do not disturb each other.
"""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Awaitable, Callable, Iterator, Mapping
from typing import Any, TypeAlias

from .adapters import read as read_record
from .adapters import write
from .collection import Collection, Key
from .redis_collections import RedisCollections, queue_indices, queue_record, record_key
from .redis_format import PREFIX

_log = logging.getLogger(__name__)

MIGRATING = f"{PREFIX}migrating"
"""The older format, as long as something of it is left."""
_Records: TypeAlias = Iterator[tuple[Key, str]]
"""Keys of records, and their JSON."""
_AT_ONCE, _TOLD = 50, 10_000
_LEFT_OVER = (
    "forms:*",
    "forms_of:*",
    "feedback_due",
    "outbound_unsent",
    "outbound_ended",
    "outbound_lease:*",
)
"""What found records in format 1."""


def _conversation(name: str, stored: str) -> _Records:
    context_id, waits, *heard = json.loads(stored)
    known = {"context_id": context_id, "waits": waits, "heard": heard[0] if heard else []}
    yield tuple(json.loads(name)), json.dumps(known)


def _thread(name: str, stored: str) -> _Records:
    yield tuple(json.loads(name)), stored


def _named(name: str, stored: str) -> _Records:
    yield (name,), stored


def _profile(name: str, stored: Mapping[str, str]) -> _Records:
    yield (name,), json.dumps(stored)


def _feedback(name: str, stored: Mapping[str, str]) -> _Records:
    for user, said in stored.items():
        if said.startswith("["):  # the oldest wrote the value and its time alone
            value, at = json.loads(said)
            said = json.dumps({"turn": name, "user": user, "value": value, "at": at})
        yield (name, user), said


def _overheard(name: str, stored: list[str]) -> _Records:
    for said in stored:
        yield (*json.loads(name), json.loads(said)["ts"]), said


def _get(redis: Any, name: str) -> Awaitable[Any]:
    return redis.get(name)  # type: ignore[no-any-return]


def _table(redis: Any, name: str) -> Awaitable[Any]:
    return redis.hgetall(name)  # type: ignore[no-any-return]


def _list(redis: Any, name: str) -> Awaitable[Any]:
    return redis.zrange(name, 0, -1)  # type: ignore[no-any-return]


_Kind: TypeAlias = tuple[str, Callable[[Any, str], Awaitable[Any]], Callable[[str, Any], _Records]]
_KINDS: Mapping[str, _Kind] = {
    "conversation": ("conversations", _get, _conversation),
    "thread_state": ("threads", _get, _thread),
    "form": ("forms", _get, _named),
    "outbound": ("outbound", _get, _named),
    "profile": ("profiles", _table, _profile),
    "feedback": ("feedback", _table, _feedback),
    "overheard": ("overheard", _list, _overheard),
}
"""Kinds of keys in format 1: the collection, how they are read, and the records in them."""


async def migrate(store: RedisCollections, now: float) -> None:
    """Move all that is left of format 1. Raises StoreError."""
    number = 0
    for old, (name, read, records) in _KINDS.items():
        collection = next((each for each in store.collections if each.name == name), None)
        if collection is None:  # its feature was taken out
            continue
        start = f"{PREFIX}{old}:"
        keys = await store.names(f"{start}*")
        for at in range(0, len(keys), _AT_ONCE):
            moving = (
                store.transact(_moving(store, collection, key, (start, read, records), now), key)
                for key in keys[at : at + _AT_ONCE]
            )
            for result in await asyncio.gather(*moving, return_exceptions=True):
                if result is not None:
                    raise result
            number += len(keys[at : at + _AT_ONCE])
            if at // _TOLD != (at + _AT_ONCE) // _TOLD:
                _log.info("the store is brought to its new format: %d keys moved so far", number)
    for pattern in _LEFT_OVER:
        await store.delete(*await store.names(f"{PREFIX}{pattern}"))
    await store.delete(MIGRATING)
    _log.info("the store was brought to its new format: %d keys moved", number)


def _moving(
    store: RedisCollections, collection: Collection[Any], key: str, old: tuple[str, Any, Any], now: float
) -> Callable[[Any], Awaitable[None]]:
    """What moves one key, in a transaction that watches it. Its records live as long as it would have."""
    start, read, records = old

    async def move(pipeline: Any) -> None:
        stored, left = await read(pipeline, key), await pipeline.pttl(key)
        pipeline.multi()
        for named, text in records(key.removeprefix(start), stored) if stored else ():
            record, age = read_record(collection, text), store.age_of(collection)
            if left > 0 or age is None:
                pipeline.set(
                    record_key(collection, named), write(collection, record), px=max(left, 0) or None
                )
                queue_indices(pipeline, collection, named, record, age, now)
            else:
                queue_record(pipeline, collection, named, record, age, now)
        pipeline.delete(key)

    return move
