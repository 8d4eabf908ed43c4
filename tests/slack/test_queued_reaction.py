"""The mark on a question that waits: set, taken away, never left behind."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import pytest

from slack_bot.settings.models import GovernorSettings
from slack_bot.slack.api import SlackApi
from slack_bot.slack.queued_reaction import WAITING_REACTION, QueuedReaction
from slack_bot.slack.rate_limiter.local import LocalRateLimiter
from slack_bot.testing import virtual_clock

from .scene import Scene

ADD, REMOVE = "reactions.add", "reactions.remove"


def calls(
    over_after: float, *, before: int = 0, faults: dict[str, Sequence[str | None]] | None = None
) -> list[str]:
    """The calls of a mark whose question waits so long, `before` others of a budget of one a minute."""

    async def story() -> Scene:
        scene = Scene(faults)
        settings = GovernorSettings(others_per_minute=1, rate_utilization=1, burst_share=1)
        gate = LocalRateLimiter(settings, scene.clock)
        api = SlackApi(scene.client, scene.clock, scene.facts.append, 0.0, gate=gate)
        for _ in range(before):
            await api.call(ADD, {"channel": "C1", "timestamp": scene.root, "name": "eyes"})
        mark = QueuedReaction(api, "C1", scene.root, "turn")
        showing = asyncio.create_task(mark.show())
        await asyncio.sleep(over_after)
        mark.over()
        await showing
        assert gate.waiting == 0
        (message,) = scene.workspace.thread("C1", scene.root)
        assert not (message.reactions or {}).get(WAITING_REACTION)
        return scene

    return virtual_clock.run(story()).methods()[before:]


def test_it_stands_as_long_as_the_question_waits() -> None:
    assert calls(10) == [ADD, REMOVE]


def test_it_is_not_set_any_more_when_the_turn_came_first() -> None:
    assert calls(10, before=1) == []
    assert calls(100, before=1) == [ADD, REMOVE]


@pytest.mark.parametrize(
    ("fault", "made"),
    [("missing_scope", [ADD]), ("timeout!", [ADD, REMOVE]), ("already_reacted", [ADD])],
)
def test_what_was_refused_is_not_taken_away(fault: str, made: list[str]) -> None:
    assert calls(100, faults={ADD: [fault]}) == made
