"""Which bots may ask, and for how long two bots may talk."""

from __future__ import annotations

import asyncio
import logging
from typing import Any

import pytest

from slack_bot.listeners.bots import BotAccess
from slack_bot.testing.harness import CHANNEL, BotHarness, run_bot
from slack_bot.testing.slack.workspace import Change
from slack_bot.testing.tape.builders import answer
from slack_bot.testing.virtual_clock import on_virtual_time
from slack_bot.turn.record import Question, ThreadKey

OTHER = "U9"
ROUNDS = 20


class OtherBot:
    """A second bot in the channel, which answers each message of ours with a mention, `ROUNDS` times."""

    def __init__(self, bot: BotHarness) -> None:
        self._bot = bot
        self._answered: set[str] = set()
        self._talking: set[asyncio.Task[str]] = set()
        bot.workspace.add_user(OTHER, is_bot=True)
        bot.workspace.listen(self._changed)

    def _changed(self, change: Change) -> None:
        if change.kind != "thread":
            return
        for seen in self._bot.workspace.thread(change.channel, change.thread_ts):
            is_new = seen.ts not in self._answered and len(self._answered) < ROUNDS
            if seen.author == self._bot.workspace.bot.user_id and seen.state != "streaming" and is_new:
                self._answered.add(seen.ts)
                self._talking.add(asyncio.create_task(self._say(change.thread_ts)))

    async def _say(self, root: str) -> str:
        return await self._bot.ask("and what then?", user=OTHER, thread_ts=root)

    async def rest(self) -> None:
        """Wait until neither bot has anything more to say."""
        await self._bot.idle()
        while talking := {task for task in self._talking if not task.done()}:
            await asyncio.wait(talking)
            await self._bot.idle()


def answers(bot: BotHarness, root: str) -> int:
    return len(bot.read(root))


@on_virtual_time
async def test_two_bots_do_not_talk_for_ever() -> None:
    async with run_bot(answer("Yes.")) as bot:
        other = OtherBot(bot)
        root = await bot.ask("begin")
        await other.rest()
        assert answers(bot, root) == 1


async def talk(bot: BotHarness, other: OtherBot, text: str, root: str | None = None, **more: Any) -> str:
    ts = await (bot.say(text, thread_ts=root) if root else bot.ask(text, **more))
    await other.rest()
    return root or ts


@pytest.mark.parametrize("allowed", [OTHER, f"B{OTHER[1:]}", CHANNEL])
@on_virtual_time
async def test_a_bot_that_may_ask_gets_three_turns_until_a_person_writes_again(allowed: str) -> None:
    async with run_bot(answer("Yes."), allowed_bots=[allowed]) as bot:
        other = OtherBot(bot)
        root = await talk(bot, other, "begin")
        assert answers(bot, root) == 1 + 3
        await talk(bot, other, "Interesting, you two.", root)  # a person, who asks nothing
        assert answers(bot, root) == 4  # nobody mentioned the bot again
        await bot.ask("go on", user=OTHER, thread_ts=root)
        await other.rest()
        assert answers(bot, root) == 4 + 3


@on_virtual_time
async def test_the_number_of_turns_is_a_setting() -> None:
    async with run_bot(answer("Yes."), allowed_bots=[OTHER], max_bot_turns=5) as bot:
        other = OtherBot(bot)
        root = await talk(bot, other, "begin")
        assert answers(bot, root) == 1 + 5


@on_virtual_time
async def test_a_thread_has_its_own_count() -> None:
    async with run_bot(answer("Yes."), allowed_bots=[OTHER], max_bot_turns=1) as bot:
        bot.workspace.add_user(OTHER, is_bot=True)
        for _ in range(3):
            root = await bot.ask("an alert", user=OTHER)
            await bot.idle()
            await bot.ask("more", user=OTHER, thread_ts=root)
            await bot.idle()
            assert answers(bot, root) == 1


@on_virtual_time
async def test_why_a_bot_is_ignored_is_logged_once_with_the_remedy(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "slack_bot.listeners")
    async with run_bot(answer("Yes."), allowed_bots=["U7"], max_bot_turns=1) as bot:
        for user in (OTHER, "U7"):
            bot.workspace.add_user(user, is_bot=True)
        root = await bot.ask("the words", user=OTHER)
        await bot.idle()
        assert bot.read(root) == []
        assert bot.ephemeral(root) == []
        root = await bot.ask("the words", user="U7")
        await bot.ask("the words", user="U7", thread_ts=root)
        await bot.idle()
        assert bot.read(root) == ["Yes."]
    refused, limited = [each.getMessage() for each in caplog.records if "listeners" in each.name]
    assert "SLACK_BOT_SLACK__ALLOWED_BOTS" in refused
    assert OTHER in refused
    assert "SLACK_BOT_TURNS__MAX_BOT_TURNS" in limited
    assert "the words" not in refused + limited


def asked(root: str = "1.0", ts: str = "2.0") -> Question:
    return Question(ThreadKey("T1", "C1", root), ts, "U7", "T1", "more", asker_is_bot=True)


def test_a_question_that_comes_twice_is_counted_once() -> None:
    access = BotAccess(["U7"], 1)
    assert not access.knows(asked())
    assert [access.refusal(asked(), ["U7"]) for _ in range(3)] == [None] * 3
    assert access.knows(asked())
    assert access.refusal(asked(ts="3.0"), ["U7"]) is not None
    access.person_wrote(asked().thread)
    assert access.refusal(asked(ts="3.0"), ["U7"]) is not None  # judged before, and not again
    assert access.refusal(asked(ts="4.0"), ["U7"]) is None


def test_of_too_many_threads_the_one_that_was_quiet_longest_is_forgotten() -> None:
    access = BotAccess(["U7"], 1)
    assert access.refusal(asked(), ["U7"]) is None
    assert access.refusal(asked(ts="3.0"), ["U7"]) is not None
    for number in range(10_000):
        access.refusal(asked(f"{number}.5", f"{number}.6"), ["U7"])
    assert access.refusal(asked(ts="4.0"), ["U7"]) is None
    assert access.refusal(asked("9999.5", "9999.7"), ["U7"]) is not None
