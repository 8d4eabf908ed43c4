"""The same message at two replicas is kept once."""

from __future__ import annotations

import asyncio

import pytest

from slack_bot.clock import system_clock
from slack_bot.features.api.answers import Problem, RequestRefused
from slack_bot.features.api.outbox import Outbox
from slack_bot.inbound.access import HourlyQuestions, LocalHour
from slack_bot.settings.models import TurnSettings
from slack_bot.store.outbound import unfinished_outbound
from slack_bot.testing.memory_store import MemoryStore
from slack_bot.turn.outbound import OutboundMessage

CI = ("key", "ci")


def together(team: str) -> str:
    """There is one workspace only."""
    return ""


def outboxes(store: MemoryStore) -> list[Outbox]:
    clock = system_clock()
    hourly = [HourlyQuestions(TurnSettings(), LocalHour(store, clock, together), together) for _ in range(2)]
    return [Outbox(store, each, clock) for each in hourly]


async def test_two_replicas_keep_one() -> None:
    boxes = outboxes(store := MemoryStore())
    message = OutboundMessage("a", channel="C1")
    await asyncio.gather(*(box.put(CI, "1", message, 9, "f") for box in boxes * 3))
    assert len(await unfinished_outbound(store)) == 1


async def test_of_two_bodies_at_once_one_is_a_conflict() -> None:
    boxes = outboxes(store := MemoryStore())
    puts = [
        box.put(CI, "1", OutboundMessage(text, channel="C1"), 9, text)
        for box, text in zip(boxes, ("a", "b"), strict=True)
    ]
    found = await asyncio.gather(*puts, return_exceptions=True)
    (refusal,) = [each for each in found if isinstance(each, RequestRefused)]
    assert refusal.problem is Problem.CONFLICT
    assert len(await unfinished_outbound(store)) == 1


async def test_ids_of_one_sender_are_not_those_of_another() -> None:
    (box, _) = outboxes(MemoryStore())
    await box.put(CI, "1", OutboundMessage("a", channel="C1"), 9)
    assert await box.find(CI, "1") is not None
    assert await box.find(("key", "other"), "1") is None
    assert await box.find(("hook", "ci"), "1") is None
    with pytest.raises(RequestRefused):
        for number in range(3):
            await box.put(("key", "slow"), str(number), OutboundMessage("a", channel="C1"), 2)
