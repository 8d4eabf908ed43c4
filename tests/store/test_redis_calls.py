"""One call of Redis, and one change that is whole."""

from __future__ import annotations

from typing import Any

import pytest

from slack_bot.errors import StoreAway
from slack_bot.observe.outage import Outage
from slack_bot.store.redis_calls import RedisCalls
from slack_bot.store.redis_connection import connect
from tests.redis_server import RedisServer


async def test_a_change_is_made_again_where_another_one_came_between(redis_server: RedisServer) -> None:
    redis, seen = connect(redis_server.url), list[str | None]()

    async def add(pipeline: Any) -> str:
        seen.append(before := await pipeline.get("words"))
        if len(seen) == 1:
            await redis.set("words", "theirs")
        pipeline.multi()
        pipeline.set("words", f"{before} ours")
        return f"after {before}"

    async with redis:
        calls = RedisCalls(redis, redis_server.url, 60.0, Outage())
        assert await calls.transact(add, "words") == "after theirs"
        assert await redis.get("words") == "theirs ours"
    assert seen == [None, "theirs"]


async def test_who_cannot_be_reached_is_named_without_a_password(redis_server: RedisServer) -> None:
    redis_server.kill()
    url = redis_server.url.replace("redis://", "redis://:secret-word@")
    async with connect(url) as redis:
        calls = RedisCalls(redis, url, 60.0, Outage())
        with pytest.raises(StoreAway, match=f"redis://127.0.0.1:{redis_server.port}") as error:
            await calls.call(calls.script("return 1"), [], [])
    assert "secret-word" not in str(error.value)
