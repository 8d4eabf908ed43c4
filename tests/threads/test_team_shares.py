"""A workspace that floods waits for its own turns, and the others do not."""

from __future__ import annotations

import asyncio

from slack_bot.testing.harness import run_bot
from slack_bot.testing.tape.builders import answer
from slack_bot.testing.virtual_clock import on_virtual_time
from slack_bot.text.words import NOT_BEGUN
from tests.e2e.several_teams import channel_of, run_teams

LONG = answer("A long answer.", seconds=20)


@on_virtual_time
async def test_a_flood_of_one_workspace_takes_nothing_from_another() -> None:
    async with run_teams(*[LONG] * 8, max_team_turns=2) as bot:
        flood = [await bot.ask(1, f"question {number}") for number in range(6)]
        other = await bot.ask(2, "mine")
        await asyncio.sleep(5.0)
        await bot.deliver()
        running = [root for root in flood if bot.team(1).thread(channel_of(1), root)[1:]]
        assert len(running) == 2
        assert len(bot.team(2).thread(channel_of(2), other)) == 2
        marked = [root for root in flood if bot.team(1).thread(channel_of(1), root)[0].reactions]
        assert marked == flood[2:]
        await bot.idle()
        assert [bot.read(1, root) for root in flood] == [["A long answer."]] * 6
        assert not any(bot.team(1).thread(channel_of(1), root)[0].reactions for root in flood)


@on_virtual_time
async def test_a_question_that_waits_for_its_share_can_be_stopped() -> None:
    async with run_teams(LONG, LONG, max_team_turns=1) as bot:
        first = await bot.ask(1, "one")
        second = await bot.ask(1, "two")
        await asyncio.sleep(1.0)
        await bot.ask(1, "stop", thread_ts=second)
        await asyncio.sleep(1.0)
        await bot.deliver()
        assert [each.extras for each in bot.team(1).thread(channel_of(1), second) if each.is_bot] == [
            (NOT_BEGUN,)
        ]
        await bot.idle()
        assert bot.read(1, first) == ["A long answer."]
        assert len(bot.agent.questions) == 1


@on_virtual_time
async def test_with_one_token_there_is_no_such_bound() -> None:
    async with run_bot(*[LONG] * 3, max_team_turns=1) as bot:
        roots = [await bot.ask(f"question {number}") for number in range(3)]
        await asyncio.sleep(5.0)
        assert len(bot.agent.questions) == 3
        await bot.idle()
        assert [bot.read(root) for root in roots] == [["A long answer."]] * 3
