"""Loops: what the bot writes by itself is never a question, and another bot that answers it always comes to
an end, for each way in.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from slack_bot.store.outbound import accept_outbound
from slack_bot.testing.harness import CHANNEL, BotHarness, run_bot
from slack_bot.testing.tape.builders import answer
from slack_bot.testing.virtual_clock import on_virtual_time
from slack_bot.turn.outbound import OutboundMessage, OutboundRecord
from tests.features.schedules.test_timer import HOUR, pass_time

OTHER = "U7"
READS = '[channel]\nrespond = "channel"\nask = "What is it?"\nreactions = { eyes = "ask" }\n'
MENTION = "<@{me}> what is new?"
SCHEDULE = f"""
[schedules.news]
cron = "0 * * * *"
channel = "{CHANNEL}"
ask = "{MENTION}"
headline = "{MENTION}"
"""


@asynccontextmanager
async def in_open_channel(folder: Path, file: str = "", tapes: int = 200) -> AsyncIterator[BotHarness]:
    """Our bot where each message is a question, all bots may ask, itself and another one included."""
    (config := folder / "slack_bot.toml").write_text(READS)
    async with run_bot(config=str(config)) as bot:
        me = bot.workspace.bot
        config.write_text(f"{READS}{file.format(me=me.user_id)}")
    text = f"<@{me.user_id}> and <!channel>: all is well."
    allowed = [CHANNEL, me.user_id, me.bot_id, OTHER]
    answers = [answer(text, ids=str(number)) for number in range(tapes)]
    async with run_bot(*answers, config=str(config), allowed_bots=allowed) as bot:
        bot.workspace.add_user(OTHER, is_bot=True)
        yield bot


async def with_other_bot(bot: BotHarness, reply: Callable[[BotHarness, str], None], seconds: float) -> None:
    """Another bot does `reply` to the thread of each message of ours, at once, for so long."""
    answered, made = set[str](), 0

    async def keep_answering() -> None:
        nonlocal made
        while True:
            await bot.deliver()
            is_new, made = made != len(bot.workspace.calls), len(bot.workspace.calls)
            for root in bot.workspace.history(CHANNEL) if is_new else ():
                for seen in bot.thread(root.ts):
                    is_ours = seen.is_bot and seen.author != OTHER and not seen.ephemeral_for
                    if is_ours and seen.text.strip() and seen.ts not in answered:
                        answered.add(seen.ts)
                        reply(bot, root.ts)
            await asyncio.sleep(5.0)

    answering = asyncio.create_task(keep_answering())
    await pass_time(bot, seconds)
    answering.cancel()


@on_virtual_time
async def test_a_schedule_that_mentions_us_in_a_channel_in_which_each_message_is_a_question(
    tmp_path: Path,
) -> None:
    async with in_open_channel(tmp_path, SCHEDULE) as bot:
        await pass_time(bot, 6 * HOUR)
        await bot.idle()
        assert len(bot.workspace.history(CHANNEL)) == len(bot.agent.questions) == 6


@pytest.mark.parametrize("thread", ["", "root"])
@on_virtual_time
async def test_a_text_of_a_program_that_mentions_us(thread: str, tmp_path: Path) -> None:
    async with in_open_channel(tmp_path) as bot:
        root = await bot.say("Hello.", user="U1")
        await bot.idle()
        before = len(bot.agent.questions)
        text = MENTION.format(me=bot.workspace.bot.user_id)
        message = OutboundMessage(text, channel=CHANNEL, thread_ts=root if thread else "")
        await accept_outbound(bot.store, OutboundRecord("key:ci:1", message, bot.now))
        await pass_time(bot, HOUR)
        assert text in str([bot.read(each.ts) for each in bot.workspace.history(CHANNEL)])
        assert len(bot.agent.questions) == before


def mentions_in_thread(bot: BotHarness, root: str) -> None:
    bot.workspace.say(
        OTHER, CHANNEL, MENTION.format(me=bot.workspace.bot.user_id), now=bot.now, thread_ts=root
    )


def mentions(bot: BotHarness, root: str) -> None:
    bot.workspace.say(OTHER, CHANNEL, MENTION.format(me=bot.workspace.bot.user_id), now=bot.now)


def alerts(bot: BotHarness, root: str) -> None:
    bot.workspace.alert(OTHER, CHANNEL, [{"title": "Alert", "text": "all is well?"}], now=bot.now)


def replies(bot: BotHarness, root: str) -> None:
    bot.workspace.say(OTHER, CHANNEL, "Really?", now=bot.now, thread_ts=root)


def reacts(bot: BotHarness, root: str) -> None:
    for seen in bot.thread(root):
        if "eyes" not in (seen.reactions or {}):
            bot.workspace.react(OTHER, CHANNEL, seen.ts, "eyes", now=bot.now)


@pytest.mark.parametrize(
    ("reply", "most"),
    [(mentions_in_thread, 3 * 3), (mentions, 3 * 20), (alerts, 3 * 20), (replies, 0), (reacts, 0)],
)
@on_virtual_time
async def test_a_bot_that_answers_each_message_of_ours_comes_to_an_end(
    reply: Callable[[BotHarness, str], None], most: int, tmp_path: Path
) -> None:
    """`most`: questions of that bot in three hours, in which a schedule of ours runs, too."""
    async with in_open_channel(tmp_path, SCHEDULE) as bot:
        await with_other_bot(bot, reply, 3 * HOUR)
        runs = 3
        assert runs <= len(bot.agent.questions) <= runs + most
        if most:
            assert len(bot.agent.questions) > runs, "it was allowed to ask"
