"""An edited question that has the name of its agent in front."""

from __future__ import annotations

import asyncio
from pathlib import Path

from slack_bot.testing.harness import CHANNEL
from slack_bot.testing.virtual_clock import on_virtual_time
from slack_bot.text.words import QUESTION_REWORDED_LATE
from slack_bot.turn.buttons import TurnButton
from tests.features.routing.town import Town, town


async def edited(there: Town, root: str, ts: str, text: str) -> None:
    """The message of the thread says `text` now, and its asker presses the button that offers to ask that."""
    bot = there.bot
    bot.workspace.edit(CHANNEL, ts, text, now=bot.now)
    await bot.deliver()
    await asyncio.sleep(1)
    (offer,) = [each for each in bot.thread(root) if each.text == QUESTION_REWORDED_LATE]
    bot.workspace.press("U1", CHANNEL, offer.ts, TurnButton.RETRY, now=bot.now)
    await bot.deliver()
    await asyncio.sleep(1)
    await bot.idle()


@on_virtual_time
async def test_the_agent_is_asked_the_new_words_without_its_name(tmp_path: Path) -> None:
    async with town(tmp_path) as there:
        root = await there.bot.ask("research: one")
        await there.bot.idle()
        await edited(there, root, root, f"<@{there.bot.workspace.bot.user_id}> research: two")
        assert there.asked("research") == ["one", "two"]


@on_virtual_time
async def test_words_without_a_mention_are_asked_as_they_are(tmp_path: Path) -> None:
    """In front of them a name chooses nothing: it may be a word of the question."""
    async with town(tmp_path) as there:
        root = await there.bot.ask("research: one")
        await there.bot.idle()
        reply = await there.bot.say("research: what is new?", thread_ts=root)
        await there.bot.idle()
        await edited(there, root, reply, "research: what is new there?")
        assert there.asked("research") == ["one", "research: what is new?", "research: what is new there?"]
