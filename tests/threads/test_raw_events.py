"""The agent's raw events go to the meter of a turn and to who observes them, and nowhere else."""

from __future__ import annotations

from typing import Any

import pytest

from slack_bot.observe.facts import AgentEvent, Fact, ToAll
from slack_bot.testing.harness import run_bot
from slack_bot.testing.virtual_clock import on_virtual_time
from tests.features.usage.test_limits import ask, costs


class Keeper:
    """An observer that wants the events."""

    wants_details, wants_events = False, True

    def __init__(self) -> None:
        self.raw = list[Any]()

    def __call__(self, fact: Fact) -> None:
        if isinstance(fact, AgentEvent):
            self.raw.append(fact.raw)


@pytest.mark.parametrize("footer", ["none", "tokens"])
@on_virtual_time
async def test_who_observes_gets_each_event_and_the_meter_where_it_counts(footer: str) -> None:
    keeper = Keeper()
    async with run_bot(costs(40), observer=ToAll(keeper), **{"channel.footer": footer}) as bot:
        root = await ask(bot)
        (seen,) = [each for each in bot.thread(root) if each.is_bot]
        assert ("40 tokens" in str(seen.blocks)) == (footer == "tokens")
        kinds = [each["kind"] for each in keeper.raw]
        assert kinds == ["task", "artifact-update", "status-update"]
