"""A form is answered once, however many press at once at however many processes."""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack

import pytest

from slack_bot.store.collection import Ages
from slack_bot.store.redis import open_redis
from tests.redis_server import RedisServer

from . import subjects
from .contract import opened


@pytest.mark.parametrize("round_", range(5))
async def test_of_ten_presses_at_two_replicas_one_ends_the_form(
    round_: int, redis_server: RedisServer
) -> None:
    async with AsyncExitStack() as stack:
        stores = []
        for _ in range(2):
            stores.append(await open_redis(redis_server.url, Ages(), patience=60.0))
            stack.push_async_callback(stores[-1].close)
        handle = f"h{round_}"
        await subjects.open_form(stores[0], opened(handle))
        taken = await asyncio.gather(
            *(
                subjects.take_form(stores[number % 2], handle, f"key-{number}", f"U{number}", 1001.0)
                for number in range(10)
            )
        )
        winners = {each.taken_by for each in taken if each is not None}
        assert len(taken) == 10 and len(winners) == 1
        (kept,) = [await subjects.form_of(stores[1], handle)]
        assert kept is not None and {kept.taken_by} == winners
