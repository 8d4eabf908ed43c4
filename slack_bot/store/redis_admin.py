"""The store in Redis for an operator.

A person's data is found by reading all turns and records. An index would cost work at each change, for a
question that is rarely asked.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from ..errors import StoreError, StoreMissing, StoreOutdated
from ..observe.outage import Outage
from ..turn.progress import TurnRecord
from ..turn.record import ThreadKey
from .adapters import TURN, write
from .collection import Collection, Key, R
from .contracts import Count, Store, StoreAdmin, StoreSummary
from .personal import counts_of
from .redis import VERSION, RedisStore, open_redis, refuse_newer
from .redis_collections import queue_removal, record_key, record_of
from .redis_connection import connect
from .redis_format import PREFIX, name_of, signal_of, without_password
from .redis_migration import MIGRATING
from .stores import Calls, JoinedStore, StoreOptions

_UNFINISHED = f"{PREFIX}unfinished"
_AT_ONCE = 500  # keys in one round trip
_ERASED_AT_ONCE = 50  # turns in one step, while which Redis does nothing else


class RedisAdmin(RedisStore, StoreAdmin):
    """A store in Redis that must exist already. Use `open_admin`."""

    async def open(self) -> None:
        async with self._calling():
            version = await self._redis.get(f"{PREFIX}version")
            is_older = await self._redis.exists(MIGRATING)
        if version is None:
            raise StoreMissing(
                f"There is no store at {self._address}; name the bot's Redis and its database in"
                " SLACK_BOT_STORE__URL, or start the bot, which begins one."
            )
        refuse_newer(int(version), self._address)
        if int(version) < VERSION or is_older:
            raise StoreOutdated(
                f"The store {self._address} was written by an older version of the bot (format {version},"
                f" this one writes {VERSION}); start the bot once, which brings it up to date."
            )

    async def close(self) -> None:
        """Close the connection. This is no replica, so it has no leases to give up."""
        await self._redis.aclose()

    async def summary(self) -> StoreSummary:
        turns: list[tuple[str, float]] = []
        async for _, (data, at) in self._of_each("HMGET", await self._turn_keys(), "data", "accepted_at"):
            if at is not None:  # it was removed meanwhile
                stage = "keys only" if data is None else TURN.validate_json(data).stage
                turns.append((f"turns: {stage}", float(at)))
        lengths = self._of_each("LLEN", await self.names(f"{PREFIX}events:*"))
        events = Count("events", sum([length async for _, length in lengths]))
        counts = (*_counted(turns), events, *await counts_of(self))
        return StoreSummary(self._address, VERSION, None, counts, tuple(await self.unfinished()))

    async def keys(self) -> list[str]:
        return [name.removeprefix(f"{PREFIX}turn:") for name in await self._turn_keys()]

    async def _turn_keys(self) -> list[str]:
        async with self._calling():
            keys = [
                key
                for kind in (f"{PREFIX}ended", _UNFINISHED)
                for key in await self._redis.zrange(kind, 0, -1)
            ]
        return [f"{PREFIX}turn:{key}" for key in keys]

    async def count(self, collection: Collection[R]) -> Count:
        return Count(collection.name, len(await self.record_names(collection)))

    async def turns_of(self, user: str, team: str | None) -> list[TurnRecord]:
        keys = []
        async for _, data in self._of_each("HGET", await self._turn_keys(), "data"):
            if data is not None and _is_of(turn := TURN.validate_json(data), user, team):
                keys.append(turn.key)
        return sorted(await self._turns(keys), key=lambda turn: turn.accepted_at)

    async def erase_turns(self, user: str, team: str | None) -> tuple[int, list[str]]:
        turns, running = await self.turns_of(user, team), list[str]()
        for some in _batches([turn.key for turn in turns], _ERASED_AT_ONCE):
            running += await self._run("erase", turns=some, dedupe_age=self._ages.dedupe)
        return len(turns) - len(running), running

    async def erase_record(self, collection: Collection[R], key: Key, user: str) -> list[str] | None:
        """Erase a person from a record, unless a turn runs in its thread: that turn would write it again."""
        name = record_key(collection, key)

        async def erase(pipeline: Any) -> list[str] | None:
            record = record_of(collection, await pipeline.get(name))
            if record is None:
                return None
            thread = collection.thread_of_turns(key, record)
            if thread is not None:
                await pipeline.watch(_thread_key(thread))
            if running := await _running_in(pipeline, thread) if thread is not None else []:
                return running
            remainder = collection.without(record, user)
            if remainder == record:
                return list(key)
            pipeline.multi()
            if remainder is None:
                queue_removal(pipeline, collection, key)
            else:
                pipeline.set(name, write(collection, remainder), keepttl=True)
            return None

        return await self.transact(erase, name)

    async def finish_erasure(self, user: str, team: str | None) -> None:
        """Delete the person's signals, which stay in an inbox if no turn runs in their thread."""
        for inbox in await self.names(f"{PREFIX}inbox:*"):
            async with self._calling():
                entries = await self._redis.xrange(inbox)
                for entry, fields in entries:
                    signal = signal_of(fields["signal"])
                    is_theirs = signal.values.get("user") == user and team in (None, signal.thread.team)
                    if is_theirs and not await _running_in(self._redis, signal.thread):
                        await self._redis.xdel(inbox, entry)

    async def backup(self, target: Path, *, overwrite: bool) -> None:
        raise StoreError(
            f"The store {self._address} is copied by Redis' own means (BGSAVE, or its append-only file); this"
            " verb copies sqlite:///file.sqlite only."
        )

    async def _of_each(
        self, command: str, keys: Sequence[str], *words: str
    ) -> AsyncIterator[tuple[str, Any]]:
        """Each key with the result of `command` for it."""
        for batch in _batches(keys, _AT_ONCE):
            async with self._calling(), self._redis.pipeline(transaction=False) as pipeline:
                for key in batch:
                    pipeline.execute_command(command, key, *words)
                answers = await pipeline.execute()
            for each in zip(batch, answers, strict=True):
                yield each


