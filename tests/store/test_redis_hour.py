"""The questions of an hour, counted by several replicas of which none has a clock of its own for it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import pytest

from slack_bot.inbound.access import HourlyQuestions
from slack_bot.settings.models import TurnSettings
from slack_bot.store.collection import Ages
from slack_bot.store.redis import open_redis
from slack_bot.store.redis_connection import connect
from slack_bot.store.redis_format import PREFIX
from slack_bot.store.redis_hour import RedisHour
from tests.redis_server import RedisServer

NAME = f"{PREFIX}hour:"


@pytest.fixture
async def replicas(redis_server: RedisServer) -> AsyncIterator[list[RedisHour]]:
    stores = [await open_redis(redis_server.url, Ages(), patience=60.0) for _ in range(2)]
    yield [RedisHour(store) for store in stores]
    for store in stores:
        await store.close()


async def test_replicas_count_together_and_a_question_once(replicas: list[RedisHour]) -> None:
    settings = TurnSettings(hourly_person=2, hourly_channel=3, hourly_total=4)
    one, other = (HourlyQuestions(settings, counts, lambda team: "") for counts in replicas)
    assert await one.refusal("U1", "C1", "T1", "a") is None
    assert await other.refusal("U1", "C1", "T1", "a") is None
    assert await other.refusal("U1", "C1", "T1", "b") is None
    for hourly in (one, other):
        refused = await hourly.refusal("U1", "C1", "T1", "c")
        assert refused is not None and refused.words.startswith("You have asked 2 questions within an hour")
    assert await one.refusal("U2", "C1", "T1", "d") is None
    refused = await other.refusal("U3", "C1", "T1", "e")
    assert refused is not None and refused.words.startswith("This channel has asked 3 questions")
    assert await other.refusal("U3", "C2", "T1", "e") is None
    refused = await one.refusal("U4", "C3", "T1", "f")
    assert refused is not None and refused.words.startswith("I was asked 4 questions")


async def test_at_once_no_more_are_taken_than_the_limit(replicas: list[RedisHour]) -> None:
    taking = [replicas[n % 2].take(str(n), {"U1": 5}) for n in range(20)]
    assert [bool(waits) for waits in await asyncio.gather(*taking)].count(False) == 5


async def test_the_hour_is_that_of_redis(replicas: list[RedisHour], redis_server: RedisServer) -> None:
    client = connect(redis_server.url)
    now = (await client.time())[0]
    await client.zadd(f"{NAME}U1", {"old": now - 3601, "a": now - 3000, "b": now - 1800})
    waits = await replicas[0].take("c", {"U1": 2, "C1": 9})
    assert waits.keys() == {"U1"} and 500 < waits["U1"] <= 600
    assert await client.zcard(f"{NAME}C1") == 0
    assert await replicas[1].take("c", {"U1": 3}) == {}
    assert 0 < await client.ttl(f"{NAME}U1") <= 3600
    await client.aclose()
