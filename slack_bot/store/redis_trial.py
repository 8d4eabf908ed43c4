"""Tries every command that the bot uses in a Redis, on keys of its own, and removes these.

Whether Redis lets a user (ACL) run a command shows only when it is run. So each command is sent once, and
then each action of the script.
"""

from __future__ import annotations

import json
import uuid
from collections.abc import AsyncIterator, Awaitable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any, TypeVar

from redis.exceptions import NoPermissionError, ResponseError

from ..clock import Clock
from ..errors import StoreError
from ..observe.outage import Outage
from .redis import CUT_OFF, RISKS, VERSION, turns_source
from .redis_calls import RedisCalls
from .redis_connection import connect
from .redis_errors import forbidden
from .redis_format import PREFIX
from .redis_sentinel import SentinelFacts

_T = TypeVar("_T")
_Command = tuple[object, ...]
_KEPT = 60  # seconds until a key is gone that could not be deleted
_KINDS = ("string", "number", "hash", "set", "sorted", "list", "stream")
_OF_A_TURN = (
    *("version", "alive", "queue", "accepted", "unfinished", "ended", "threads", "latest", "push", "left"),
    *("turn:one", "events:one", "thread:here", "lease:here", "fence:here", "inbox:trial"),
)
"""The keys that `turns.lua` writes for the turn `one` in the thread `here` of the replica `trial`."""


@dataclass(frozen=True, slots=True)
class RedisFacts:
    """What Redis says of itself. `seconds`: how long one call took.

    `configuration`: settings by their names in redis.conf, as far as the user may read them, and
    `rdb_last_bgsave_status`. `sentinels`: what those say that name the primary, if there are any.
    """

    seconds: float
    configuration: Mapping[str, str]
    sentinels: SentinelFacts | None = None


class RedisTrial(RedisCalls):
    """A client that tries Redis and is no replica. Use `redis_trial`."""

    async def facts(self, clock: Clock) -> RedisFacts:
        """Read the facts. Raises StoreError if Redis cannot be reached or is a node of a cluster."""
        await self.refuse_cluster()  # connects
        began = clock.monotonic()
        await self.refuse_cluster()
        seconds = clock.monotonic() - began
        sentinels = None if self._sentinels is None else await self._sentinels.facts()
        return RedisFacts(seconds, await self._configuration(), sentinels)

    async def _configuration(self) -> dict[str, str]:
        info = await self._if_allowed(self._redis.info())
        settings = {}
        if "aof_enabled" in info:
            settings["appendonly"] = "yes" if info["aof_enabled"] else "no"
        if "maxmemory_policy" in info:
            settings["maxmemory-policy"] = str(info["maxmemory_policy"])
        if "rdb_last_bgsave_status" in info:
            settings["rdb_last_bgsave_status"] = str(info["rdb_last_bgsave_status"])
        return settings | await self._if_allowed(self._redis.config_get(*RISKS, CUT_OFF[0]))

    async def _if_allowed(self, reply: Awaitable[Mapping[str, Any]]) -> dict[str, Any]:
        """Await `work`; {} if Redis refuses it.

        Hosted ones forbid CONFIG, and a user may lack the right to INFO.
        """
        try:
            return dict(await self.attempt(reply))
        except StoreError as error:
            if not isinstance(error.__cause__, ResponseError):
                raise
            return {}

    async def attempt(self, reply: Awaitable[_T]) -> _T:
        """Await `work` as one call. Raises StoreError."""
        async with self._calling():
            return await reply

    async def try_everything(self) -> None:
        """Run all commands and the whole script.

        Raises StoreError, which names all rights that the user lacks.
        """
        prefix = f"{trial_prefix()}:"
        try:
            await self._try_commands(prefix)
            await self._try_turn(prefix)
        finally:
            names = [f"{prefix}{name}" for name in (*_KINDS, *_OF_A_TURN)]
            await self._if_allowed(self._delete(names))

    async def _delete(self, keys: Sequence[str]) -> Mapping[str, Any]:
        return {"deleted": await self._redis.delete(*keys)}

    async def _try_commands(self, prefix: str) -> None:
        async with self._calling(), self._redis.pipeline(transaction=False) as pipeline:
            for command in (*_commands(prefix), ("SCRIPT", "LOAD", turns_source())):
                pipeline.execute_command(*command)
            answers = await pipeline.execute(raise_on_error=False)
        errors = [each for each in answers if isinstance(each, Exception)]
        refusals = [str(each) for each in errors if isinstance(each, NoPermissionError)]
        if errors and isinstance(errors[0], NoPermissionError):  # others may only follow from it
            raise self._unusable(*forbidden(refusals)) from errors[0]
        if errors:
            await self.attempt(_raise(errors[0]))

        async def change(pipeline: Any) -> None:
            await pipeline.get(f"{prefix}string")
            pipeline.multi()
            pipeline.set(f"{prefix}string", "", ex=_KEPT)

        await self.transact(change, f"{prefix}string")

    async def _try_turn(self, prefix: str) -> None:
        """Run the life of a turn, from its acceptance to its removal."""
        script = self.script(turns_source())
        lease, one, here = 10_000, {"key": "one"}, {"thread": "here"}
        always = {"replica": "trial", "lease": lease, "calm": 0, "version": VERSION}
        record = {"data": "{}", "ts": "1.0", "push": "trial", "fence": 1, "unchanged": 0, "messages": ["{}"]}
        accepted = {**one, **here, "asked_ts": "1.0", "accepted_at": 1.0, "data": "{}", "dedupe_age": 1.0}
        steps: tuple[tuple[str, Mapping[str, object]], ...] = (
            ("open", {}),
            ("accept", accepted),
            ("claim", {**one, "let_go": 0}),
            ("save", {"changes": [{**one, **record, "remove_at": 0}]}),
            ("save_events", {"events": [{"turn": "one", "data": "{}"}]}),
            ("messages_in", here),
            ("missing", {"keys": ["one"]}),
            ("write_again", {"changes": [{**accepted, **record, "fence": 1, "number": 1, "remove_at": 0}]}),
            ("renew", {"held": [{**here, "fence": 1}]}),
            ("left", {}),
            ("signal", {**here, "kind": "trial", "values": {}}),
            ("let_go", {**here, "fence": 1, "ends": True}),
            ("leave", {}),
            ("save", {"changes": [{**one, **record, "remove_at": 2.0}]}),
            ("remove_old", {"now": 3.0, "threads_before": 3.0, "replica_age": 0}),
        )
        for action, arguments in steps:
            await self.call(script, [prefix], [action, json.dumps({**arguments, **always})])


