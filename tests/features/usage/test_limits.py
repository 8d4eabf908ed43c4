"""Tokens and money of a day: counted once, looked at before a question, shared by replicas."""

from __future__ import annotations

import asyncio

import pytest

from slack_bot.features.usage.records import DAY_USAGE, DayKey, UserKind
from slack_bot.testing.harness import CHANNEL, BotHarness, run_bot
from slack_bot.testing.memory_store import MemoryStore
from slack_bot.testing.tape.builders import answer, status
from slack_bot.testing.tape.tape import Moment, Tape
from slack_bot.testing.virtual_clock import on_virtual_time
from tests.features.home.test_listeners import open_home

DAY = 86_400.0


def costs(tokens: int, *, cost: float | None = None, state: str = "completed") -> Tape:
    """An answer whose agent reports what it used."""
    usage = {"input_tokens": tokens, "output_tokens": 0} | ({} if cost is None else {"cost": cost})
    *begin, _, closed = answer("Done.").moments
    end = {**status(state), "metadata": {"usage": usage}}
    return Tape({"wire": "0.3"}, (*begin, Moment(3.3, event=end), closed))


def told(bot: BotHarness) -> list[tuple[str, str]]:
    return [(post["user"], post["text"]) for post in bot.calls("chat.postEphemeral")]


async def ask(bot: BotHarness, user: str = "U1", *, direct: bool = False) -> str:
    """A question in a channel, or in a direct message."""
    place = {"channel": bot.workspace.direct(user)} if direct else {}
    ts = await bot.say(f"<@{bot.workspace.bot.user_id}> what?", user=user, **place)
    await bot.idle()
    return ts


@on_virtual_time
async def test_a_person_over_the_limit_is_told_when_it_ends() -> None:
    async with run_bot(*[costs(60)] * 5, **{"usage.person_tokens": 100, "usage.warn_at": 1.0}) as bot:
        await ask(bot)
        await ask(bot)
        await ask(bot)
        assert len(bot.agent.questions) == 2
        ((user, words),) = told(bot)
        assert user == "U1"
        assert words.startswith("You have used up today's limit of 100 tokens. I take no more questions")
        assert "<!date^" in words and "UTC>" in words
        await ask(bot, "U2")
        assert len(bot.agent.questions) == 3, "it is one person's limit"


@on_virtual_time
async def test_the_next_day_begins_again() -> None:
    async with run_bot(*[costs(100)] * 3, **{"usage.person_tokens": 100}) as bot:
        await ask(bot)
        await ask(bot)
        assert len(bot.agent.questions) == 1
        await asyncio.sleep(DAY)
        await ask(bot)
        assert len(bot.agent.questions) == 2


@on_virtual_time
async def test_a_channel_has_a_limit_of_its_own_and_all_together_have_one() -> None:
    limits = {"usage.channel_tokens": 100, "usage.total_tokens": 250}
    async with run_bot(*[costs(100)] * 9, **limits) as bot:
        await ask(bot)
        await ask(bot, "U2")
        assert len(bot.agent.questions) == 1
        assert told(bot)[-1][1].startswith("This channel has used up today's limit of 100 tokens")
        await ask(bot, direct=True)
        await ask(bot, "U2", direct=True)
        assert len(bot.agent.questions) == 3
        bot.workspace.add_user("U4")
        await ask(bot, "U4", direct=True)
        assert len(bot.agent.questions) == 3
        assert told(bot)[-1][1].startswith("All together have used up")


@on_virtual_time
async def test_money_counts_what_the_agent_says_or_its_prices() -> None:
    limits = {
        "usage.person_cost": 0.5,
        "usage.currency": "EUR",
        "agent.input_price": 1.0,
        "agent.output_price": 1.0,
    }
    async with run_bot(costs(5, cost=0.2), costs(400_000), costs(1), **limits) as bot:
        for _ in range(3):
            await ask(bot)
        assert len(bot.agent.questions) == 2
        assert "today's limit of 0.5000 EUR" in told(bot)[-1][1]


@on_virtual_time
async def test_a_person_is_warned_once_before_the_limit() -> None:
    async with run_bot(*[costs(45)] * 3, **{"usage.person_tokens": 100}) as bot:
        root = await ask(bot)
        assert told(bot) == []
        root = await ask(bot)
        ((_, words),) = told(bot)
        assert words.startswith("You have used 90% of today's limit of 100 tokens. It starts again from zero")
        assert bot.calls("chat.postEphemeral")[0]["thread_ts"] == root
        await ask(bot)
        assert len(bot.agent.questions) == 3, "below the limit a question is taken, though it may go above"
        assert len(told(bot)) == 1
        await ask(bot)
        assert len(bot.agent.questions) == 3


@on_virtual_time
async def test_it_counts_over_a_restart_and_each_turn_once() -> None:
    store = MemoryStore(is_durable=True)
    limits = {"usage.person_tokens": 100}
    tapes = costs(90), costs(10), costs(1)
    async with run_bot(*tapes, store=store, **limits) as bot:
        await ask(bot)
        before = bot
    async with run_bot(after=before, **limits) as bot:
        await ask(bot)
        await ask(bot)
        assert len(bot.agent.questions) == 2, "the third one is refused"
        record = await bot.app.store.get(DAY_USAGE, DayKey("2023-11-14", UserKind.PERSON, "U1"))
        assert record is not None and record.tokens == 100


@on_virtual_time
async def test_an_agent_that_reports_nothing_counts_nothing_and_is_named_once(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async with run_bot(*[answer("Done.")] * 3, **{"usage.person_tokens": 1}) as bot:
        for _ in range(3):
            await ask(bot)
        assert len(bot.agent.questions) == 3
    warnings = [each.getMessage() for each in caplog.records if "does not report" in each.getMessage()]
    assert len(warnings) == 1


@on_virtual_time
async def test_a_failed_answer_counts_and_try_again_is_a_question_too() -> None:
    async with run_bot(costs(100, state="failed"), costs(1), **{"usage.channel_tokens": 100}) as bot:
        root = await ask(bot)
        (seen,) = [each for each in bot.thread(root) if each.is_bot]
        bot.workspace.press("U1", CHANNEL, seen.ts, "retry", now=bot.now)
        await bot.deliver()
        await bot.idle()
        assert len(bot.agent.questions) == 1
        assert told(bot)[-1][1].startswith("This channel has used")


@on_virtual_time
async def test_the_home_tab_says_what_was_used() -> None:
    async with run_bot(costs(40), **{"usage.person_tokens": 100, "usage.person_cost": 2.0}) as bot:
        await ask(bot)
        await open_home(bot)
        words = bot.workspace.home("U1")
        assert words[words.index("Used today") + 1] == "40 tokens of 100 tokens\n0.00 USD of 2.00 USD"


@on_virtual_time
async def test_without_limits_nothing_is_read_or_kept() -> None:
    async with run_bot(costs(40)) as bot:
        await ask(bot)
        for kind, name in ((UserKind.PERSON, "U1"), (UserKind.CHANNEL, CHANNEL), (UserKind.ALL, "")):
            assert await bot.app.store.get(DAY_USAGE, DayKey("2023-11-14", kind, name)) is None
        assert bot.app.features["usage"].observe is None
