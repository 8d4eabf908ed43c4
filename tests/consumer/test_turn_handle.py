"""A turn may be ended from outside at any time, and each of its parts notices."""

from __future__ import annotations

import asyncio

import pytest

from slack_bot.consumer.turn_handle import TurnHandle
from slack_bot.errors import AgentUnreachable
from slack_bot.testing.virtual_clock import on_virtual_time


async def test_the_first_user_who_stops_a_turn_counts() -> None:
    handle = TurnHandle()
    assert handle.stopped_by is None
    handle.stop("U1")
    handle.stop("U2")
    assert handle.stopped_by == "U1"


async def test_each_reason_is_reported_and_one_that_came_before_too() -> None:
    handle, calls = TurnHandle(), list[str]()
    handle.on_exit(lambda: calls.append("early"))
    assert calls == []
    handle.stop("U1")
    handle.on_exit(lambda: calls.append("late"))
    assert calls == ["early", "late"]
    handle.mark_gone()
    assert calls == ["early", "late"] * 2


@on_virtual_time
async def test_a_pause_is_as_long_as_it_says_unless_there_is_a_reason_to_leave() -> None:
    handle, now = TurnHandle(), asyncio.get_running_loop().time
    await handle.pause(5)
    assert now() == 5
    asyncio.get_running_loop().call_later(1, handle.stop, "U1")
    await handle.pause(5)
    await handle.pause(5)
    assert (now(), handle.must_exit, handle.is_gone) == (6, True, False)


@on_virtual_time
async def test_an_answer_to_the_agent_ends_the_waiting_and_stops_nothing() -> None:
    handle = TurnHandle()
    asyncio.get_running_loop().call_later(1, handle.mark_answered)
    await handle.pause(5)
    assert asyncio.get_running_loop().time() == 1
    assert (handle.must_exit, handle.is_gone, handle.stopped_by) == (True, False, None)


@on_virtual_time
async def test_work_is_cancelled_when_nothing_can_be_shown_any_more() -> None:
    handle, cancelled, later = TurnHandle(), asyncio.Event(), list[str]()

    async def work() -> str:
        try:
            await asyncio.sleep(60)
        finally:
            cancelled.set()
        return "done"

    async def never() -> None:
        later.append("begun")

    asyncio.get_running_loop().call_later(2, handle.mark_gone)
    assert await handle.race(work()) is None
    assert (cancelled.is_set(), handle.is_gone) == (True, True)
    assert await handle.race(never()) is None
    assert later == []


@on_virtual_time
async def test_what_is_done_in_time_gives_its_result_or_its_error() -> None:
    async def fails() -> None:
        raise AgentUnreachable("no")

    handle = TurnHandle()
    assert await handle.race(asyncio.sleep(1, "done")) == "done"
    with pytest.raises(AgentUnreachable):
        await handle.race(fails())
