"""A process that was killed does nothing more, and learns nothing more."""

from __future__ import annotations

import asyncio

import pytest

from slack_bot.testing.harness import CHANNEL, run_bot
from slack_bot.testing.kill import Life
from slack_bot.testing.tape.builders import answer
from slack_bot.testing.virtual_clock import on_virtual_time


@on_virtual_time
async def test_a_life_ends_after_its_points() -> None:
    life = Life()
    await life.pass_point("before it counts")
    life.end_after(2)
    await life.pass_point("one")
    await life.pass_point("two")
    assert not life.over.is_set()
    for _ in range(2):
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(life.pass_point("three"), 1000)
    assert life.over.is_set()
    assert life.points == ["one", "two"]


@on_virtual_time
async def test_after_its_end_a_bot_changes_nothing_and_asks_nothing() -> None:
    async with run_bot(answer("One two three four.", seconds=20)) as bot:
        await bot.ask("hi")
        await asyncio.sleep(10)
        (open_stream,) = bot.workspace.open_streams()
        calls = len(bot.workspace.calls)
        bot.life.end_now()
        bot.workspace.say("U2", CHANNEL, f"<@{bot.workspace.bot.user_id}> and?", now=bot.now)
        delivering = asyncio.create_task(bot.deliver())
        await asyncio.sleep(60)
        assert not delivering.done()
        delivering.cancel()
        assert len(bot.workspace.calls) == calls
        assert len(bot.agent.questions) == 1
        assert bot.workspace.open_streams() == [open_stream]
        points = bot.life.points
        assert (
            points.index("before accept")
            < points.index("before the agent")
            < points.index("after chat.startStream")
        )
