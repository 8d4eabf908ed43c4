"""An agent puts an emoji on a message of its thread, where the channel lets it."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any

import pytest

from slack_bot.testing.harness import BotHarness, run_bot
from slack_bot.testing.memory_store import MemoryStore
from slack_bot.testing.tape.builders import answer
from slack_bot.testing.tape.tape import Moment, Tape
from slack_bot.testing.virtual_clock import on_virtual_time

ON = {"channel.actions": ["react"]}
EYES = {"action": "react", "name": "eyes"}


def acting(*acts: dict[str, Any], text: str = "Done.") -> Tape:
    """An answer before which the agent asks for these acts."""
    tape = answer(text)
    first, *rest = tape.moments
    parts = [{"kind": "data", "data": {"slack": act}} for act in acts]
    artifact = {"artifactId": "acts", "parts": parts}
    asked = {"kind": "artifact-update", "taskId": "task-1", "contextId": "ctx-1", "artifact": artifact}
    return replace(tape, moments=(first, Moment(0.15, event=asked), *rest))


async def asked(bot: BotHarness) -> str:
    root = await bot.ask("what now?")
    await bot.idle()
    return root


def emoji(bot: BotHarness, root: str, ts: str = "") -> list[str]:
    (message,) = [each for each in bot.thread(root) if each.ts == (ts or root)]
    return list(message.reactions or {})


def lines(bot: BotHarness, root: str) -> list[str]:
    return [text for text in bot.read(root) if "could not" in text]


@on_virtual_time
async def test_it_reacts_to_the_question_and_the_answer_does_not_show_the_order() -> None:
    async with run_bot(acting(EYES, EYES, {**EYES, "name": ":white_check_mark:"}), **ON) as bot:
        root = await asked(bot)
        assert emoji(bot, root) == ["eyes", "white_check_mark"]
        assert [text.strip() for text in bot.read(root)] == ["Done."]
        assert len(bot.calls("reactions.add")) == 2
        (told,) = bot.agent.questions
        assert told.params["message"]["metadata"]["slack"]["actions"] == ["react"]


@on_virtual_time
async def test_nothing_is_done_where_the_channel_does_not_allow_it(caplog: pytest.LogCaptureFixture) -> None:
    async with run_bot(acting(EYES)) as bot:
        root = await asked(bot)
        assert (emoji(bot, root), lines(bot, root)) == ([], [])
        assert [text.strip() for text in bot.read(root)] == ["Done."]
        assert "does not allow it" in caplog.text
        assert bot.app.features["agent_acts"].run is None
        assert "actions" not in bot.agent.questions[0].params["message"]["metadata"]["slack"]


@on_virtual_time
async def test_five_are_carried_out_and_one_line_tells_of_the_rest() -> None:
    many = [{**EYES, "name": f"e{number}"} for number in range(9)]
    async with run_bot(acting(*many), **ON) as bot:
        root = await asked(bot)
        assert emoji(bot, root) == [f"e{number}" for number in range(5)]
        (line,) = lines(bot, root)
        assert "more than 5 things" in line


@pytest.mark.parametrize(
    "act", [{"action": "react", "name": "<!channel>"}, {"action": "topic"}, {**EYES, "ts": "x"}]
)
@on_virtual_time
async def test_what_is_no_act_is_said_in_one_line(act: dict[str, Any]) -> None:
    async with run_bot(acting(act, {**act, "name": "(b)"}), **ON) as bot:
        root = await asked(bot)
        assert emoji(bot, root) == []
        assert len(lines(bot, root)) == 1
        assert "<!channel>" not in str(bot.read(root))


async def in_two_threads(tape: Tape) -> tuple[str, str, list[str], list[str], list[str]]:
    """A message of another thread, one of the thread of `tape`, what is on each, and what is said."""
    async with run_bot(answer("Hello."), answer("Hello.", ids="2"), tape, **ON) as bot:
        elsewhere, root = await asked(bot), await asked(bot)
        reply = await bot.say("and more", thread_ts=root, user="U2")
        await bot.ask("again", thread_ts=root)
        await bot.idle()
        return elsewhere, reply, emoji(bot, elsewhere), emoji(bot, root, reply), lines(bot, root)


@on_virtual_time
async def test_it_reacts_to_messages_of_its_own_thread_only() -> None:
    loop = asyncio.get_running_loop()
    began = loop.time()
    elsewhere, reply, *_ = await in_two_threads(acting(EYES))  # to learn how the messages will be named
    later = loop.time() - began
    elsewhere, reply = (f"{float(ts) + later:.6f}" for ts in (elsewhere, reply))
    tape = acting({**EYES, "ts": reply}, {**EYES, "ts": elsewhere})
    found = await in_two_threads(tape)
    assert found[:4] == (elsewhere, reply, [], ["eyes"])
    (line,) = found[4]
    assert "not in this thread" in line


@pytest.mark.parametrize("entry", ["internal_error", "timeout!", "ratelimited:5"])
@on_virtual_time
async def test_what_slack_does_not_take_now_is_done_later(entry: str) -> None:
    async with run_bot(acting(EYES), **ON) as bot:
        bot.workspace.faults.set("reactions.add", [*[entry] * 4, None])
        work = bot.app.features["agent_acts"].run
        assert work is not None
        running = asyncio.create_task(work())
        root = await asked(bot)
        await asyncio.sleep(600)
        running.cancel()
        assert (emoji(bot, root), lines(bot, root)) == (["eyes"], [])


@on_virtual_time
async def test_what_slack_refuses_is_said() -> None:
    async with run_bot(acting(EYES), **ON) as bot:
        bot.workspace.faults.set("reactions.add", ["invalid_name"])
        root = await asked(bot)
        (line,) = lines(bot, root)
        assert "Slack does not take it (invalid_name)" in line


@pytest.mark.parametrize("seconds", [0.12, 0.2, 0.5, 2.0])
@on_virtual_time
async def test_a_process_that_ends_leaves_it_to_the_next_one(seconds: float) -> None:
    store = MemoryStore(is_durable=True)
    async with run_bot(acting(EYES), store=store, **ON) as bot:
        bot.workspace.faults.set("reactions.add", ["timeout!"])
        root = await bot.ask("what now?")
        await asyncio.sleep(seconds)
        before = bot
        bot.life.end_now()
    async with run_bot(after=before, **ON) as bot:
        work = bot.app.features["agent_acts"].run
        assert work is not None
        running = asyncio.create_task(work())
        await bot.idle()
        await asyncio.sleep(120)
        running.cancel()
        assert emoji(bot, root) == ["eyes"]
        assert bot.thread(root)[-1].text.strip() == "Done."