def trial_prefix() -> str:
    """A prefix of keys for this trial only, inside the keys that the bot's user may use."""
    return f"{PREFIX}doctor:{uuid.uuid4().hex}"


@asynccontextmanager
async def redis_trial(url: str, patience: float) -> AsyncIterator[RedisTrial]:
    """A client for a trial.

    `patience`: seconds for each step. Raises SettingsError if the address cannot be read.
    """
    redis = connect(url)
    try:
        yield RedisTrial(redis, url, patience, Outage())
    finally:
        await redis.aclose()


async def _raise(error: Exception) -> None:
    raise error


def _commands(prefix: str) -> Iterator[_Command]:
    """Every command of the bot, except those of transactions and of the connection."""
    string, number, table, group, ranked, items, stream = (f"{prefix}{kind}" for kind in _KINDS)
    yield from (("TIME",), ("SCAN", 0, "MATCH", string, "COUNT", 1), ("EXISTS", string))
    yield from (("SET", string, "", "EX", _KEPT), ("GET", string))
    yield from (("MGET", string), ("INCR", number), ("PTTL", string))
    yield from (("EXPIRE", number, _KEPT), ("PEXPIRE", number, 1000 * _KEPT))
    yield from (("HSET", table, "a", "1", "b", "2"), ("HGET", table, "a"), ("HMGET", table, "a", "b"))
    yield from (("HGETALL", table), ("HEXISTS", table, "a"), ("HLEN", table), ("HDEL", table, "b"))
    yield from (("SADD", group, "a", "b"), ("SMEMBERS", group), ("SUNION", group), ("SREM", group, "b"))
    yield from (("ZADD", ranked, 1, "a"), ("ZSCORE", ranked, "a"), ("ZMSCORE", ranked, "a"))
    yield from (("ZCARD", ranked), ("ZCOUNT", ranked, 0, 1), ("ZRANGE", ranked, 0, -1))
    yield from (("ZRANGEBYSCORE", ranked, 0, 1), ("ZREVRANGEBYSCORE", ranked, 1, 0), ("ZREM", ranked, "b"))
    yield from (("ZREMRANGEBYSCORE", ranked, 2, 3), ("ZREMRANGEBYRANK", ranked, 2, 3))
    yield from (("RPUSH", items, "a"), ("LLEN", items), ("LRANGE", items, 0, -1))
    yield from (("XGROUP", "CREATE", stream, "bots", "0", "MKSTREAM"), ("XADD", stream, "1-1", "a", "1"))
    yield from (("XREAD", "STREAMS", stream, "0"), ("XRANGE", stream, "-", "+"))
    yield ("XREADGROUP", "GROUP", "bots", "trial", "STREAMS", stream, ">")
    yield from (("XPENDING", stream, "bots"), ("XCLAIM", stream, "bots", "trial", 0, "1-1", "JUSTID"))
    yield from (("XACK", stream, "bots", "1-1"), ("XINFO", "CONSUMERS", stream, "bots"))
    yield from (("XGROUP", "DELCONSUMER", stream, "bots", "trial"), ("XDEL", stream, "1-1"))
    yield ("DEL", *(f"{prefix}{kind}" for kind in _KINDS))
