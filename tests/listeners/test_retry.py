"""The button that asks again."""

from __future__ import annotations

import pytest

from slack_bot.testing.harness import CHANNEL, BotHarness, run_bot
from slack_bot.testing.slack.workspace import Envelope
from slack_bot.testing.tape.builders import answer, failure
from slack_bot.testing.virtual_clock import on_virtual_time


async def failed(bot: BotHarness) -> tuple[str, str]:
    """A turn that failed: its thread and the message with the button."""
    root = await bot.ask("hi")
    await bot.idle()
    (seen,) = [seen for seen in bot.thread(root) if seen.is_bot]
    return root, seen.ts


async def press(bot: BotHarness, ts: str, user: str = "U1") -> None:
    bot.workspace.press(user, CHANNEL, ts, "retry", now=bot.now)
    assert await bot.deliver() == [200]
    await bot.idle()


@on_virtual_time
async def test_the_asker_s_press_asks_the_same_question_again_once() -> None:
    async with run_bot(failure("no luck"), answer("Luck.", seconds=5)) as bot:
        root, ts = await failed(bot)
        await press(bot, ts)
        await press(bot, ts)
        assert [call.text for call in bot.agent.questions] == ["hi", "hi"]
        assert bot.read(root)[-1] == "Luck."
        assert [text for _, text in bot.ephemeral(root)] == ["This question is already being asked again."]


@on_virtual_time
async def test_another_person_is_told_to_ask_for_themselves() -> None:
    async with run_bot(failure("no luck")) as bot:
        root, ts = await failed(bot)
        await press(bot, ts, user="U2")
        assert len(bot.agent.questions) == 1
        assert bot.ephemeral(root)[0][0] == "U2"
        assert "Only the person who asked" in bot.ephemeral(root)[0][1]


@on_virtual_time
async def test_after_a_restart_the_question_is_not_known_any_more() -> None:
    async with run_bot(failure("no luck"), retry_cache_size=0) as bot:
        root, ts = await failed(bot)
        await press(bot, ts)
        assert "Please ask it again" in bot.ephemeral(root)[0][1]


@on_virtual_time
async def test_a_bot_that_ends_says_so(caplog: pytest.LogCaptureFixture) -> None:
    async with run_bot(failure("no luck")) as bot:
        root, ts = await failed(bot)
        await bot.app.dispatcher.close(0.0)
        await press(bot, ts)
        assert "cannot take questions right now" in bot.ephemeral(root)[0][1]


@on_virtual_time
async def test_a_press_without_a_turn_is_acknowledged_and_dropped() -> None:
    async with run_bot() as bot:
        payload = {
            "type": "block_actions",
            "user": {"id": "U1"},
            "team": {"id": "T1"},
            "actions": [{"type": "button", "action_id": "retry", "block_id": "b", "value": ""}],
        }
        assert await bot.deliver([Envelope("e1", "interactive", payload)]) == [200]
        await bot.idle()
        assert bot.calls("chat.postEphemeral") == []
