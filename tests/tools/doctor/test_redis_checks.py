"""How a Redis is set up, and what the bot may do there."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.redis_proxy import redis_proxy
from tests.redis_sentinels import running_sentinels
from tests.redis_server import RedisServer

from .operator import FAILED, UNKNOWN, WARNING, bad, environment, one, well

__all__ = ["environment"]


async def test_13_a_redis_that_forgets(environment: dict[str, str], redis_server: RedisServer) -> None:
    async with well(environment) as setup:
        environment["SLACK_BOT_STORE__URL"] = redis_server.url
        assert bad(await setup.look()) == []
        redis_server.tell("CONFIG", "SET", "appendfsync", "everysec")
        found = await one(setup, WARNING)
        assert "questions accepted in the second before" in found.text
        assert found.remedy == "set appendfsync always in Redis"
        redis_server.tell("CONFIG", "SET", "maxmemory-policy", "allkeys-lru")
        redis_server.tell("CONFIG", "SET", "appendonly", "no")
        forgets, late = bad(await setup.look())
        assert forgets.state is FAILED and "maxmemory-policy allkeys-lru" in forgets.text
        assert "disk" in late.text and "appendonly" in late.remedy


async def test_14_a_redis_that_is_far_away(environment: dict[str, str], redis_server: RedisServer) -> None:
    async with redis_proxy(redis_server.port) as proxy, well(environment) as setup:
        environment["SLACK_BOT_STORE__URL"] = proxy.url
        proxy.slowness = (0.06, 0.06)
        found = bad(await setup.look())
        assert any(
            each.text.startswith("Redis took") and each.remedy == "run it near the bot" for each in found
        )


@pytest.mark.parametrize(
    ("rights", "state", "text"),
    [
        ("+@all -info -config", UNKNOWN, "Redis does not tell all of its configuration to the bot's user"),
        ("+@all -time", FAILED, "its user may not run TIME"),
        ("+@all -info -config -xclaim", FAILED, "its user may not run XCLAIM"),
    ],
)
async def test_what_the_bot_may_not_do_is_found_and_what_it_can_do_without_is_no_mistake(
    environment: dict[str, str], redis_server: RedisServer, rights: str, state: str, text: str
) -> None:
    redis_server.tell("ACL", "SETUSER", "bot", "on", ">abc", "~{slack_bot}:*", *rights.split())
    async with well(environment) as setup:
        environment["SLACK_BOT_STORE__URL"] = redis_server.at(login="bot:abc@")
        (found,) = bad(await setup.look())
        assert (found.check, found.state) == ("store", state) and text in found.text
        assert ("appendfsync always" if state == UNKNOWN else "give it ~{slack_bot}:*") in found.remedy


async def test_a_replica_cannot_be_run_on(environment: dict[str, str], redis_server: RedisServer) -> None:
    redis_server.tell("REPLICAOF", "127.0.0.1", "1")
    async with well(environment) as setup:
        environment["SLACK_BOT_STORE__URL"] = redis_server.url
        found = await one(setup)
        assert "it is a replica, which nobody may write to" in found.text
        assert found.remedy == "name the primary's address"


@pytest.mark.slow
async def test_what_sentinels_need_for_a_failover(environment: dict[str, str], tmp_path: Path) -> None:
    with running_sentinels(tmp_path / "redis", replicas=1) as redis:
        primary, replica = redis.servers
        async with well(environment) as setup:
            environment["SLACK_BOT_STORE__URL"] = redis.url
            found = await one(setup, WARNING)
            assert "min-replicas-to-write 0" in found.text and "cut off from its replicas" in found.text
            primary.tell("CONFIG", "SET", "min-replicas-to-write", "1")
            assert bad(await setup.look()) == []
            silent = redis.sentinels[2]
            silent.kill()
            found = await one(setup, WARNING)
            assert found.text == f"these Sentinels do not answer: 127.0.0.1:{silent.port}"
            replica.kill()
            primary.kill()
            found = await one(setup)
            assert "nothing takes connections there" in found.text or "as down" in found.text
            for sentinel in redis.sentinels[:2]:
                sentinel.kill()
            found = await one(setup)
            assert "none of its Sentinels answers" in found.text
