"""What is known of all agents when a question comes, though one of them does not answer."""

from __future__ import annotations

import asyncio
from functools import partial
from pathlib import Path

from slack_bot.http_client import Request, Response
from slack_bot.testing.harness import run_bot
from slack_bot.testing.tape.builders import answer
from slack_bot.testing.virtual_clock import on_virtual_time
from tests.features.routing.town import SKILLS, ByHost, skilled


class Slow(ByHost):
    """The card of one agent takes three seconds."""

    async def handle_async_request(self, request: Request) -> Response:
        if request.url.host == "ops.invalid" and "agent-card" in request.url.path:
            await asyncio.sleep(3)
        return await super().handle_async_request(request)


@on_virtual_time
async def test_a_question_does_not_wait_for_the_card_of_an_agent_that_is_slow(tmp_path: Path) -> None:
    (file := tmp_path / "slack_bot.toml").write_text(SKILLS, encoding="utf-8")
    agents = skilled()
    async with run_bot(*[answer("D.")] * 9, through=partial(Slow, agents=agents), config=str(file)) as bot:
        began = bot.now
        root = await bot.ask("deploy it")
        assert bot.now - began < 1.0  # it is acknowledged
        await bot.idle()
        assert bot.read(root) == ["D."]  # nothing was known of the one that fits
        await asyncio.sleep(10)
        root = await bot.ask("deploy it")
        await bot.idle()
        assert bot.read(root) == ["O."]
