"""What is to be said is accepted once, and left until it has ended."""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack
from dataclasses import replace

from slack_bot.store.collection import Ages
from slack_bot.store.outbound import (
    OUTBOUND,
    accept_outbound,
    outbound,
    save_outbound,
    unfinished_outbound,
)
from slack_bot.store.redis import open_redis
from slack_bot.testing.memory_store import MemoryStore
from slack_bot.testing.virtual_clock import on_virtual_time
from slack_bot.turn.outbound import OutboundMessage, OutboundRecord
from tests.redis_server import RedisServer

SAID = OutboundRecord("k", OutboundMessage("hi", user="U1"), 5.0)


@on_virtual_time
async def test_it_is_unfinished_from_its_acceptance_to_its_end() -> None:
    store = MemoryStore()
    assert await accept_outbound(store, SAID) == SAID
    again = replace(SAID, message=OutboundMessage("ho"))
    assert await accept_outbound(store, again) == SAID
    assert await unfinished_outbound(store) == [SAID]
    ended = replace(SAID, ended_at=7.0)
    await save_outbound(store, ended)
    assert await unfinished_outbound(store) == []
    assert await outbound(store, "k") == ended


def test_who_is_erased_keeps_what_is_still_to_be_said_to_them() -> None:
    assert OUTBOUND.is_about(("k",), SAID, "U1", "T9"), "it has no workspace"
    assert OUTBOUND.without(SAID, "U1") == SAID
    assert OUTBOUND.without(replace(SAID, ended_at=7.0), "U1") is None


async def test_of_ten_that_say_it_at_two_replicas_one_is_stored_and_one_delivers(
    redis_server: RedisServer,
) -> None:
    async with AsyncExitStack() as stack:
        stores = []
        for _ in range(2):
            stores.append(await open_redis(redis_server.url, Ages(), patience=60.0))
            stack.push_async_callback(stores[-1].close)
        said = [replace(SAID, message=OutboundMessage(str(number))) for number in range(10)]
        stored = await asyncio.gather(
            *(accept_outbound(stores[number % 2], each) for number, each in enumerate(said))
        )
        assert len({each.message for each in stored}) == 1
        found = await asyncio.gather(*(unfinished_outbound(stores[number % 2]) for number in range(10)))
        at_each = [{len(each) for each in found[first::2]} for first in (0, 1)]
        assert sorted(map(sorted, at_each)) == [[0], [1]], "one of them has it, at every look"
