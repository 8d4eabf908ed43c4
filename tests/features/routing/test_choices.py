"""A question that waits for a choice of its agent: kept over kills, and as its message reads now."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from slack_bot.testing.harness import CHANNEL
from slack_bot.testing.virtual_clock import on_virtual_time
from tests.features.routing.town import SKILLS, choice_in, press, skilled, town, work_of


@pytest.mark.parametrize("points", range(12))
@on_virtual_time
async def test_killed_at_any_point_the_buttons_are_there_once_and_one_press_asks_once(
    points: int, tmp_path: Path
) -> None:
    agents = skilled()
    async with town(tmp_path, SKILLS, agents=agents) as there:
        old, me = there.bot, there.bot.workspace.bot.user_id
        for each in there.bot.app.agents:
            await each.ensure_card()
        root = old.workspace.say("U1", CHANNEL, f"<@{me}> write a report", now=old.now)
        envelopes = old.workspace.take()
        old.life.end_after(points)
        delivering = asyncio.create_task(old.deliver(envelopes))
        await asyncio.sleep(5.0)
        old.life.end_now()
        delivering.cancel()
    async with town(tmp_path, SKILLS, agents=agents, after=old) as there:
        running = asyncio.create_task(work_of(there.bot))
        await there.bot.deliver(envelopes, retry=1)
        await asyncio.sleep(120.0)
        await there.bot.idle()
        await press(there.bot, choice_in(there.bot, root), 0)
        running.cancel()
        assert there.asked("research") == ["write a report"]
        assert there.asked("ops") == []


@on_virtual_time
async def test_the_question_is_asked_as_it_reads_when_the_button_is_pressed(tmp_path: Path) -> None:
    async with town(tmp_path, SKILLS, agents=skilled()) as there:
        bot, me = there.bot, there.bot.workspace.bot.user_id
        root = await bot.ask("write a report")
        await bot.idle()
        bot.workspace.edit(CHANNEL, root, f"<@{me}> write a long report", now=bot.now)
        await bot.deliver()
        await bot.idle()
        await press(bot, choice_in(bot, root), 0)
        assert there.asked("research") == ["write a long report"]


@on_virtual_time
async def test_a_question_whose_message_is_gone_is_not_asked(tmp_path: Path) -> None:
    async with town(tmp_path, SKILLS, agents=skilled()) as there:
        bot = there.bot
        first = await bot.ask("hello")
        await bot.idle()
        ts = await bot.ask("write a report")
        await bot.idle()
        seen = choice_in(bot, ts)
        bot.workspace.delete(CHANNEL, ts, now=bot.now)
        await bot.deliver()
        await press(bot, seen, 0)
        assert there.asked("research") == [] and bot.read(first) == ["D."]
