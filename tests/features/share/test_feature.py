"""An answer goes to its channel too, once, when its asker wants that."""

from __future__ import annotations

import asyncio

import pytest

from slack_bot.testing.harness import CHANNEL, BotHarness, run_bot
from slack_bot.testing.memory_store import MemoryStore
from slack_bot.testing.slack.workspace import SeenMessage
from slack_bot.testing.tape.builders import answer, question
from slack_bot.testing.virtual_clock import on_virtual_time

ON = {"channel.share": True}
TEXT = "Delete the **old logs**."


async def asked(bot: BotHarness) -> SeenMessage:
    """The answer to a question of U1."""
    root = await bot.ask("what now?")
    await bot.idle()
    (seen,) = [each for each in bot.thread(root) if each.is_bot]
    return seen


async def press(bot: BotHarness, seen: SeenMessage, user: str = "U1") -> str:
    """What the person reads of it."""
    before = len(bot.calls("chat.postEphemeral"))
    bot.workspace.press(user, CHANNEL, seen.ts, "share", now=bot.now)
    await bot.deliver()
    await bot.idle()
    return "".join(post["text"] for post in bot.calls("chat.postEphemeral")[before:])


def in_channel(bot: BotHarness) -> list[str]:
    return [each.text for each in bot.workspace.history(CHANNEL) if each.author == bot.workspace.bot.user_id]


@on_virtual_time
async def test_its_text_and_a_link_are_posted_once() -> None:
    async with run_bot(answer(TEXT), **ON) as bot:
        seen = await asked(bot)
        assert "is in the channel now" in await press(bot, seen)
        (post,) = in_channel(bot)
        assert post.startswith("<@U1> shares an answer ([thread](https://")
        assert TEXT in post
        assert "sent to the channel already" in await press(bot, seen)
        assert len(in_channel(bot)) == 1


@on_virtual_time
async def test_only_the_asker_may() -> None:
    async with run_bot(answer(TEXT), **ON) as bot:
        seen = await asked(bot)
        assert "Only the person who asked" in await press(bot, seen, "U2")
        assert in_channel(bot) == []


@on_virtual_time
async def test_a_long_answer_is_cut_and_the_rest_is_named() -> None:
    async with run_bot(answer("word " * 2000), **ON) as bot:
        root = await bot.ask("what now?")
        await bot.idle()
        seen = [each for each in bot.thread(root) if each.is_bot][-1]
        await press(bot, seen)
        (post,) = in_channel(bot)
        assert len(post) < 3_500 and "The rest is [in the thread](https://" in post


@pytest.mark.parametrize("entry", ["ratelimited:5", "internal_error", "timeout!"])
@on_virtual_time
async def test_what_slack_does_not_take_now_is_posted_later(entry: str) -> None:
    async with run_bot(answer(TEXT), **ON) as bot:
        seen = await asked(bot)
        bot.workspace.faults.set("chat.postMessage", [*[entry] * 4, None])
        work = bot.app.features["share"].run
        assert work is not None
        running = asyncio.create_task(work())
        await press(bot, seen)
        await asyncio.sleep(600)
        running.cancel()
        assert len(in_channel(bot)) == 1


@on_virtual_time
async def test_a_process_that_ends_before_the_post_leaves_it_to_the_next_one() -> None:
    store = MemoryStore(is_durable=True)
    async with run_bot(answer(TEXT), store=store, **ON) as bot:
        seen = await asked(bot)
        bot.workspace.press("U1", CHANNEL, seen.ts, "share", now=bot.now)
        bot.workspace.faults.set("chat.postMessage", ["timeout!"])
        delivery = asyncio.create_task(bot.deliver())
        await asyncio.sleep(5)
        before = bot
        bot.life.end_now()
        delivery.cancel()
    async with run_bot(after=before, **ON) as bot:
        work = bot.app.features["share"].run
        assert work is not None
        running = asyncio.create_task(work())
        await asyncio.sleep(120)
        running.cancel()
        assert len(in_channel(bot)) == 1


@on_virtual_time
async def test_the_button_is_there_for_answers_of_channels_that_have_it() -> None:
    async with run_bot(answer(TEXT), question("Which one?"), **ON) as bot:
        assert "share" in str((await asked(bot)).blocks)
        assert "'share'" not in str((await asked(bot)).blocks)
        direct = bot.workspace.direct("U1")
        ts = await bot.say("what now?", channel=direct)
        await bot.idle()
        assert "'share'" not in str([each.blocks for each in bot.thread(ts, direct)])
    async with run_bot(answer(TEXT)) as bot:
        assert "'share'" not in str((await asked(bot)).blocks)
        assert bot.app.features["share"].run is None
