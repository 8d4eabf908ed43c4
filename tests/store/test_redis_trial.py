"""Whether Redis lets the bot do all that it does shows before it has to."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from slack_bot.clock import Clock, system_clock
from slack_bot.errors import StoreError
from slack_bot.store.collection import Ages
from slack_bot.store.contracts import Store
from slack_bot.store.redis import open_redis
from slack_bot.store.redis_connection import connect
from slack_bot.store.redis_errors import RIGHTS
from slack_bot.store.redis_trial import redis_trial
from tests.redis_proxy import redis_proxy
from tests.redis_server import RedisServer

from .contract import StoreContract, turn

ROOT = Path(__file__).parents[2]
BARE = RIGHTS.removesuffix(" +info +config|get")
PASSWORD = "xyz"


def with_user(server: RedisServer, *rights: str) -> str:
    """The address for a new user who has these rights."""
    server.tell("ACL", "SETUSER", "bot", "reset", "on", f">{PASSWORD}", *rights)
    return server.at(login=f"bot:{PASSWORD}@")


async def keys_of(url: str) -> set[str]:
    async with connect(url) as client:
        return set(await client.keys("*"))


async def commands_of(url: str) -> set[str]:
    """Those that it has run, by scripts too, in the words of ACL."""
    async with connect(url) as client:
        stats: dict[str, Any] = await client.info("commandstats")
    return {name.removeprefix("cmdstat_") for name in stats}


async def try_everything(url: str) -> None:
    async with redis_trial(url, 30.0) as trial:
        await trial.try_everything()


class TestRedisWithRights(StoreContract):
    """The contract by a user who has the rights of `docs/replicas.md`, and no other."""

    @pytest.fixture
    async def store(self, redis_server: RedisServer) -> AsyncIterator[Store]:
        store = await open_redis(with_user(redis_server, *RIGHTS.split()), Ages(), patience=60.0)
        yield store
        await store.close()


def test_the_rights_are_those_of_the_docs() -> None:
    assert f"ACL SETUSER slack-bot on >PASSWORD {RIGHTS}" in (ROOT / "docs/replicas.md").read_text("utf-8")


async def test_a_trial_leaves_nothing_and_disturbs_no_store(redis_server: RedisServer) -> None:
    await try_everything(redis_server.url)
    assert await keys_of(redis_server.url) == set()
    store = await open_redis(redis_server.url, Ages(), patience=30.0)
    question = turn("1.0", 1000.0)
    await store.accept(question)
    assert await store.claim(question)
    before = await keys_of(redis_server.url)
    await try_everything(redis_server.url)
    assert await keys_of(redis_server.url) == before
    assert await store.left() == [] and await store.renew() == frozenset()
    await store.close()


async def test_a_trial_runs_every_command_that_the_bot_runs(redis_server: RedisServer) -> None:
    """The bot's are read off its sources: words of the scripts, and methods of redis-py."""
    await try_everything(redis_server.url)
    tried = {name.partition("|")[0] for name in await commands_of(redis_server.url)}
    scripts = [*ROOT.glob("slack_bot/**/*.lua"), ROOT / "slack_bot/store/redis_hour.py"]
    words = {
        word.lower() for script in scripts for word in re.findall(r"call\('([A-Z]+)'", script.read_text())
    }
    called = {
        {"delete": "del"}.get(name, name)
        for module in ROOT.glob("slack_bot/store/redis*.py")
        for name in re.findall(r"(?:_redis|redis|pipeline)\.([a-z]+)\(", module.read_text())
    }
    admin = set(re.findall(r'"([A-Z]{3,})"', (ROOT / "slack_bot/store/redis_admin.py").read_text()))
    assert {"zadd", "xclaim", "time"} <= words and {"mget", "xread", "sunion"} <= called
    of_client = {"pipeline", "transaction", "call", "multi", "execute", "aclose"}
    told_apart = {"info"}  # what it says is asked for where it is allowed
    assert (words | called | {word.lower() for word in admin}) - of_client - told_apart - tried == set()


@pytest.mark.parametrize(
    ("rights", "lacking"),
    [
        (f"{BARE} -time", "its user may not run TIME)"),
        (f"{BARE} -xclaim -mget", "its user may not run MGET, XCLAIM)"),
        (f"{BARE} -script", "its user may not run SCRIPT LOAD)"),
        (f"{BARE} -evalsha", "its user may not run EVALSHA)"),
        (f"{BARE} -watch", "its user may not run WATCH)"),
        (BARE.replace("{slack_bot}", "bot"), "its user may not use the keys {slack_bot}:*)"),
        (f"%R{BARE}", "its user may not use the keys {slack_bot}:*)"),
    ],
)
async def test_each_right_that_is_missing_is_named_with_those_that_suffice(
    rights: str, lacking: str, redis_server: RedisServer
) -> None:
    url = with_user(redis_server, *rights.split())
    with pytest.raises(StoreError) as caught:
        await try_everything(url)
    assert lacking in str(caught.value)
    assert str(caught.value).endswith(f"; give it {RIGHTS}.")
    assert await keys_of(redis_server.url) == set()


async def test_who_may_not_see_the_configuration_may_run(redis_server: RedisServer) -> None:
    async with redis_trial(with_user(redis_server, *BARE.split()), 30.0) as trial:
        assert (await trial.facts(system_clock())).configuration == {}
        await trial.try_everything()
    async with redis_trial(with_user(redis_server, *RIGHTS.split()), 30.0) as trial:
        known = (await trial.facts(system_clock())).configuration
    assert (known["appendonly"], known["appendfsync"], known["maxmemory-policy"]) == (
        "yes", "always", "noeviction",
    )  # fmt: skip


async def test_that_redis_takes_long_is_said_of_an_answer_not_of_the_way_to_it(
    redis_server: RedisServer,
) -> None:
    connections: list[int] = []
    async with redis_proxy(redis_server.port) as proxy:

        def read_clock() -> float:
            connections.append(proxy.connections)
            return 2.0 * len(connections)

        async with redis_trial(proxy.url, 5.0) as trial:
            facts = await trial.facts(Clock(read_clock, read_clock))
    assert (connections, facts.seconds) == ([1, 1], 2.0)
