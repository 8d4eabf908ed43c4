"""An order to ask another agent outlives its process, and is carried out once."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from slack_bot.testing.harness import CHANNEL
from slack_bot.testing.virtual_clock import on_virtual_time
from tests.features.routing.test_another import new_root, open_modal
from tests.features.routing.town import of_hosts, town, work_of


@pytest.mark.parametrize("points", range(12))
@on_virtual_time
async def test_killed_at_any_point_the_other_agent_is_asked_once_in_one_thread(
    points: int, tmp_path: Path
) -> None:
    agents = of_hosts()
    async with town(tmp_path, agents=agents) as there:
        old = there.bot
        root = await old.ask("research: what is it?")
        await old.idle()
        await open_modal(old, root)
        old.workspace.fill_modal("U1", "Who shall answer?", "ops", now=old.now)
        old.workspace.submit("U1", now=old.now)
        envelopes = old.workspace.take()
        old.life.end_after(points)
        delivering = asyncio.create_task(old.deliver(envelopes))
        await asyncio.sleep(5.0)
        old.life.end_now()
        delivering.cancel()
    async with town(tmp_path, agents=agents, after=old) as there:
        running = asyncio.create_task(work_of(there.bot))
        await there.bot.deliver(envelopes, retry=1)
        await asyncio.sleep(120.0)
        await there.bot.idle()
        running.cancel()
        assert len(there.asked("ops")) == 1
        assert there.bot.read(new_root(there.bot))[-1] == "O."
        assert (
            len(
                [
                    each
                    for each in there.bot.workspace.history(CHANNEL)
                    if each.is_bot and not each.ephemeral_for
                ]
            )
            == 1
        )
