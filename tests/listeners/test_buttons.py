"""Feedback, retry and stop."""

from __future__ import annotations

import asyncio

import pytest

from slack_bot.errors import StoreError
from slack_bot.store.memory import MemoryStore
from slack_bot.testing.harness import CHANNEL, BotHarness, run_bot
from slack_bot.testing.slack.workspace import Envelope
from slack_bot.testing.tape.builders import answer, failure
from slack_bot.testing.virtual_clock import on_virtual_time

from .payloads import event

# -- feedback


@pytest.mark.parametrize("side", ["positive", "negative"])
@on_virtual_time
async def test_feedback_is_stored_and_thanked_for_in_private(side: str) -> None:
    store = MemoryStore()
    async with run_bot(store=store) as bot:
        root = await bot.ask("hi")
        await bot.idle()
        (seen,) = [seen for seen in bot.thread(root) if seen.is_bot]
        bot.workspace.press("U2", CHANNEL, seen.ts, "feedback", now=bot.now, value=side)
        assert await bot.deliver() == [200]
        await bot.idle()
        assert not await store.save_feedback(f"T1:{CHANNEL}:{root}", "U2", side, bot.now)  # it is there
        assert bot.ephemeral(root) == [("U2", "Thanks for your feedback.")]


@on_virtual_time
async def test_the_same_feedback_again_is_not_thanked_for_and_another_value_is() -> None:
    store = MemoryStore()
    async with run_bot(store=store) as bot:
        root = await bot.ask("hi")
        await bot.idle()
        (seen,) = [seen for seen in bot.thread(root) if seen.is_bot]
        for value in ("positive", "positive", "negative"):
            bot.workspace.press("U2", CHANNEL, seen.ts, "feedback", now=bot.now, value=value)
            await bot.deliver()
            await bot.idle()
        assert not await store.save_feedback(f"T1:{CHANNEL}:{root}", "U2", "negative", bot.now)
        assert bot.ephemeral(root) == [("U2", "Thanks for your feedback.")] * 2


@on_virtual_time
async def test_feedback_that_cannot_be_stored_gets_a_notice() -> None:
    store = MemoryStore()

    async def full(*_: object) -> bool:
        raise StoreError("The disk is full.")

    store.save_feedback = full  # type: ignore[method-assign]
    async with run_bot(store=store) as bot:
        root = await bot.ask("hi")
        await bot.idle()
        (seen,) = [seen for seen in bot.thread(root) if seen.is_bot]
        bot.workspace.press("U1", CHANNEL, seen.ts, "feedback", now=bot.now, value="positive")
        await bot.deliver()
        await bot.idle()
        assert "could not be stored" in bot.ephemeral(root)[0][1]


@on_virtual_time
async def test_feedback_of_an_unknown_shape_is_acknowledged_and_dropped() -> None:
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


# -- retry


async def failed(bot: BotHarness) -> tuple[str, str]:
    """A turn that failed: its thread and the message with the button."""
    root = await bot.ask("hi")
    await bot.idle()
    (seen,) = [seen for seen in bot.thread(root) if seen.is_bot]
    return root, seen.ts


async def press_retry(bot: BotHarness, ts: str, user: str = "U1") -> None:
    bot.workspace.press(user, CHANNEL, ts, "retry", now=bot.now)
    assert await bot.deliver() == [200]
    await bot.idle()


@on_virtual_time
async def test_the_asker_s_press_asks_the_same_question_again_once() -> None:
    async with run_bot(failure("no luck"), answer("Luck.", seconds=5)) as bot:
        root, ts = await failed(bot)
        await press_retry(bot, ts)
        await press_retry(bot, ts)
        assert [call.text for call in bot.agent.questions] == ["hi", "hi"]
        assert bot.read(root)[-1] == "Luck."
        assert [text for _, text in bot.ephemeral(root)] == ["This question is already being asked again."]


@on_virtual_time
async def test_another_person_is_asked_to_write_a_question_of_their_own() -> None:
    async with run_bot(failure("no luck")) as bot:
        root, ts = await failed(bot)
        await press_retry(bot, ts, user="U2")
        assert len(bot.agent.questions) == 1
        assert bot.ephemeral(root)[0][0] == "U2"
        assert "Only the person who asked" in bot.ephemeral(root)[0][1]


@on_virtual_time
async def test_after_a_restart_the_question_is_unknown() -> None:
    async with run_bot(failure("no luck"), retry_cache_size=0) as bot:
        root, ts = await failed(bot)
        await press_retry(bot, ts)
        assert "Please ask it again" in bot.ephemeral(root)[0][1]


@on_virtual_time
async def test_a_bot_that_ends_says_so() -> None:
    async with run_bot(failure("no luck")) as bot:
        root, ts = await failed(bot)
        await bot.app.dispatcher.close(0.0)
        await press_retry(bot, ts)
        assert "cannot take questions right now" in bot.ephemeral(root)[0][1]


@on_virtual_time
async def test_a_retry_without_a_turn_is_acknowledged_and_dropped() -> None:
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


# -- stop


@pytest.mark.parametrize("user", ["U1", "U2"])
@on_virtual_time
async def test_anybody_s_stop_ends_the_turn_and_cancels_the_task(user: str) -> None:
    async with run_bot(answer("one two three four five six", seconds=60)) as bot:
        root = await bot.ask("hi")
        await asyncio.sleep(20)
        before = bot.read(root)
        bot.workspace.stop(user, CHANNEL, root, now=bot.now)
        await bot.deliver()
        await bot.idle()
        assert bot.outcomes == ["stopped"]
        assert bot.read(root)[0].startswith(before[0].strip())
        assert "six" not in "".join(bot.read(root))
        assert [call.method for call in bot.agent.calls][-1] == "tasks/cancel"


@on_virtual_time
async def test_a_stop_where_nothing_runs_does_nothing() -> None:
    async with run_bot() as bot:
        body = event("agent_session_stopped", thread_ts="9.9", user="U1", streaming_message_ts=[])
        assert await bot.deliver([Envelope("e1", "events_api", body)]) == [200]
        await bot.idle()
        assert bot.agent.calls == []


@on_virtual_time
async def test_a_stop_without_a_thread_is_acknowledged_and_dropped() -> None:
    async with run_bot() as bot:
        assert await bot.deliver([Envelope("e1", "events_api", event("agent_session_stopped"))]) == [200]
        await bot.idle()
