"""Whether a message is a question, by what is known of its thread and channel."""

from __future__ import annotations

import logging
from pathlib import Path

import pytest

from slack_bot.testing.harness import CHANNEL, run_bot
from slack_bot.testing.tape.builders import answer
from slack_bot.testing.virtual_clock import on_virtual_time
from tests.features.routing.town import FILE, town

_GROUP = FILE.replace("prefixes", 'group = "S7"\nprefixes')
READ = f'{_GROUP}\n[channels.{CHANNEL}]\nrespond = "channel"\n'


@on_virtual_time
async def test_a_user_group_of_an_agent_is_a_mention_in_a_thread_too_and_goes_on_after_an_edit(
    tmp_path: Path,
) -> None:
    async with town(tmp_path, READ) as there:
        bot = there.bot
        root = await bot.say("<@U2> look")
        ts = bot.workspace.say("U1", CHANNEL, "<!subteam^S7> what is nwe?", now=bot.now, thread_ts=root)
        written = bot.workspace.take()
        bot.workspace.edit(CHANNEL, ts, "<!subteam^S7> what is new?", now=bot.now)
        await bot.deliver()
        await bot.deliver(written)
        await bot.idle()
        assert there.asked("research") == ["what is new?"]
        assert bot.read(root)[0].startswith("R.")


@on_virtual_time
async def test_who_names_the_group_of_another_agent_in_a_thread_is_told_so(tmp_path: Path) -> None:
    async with town(tmp_path, READ) as there:
        root = await there.bot.ask("ops: what is new?")
        await there.bot.idle()
        await there.bot.say("<!subteam^S7> and you?", thread_ts=root)
        await there.bot.idle()
        assert (there.asked("research"), there.asked("ops")) == ([], ["what is new?"])
        assert len(there.bot.ephemeral(root)) == 1


@on_virtual_time
async def test_a_bot_that_may_not_ask_is_not_in_the_log_for_each_of_its_messages(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async with run_bot(answer("Seen."), respond="channel", ask="What is it?") as bot:
        bot.workspace.add_user("B9", "Alertmanager", is_bot=True)
        with caplog.at_level(logging.INFO, "slack_bot.inbound"):
            bot.workspace.alert("B9", CHANNEL, [{"text": "p95 is over 2 s"}], now=bot.now)
            await bot.deliver()
        assert (caplog.messages, bot.agent.questions) == ([], [])
