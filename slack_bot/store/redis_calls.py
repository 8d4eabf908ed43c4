"""Calls of Redis: each ends in time, and what fails is a StoreError that says the remedy."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from typing import Any, TypeVar

from redis.asyncio import Redis
from redis.exceptions import ConnectionError as RedisConnectionError
from redis.exceptions import RedisError
from redis.exceptions import TimeoutError as RedisTimeoutError

from ..errors import StoreAway, StoreError
from ..observe.outage import Outage
from .redis_format import without_password

_CALLS = 50  # at once, each on a connection of its own: redis-py refuses the hundred and first
_T = TypeVar("_T")


class RedisCalls:
    """What all parts of a `RedisStore` call with. `patience`: seconds for each command."""

    def __init__(self, redis: Redis, url: str, patience: float, outage: Outage) -> None:
        self._redis: Any = redis  # its hints allow for bytes
        self._address, self._patience, self._outage = without_password(url), patience, outage
        self._calls = asyncio.Semaphore(_CALLS)
        self._is_open = False

    def script(self, text: str) -> Any:
        """A script for `call`."""
        return self._redis.register_script(text)

    async def call(self, script: Any, keys: Sequence[str], args: Sequence[object]) -> Any:
        """Run a script. Raises StoreError."""
        async with self._calling():
            return await script(keys=keys, args=args)

    async def transact(self, change: Callable[[Any], Awaitable[_T]], *keys: str) -> _T:
        """What `change` gives, which gets a pipeline that watches `keys`; it is called again if one of them
        has changed meanwhile. Raises StoreError.
        """
        async with self._calling():
            given: _T = await self._redis.transaction(change, *keys, value_from_callable=True)
            return given

    @asynccontextmanager
    async def _calling(self, more: float = 0.0) -> AsyncIterator[None]:
        """`more` seconds are Redis' own."""
        try:
            async with asyncio.timeout(self._patience + more), self._calls:
                yield
        except (RedisError, OSError, ValueError, KeyError) as error:
            problem = str(error) or "no answer in time"
            is_away = isinstance(error, OSError | RedisConnectionError | RedisTimeoutError)
            if is_away and self._is_open:
                self._outage.failed(problem)
            raise (StoreAway if is_away else StoreError)(
                f"The store {self._address} (SLACK_BOT_STORE__URL) cannot be used ({problem.rstrip('.')});"
                " check the address, and whether Redis runs."
            ) from error
        self._outage.passed()
