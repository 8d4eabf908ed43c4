"""What an agent suggests to ask next is asked by a button, once, as the person who presses it."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any

import pytest

from slack_bot.testing.harness import CHANNEL, BotHarness, run_bot
from slack_bot.testing.memory_store import MemoryStore
from slack_bot.testing.slack.workspace import SeenMessage
from slack_bot.testing.tape.builders import answer, failure
from slack_bot.testing.tape.tape import Tape
from slack_bot.testing.virtual_clock import on_virtual_time

FIRST, SECOND = "Which logs are old?", "Who may delete them?"


def suggesting(*suggested: object, text: str = "Delete the old logs.", ids: str = "1") -> Tape:
    """An answer whose last event names what to ask next."""
    tape = answer(text, ids=ids)
    *before, last, end = tape.moments
    event = {**(last.event or {}), "metadata": {"follow_up_questions": list(suggested)}}
    return replace(tape, moments=(*before, replace(last, event=event), end))


async def asked(bot: BotHarness) -> tuple[str, SeenMessage]:
    root = await bot.ask("what now?")
    await bot.idle()
    (seen,) = [each for each in bot.thread(root) if each.is_bot and not each.ephemeral_for]
    return root, seen


def offered(seen: SeenMessage) -> list[dict[str, Any]]:
    return [
        element
        for block in seen.blocks
        for element in block.get("elements", ())
        if str(element.get("action_id", "")).startswith("next_question")
    ]


async def press(bot: BotHarness, seen: SeenMessage, number: int = 1, user: str = "U1") -> str:
    """What the person reads of it."""
    before = len(bot.calls("chat.postEphemeral"))
    bot.workspace.press(user, CHANNEL, seen.ts, f"next_question-{number}", now=bot.now)
    await bot.deliver()
    await bot.idle()
    return "".join(post["text"] for post in bot.calls("chat.postEphemeral")[before:])


def texts(bot: BotHarness, root: str) -> list[str]:
    return [each.text.strip() for each in bot.thread(root) if each.is_bot and not each.ephemeral_for]


@on_virtual_time
async def test_a_press_asks_it_once_and_the_thread_shows_what_was_asked() -> None:
    tapes = suggesting(FIRST, {"label": "Who?", "prompt": SECOND}), suggesting(FIRST, ids="2"), answer("You.")
    async with run_bot(*tapes) as bot:
        root, seen = await asked(bot)
        assert [each["text"]["text"] for each in offered(seen)] == [FIRST, "Who?"]
        assert {tuple(each["visible_to_user_ids"]) for each in offered(seen)} == {("U1",)}
        assert "agent_prompt" not in str(seen.blocks)
        assert await press(bot, seen, 2) == ""
        assert texts(bot, root)[1:] == [f"<@U1> asks: {SECOND}", "Delete the old logs."]
        assert bot.agent.questions[-1].text == SECOND
        assert "asked already" in await press(bot, seen, 2)
        assert len(texts(bot, root)) == 3

        following = next(each for each in bot.thread(root)[::-1] if offered(each))
        assert await press(bot, following) == ""
        assert texts(bot, root)[3:] == [f"<@U1> asks: {FIRST}", "You."]


@on_virtual_time
async def test_only_the_asker_may() -> None:
    async with run_bot(suggesting(FIRST)) as bot:
        root, seen = await asked(bot)
        assert "Only the person who asked" in await press(bot, seen, user="U2")
        assert len(texts(bot, root)) == 1


@on_virtual_time
async def test_it_counts_for_the_limits() -> None:
    async with run_bot(suggesting(FIRST, SECOND), answer("Those."), **{"turns.hourly_person": 2}) as bot:
        root, seen = await asked(bot)
        assert await press(bot, seen) == ""
        assert "2 questions" in await press(bot, seen, 2)
        assert "asked already" in await press(bot, seen)
        assert len(texts(bot, root)) == 3


@on_virtual_time
async def test_a_channel_says_how_many_are_shown() -> None:
    many = [f"Question {number}?" for number in range(9)]
    for most, shown in ((None, 3), (5, 5), (1, 1), (0, 0)):
        settings = {} if most is None else {"channel.suggestions": most}
        async with run_bot(suggesting(*many), **settings) as bot:
            assert len(offered((await asked(bot))[1])) == shown


@on_virtual_time
async def test_what_is_not_shown_as_it_was_sent_is_not_offered() -> None:
    bad = ["<!channel> wake up", "token xoxb-123456789012-abcdefghijklmnop", "a\x00b", "x" * 1_001, " ", 7]
    async with run_bot(suggesting(*bad, f"{FIRST}\n", FIRST, "y" * 100)) as bot:
        _, seen = await asked(bot)
        assert [each["text"]["text"] for each in offered(seen)] == [FIRST, "y" * 74 + "…"]
        await press(bot, seen, 2)
        assert bot.agent.questions[-1].text == "y" * 100


@on_virtual_time
async def test_a_failed_answer_offers_none_and_try_again_shows_the_line_once() -> None:
    async with run_bot(suggesting(FIRST), failure("no", ids="2"), answer("Those.", ids="3")) as bot:
        root, seen = await asked(bot)
        await press(bot, seen)
        failed = bot.thread(root)[-1]
        assert not offered(failed)
        bot.workspace.press("U1", CHANNEL, failed.ts, "retry", now=bot.now)
        await bot.deliver()
        await bot.idle()
        assert [each.text for each in bot.agent.questions[-2:]] == [FIRST, FIRST]
        assert [text for text in texts(bot, root) if "asks:" in text] == [f"<@U1> asks: {FIRST}"]
        assert texts(bot, root)[-1] == "Those."


@pytest.mark.parametrize("entry", ["ratelimited:5", "internal_error", "timeout!", "invalid_blocks"])
@on_virtual_time
async def test_the_question_is_asked_though_slack_does_not_take_its_line(entry: str) -> None:
    async with run_bot(suggesting(FIRST), answer("Those.")) as bot:
        root, seen = await asked(bot)
        bot.workspace.faults.set("chat.postMessage", [entry])
        await press(bot, seen)
        assert texts(bot, root)[-1] == "Those."
        assert len([text for text in texts(bot, root) if "asks:" in text]) <= 1


@pytest.mark.parametrize("seconds", [0.01, 0.05, 0.3, 1.0, 2.0, 3.0])
@on_virtual_time
async def test_a_process_that_ends_leaves_line_and_answer_to_the_next_one(seconds: float) -> None:
    store = MemoryStore(is_durable=True)
    async with run_bot(suggesting(FIRST), answer("Those.", ids="2"), store=store) as bot:
        root, seen = await asked(bot)
        bot.workspace.press("U1", CHANNEL, seen.ts, "next_question-1", now=bot.now)
        delivery = asyncio.create_task(bot.deliver())
        await asyncio.sleep(seconds)
        before = bot
        bot.life.end_now()
        delivery.cancel()
    async with run_bot(after=before) as bot:
        await bot.deliver()
        await bot.idle()
        await asyncio.sleep(60)
        await bot.idle()
        _, line, last = [each for each in bot.thread(root) if each.is_bot]
        assert line.text == f"<@U1> asks: {FIRST}"
        # of a question that may have reached the agent, which named no task yet, nothing can be learned
        assert last.text == "Those." or "retry" in str(last.blocks)
