"""Schedules on the Home tab: who sees which, and who may stop them."""

from __future__ import annotations

import asyncio
from pathlib import Path

from slack_bot.testing.harness import BotHarness
from slack_bot.testing.virtual_clock import on_virtual_time
from tests.features.schedules.test_timer import HOUR, HOURLY, clockwork, pass_time, roots

PRIVATE = "G9"
FILE = (
    f'{HOURLY}headline = "What changed"\n'
    f'[schedules.ours]\ncron = "5 * * * *"\nchannel = "{PRIVATE}"\nask = "a"\n'
    '[schedules.yours]\ncron = "10 * * * *"\nuser = "U2"\nask = "b"\n'
)


async def open_home(bot: BotHarness, user: str) -> list[str]:
    """What the person reads there about schedules."""
    bot.workspace.open_home(user, now=bot.now)
    await bot.deliver()
    await asyncio.sleep(1)
    words = bot.workspace.home(user)
    title = "What I do by the clock"
    return words[words.index(title) + 1 :] if title in words else []


async def press(bot: BotHarness, user: str, button: str, name: str) -> None:
    bot.workspace.press_in_home(user, button, name, now=bot.now)
    await bot.deliver()
    await asyncio.sleep(1)


@on_virtual_time
async def test_operators_see_all_and_others_what_is_for_them_or_public(tmp_path: Path) -> None:
    async with clockwork(tmp_path, FILE, operators=["U1"]) as bot:
        bot.workspace.add_channel(PRIVATE, kind="group").members.add("U1")
        await pass_time(bot, 1.0)
        at_operators, at_others = await open_home(bot, "U1"), await open_home(bot, "U2")
        news = "news: What changed · C1 · next 2023-11-14 23:00 UTC"
        ours, yours = "ours · G9 · next 2023-11-14 23:05 UTC", "yours · U2 · next 2023-11-14 23:10 UTC"
        assert at_operators == [news, "Stop Run now", ours, "Stop Run now", yours, "Stop Run now"]
        assert at_others == [news, yours]


@on_virtual_time
async def test_an_operator_stops_one_there_and_lets_it_go_on_and_runs_it(tmp_path: Path) -> None:
    async with clockwork(tmp_path, HOURLY, operators=["U1"]) as bot:
        await pass_time(bot, 1.0)
        await open_home(bot, "U1")
        await press(bot, "U1", "schedule_stop", "news")
        assert "stopped" in str(bot.workspace.home("U1")) and "Go on Run now" in bot.workspace.home("U1")
        await pass_time(bot, HOUR)
        assert roots(bot) == []
        await press(bot, "U1", "schedule_run", "news")
        await pass_time(bot, 10.0)
        assert [bot.read(root) for root in roots(bot)] == [["What is new?", "Hello."]]
        await press(bot, "U1", "schedule_go_on", "news")
        assert "Stop Run now" in bot.workspace.home("U1")


@on_virtual_time
async def test_a_press_of_one_who_is_no_operator_any_more_changes_nothing(tmp_path: Path) -> None:
    async with clockwork(tmp_path, HOURLY, operators=["U1"]) as bot:
        await pass_time(bot, 1.0)
        await open_home(bot, "U1")
        async with clockwork(tmp_path, HOURLY, operators=["U2"], after=bot) as next_bot:
            for button in ("schedule_stop", "schedule_run"):
                await press(next_bot, "U1", button, "news")
            await pass_time(next_bot, 10.0)
            assert roots(next_bot) == []
            assert "Stop Run now" in await open_home(next_bot, "U2")
