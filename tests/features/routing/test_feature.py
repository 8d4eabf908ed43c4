"""What the feature adds to a bot, and that it adds nothing where there is one agent."""

from __future__ import annotations

from pathlib import Path

from slack_bot.testing.virtual_clock import on_virtual_time
from slack_bot.threads.ports import AgentRouting
from tests.features.routing.town import FILE, town


@on_virtual_time
async def test_a_bot_with_one_agent_has_nothing_of_it(tmp_path: Path) -> None:
    async with town(tmp_path, "") as there:
        assert type(there.bot.app.threads.routing) is AgentRouting
        work = there.bot.app.features["routing"]
        assert work.buttons == () and work.run is None
    async with town(tmp_path, FILE) as there:
        work = there.bot.app.features["routing"]
        assert "choose_agent" in {button.name for button in work.buttons} and work.run is not None
