"""Slack's own Stop button."""

from __future__ import annotations

import asyncio

import pytest

from slack_bot.testing.harness import CHANNEL, run_bot
from slack_bot.testing.slack.workspace import Envelope
from slack_bot.testing.tape.builders import answer
from slack_bot.testing.virtual_clock import on_virtual_time

from .payloads import event


@pytest.mark.parametrize("user", ["U1", "U2"])
@on_virtual_time
async def test_the_turn_ends_and_the_agent_is_told_whoever_pressed(user: str) -> None:
    async with run_bot(answer("one two three four five six", seconds=60)) as bot:
        root = await bot.ask("hi")
        await asyncio.sleep(20)
        before = bot.read(root)
        bot.workspace.stop(user, CHANNEL, root, now=bot.now)
        await bot.deliver()
        await bot.idle()
        assert bot.outcomes == ["stopped"]
        assert bot.read(root)[0].startswith(before[0].strip())
        assert "six" not in "".join(bot.read(root))
        assert [call.method for call in bot.agent.calls][-1] == "tasks/cancel"


@on_virtual_time
async def test_a_stop_where_nothing_runs_does_nothing() -> None:
    async with run_bot() as bot:
        body = event("agent_session_stopped", thread_ts="9.9", user="U1", streaming_message_ts=[])
        assert await bot.deliver([Envelope("e1", "events_api", body)]) == [200]
        await bot.idle()
        assert bot.agent.calls == []


@on_virtual_time
async def test_a_stop_without_a_thread_is_acknowledged_and_dropped() -> None:
    async with run_bot() as bot:
        assert await bot.deliver([Envelope("e1", "events_api", event("agent_session_stopped"))]) == [200]
        await bot.idle()
