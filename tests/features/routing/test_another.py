"""A person asks another agent what was answered: in a new thread, which begins with what was said."""

from __future__ import annotations

from pathlib import Path

import pytest

from slack_bot.testing.harness import CHANNEL, BotHarness
from slack_bot.testing.virtual_clock import on_virtual_time
from tests.features.routing.town import FILE, town
from tests.people_keys import identity_overrides


async def open_modal(bot: BotHarness, root: str, user: str = "U1", channel: str = CHANNEL) -> None:
    seen = [each for each in bot.thread(root, channel) if each.is_bot and not each.ephemeral_for][-1]
    bot.workspace.press(user, channel, seen.ts, "another_agent", now=bot.now)
    await bot.deliver()
    await bot.idle()


async def send(bot: BotHarness, agent: str, text: str | None = None, user: str = "U1") -> None:
    bot.workspace.fill_modal(user, "Who shall answer?", agent, now=bot.now)
    if text is not None:
        bot.workspace.fill_modal(user, "Your question", text, now=bot.now)
    bot.workspace.submit(user, now=bot.now)
    await bot.deliver()
    await bot.idle()


def new_root(bot: BotHarness, channel: str = CHANNEL) -> str:
    """The thread that the bot has begun."""
    (found,) = [seen.ts for seen in bot.workspace.history(channel) if seen.is_bot and not seen.ephemeral_for]
    return found


@on_virtual_time
async def test_the_other_agent_answers_in_a_new_thread_that_is_linked_to_the_old_one(tmp_path: Path) -> None:
    async with town(tmp_path) as there:
        bot = there.bot
        for each in bot.app.agents:
            await each.ensure_card()
        root = await bot.ask("research: what is it?")
        await bot.idle()
        await open_modal(bot, root)
        await send(bot, "Scripted agent (ops)")
        new = new_root(bot)
        first, answer = bot.thread(new)
        assert first.text.startswith("<@U1> asks Scripted agent (ops):\n\n> what is it?\n\nIt was [asked of")
        assert f"/archives/{CHANNEL}/p{root.replace('.', '')})" in first.text
        assert answer.text == "O."
        (asked,) = there.asked("ops")
        assert asked.startswith("what is it?\n\nThis was asked of Scripted agent (research) before")
        assert "> what is it?" in asked and "> R." in asked
        user, words = bot.ephemeral(root)[-1]
        assert user == "U1" and words.startswith("I asked Scripted agent (ops) in a new thread: https://")
        assert new.replace(".", "") in words
        turn = await bot.store.turn(f"T1:{CHANNEL}:{new}")
        assert turn is not None and (turn.agent, turn.agent_reason) == ("ops", "it was asked too")
        await bot.say("and why?", thread_ts=new)  # the thread is followed
        await bot.idle()
        assert there.asked("ops")[-1] == "and why?" and there.asked("research") == ["what is it?"]


@on_virtual_time
async def test_anybody_who_may_ask_may_do_so_in_their_own_words_and_is_the_asker_then(tmp_path: Path) -> None:
    async with town(tmp_path) as there:
        root = await there.bot.ask("research: what is it?")
        await there.bot.idle()
        await open_modal(there.bot, root, user="U2")
        await send(there.bot, "default", "Is that right?", user="U2")
        (asked,) = there.asked("default")
        assert asked.startswith("Is that right?\n\n")
        turn = await there.bot.store.turn(f"T1:{CHANNEL}:{new_root(there.bot)}")
        assert turn is not None and turn.question.user == "U2"


@on_virtual_time
async def test_only_agents_that_the_person_may_ask_are_offered(tmp_path: Path) -> None:
    text = f'{FILE}people = ["U2"]\n'
    async with town(tmp_path, text) as there:
        root = await there.bot.ask("research: what is it?")
        await there.bot.idle()
        await open_modal(there.bot, root)
        modal = there.bot.workspace.modal("U1")
        assert modal is not None
        options = [each["value"] for each in modal["blocks"][1]["element"]["options"]]
        assert options == ["default"]
    only = f'{FILE}[channels.{CHANNEL}]\nagents = ["research"]\nagent = "research"\n'
    async with town(tmp_path, only) as there:
        root = await there.bot.ask("what is it?")
        await there.bot.idle()
        await open_modal(there.bot, root)
        assert there.bot.ephemeral(root)[-1][1] == "There is no other agent that you may ask here."


@pytest.mark.parametrize("personal", [False, True])
@on_virtual_time
async def test_an_agent_with_the_asker_s_rights_is_offered_where_it_may_answer(
    tmp_path: Path, *, personal: bool
) -> None:
    exchange = """
identity = "exchange"
[agents.ops.exchange]
token_url = "https://login.example.com/token"
id = "bot"
audience = "ops"
"""
    text = f"{FILE}{exchange}[channels.{CHANNEL}]\npersonal = {str(personal).lower()}\n"
    async with town(tmp_path, text, **identity_overrides(tmp_path)) as there:
        root = await there.bot.ask("research: what is it?")
        await there.bot.idle()
        await open_modal(there.bot, root)
        modal = there.bot.workspace.modal("U1")
        assert modal is not None
        options = [each["value"] for each in modal["blocks"][1]["element"]["options"]]
        assert ("ops" in options) == personal


@on_virtual_time
async def test_a_modal_that_is_sent_twice_asks_once(tmp_path: Path) -> None:
    async with town(tmp_path) as there:
        bot = there.bot
        root = await bot.ask("research: what is it?")
        await bot.idle()
        await open_modal(bot, root)
        bot.workspace.fill_modal("U1", "Who shall answer?", "ops", now=bot.now)
        bot.workspace.submit("U1", now=bot.now)
        envelopes = bot.workspace.take()
        await bot.deliver(envelopes)
        await bot.deliver(envelopes, retry=1)
        await bot.idle()
        assert len(there.asked("ops")) == 1 and new_root(bot)


@on_virtual_time
async def test_the_button_stands_below_the_first_answer_of_a_thread(tmp_path: Path) -> None:
    async with town(tmp_path) as there:
        root = await there.bot.ask("research: what is it?")
        await there.bot.idle()
        await there.bot.say("and why?", thread_ts=root)
        await there.bot.idle()
        answers = [each.read for each in there.bot.thread(root) if each.is_bot and not each.ephemeral_for]
        assert ["Ask another agent" in each for each in answers] == [True, False]


@on_virtual_time
async def test_with_one_agent_there_is_no_such_button(tmp_path: Path) -> None:
    async with town(tmp_path, "") as there:
        root = await there.bot.ask("what is it?")
        await there.bot.idle()
        assert "Ask another agent" not in there.bot.thread(root)[-1].read
