"""Why a message is not taken is said once, however often Slack brings it."""

from __future__ import annotations

from dataclasses import replace

from slack_bot.observe.facts import MessageIgnored
from slack_bot.testing.harness import CHANNEL, BotHarness, run_bot
from slack_bot.testing.tape.builders import answer
from slack_bot.testing.virtual_clock import on_virtual_time
from slack_bot.threads.refusals import Refusals
from slack_bot.turn.record import Question

from .test_threads import thread_of


def ignored(bot: BotHarness) -> list[tuple[str, str]]:
    """Text and reason of every message that was not for the bot."""
    return [(fact.text, fact.reason) for fact in bot.facts if isinstance(fact, MessageIgnored)]


@on_virtual_time
async def test_a_question_too_many_is_refused_once_though_it_comes_as_two_events_and_again() -> None:
    async with run_bot(answer("Yes."), hourly_person=1) as bot:
        root = await bot.ask("one")
        await bot.idle()
        await bot.deliver()
        mention = f"<@{bot.workspace.bot.user_id}> two"
        bot.workspace.say("U1", CHANNEL, mention, now=bot.now, thread_ts=root)
        twins = [each for each in bot.workspace.take() if "two" in str(each.payload)]
        assert len(twins) == 2
        for retry in range(2):
            await bot.deliver(twins, retry=retry)
            await bot.idle()
        (told,) = bot.ephemeral(root)
        assert told[1].startswith("You have asked 1 question")
        assert [text for text, _ in ignored(bot)] == ["two"]


@on_virtual_time
async def test_what_is_said_between_others_is_noted_once() -> None:
    async with run_bot(answer("Yes.")) as bot:
        root = await bot.ask("one")
        await bot.idle()
        bot.workspace.say("U2", CHANNEL, "lunch?", now=bot.now, thread_ts=root)
        events = bot.workspace.take()
        for retry in range(3):
            await bot.deliver(events, retry=retry)
        await bot.idle()
        assert [text for text, _ in ignored(bot)] == ["lunch?"]
        assert bot.read(root) == ["Yes."]


@on_virtual_time
async def test_a_question_that_is_not_taken_gets_one_notice_for_all_to_read() -> None:
    async with run_bot() as bot:
        root = bot.workspace.say("U1", CHANNEL, "hi", now=bot.now)
        refusals: Refusals = bot.app.threads.refusals
        question = Question(thread_of(root), root, "U1", "T1", "hi")
        for _ in range(2):
            refusals.refuse(question)
        await bot.idle()
        (notice,) = [seen for seen in bot.thread(root) if seen.is_bot]
        assert not notice.ephemeral_for
        refusals.refuse(replace(question, attempt=1), "Not now.")  # another question about the same message
        await bot.idle()
        assert [text for _, text in bot.ephemeral(root)] == []
        assert bot.calls("chat.postEphemeral")[-1]["text"] == "Not now."


@on_virtual_time
async def test_only_so_many_are_remembered() -> None:
    async with run_bot() as bot:
        refusals: Refusals = bot.app.threads.refusals
        first, *others = [Question(thread_of("1.0"), f"{ts}.0", "U1", "T1", "hi") for ts in range(1, 1002)]
        for question in (first, *others[:-1]):
            refusals.ignored(question, "not for the bot")
        assert refusals.was_ignored(first)
        refusals.ignored(others[-1], "not for the bot")
        assert not refusals.was_ignored(first) and refusals.was_ignored(others[0])
