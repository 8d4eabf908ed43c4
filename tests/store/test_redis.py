"""The contract on a real Redis, and what several replicas need of it."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack
from dataclasses import replace
from typing import Any

import pytest
import redis

from slack_bot.errors import SettingsError, StoreError
from slack_bot.store.contracts import Signal, Store
from slack_bot.store.redis import VERSION, RedisStore, connect, open_redis
from slack_bot.turn.progress import Stage, TurnRecord
from tests.redis_server import RedisServer

from .contract import THREAD, StoreContract, message, turn

LEASE = 0.4  # seconds


class TestRedis(StoreContract):
    @pytest.fixture
    async def store(self, redis_server: RedisServer) -> AsyncIterator[Store]:
        opened = await open_redis(redis_server.url, 24.0, 7.0)
        yield opened
        await opened.close()


Opener = Callable[[], Any]


@pytest.fixture
async def replica(redis_server: RedisServer) -> AsyncIterator[Opener]:
    """Opens the store of one more replica."""
    async with AsyncExitStack() as stack:

        async def opened() -> RedisStore:
            store = await open_redis(redis_server.url, 24.0, 7.0, LEASE, 1.0)
            stack.push_async_callback(store.close)
            return store

        yield opened


async def left_to(store: RedisStore) -> list[TurnRecord]:
    """What is left, once there is something."""
    async with asyncio.timeout(30):
        while not (left := await store.left()):  # noqa: ASYNC110  no event reports it
            await asyncio.sleep(0.02)
    return left


async def accepted(store: RedisStore, ts: str, thread: str = THREAD.ts) -> TurnRecord:
    question = turn(ts, 1000.0, thread=thread)
    assert await store.accept(question)
    return question


def test_an_address_that_cannot_be_read_is_refused_in_a_sentence() -> None:
    with pytest.raises(SettingsError, match="write redis://host:6379/0"):
        connect("redis://host:port", 1.0)


async def test_a_thread_is_worked_on_by_one_replica_which_is_told_of_its_next_question(
    replica: Opener,
) -> None:
    one, two = await replica(), await replica()
    first = await accepted(one, "1.0")
    assert await one.claim(first)
    second = await accepted(two, "2.0")
    assert not await two.claim(second)
    assert await one.signals() == [Signal(THREAD, "question", {"turn": second.key})]
    assert await one.claim(second)
    elsewhere = await accepted(two, "3.0", thread="9.9")
    assert await two.claim(elsewhere)
    await one.let_go(THREAD)
    assert await two.claim(second), "the first is done with the thread"


async def test_of_many_that_claim_at_once_one_gets_it(replica: Opener) -> None:
    stores = [await replica() for _ in range(5)]
    question = await accepted(stores[0], "1.0")
    assert sum(await asyncio.gather(*(store.claim(question) for store in stores))) == 1


async def test_a_claim_of_what_is_not_stored_any_more_fails(replica: Opener) -> None:
    one = await replica()
    question = await accepted(one, "1.0")
    await one.withdraw(question.key)
    assert not await one.claim(question)


async def test_who_does_not_renew_is_taken_over_and_can_write_no_more(replica: Opener) -> None:
    one, two = await replica(), await replica()
    first, second = await accepted(one, "1.0"), await accepted(one, "2.0")
    assert await one.claim(first)
    assert await one.claim(second)
    sent = replace(first, stage=Stage.SENT, task_id="task", messages=(message("5.0", "half"),))
    await one.save((sent, 0))
    assert await left_to(two) == [sent, second]
    assert await two.claim(sent)
    await one.save((replace(sent, task_id="too late"), 0))
    assert await two.turn(first.key) == sent
    assert await one.renew() == {THREAD}
    await two.save((replace(sent, ended_at=2000.0, stage=Stage.ENDED), 1))
    assert await two.unfinished() == [second]
    assert await two.renew() == frozenset()


async def test_who_renews_keeps_its_turns_for_as_long_as_they_take(replica: Opener) -> None:
    one, two = await replica(), await replica()
    question = await accepted(one, "1.0")
    assert await one.claim(question)
    loop = asyncio.get_running_loop()
    end = loop.time() + 5 * LEASE
    while loop.time() < end:
        assert await one.renew() == frozenset()
        assert await two.left() == []
        await asyncio.sleep(LEASE / 8)


async def test_a_question_that_was_accepted_and_never_begun_is_taken(replica: Opener) -> None:
    one, two = await replica(), await replica()
    question = await accepted(one, "1.0")
    assert await two.left() == [], "who accepted it has time to begin"
    assert await left_to(two) == [question]
    assert await two.claim(question)


async def test_a_question_told_to_a_replica_that_died_is_taken_too(replica: Opener) -> None:
    one, two = await replica(), await replica()
    first, second = await accepted(one, "1.0"), await accepted(two, "2.0")
    assert await one.claim(first)
    assert not await two.claim(second)
    assert await left_to(two) == [first, second]


async def test_what_has_not_ended_is_there_for_others_as_soon_as_it_is_let_go(replica: Opener) -> None:
    one, two = await replica(), await replica()
    first, second = await accepted(one, "1.0"), await accepted(one, "2.0")
    assert await one.claim(first)
    assert await one.claim(second)
    ended = replace(first, ended_at=1001.0, stage=Stage.ENDED)
    await one.save((ended, 0))
    await one.let_go(THREAD)
    assert await left_to(two) == [second]


async def test_a_replica_that_closes_leaves_its_threads(replica: Opener) -> None:
    one, two = await replica(), await replica()
    question = await accepted(one, "1.0")
    assert await one.claim(question)
    await one.close()
    assert await left_to(two) == [question]


async def test_signals_reach_the_replica_of_the_thread_in_order(replica: Opener) -> None:
    one, two = await replica(), await replica()
    stop = Signal(THREAD, "stop", {"user": "U1"})
    assert not await two.signal(stop), "nobody works on it"
    question = await accepted(one, "1.0")
    assert await one.claim(question)
    waiting = asyncio.create_task(one.signals())
    assert await two.signal(stop)
    assert await waiting == [stop]
    sent = [Signal(THREAD, "press", {"number": str(number)}) for number in range(3)]
    for each in sent:
        assert await two.signal(each)
    assert await one.signals() == sent
    assert not await one.signal(stop), "its own process"


async def test_a_question_that_comes_back_while_others_wait_is_no_other(replica: Opener) -> None:
    one, two = await replica(), await replica()
    question = await accepted(one, "1.0")
    assert await one.claim(question)
    assert not await two.accept(turn("1.0", 1001.0))
    assert len(await two.unfinished()) == 1


@pytest.mark.parametrize("remembers", [True, False])
async def test_turns_outlive_redis_if_it_remembers_and_go_on_if_not(
    replica: Opener, redis_server: RedisServer, remembers: bool, caplog: pytest.LogCaptureFixture
) -> None:
    one, two = await replica(), await replica()
    question = await accepted(one, "1.0")
    assert await one.claim(question)
    redis_server.kill()
    with pytest.raises(StoreError, match=r"The store redis://127\.0\.0\.1:\d+ \(SLACK_BOT_STORE__URL\)"):
        await one.save((question, 0))
    with pytest.raises(StoreError):
        await two.accept(turn("2.0", 1000.0))
    await asyncio.sleep(2 * LEASE)  # its lease would have run out
    if not remembers:
        redis_server.forget()
    redis_server.start()
    assert await two.left() == [], "who has it gets the time to say so"
    assert await one.renew() == frozenset()
    await one.save((replace(question, task_id="task"), 0))
    known = await two.turn(question.key)
    assert (known is not None and known.task_id) == ("task" if remembers else False)
    assert [record for record in caplog.records if "has lost its memory: 1 threads" in record.message] == (
        [] if remembers else caplog.records[-1:]
    )
    other = await accepted(two, "2.0")
    assert not await two.claim(other)
    assert await one.signals() == [Signal(THREAD, "question", {"turn": other.key})]


async def test_a_redis_that_hangs_is_an_error_in_time(replica: Opener, redis_server: RedisServer) -> None:
    one = await replica()
    with redis_server.frozen(), pytest.raises(StoreError, match="Timeout"):
        await one.accept(turn("1.0", 1000.0))
    async with asyncio.timeout(30):
        while await one.turn("T1:C1:1.0") is None:  # noqa: ASYNC110  no event reports what was done late
            await asyncio.sleep(0.02)
    assert not await one.accept(turn("1.0", 1000.0))


async def test_a_store_of_a_newer_version_is_refused(redis_server: RedisServer) -> None:
    with redis.Redis.from_url(redis_server.url) as client:
        client.set("{slack_bot}:version", VERSION + 1)
    with pytest.raises(
        StoreError, match=f"newer version of the bot .format {VERSION + 1}, this one knows {VERSION}"
    ):
        await open_redis(redis_server.url, 24.0, 7.0)


async def test_a_redis_that_may_lose_questions_is_told_of_once(
    redis_server: RedisServer, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.WARNING)
    await (await open_redis(redis_server.url, 24.0, 7.0)).close()
    assert caplog.records == []
    redis_server.kill()
    redis_server.start("--appendfsync", "everysec", "--maxmemory-policy", "allkeys-lru")
    await (await open_redis(redis_server.url, 24.0, 7.0)).close()
    said = [record.message for record in caplog.records]
    assert len(said) == 2
    assert "appendfsync everysec: a crash of its machine loses questions" in said[0]
    assert "maxmemory-policy allkeys-lru" in said[1]


async def test_a_redis_that_hides_its_configuration_is_told_of_too(
    redis_server: RedisServer, caplog: pytest.LogCaptureFixture
) -> None:
    redis_server.kill()
    redis_server.start("--rename-command", "CONFIG", "")
    await (await open_redis(redis_server.url, 24.0, 7.0)).close()
    assert "appendonly yes, appendfsync always" in caplog.text


async def test_without_redis_the_store_does_not_open(redis_server: RedisServer) -> None:
    redis_server.kill()
    url = redis_server.url.replace("redis://", "redis://:secret-word@")
    with pytest.raises(StoreError) as error:
        await open_redis(url, 24.0, 7.0)
    assert "secret-word" not in str(error.value)
    assert f"redis://127.0.0.1:{redis_server.port}" in str(error.value)
