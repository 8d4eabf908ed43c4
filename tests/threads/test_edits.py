"""What a person sees who edits a question that is being answered, or was."""

import asyncio

from slack_bot.testing.harness import CHANNEL, BotHarness, run_bot
from slack_bot.testing.slack.workspace import SeenMessage
from slack_bot.testing.tape.builders import answer
from slack_bot.testing.virtual_clock import on_virtual_time
from slack_bot.text.words import QUESTION_REWORDED, QUESTION_REWORDED_LATE
from slack_bot.turn.buttons import TurnButton

LONG = answer(" ".join(f"word{n}" for n in range(60)), seconds=60)


def offers(bot: BotHarness, root: str) -> list[SeenMessage]:
    return [seen for seen in bot.thread(root) if seen.ephemeral_for]


def asked(bot: BotHarness) -> list[str]:
    return [call.text for call in bot.agent.questions]


async def edit(bot: BotHarness, ts: str, text: str) -> None:
    bot.workspace.edit(CHANNEL, ts, f"<@{bot.workspace.bot.user_id}> {text}", now=bot.now)
    await bot.deliver()
    await asyncio.sleep(1)


async def press(bot: BotHarness, offer: SeenMessage) -> None:
    bot.workspace.press("U1", CHANNEL, offer.ts, TurnButton.RETRY, now=bot.now)
    await bot.deliver()
    await asyncio.sleep(1)


async def asked_and_edited(bot: BotHarness, *texts: str) -> str:
    """A question that is edited while its answer runs."""
    root = await bot.ask("one")
    await asyncio.sleep(5)
    for text in texts:
        await edit(bot, root, text)
    return root


@on_virtual_time
async def test_several_edits_while_the_answer_runs_are_offered_once_and_the_last_is_asked() -> None:
    async with run_bot(LONG, answer("Four.")) as bot:
        root = await asked_and_edited(bot, "two", "three")
        (offer,) = offers(bot, root)
        assert (offer.ephemeral_for, offer.text) == ("U1", QUESTION_REWORDED)
        await press(bot, offer)
        assert offers(bot, root) == []
        await edit(bot, root, "four")
        assert offers(bot, root) == []
        await bot.idle()
        assert asked(bot) == ["one", "four"]


@on_virtual_time
async def test_words_that_are_put_back_are_asked_as_they_are() -> None:
    async with run_bot(LONG, answer("One, again.")) as bot:
        root = await asked_and_edited(bot, "two", "one")
        (offer,) = offers(bot, root)
        await bot.idle()
        await press(bot, offer)
        await bot.idle()
        assert asked(bot) == ["one", "one"]


@on_virtual_time
async def test_before_there_is_a_thread_the_offer_stands_in_the_channel() -> None:
    async with run_bot(answer("One.", seconds=30), answer("Two.")) as bot:
        root = await bot.ask("one")
        await edit(bot, root, "two")
        await asyncio.sleep(0.1)
        first = next(call for call in bot.calls("chat.postEphemeral"))
        assert (first["text"], first.get("thread_ts")) == (QUESTION_REWORDED, None)


@on_virtual_time
async def test_an_edit_after_the_answer_is_offered_once_and_gone_after_its_use() -> None:
    async with run_bot(answer("One."), answer("Three."), answer("Five.")) as bot:
        root = await bot.ask("one")
        await bot.idle()
        for text in ("two", "three"):
            await edit(bot, root, text)
        (offer,) = offers(bot, root)
        assert (offer.ephemeral_for, offer.text) == ("U1", QUESTION_REWORDED_LATE)
        await press(bot, offer)
        await bot.idle()
        assert offers(bot, root) == []
        assert bot.read(root) == ["One.", "Three."]
        await edit(bot, root, "five")  # the answer to the new words is answered too
        (offer,) = offers(bot, root)
        await press(bot, offer)
        await bot.idle()
        assert asked(bot) == ["one", "three", "five"]


@on_virtual_time
async def test_the_offer_after_the_answer_holds_though_another_question_runs() -> None:
    async with run_bot(answer("One."), LONG, answer("Two.")) as bot:
        root = await bot.ask("one")
        await bot.idle()
        await bot.ask("another", thread_ts=root)
        await asyncio.sleep(5)
        await edit(bot, root, "two")
        (offer,) = offers(bot, root)
        await press(bot, offer)
        await bot.idle()
        assert asked(bot) == ["one", "another", "two"]


@on_virtual_time
async def test_nothing_is_offered_an_hour_later_or_of_a_question_that_was_taken_back() -> None:
    async with run_bot(LONG, answer("Two.")) as bot:
        root = await bot.ask("one")
        second = await bot.ask("two", thread_ts=root)
        bot.workspace.delete(CHANNEL, second, now=bot.now)
        await bot.deliver()
        await bot.idle()
        await asyncio.sleep(3_700)
        await edit(bot, root, "three")
        assert QUESTION_REWORDED_LATE not in [seen.text for seen in offers(bot, root)]
