"""Turns format 1 of the store in Redis into format 2, in which everything but turns is a record of a
collection.

Each key is moved in one transaction. The key `migrating` exists until all are moved. So a process that is
killed leaves the rest to the next one, and two processes may move keys at the same time.
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
"""The key that holds the older format's version, as long as keys of that format may be left."""
_Records: TypeAlias = Iterator[tuple[Key, str]]
"""The keys of records, each with its JSON."""
_AT_ONCE, _TOLD = 50, 10_000
_LEFT_OVER = (
    "forms:*",
    "forms_of:*",
    "feedback_due",
    "outbound_unsent",
    "outbound_ended",
    "outbound_lease:*",
)
"""Indices of format 1, which are deleted at the end."""


def _conversation(name: str, text: str) -> _Records:
    context_id, waits, *heard = json.loads(text)
    context = {"context_id": context_id, "waits": waits, "heard": heard[0] if heard else []}
    yield tuple(json.loads(name)), json.dumps(context)


def _thread(name: str, text: str) -> _Records:
    yield tuple(json.loads(name)), text


def _named(name: str, text: str) -> _Records:
    yield (name,), text


def _profile(name: str, fields: Mapping[str, str]) -> _Records:
    yield (name,), json.dumps(fields)


def _feedback(name: str, fields: Mapping[str, str]) -> _Records:
    for user, text in fields.items():
        if text.startswith("["):  # the oldest wrote the value and its time alone
            value, at = json.loads(text)
            text = json.dumps({"turn": name, "user": user, "value": value, "at": at})
        yield (name, user), text


def _overheard(name: str, texts: list[str]) -> _Records:
    for text in texts:
        yield (*json.loads(name), json.loads(text)["ts"]), text


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
"""For each kind of key in format 1: its collection, how to read a key, and how to get records from its
value.
"""


async def migrate(store: RedisCollections, now: float) -> None:
    """Move all keys of format 1 to format 2. Raises StoreError."""
    number = 0
    for kind, (name, read, records) in _KINDS.items():
        collection = next((each for each in store.collections if each.name == name), None)
        if collection is None:  # its feature was taken out
            continue
        prefix = f"{PREFIX}{kind}:"
        keys = await store.names(f"{prefix}*")
        for start_index in range(0, len(keys), _AT_ONCE):
            moving = (
                store.transact(_moving(store, collection, key, (prefix, read, records), now), key)
                for key in keys[start_index : start_index + _AT_ONCE]
            )
            for result in await asyncio.gather(*moving, return_exceptions=True):
                if result is not None:
                    raise result
            number += len(keys[start_index : start_index + _AT_ONCE])
            if start_index // _TOLD != (start_index + _AT_ONCE) // _TOLD:
                _log.info("the store is brought to its new format: %d keys moved so far", number)
    for pattern in _LEFT_OVER:
        await store.delete(*await store.names(f"{PREFIX}{pattern}"))
    await store.delete(MIGRATING)
    _log.info("the store was brought to its new format: %d keys moved", number)


def _moving(
    store: RedisCollections, collection: Collection[Any], key: str, reading: tuple[str, Any, Any], now: float
) -> Callable[[Any], Awaitable[None]]:
    """A function that moves one key, for a transaction that watches it.

    The records expire when the key would have.
    """
    prefix, read, records = reading

    async def move(pipeline: Any) -> None:
        stored, milliseconds = await read(pipeline, key), await pipeline.pttl(key)
        pipeline.multi()
        for parts, text in records(key.removeprefix(prefix), stored) if stored else ():
            record, age = read_record(collection, text), store.age_of(collection)
            if milliseconds > 0 or age is None:
                pipeline.set(
                    record_key(collection, parts),
                    write(collection, record),
                    px=max(milliseconds, 0) or None,
                )
                queue_indices(pipeline, collection, parts, record, age, now)
            else:
                queue_record(pipeline, collection, parts, record, age, now)
        pipeline.delete(key)

    return move
