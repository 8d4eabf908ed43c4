"""A press of the feedback buttons is kept, and the person is thanked."""

from __future__ import annotations

import pytest

from slack_bot.errors import StoreError
from slack_bot.store.memory import MemoryStore
from slack_bot.testing.harness import CHANNEL, run_bot
from slack_bot.testing.slack.workspace import Envelope
from slack_bot.testing.virtual_clock import on_virtual_time


@pytest.mark.parametrize("side", ["positive", "negative"])
@on_virtual_time
async def test_a_press_is_kept_with_who_and_when_and_thanked_for_in_private(side: str) -> None:
    store = MemoryStore()
    async with run_bot(store=store) as bot:
        root = await bot.ask("hi")
        await bot.idle()
        (seen,) = [seen for seen in bot.thread(root) if seen.is_bot]
        bot.workspace.press("U2", CHANNEL, seen.ts, "feedback", now=bot.now, value=side)
        assert await bot.deliver() == [200]
        await bot.idle()
        (press,) = await store.feedback.entries(f"T1:{CHANNEL}:{root}")
        assert (press.user, press.value, press.at <= bot.now) == ("U2", side, True)
        assert bot.ephemeral(root) == [("U2", "Thanks for your feedback.")]


@on_virtual_time
async def test_the_same_press_again_is_not_thanked_for_again_and_another_one_is() -> None:
    store = MemoryStore()
    async with run_bot(store=store) as bot:
        root = await bot.ask("hi")
        await bot.idle()
        (seen,) = [seen for seen in bot.thread(root) if seen.is_bot]
        for value in ("positive", "positive", "negative"):
            bot.workspace.press("U2", CHANNEL, seen.ts, "feedback", now=bot.now, value=value)
            await bot.deliver()
            await bot.idle()
        assert [press.value for press in await store.feedback.entries(f"T1:{CHANNEL}:{root}")] == ["negative"]
        assert bot.ephemeral(root) == [("U2", "Thanks for your feedback.")] * 2


@on_virtual_time
async def test_a_press_that_cannot_be_kept_is_told() -> None:
    store = MemoryStore()

    async def full(press: object) -> None:
        raise StoreError("The disk is full.")

    store.feedback.record = full  # type: ignore[method-assign,assignment]
    async with run_bot(store=store) as bot:
        root = await bot.ask("hi")
        await bot.idle()
        (seen,) = [seen for seen in bot.thread(root) if seen.is_bot]
        bot.workspace.press("U1", CHANNEL, seen.ts, "feedback", now=bot.now, value="positive")
        await bot.deliver()
        await bot.idle()
        assert "could not be stored" in bot.ephemeral(root)[0][1]


@on_virtual_time
async def test_a_press_of_an_unknown_shape_is_acknowledged_and_dropped() -> None:
    async with run_bot() as bot:
        payload = {
            "type": "block_actions",
            "user": {"id": "U1"},
            "team": {"id": "T1"},
            "actions": [
                {"type": "feedback_buttons", "action_id": "feedback", "block_id": "b", "value": "sideways|t"}
            ],
        }
        assert await bot.deliver([Envelope("e1", "interactive", payload)]) == [200]
        await bot.idle()
        assert bot.calls("chat.postEphemeral") == []
