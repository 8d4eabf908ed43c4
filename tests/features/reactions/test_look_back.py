"""Reactions that asked while the bot was away."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from slack_bot.testing.harness import CHANNEL, BotHarness, run_bot
from slack_bot.testing.memory_store import MemoryStore
from slack_bot.testing.tape.builders import answer
from slack_bot.testing.virtual_clock import on_virtual_time
from slack_bot.text.feature_words import REACTION_ASKS
from tests.features.reactions.test_feature import HEARS, react, said, told

FILE = f'[channels.{CHANNEL}]\nreactions = {{ robot_face = "ask", repeat = "again", "+1" = "good" }}\n'


def settings(folder: Path, text: str = FILE) -> dict[str, Any]:
    (file := folder / "slack_bot.toml").write_text(text)
    return {"manifest": HEARS, "config": str(file)}


async def missed(bot: BotHarness, ts: str, name: str = "robot_face", user: str = "U2") -> None:
    """A reaction of which the bot does not hear."""
    bot.workspace.react(user, CHANNEL, ts, name, now=bot.now)
    bot.workspace.take()


async def look_back(bot: BotHarness) -> None:
    await bot.app.backfill.run()
    await bot.idle()


@on_virtual_time
async def test_what_a_reaction_asked_is_asked_once(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("INFO")
    async with run_bot(answer("The cache."), **settings(tmp_path)) as bot:
        root = await said(bot, "Why is the shop so slow?")
        await missed(bot, root)
        await missed(bot, root, "repeat")
        for _ in range(2):
            await look_back(bot)
        assert bot.read(root) == ["The cache."]
        (asked,) = bot.agent.questions
        assert asked.text == REACTION_ASKS
        assert asked.params["message"]["metadata"]["slack"]["user"] == "U2"
        assert "reactions that asked while the bot was away: 1; channels read: 1" in caplog.text


@on_virtual_time
async def test_what_was_asked_before_a_restart_is_not_asked_again(tmp_path: Path) -> None:
    store = MemoryStore(is_durable=True)
    async with run_bot(answer("The cache."), store=store, **settings(tmp_path)) as bot:
        root = await said(bot, "Why is the shop so slow?")
        await react(bot, root)
        before = bot
    async with run_bot(after=before, **settings(tmp_path)) as bot:
        await look_back(bot)
        assert len(bot.agent.questions) == 1


@pytest.mark.parametrize(
    ("text", "user"),
    [
        (FILE, "U7"),
        (f'{FILE}people = ["U1"]\n', "U2"),
        (FILE.replace("ask", "stop"), "U2"),
        ('[channel]\nreactions = { robot_face = "ask" }\n', "U2"),
    ],
)
@on_virtual_time
async def test_nothing_else_is_asked_and_nobody_is_told(text: str, user: str, tmp_path: Path) -> None:
    async with run_bot(**settings(tmp_path, text)) as bot:
        bot.workspace.add_user("U7", is_bot=True)
        root = await said(bot, "Why is the shop so slow?")
        await missed(bot, root, user=user)
        await look_back(bot)
        assert (bot.agent.questions, told(bot)) == ([], [])


@on_virtual_time
async def test_a_limit_counts_and_old_messages_do_not(tmp_path: Path) -> None:
    tapes = [answer("One."), answer("Two.")]
    async with run_bot(*tapes, hourly_person=1, backfill_hours=1.0, **settings(tmp_path)) as bot:
        old = await said(bot, "Why was the shop so slow?")
        bot.workspace.pass_time(bot.now + 1)
        await missed(bot, old)
        await asyncio.sleep(2 * 3600)
        for text in ("Why is the shop so slow?", "Why is it slow?"):
            await missed(bot, await said(bot, text))
        await look_back(bot)
        assert len(bot.agent.questions) == 1 and bot.read(old) == []
        assert told(bot) == []


@on_virtual_time
async def test_where_no_channel_asks_by_reactions_none_is_read(tmp_path: Path) -> None:
    async with run_bot(**settings(tmp_path, "[channel]\n")) as bot:
        await said(bot, "Why is the shop so slow?")
        await look_back(bot)
        assert bot.calls("conversations.history") == []
