"""Redis of format 1 is brought to format 2: nothing is lost, also if the process is killed meanwhile."""

from __future__ import annotations

import asyncio
import json
import time
from typing import Any

import pytest

from slack_bot.app import COLLECTIONS
from slack_bot.errors import StoreOutdated
from slack_bot.store.collection import Ages
from slack_bot.store.redis import RedisStore, open_redis
from slack_bot.store.redis_connection import connect
from slack_bot.store.redis_format import PREFIX
from slack_bot.store.stores import open_admin
from tests.redis_server import RedisServer

from . import subjects
from .recorded import FORMATS, check_all, write_redis

MOVED = 10
"""Keys of the recording that become records."""


class Killed(Exception):
    """The process ends here."""


async def begin(url: str) -> RedisStore:
    return await open_redis(url, Ages(), patience=60.0, collections=COLLECTIONS)


@pytest.fixture
async def client(redis_server: RedisServer) -> Any:
    opened = connect(redis_server.url)
    await write_redis(opened)
    yield opened
    await opened.aclose()


async def test_all_of_the_format_before_is_there_and_nothing_of_it_is_left(
    client: Any, redis_server: RedisServer
) -> None:
    store = await begin(redis_server.url)
    await check_all(store)
    await store.close()
    left = {str(name).removeprefix(PREFIX).partition(":")[0] for name in await client.keys("*")}
    old = {"conversation", "thread_state", "form", "forms", "forms_of", "feedback", "feedback_due", "profile"}
    old |= {"outbound", "outbound_unsent", "outbound_ended", "overheard", "migrating"}
    assert not left & old
    assert await client.get(f"{PREFIX}version") == "2"


async def test_what_is_moved_lives_as_long_as_it_would_have(client: Any, redis_server: RedisServer) -> None:
    (form,) = await client.keys("*:form:h1")
    await client.expire(form, 100)
    await (await begin(redis_server.url)).close()
    ages = {}
    for name in await client.keys("*record:*"):
        left = await client.ttl(name)
        ages.setdefault(str(name).split(":")[2], set()).add(left if left < 0 else round(left / 3600))
    assert ages == {
        "forms": {0, 7 * 24},
        "outbound": {-1, 7 * 24},
        "conversations": {30 * 24},
        "threads": {30 * 24},
        "feedback": {90 * 24},
        "overheard": {24},
        "profiles": {-1},
    }


@pytest.mark.parametrize("steps", range(MOVED + 1))
async def test_a_process_that_is_killed_leaves_the_rest_to_the_next_one(
    steps: int, client: Any, redis_server: RedisServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole, left = RedisStore.transact, iter(range(steps))

    async def transact(self: RedisStore, *given: Any) -> Any:
        if next(left, None) is None:
            raise Killed
        return await whole(self, *given)

    with monkeypatch.context() as patch:
        patch.setattr(RedisStore, "transact", transact)
        if steps < MOVED:
            with pytest.raises(Killed):
                await begin(redis_server.url)
        else:
            await (await begin(redis_server.url)).close()
    store = await begin(redis_server.url)
    await check_all(store)
    await store.close()


async def test_several_processes_at_once_do_not_disturb_each_other(
    client: Any, redis_server: RedisServer
) -> None:
    stores = await asyncio.gather(*(begin(redis_server.url) for _ in range(4)))
    await check_all(stores[0])
    for each in stores:
        await each.close()


async def test_an_operator_s_verb_waits_for_the_bot(client: Any, redis_server: RedisServer) -> None:
    with pytest.raises(StoreOutdated, match=r"format 1, this one writes 2\); start the bot once"):
        async with open_admin(subjects.options(redis_server.url)):
            pass
    await client.set(f"{PREFIX}version", 2)
    await client.set(f"{PREFIX}migrating", 1)
    with pytest.raises(StoreOutdated):
        async with open_admin(subjects.options(redis_server.url)):
            pass


async def test_a_replica_of_the_format_before_is_waited_for_and_does_not_come_back(
    client: Any, redis_server: RedisServer, caplog: pytest.LogCaptureFixture
) -> None:
    """The older one is its own script, as it was released."""
    script = client.register_script((FORMATS / "turns_1.lua").read_text("utf-8"))

    async def older(action: str, **more: Any) -> Any:
        always = {"replica": "old", "lease": 3000, "calm": 0, "version": 1}
        return await script(keys=[PREFIX], args=[action, json.dumps({**more, **always})])

    assert await older("open") == 1
    claimed = await older("claim", key="T1:C1:2.0", let_go=0)
    (fence, _), thread = claimed, '["T1", "C1", "111.222"]'
    opening = asyncio.create_task(open_redis(redis_server.url, Ages(), 3.0, 60.0, collections=COLLECTIONS))
    end = time.monotonic() + 60
    while "replicas of an older version (format 1)" not in caplog.text:
        assert time.monotonic() < end
        assert await older("renew", held=[{"thread": thread, "fence": fence}]) == [0]
        await asyncio.sleep(0.05)
    assert await client.keys("*:form:h1"), "nothing is moved under it"
    newer = await asyncio.wait_for(opening, 60)
    await check_all(newer)
    assert await older("open") == 2, "what it refuses"
    await newer.close()
