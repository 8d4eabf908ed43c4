"""What an operator does with a store in Redis, while a bot works with it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest

from slack_bot.app import COLLECTIONS
from slack_bot.errors import StoreError
from slack_bot.store.collection import Ages
from slack_bot.store.contracts import Count, KeptEvent, Signal, Store, StoreAdmin
from slack_bot.store.knowledge import AgentContext
from slack_bot.store.redis import RedisStore, open_redis
from slack_bot.store.redis_connection import connect
from slack_bot.store.stores import open_admin
from slack_bot.threads.leases import KINDS
from slack_bot.turn.progress import Stage
from tests.redis_server import RedisServer

from . import subjects
from .contract import THREAD, AdminContract, erased, message, pressed, turn


@pytest.fixture
async def store(redis_server: RedisServer) -> AsyncIterator[Store]:
    bot = await open_redis(redis_server.url, Ages(), patience=60.0, collections=COLLECTIONS)
    yield bot
    await bot.close()


@pytest.fixture
async def people(store: Store, redis_server: RedisServer) -> AsyncIterator[StoreAdmin]:
    async with open_admin(subjects.options(redis_server.url)) as admin:
        yield admin


class TestRedisAdmin(AdminContract):
    pass


async def stored(redis_server: RedisServer) -> str:
    """All that Redis holds, as text."""
    client = connect(redis_server.url)
    found = []
    async for name in client.scan_iter():
        kind = await client.type(name)
        read = {
            "string": client.get,
            "hash": client.hgetall,
            "list": lambda name: client.lrange(name, 0, -1),
            "set": client.smembers,
            "zset": lambda name: client.zrange(name, 0, -1),
            "stream": client.xrange,
        }[kind]
        found.append(f"{name} {await read(name)}")
    await client.aclose()
    return "\n".join(found)


async def test_what_is_erased_is_in_no_key(
    store: Store, people: StoreAdmin, redis_server: RedisServer
) -> None:
    asked = replace(turn("1.0", 1.0, text="Geheimnis"), push_id="push", push_hash="hash")
    assert await store.accept(asked)
    assert await store.claim(asked)
    ended = replace(asked, stage=Stage.ENDED, ended_at=2.0, messages=(message("5.0", "Geheimnis"),))
    await store.save((ended, 0))
    await store.save_events(KeptEvent(asked.key, 1.5, '"Geheimnis"'))
    await subjects.save_conversation(store, "agent", THREAD, AgentContext("ctx", {"U1": "task"}), 1.0)
    await pressed(store, asked.key, "U1", "positive", 3.0)
    await store.let_go(THREAD)
    before = await stored(redis_server)
    assert before.count("Geheimnis") == 3
    assert '"U1"' in before
    await subjects.erase(people, "U1", None)
    after = await stored(redis_server)
    assert "Geheimnis" not in after
    assert "U1" not in after
    assert "turn:T1:C1:1.0 {'accepted_at': '1'}" in after


async def test_signals_of_the_person_are_erased_where_no_turn_runs(
    store: RedisStore, people: StoreAdmin, redis_server: RedisServer
) -> None:
    other = await open_redis(redis_server.url, Ages(), patience=60.0)
    for each in (turn("1.0", 1.0), turn("2.0", 1.0, thread="9.9")):
        assert await other.accept(each)
        assert await other.claim(each)
        for user in ("U1", "U2"):
            assert await store.signal(Signal(each.question.thread, "stop", {"user": user}))
    await other.save((replace(turn("1.0", 1.0), stage=Stage.ENDED, ended_at=2.0), 0))
    await subjects.erase(people, "U1", None)
    told = [(each.thread.ts, each.values["user"]) for each in await other.signals(KINDS)]
    assert told == [(THREAD.ts, "U2"), ("9.9", "U1"), ("9.9", "U2")]
    await other.close()


async def test_what_is_left_keeps_its_age(
    store: Store, people: StoreAdmin, redis_server: RedisServer
) -> None:
    await subjects.save_conversation(store, "agent", THREAD, AgentContext("ctx", {"U1": "task"}), 1.0)
    await subjects.erase(people, "U1", None)
    client = connect(redis_server.url)
    (name,) = [each async for each in client.scan_iter("*record:conversations:*")]
    assert await client.ttl(name) > 29 * 86_400
    await client.aclose()


async def test_more_than_one_round_of_keys(store: Store, people: StoreAdmin) -> None:
    async def answer(number: int) -> None:
        asked = turn(f"{number}.0", 1.0 + number, thread=f"{number}.0")
        assert await store.accept(asked)
        await store.save((replace(asked, stage=Stage.ENDED, ended_at=2.0 + number), 0))
        await pressed(store, asked.key, "U1", "positive", 3.0)

    for start in range(0, 600, 100):
        await asyncio.gather(*map(answer, range(start, start + 100)))
    assert len((await subjects.person(people, "U1", None)).turns) == 600
    assert await subjects.erase(people, "U1", None) == erased(600, feedback=600)
    assert (await people.summary()).counts[0] == Count("turns: keys only", 600, 1.0, 600.0)


async def test_a_turn_that_begins_meanwhile_does_not_bring_the_person_back(
    store: Store, people: StoreAdmin
) -> None:
    """It knows of the wait, so the wait is left and the turn named; or the wait is gone before."""
    for number in range(60):
        thread = replace(THREAD, ts=f"{number}.0")
        await subjects.save_conversation(store, "agent", thread, AgentContext("ctx", {"U1": "task"}), 1.0)

    async def work(number: int) -> None:
        asked = replace(
            turn(f"{number}.0", 1.0), question=replace(turn(f"{number}.0", 1.0).question, user="U3")
        )
        asked = replace(asked, question=replace(asked.question, thread=replace(THREAD, ts=f"{number}.0")))
        assert await store.accept(asked)
        known = await subjects.conversation(store, "agent", asked.question.thread)
        await subjects.save_conversation(store, "agent", asked.question.thread, known, 2.0)

    erased, *_ = await asyncio.gather(subjects.erase(people, "U1", None), *map(work, range(60)))
    left = await subjects.person(people, "U1", None)
    named = {key.rpartition(":")[2] for key in erased.running}
    waits = left.records.get("conversations", ())
    assert {each.thread.ts for each in waits} <= named
    assert erased.records.get("conversations", 0) + len(waits) == 60


async def test_a_copy_is_redis_own_matter(people: StoreAdmin, tmp_path: Path) -> None:
    with pytest.raises(StoreError, match=r"copied by Redis' own means \(BGSAVE"):
        await people.backup(tmp_path / "copy", overwrite=False)


async def test_an_empty_redis_is_left_empty(
    redis_server: RedisServer, caplog: pytest.LogCaptureFixture
) -> None:
    with pytest.raises(StoreError, match="There is no store at redis://127"):
        async with open_admin(subjects.options(redis_server.url)):
            pass
    assert await stored(redis_server) == ""
    assert caplog.records == []


async def test_a_newer_version_is_refused(store: Store, redis_server: RedisServer) -> None:
    client = connect(redis_server.url)
    await client.set("{slack_bot}:version", 99)
    with pytest.raises(StoreError, match=r"newer version of the bot \(format 99"):
        async with open_admin(subjects.options(redis_server.url)):
            pass
    await client.aclose()


async def test_a_redis_that_is_away_is_one_sentence_without_the_password() -> None:
    with pytest.raises(
        StoreError,
        match=r"redis://127\.0.* cannot be used \(.*\); check the address, and whether Redis runs\.$",
    ) as caught:
        async with open_admin(subjects.options("redis://:secret@127.0.0.1:1/0")):
            pass
    assert "secret" not in str(caught.value)
