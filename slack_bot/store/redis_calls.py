"""Calls of Redis. Each has a time limit, and a failure becomes a StoreError that names the remedy."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from typing import Any, TypeVar

from redis.asyncio import Redis
from redis.exceptions import RedisError, ResponseError

from ..errors import StoreAway, StoreError, StoreFailover
from .redis_errors import IS_CLUSTER, explain, is_passing
from .redis_format import without_password
from .redis_sentinel import NoPrimary, sentinels_behind
from .stores import Calls

_CALLS = 50  # at once, each on a connection of its own: redis-py refuses the hundred and first
_T = TypeVar("_T")


class RedisCalls:
    """The base of all parts of a `RedisStore`: it runs commands and scripts.

    `patience` is the limit for one call in seconds. `outage` learns whether calls work.
    """

    def __init__(self, redis: Redis, url: str, patience: float, outage: Calls) -> None:
        self._redis: Any = redis  # its hints allow for bytes
        self._url = url
        self._address, self._patience, self._outage = without_password(url), patience, outage
        self._sentinels = sentinels_behind(redis)
        self._calls = asyncio.Semaphore(_CALLS)
        self._is_open = False

    def script(self, text: str) -> Any:
        """Register a Lua script. The result is the first argument of `call`."""
        return self._redis.register_script(text)

    async def call(self, script: Any, keys: Sequence[str], args: Sequence[object]) -> Any:
        """Run a script and return its result. Raises StoreError."""
        async with self._calling():
            return await script(keys=keys, args=args)

    async def transact(self, change: Callable[[Any], Awaitable[_T]], *keys: str) -> _T:
        """Run `change` with a pipeline that watches `keys`, and return its result.

        If one of the keys changes meanwhile, `change` is called again. Raises StoreError.
        """
        async with self._calling():
            result: _T = await self._redis.transaction(change, *keys, value_from_callable=True)
            return result

    async def primary(self) -> str:
        """The name of the server that is the primary now; "" if there is no other one. Never raises.

        To be called often: so this process hears of a failover even if the primary of before still answers.
        """
        if self._sentinels is None:
            return ""
        with suppress(NoPrimary, TimeoutError):
            async with asyncio.timeout(self._patience):
                await self._sentinels.look()
        return self._last_primary()

    def _last_primary(self) -> str:
        """What `primary` would say, without asking."""
        known = self._sentinels and self._sentinels.primary
        return known.name if known else ""

    async def refuse_cluster(self) -> None:
        """Raise StoreError if Redis is a node of a cluster, even if that node holds all keys today.

        It asks with HELLO, which every user may run.
        """
        try:
            async with self._calling():
                facts = await self._redis.execute_command("HELLO", 2)
        except StoreError as error:
            if not isinstance(error.__cause__, ResponseError):
                raise
            return  # a proxy that does not know it
        if dict(zip(facts[::2], facts[1::2], strict=False)).get("mode") == "cluster":
            raise self._unusable(*IS_CLUSTER)

    @asynccontextmanager
    async def _calling(self, more: float = 0.0) -> AsyncIterator[None]:
        """Limit a call and turn its errors into StoreError. `more`: seconds that Redis itself may wait."""
        try:
            async with asyncio.timeout(self._patience + more), self._calls:
                yield
        except (RedisError, OSError, ValueError, KeyError) as error:
            problem, remedy = explain(error, self._url, is_open=self._is_open)
            if not is_passing(error, self._url):
                raise self._unusable(problem, remedy) from error
            if self._is_open:
                self._outage.failed(problem)
            is_failover = isinstance(error, NoPrimary) and error.is_failover
            kind = StoreFailover if is_failover else StoreAway
            raise self._unusable(problem, remedy, kind) from error
        self._outage.passed()

    def _unusable(
        self, problem: str, remedy: str, kind: Callable[[str], StoreError] = StoreError
    ) -> StoreError:
        return kind(f"The store {self._address} (SLACK_BOT_STORE__URL) cannot be used ({problem}); {remedy}.")
