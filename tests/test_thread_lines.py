"""One turn at a time in a thread, and what waits behind it."""

from __future__ import annotations

import asyncio
import logging

import pytest

from slack_bot.slack.status import WAITING_REACTION
from slack_bot.testing.harness import CHANNEL, run_bot
from slack_bot.testing.tape.builders import answer
from slack_bot.testing.virtual_clock import on_virtual_time

from .test_dispatch import asked


@on_virtual_time
async def test_a_second_question_in_a_thread_waits_for_the_first_and_is_marked_while_it_does() -> None:
    async with run_bot(answer("First.", ids="1"), answer("Second.", ids="1")) as bot:
        root = await bot.ask("one")
        second = await bot.ask("two", user="U2", thread_ts=root)
        await asyncio.sleep(0.5)
        assert len(asked(bot)) == 1
        (waiting,) = [seen for seen in bot.thread(root) if seen.ts == second]
        assert WAITING_REACTION in (waiting.reactions or {})
        await bot.idle()
        assert bot.read(root) == ["First.", "Second."]
        assert asked(bot) == [("one", None, None), ("two", "ctx-1", None)]
        (marked,) = [seen for seen in bot.thread(root) if seen.ts == second]
        assert not (marked.reactions or {}).get(WAITING_REACTION)
        assert bot.workspace.status_rows(CHANNEL, root) == []


@on_virtual_time
async def test_a_mark_that_waits_for_slack_s_budget_is_not_set_when_its_question_s_turn_has_come() -> None:
    async with run_bot(answer("Yes.", seconds=3)) as bot:
        roots = [await bot.ask("one") for _ in range(45)]
        for root in roots:
            await bot.ask("two", thread_ts=root)
        await bot.idle()
        marked = [
            seen.ts for root in roots for seen in bot.thread(root) if any((seen.reactions or {}).values())
        ]
        assert marked == []
        assert 0 < len(bot.calls("reactions.add")) == len(bot.calls("reactions.remove")) < 45


@on_virtual_time
async def test_questions_of_one_thread_are_answered_in_the_order_they_came() -> None:
    async with run_bot(answer("Yes.")) as bot:
        root = await bot.ask("0")
        for number in range(1, 6):
            await bot.ask(str(number), thread_ts=root)
        await bot.idle()
        assert [text for text, _, _ in asked(bot)] == ["0", "1", "2", "3", "4", "5"]


@on_virtual_time
async def test_threads_do_not_wait_for_each_other() -> None:
    async with run_bot(answer("Long.", seconds=60), answer("Short.", seconds=1)) as bot:
        await bot.ask("one")
        other = await bot.ask("two")
        await asyncio.sleep(5)
        assert bot.read(other) == ["Short."]
        await bot.idle()


@on_virtual_time
async def test_a_reaction_that_slack_refuses_does_not_hurt_a_turn(caplog: pytest.LogCaptureFixture) -> None:
    faults = {"reactions.add": ["missing_scope"], "reactions.remove": ["missing_scope"]}
    async with run_bot(answer("Yes."), faults=faults) as bot:
        root = await bot.ask("one")
        await bot.ask("two", thread_ts=root)
        with caplog.at_level(logging.WARNING):
            await bot.idle()
        assert bot.outcomes == ["answered", "answered"]
