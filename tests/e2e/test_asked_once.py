"""A process is killed at every call from the acceptance of a question to the id of its task.

The agent gets each question at most once, whatever the next process finds, and also where that one is killed
in its turn. What nobody can know is said: the agent may have the question, and has not named its task.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import AsyncExitStack

import pytest

from slack_bot.testing.harness import CHANNEL, BotHarness, run_bot
from slack_bot.testing.memory_store import MemoryStore
from slack_bot.testing.slack.workspace import Envelope
from slack_bot.testing.tape.builders import answer, failure
from slack_bot.testing.virtual_clock import on_virtual_time
from tests.examples import at_each_fifth, at_each_third
from tests.form_tapes import ONE, asking, form_in

LOST = "cannot find out what became of this question"
SENT = "before the agent"
TASK_KNOWN = "after change conversations"
"""Its id is stored with the context of the thread, behind the turn itself."""


async def new(bot: BotHarness) -> list[Envelope]:
    bot.workspace.say("U1", CHANNEL, "<@U0BOT> hi", now=bot.now)
    return bot.workspace.take()


async def behind_another(bot: BotHarness) -> list[Envelope]:
    root = await bot.ask("one")
    await asyncio.sleep(1)
    bot.workspace.say("U2", CHANNEL, "<@U0BOT> hi", now=bot.now, thread_ts=root)
    return [each for each in bot.workspace.take() if "hi" in str(each.payload)]


async def asked_again(bot: BotHarness) -> list[Envelope]:
    root = await bot.ask("one")
    await bot.idle()
    shown = next(seen for seen in bot.thread(root) if "retry" in str(seen.blocks))
    return [bot.workspace.press("U1", CHANNEL, shown.ts, "retry", now=bot.now)]


async def answer_to_a_form(bot: BotHarness) -> list[Envelope]:
    root = await bot.ask("one")
    await bot.idle()
    return [bot.workspace.press("U1", CHANNEL, form_in(bot, root).ts, "form_choose-1", now=bot.now)]


YES = answer("Yes.", ids="2")
STORIES = {
    "new": (new, (YES,)),
    "behind another": (behind_another, (answer("One.", seconds=3), YES)),
    "asked again": (asked_again, (failure("no luck"), YES)),
    "an answer to a form": (answer_to_a_form, (asking(ONE, "Where?"), YES)),
}


async def until_killed(bot: BotHarness, events: Sequence[Envelope] = ()) -> None:
    """Or until all is done."""

    async def work() -> None:
        await bot.deliver(events)
        await bot.idle()

    working, over = (asyncio.create_task(each) for each in (work(), bot.life.over.wait()))
    await asyncio.wait({over, working}, return_when=asyncio.FIRST_COMPLETED)
    for task in (working, over):
        task.cancel()


def is_task_known(points: Sequence[str]) -> bool:
    """Of the question that the agent was sent at one of these points."""
    sent = points.index(SENT) if SENT in points else len(points)
    return TASK_KNOWN in points[sent:]


def judge(bot: BotHarness, asked_before: int, at: object) -> None:
    """The agent got the question at most once. Its asker reads the answer, that nobody knows, or the form
    again that it was to answer.
    """
    questions = [call.params["message"]["messageId"] for call in bot.agent.questions]
    assert len(set(questions)) == len(questions) <= asked_before + 1, at
    shown = [seen for root in bot.workspace.history(CHANNEL) for seen in bot.thread(root.ts)]
    read, forms = str([seen.read for seen in shown]), sum("form_" in str(seen.blocks) for seen in shown)
    assert (read.count("Yes."), read.count(LOST), forms) in ((1, 0, 0), (0, 1, 0), (0, 0, 1)), (at, read)
    assert read.count("Yes.") <= len(questions) - asked_before, at


@pytest.mark.parametrize("name", STORIES)
@at_each_third
@on_virtual_time
async def test_a_question_is_asked_at_most_once_wherever_its_process_is_killed(step: int, name: str) -> None:
    begin, tapes = STORIES[name]
    points, is_over = 0, False
    while not is_over:
        async with run_bot(*tapes, store=MemoryStore(is_durable=True)) as bot:
            events = await begin(bot)
            bot.life.end_after(points)
            await until_killed(bot, events)
            is_over = is_task_known(bot.life.points) or not bot.life.over.is_set()
            at = points, *bot.life.points[-1:]
            bot.life.end_now()
            async with run_bot(after=bot) as next_bot:
                await next_bot.deliver(events, retry=1)
                await next_bot.idle()
                judge(next_bot, len(tapes) - 1, at)
                assert await next_bot.store.unfinished() == [], at
        points += step
    assert points > 8


@at_each_fifth
@on_virtual_time
async def test_so_it_is_where_the_next_process_is_killed_too(step: int) -> None:
    points, is_over = 0, False
    while not is_over:
        more, is_done = points // step % step, False
        while not is_done:
            async with AsyncExitStack() as stack:
                bot = await stack.enter_async_context(run_bot(YES, store=MemoryStore(is_durable=True)))
                events = await new(bot)
                bot.life.end_after(points)
                await until_killed(bot, events)
                is_over = is_task_known(bot.life.points)
                bot.life.end_now()
                second = await stack.enter_async_context(run_bot(after=bot))
                second.life.end_after(more)
                await until_killed(second, events)
                is_done = TASK_KNOWN in second.life.points or not second.life.over.is_set()
                second.life.end_now()
                third = await stack.enter_async_context(run_bot(after=second))
                await third.deliver(events, retry=2)
                await third.idle()
                judge(third, 0, (points, more))
                assert await third.store.unfinished() == []
            more += step
        points += step


# -- questions that have to do with each other


def lines(bot: BotHarness, channel: str, root: str | None, user: str) -> None:
    for word in ("red", "blue"):
        bot.workspace.say(user, channel, f"<@U0BOT> {word}", now=bot.now, thread_ts=root)


async def two_lines(bot: BotHarness) -> None:
    """They wait, and are asked as one."""
    root = await bot.ask("one")
    await asyncio.sleep(1)
    lines(bot, CHANNEL, root, "U2")


async def two_lines_directly(bot: BotHarness) -> None:
    """The second joins the thread of the first."""
    lines(bot, bot.workspace.direct("U1"), None, "U1")


async def edited(bot: BotHarness) -> None:
    root = await bot.ask("one")
    await asyncio.sleep(1)
    ts = bot.workspace.say("U2", CHANNEL, "<@U0BOT> red", now=bot.now, thread_ts=root)
    bot.workspace.edit(CHANNEL, ts, "<@U0BOT> blue", now=bot.now)


async def interrupting(bot: BotHarness) -> None:
    """The first is ended for the second."""
    root = await bot.ask("red")
    await asyncio.sleep(1)
    bot.workspace.say("U1", CHANNEL, "<@U0BOT> blue", now=bot.now, thread_ts=root)


TOGETHER = {
    "two lines": (two_lines, "collect", {"red", "blue"}),
    "two lines directly": (two_lines_directly, "collect", {"red", "blue"}),
    "edited": (edited, "queue", {"blue"}),
    "interrupting": (interrupting, "interrupt", {"blue"}),
}


@pytest.mark.parametrize("name", TOGETHER)
@at_each_fifth
@on_virtual_time
async def test_each_of_several_messages_is_asked_at_most_once(step: int, name: str) -> None:
    """And at least once, unless its asker reads that nobody knows."""
    begin, busy, wanted = TOGETHER[name]
    points, is_over = 0, False
    while not is_over:
        store = MemoryStore(is_durable=True)
        async with run_bot(answer("One.", seconds=3), YES, YES, store=store, busy=busy) as bot:
            await begin(bot)
            events = bot.workspace.take()
            bot.life.end_after(points)
            await until_killed(bot, events)
            is_over = not bot.life.over.is_set()
            at = points, *bot.life.points[-1:]
            bot.life.end_now()
            async with run_bot(after=bot) as next_bot:
                await next_bot.deliver(events, retry=1)
                await next_bot.idle()
                assert await next_bot.store.unfinished() == [], at
                texts = {call.params["message"]["messageId"]: call.text for call in next_bot.agent.questions}
                words = " ".join(texts.values()).split()
                assert words.count("red") <= 1 >= words.count("blue"), (at, texts)
                places = {CHANNEL, *(each for each in next_bot.workspace.state.channels)}
                read = [
                    seen.read
                    for place in places
                    for root in next_bot.workspace.history(place)
                    for seen in next_bot.thread(root.ts, place)
                ]
                assert wanted <= set(words) or LOST in str(read), (at, texts, read)
        points += step
    assert points > 20
