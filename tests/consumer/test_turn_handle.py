"""A turn may be ended from outside at any time, and whoever waits for something notices."""

from __future__ import annotations

import asyncio

import pytest

from slack_bot.consumer.turn_handle import ExitSignals, TurnHandle
from slack_bot.errors import AgentUnreachable
from slack_bot.testing.virtual_clock import on_virtual_time


async def test_the_first_to_stop_a_turn_counts() -> None:
    control = TurnHandle()
    assert control.stopped_by is None
    control.stop("U1")
    control.stop("U2")
    await control.wait()
    assert control.stopped_by == "U1"


@on_virtual_time
async def test_a_pause_is_as_long_as_it_says_unless_there_is_a_reason_to_leave() -> None:
    control, now = TurnHandle(), asyncio.get_running_loop().time
    async with ExitSignals(control, asyncio.Event()) as leaving:
        await leaving.pause(5)
        assert now() == 5
        asyncio.get_running_loop().call_later(1, control.stop, "U1")
        await leaving.pause(5)
        await leaving.pause(5)
        assert (now(), leaving.is_set, leaving.is_gone) == (6, True, False)


@on_virtual_time
async def test_who_answers_the_agent_ends_the_waiting_and_stops_nothing() -> None:
    control = TurnHandle()
    async with ExitSignals(control, asyncio.Event()) as leaving:
        asyncio.get_running_loop().call_later(1, control.answered)
        await leaving.pause(5)
        assert asyncio.get_running_loop().time() == 1
        assert (leaving.is_set, leaving.is_gone, control.stopped_by) == (True, False, None)


@on_virtual_time
async def test_what_was_begun_is_left_when_nobody_can_be_shown_anything() -> None:
    gone, cancelled = asyncio.Event(), asyncio.Event()

    async def work() -> str:
        try:
            await asyncio.sleep(60)
        finally:
            cancelled.set()
        return "done"

    async with ExitSignals(TurnHandle(), gone) as leaving:
        asyncio.get_running_loop().call_later(2, gone.set)
        assert await leaving.race(work()) is None
        assert (cancelled.is_set(), leaving.is_gone) == (True, True)


@on_virtual_time
async def test_what_is_done_in_time_gives_its_result_or_its_error() -> None:
    async def fails() -> None:
        raise AgentUnreachable("no")

    async with ExitSignals(TurnHandle(), asyncio.Event()) as leaving:
        assert await leaving.race(asyncio.sleep(1, "done")) == "done"
        with pytest.raises(AgentUnreachable):
            await leaving.race(fails())
