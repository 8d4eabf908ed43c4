"""An edited question that has the name of its agent in front."""

from __future__ import annotations

import asyncio
from pathlib import Path

from slack_bot.testing.harness import CHANNEL
from slack_bot.testing.virtual_clock import on_virtual_time
from slack_bot.turn.buttons import TurnButton
from tests.features.routing.town import town


@on_virtual_time
async def test_the_agent_is_asked_the_new_words_without_its_name(tmp_path: Path) -> None:
    async with town(tmp_path) as there:
        bot = there.bot
        root = await bot.ask("research: one")
        await bot.idle()
        text = f"<@{bot.workspace.bot.user_id}> research: two"
        bot.workspace.edit(CHANNEL, root, text, now=bot.now)
        await bot.deliver()
        await asyncio.sleep(1)
        (offer,) = [each for each in bot.thread(root) if each.ephemeral_for]
        bot.workspace.press("U1", CHANNEL, offer.ts, TurnButton.RETRY, now=bot.now)
        await bot.deliver()
        await asyncio.sleep(1)
        await bot.idle()
        assert there.asked("research") == ["one", "two"]