def _batches(keys: Sequence[str], size: int) -> Iterator[Sequence[str]]:
    return (keys[at : at + size] for at in range(0, len(keys), size))


async def _running_in(redis: Any, thread: ThreadKey) -> list[str]:
    """The keys of a thread's turns that have not ended."""
    keys = list(await redis.smembers(_thread_key(thread)))
    places = await redis.zmscore(_UNFINISHED, keys) if keys else []
    return [key for key, place in zip(keys, places, strict=True) if place is not None]


def _thread_key(thread: ThreadKey) -> str:
    return f"{PREFIX}thread:{name_of(thread)}"


def _is_of(turn: TurnRecord, user: str, team: str | None) -> bool:
    return turn.question.user == user and team in (None, turn.question.thread.team)


def _counted(entries: list[tuple[str, float]]) -> list[Count]:
    """Count the records of each kind. `found`: kind and time of each record."""
    times: Mapping[str, list[float]] = {kind: [] for kind, _ in sorted(entries)}
    for kind, at in entries:
        times[kind].append(at)
    return [Count(kind, len(each), min(each), max(each)) for kind, each in times.items()]


class RedisOpener:
    """Opens stores in Redis."""

    def place(self, url: str) -> str:
        return without_password(url)

    async def open(self, options: StoreOptions, calls: Calls) -> Store:
        return await self._opened(options, calls)

    async def join(self, options: StoreOptions) -> JoinedStore:
        store = await self._opened(options, None)
        return JoinedStore(store, False, store.has_replicas)

    async def _opened(self, options: StoreOptions, calls: Calls | None) -> RedisStore:
        how = options.ages, options.lease, options.patience, calls
        return await open_redis(options.url, *how, collections=options.collections)

    def admin(self, options: StoreOptions) -> RedisAdmin:
        return RedisAdmin(
            connect(options.url),
            options.url,
            options.ages,
            options.collections,
            lease=0.0,
            patience=options.patience,
            outage=Outage(),
        )

    async def is_held(self, url: str) -> bool:
        return False


OPENER = RedisOpener()
