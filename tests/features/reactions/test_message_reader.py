"""The message of a reaction is read by its `ts` alone, whether it began a thread or not."""

from __future__ import annotations

import logging

import pytest

from slack_bot.testing.harness import CHANNEL, run_bot
from slack_bot.testing.virtual_clock import on_virtual_time
from slack_bot.text.feature_words import REACTED_NOT_READ

from .test_feature import SETTINGS, react, said, told


@on_virtual_time
async def test_of_a_long_thread_only_the_one_message_is_read() -> None:
    async with run_bot(**SETTINGS) as bot:
        root = await said(bot, "Lunch?")
        for number in range(30):
            await said(bot, f"line {number}", thread_ts=root)
        ts = await said(bot, "What day is it?", thread_ts=root)
        await react(bot, ts)
        assert "What day is it?" in str(bot.agent.questions[0].params)
        read = bot.calls("conversations.replies")[0]
        assert (read["ts"], read["oldest"], read["latest"], read["inclusive"]) == (ts, ts, ts, "1")


@on_virtual_time
async def test_a_message_that_is_gone_meanwhile_is_no_question() -> None:
    async with run_bot(**SETTINGS) as bot:
        root = await said(bot, "Lunch?")
        bot.workspace.react("U2", CHANNEL, root, "robot_face", now=bot.now)
        bot.workspace.delete(CHANNEL, root, now=bot.now)
        await bot.deliver()
        await bot.idle()
        assert (bot.agent.questions, told(bot)) == ([], [("U2", REACTED_NOT_READ)])


@on_virtual_time
async def test_a_scope_that_is_missing_is_in_the_log_once(caplog: pytest.LogCaptureFixture) -> None:
    faults = {"conversations.replies": ["missing_scope", "missing_scope"]}
    async with run_bot(faults=faults, **SETTINGS) as bot:
        first, second = await said(bot, "Why?"), await said(bot, "How?")
        with caplog.at_level(logging.WARNING, "slack_bot.features.reactions"):
            await react(bot, first)
            await react(bot, second)
        named = [each for each in caplog.messages if "the messages of reactions are not read" in each]
        assert len(named) == 1
