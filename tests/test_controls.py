"""Who may stop a turn, ask again, and say what the answer was worth."""

from __future__ import annotations

import asyncio
from typing import Any

from slack_bot.testing.harness import CHANNEL, run_bot
from slack_bot.testing.memory_store import MemoryStore
from slack_bot.testing.tape.builders import answer, failure, task
from slack_bot.testing.tape.tape import Moment, Tape
from slack_bot.testing.virtual_clock import on_virtual_time

from .test_dispatch import asked, thread_of


@on_virtual_time
async def test_a_stop_ends_the_running_turn_of_its_thread() -> None:
    async with run_bot(answer("A very long answer indeed.", seconds=60)) as bot:
        root = await bot.ask("hi")
        await asyncio.sleep(20)
        assert not await bot.app.dispatcher.controls.stop(thread_of("9.9"), "U1")
        assert await bot.app.dispatcher.controls.stop(thread_of(root), "U1")
        await bot.idle()
        assert bot.outcomes == ["stopped"]
        assert any(call.method == "tasks/cancel" for call in bot.agent.calls)
        assert not await bot.app.dispatcher.controls.stop(thread_of(root), "U1")


@on_virtual_time
async def test_the_asker_s_word_stop_stops_and_is_no_question() -> None:
    async with run_bot(answer("A very long answer indeed.", seconds=60), answer("Stopping what?")) as bot:
        root = await bot.ask("hi")
        await asyncio.sleep(20)
        await bot.ask("Stop!", thread_ts=root)
        await bot.idle()
        assert bot.outcomes == ["stopped"]
        assert len(asked(bot)) == 1
        await bot.ask("stop", thread_ts=root)  # nothing runs: then it is a question
        await bot.idle()
        assert asked(bot)[1][0] == "stop"


@on_virtual_time
async def test_after_a_stop_of_a_silent_agent_a_notice_says_the_truth_and_the_next_question_runs() -> None:
    """Agents that do not stream send nothing, not even their task's id, until the end."""
    slow = Tape({"wire": "0.3"}, (Moment(1200.0, event=task()), Moment(1200.1, end="closed")))
    async with run_bot(slow, answer("Here I am.")) as bot:
        root = await bot.ask("hi")
        await asyncio.sleep(10)
        await bot.app.dispatcher.controls.stop(thread_of(root), "U1")
        await bot.ask("and now?", thread_ts=root)
        await asyncio.sleep(60)
        assert bot.outcomes == ["stopped", "answered"]
        (notice, answered) = [seen for seen in bot.thread(root) if seen.is_bot]
        assert "could not be stopped and may still be working" in str(notice.blocks)
        assert answered.text == "Here I am."


@on_virtual_time
async def test_another_s_word_stop_waits_its_turn_as_a_question() -> None:
    async with run_bot(answer("One.", seconds=20), answer("Two.")) as bot:
        root = await bot.ask("hi")
        await bot.ask("stop", user="U2", thread_ts=root)
        await bot.idle()
        assert bot.outcomes == ["answered", "answered"]


@on_virtual_time
async def test_a_question_can_be_asked_again_once_by_its_asker() -> None:
    async with run_bot(failure("no luck"), answer("Luck.")) as bot:
        root = await bot.ask("hi")
        await bot.idle()
        key = f"T1:{CHANNEL}:{root}"
        controls = bot.app.dispatcher.controls
        assert (await controls.retry(key, "U2") or "").startswith("Only the person who asked")
        assert (await controls.retry("T1:C1:9.9", "U1") or "").startswith("I no longer know")
        assert await controls.retry(key, "U1") is None
        assert await controls.retry(key, "U1") == "This question is already being asked again."
        await bot.idle()
        assert bot.outcomes == ["failed", "answered"]
        assert bot.read(root)[-1] == "Luck."
        messages = [call.params["message"]["messageId"] for call in bot.agent.questions]
        assert len(set(messages)) == 2
        assert await bot.app.dispatcher.controls.retry(f"{key}:1", "U1") is None
        await bot.idle()


@on_virtual_time
async def test_feedback_is_stored_with_the_wall_clock_s_time() -> None:
    class Noting(MemoryStore):
        async def save_feedback(self, *given: Any) -> bool:
            noted.append(given)
            return await super().save_feedback(*given)

    noted: list[tuple[Any, ...]] = []
    async with run_bot(store=Noting()) as bot:
        assert await bot.app.dispatcher.controls.feedback("turn", "U1", "positive")
        assert noted == [("turn", "U1", "positive", bot.now)]
        assert not await bot.app.dispatcher.controls.feedback("turn", "U1", "positive")
