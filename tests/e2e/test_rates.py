"""Many at once under Slack's real rates: all get all of it, nobody is refused, nobody sees nothing."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest

from slack_bot.slack.rate_limiter.local import RateLimiter
from slack_bot.testing.harness import BotHarness, run_bot
from slack_bot.testing.slack.rules import RATES, MethodRate, WorkspaceRules
from slack_bot.testing.tape.builders import answer
from slack_bot.testing.virtual_clock import on_virtual_time
from tests.bench.baselines import on_chat_stream, ours
from tests.bench.load import crowded
from tests.bench.load_model import Load
from tests.slack.scene import waiting_for

LONG = " ".join(f"word{number}" for number in range(200))
SHORT = " ".join(f"brief{number}" for number in range(20))


def test_twenty_answers_live_at_once() -> None:
    report, broken = crowded(Load(20, 400), ours)
    assert (report.whole, broken, report.left_open) == (20, [], 0)
    assert report.refused == 0
    assert max(report.first) < 1.5, "every stream starts at once: a minute's starts are there"
    assert max(report.lags) < 16, "a round of twenty appends takes 13.3 s at the rate that is used"
    assert max(report.stood_still) < 9, "the burst is spread: 11 s where it is spent at once"
    assert max(report.waits) / min(report.waits) < 2


def test_twelve_who_ask_at_once_wait_no_longer_than_beside_a_plain_bot() -> None:
    load = Load(12, 200)
    report, plain = crowded(load, ours)[0], crowded(load, on_chat_stream)[0]
    assert (report.whole, plain.whole) == (12, 12)
    assert max(report.stood_still) <= 1.5 * max(plain.stood_still)
    assert report.age < plain.age
    assert max(report.first) < min(plain.first)


@pytest.mark.slow
def test_forty_questions_within_a_minute() -> None:
    report, broken = crowded(Load(40, 200, within=60), ours)
    assert (report.whole, broken, report.left_open) == (40, [], 0)
    assert report.refused == 0
    assert report.silent <= 1, "a status or text stands there within seconds, and stays"
    assert sorted(report.first)[20] < 1.5


@pytest.mark.slow
def test_forty_questions_at_the_same_moment() -> None:
    report, broken = crowded(Load(40, 200), ours, seed=2)
    assert (report.whole, broken, report.left_open) == (40, [], 0)
    assert report.refused == 0
    assert report.silent <= 1


def test_a_tenth_of_all_calls_fails() -> None:
    report, broken = crowded(Load(20, 200, failing=0.1), ours)
    assert (report.whole, broken, report.left_open) == (20, [], 0)
    assert report.refused == 0


def test_where_slack_allows_less_at_once_than_we_think_nothing_is_lost() -> None:
    """Nobody knows what the real Slack allows at once: here half of a minute's starts. We learn it."""
    rates = {
        **RATES,
        "chat.startStream": (MethodRate(20, burst=10),),
        "chat.stopStream": (MethodRate(20, burst=10),),
    }
    rules = replace(WorkspaceRules.real(), rates=rates)
    report, broken = crowded(Load(20, 200), ours, rules=rules)
    assert (report.whole, broken, report.left_open) == (20, [], 0)
    assert 10 <= report.refused <= 30, "each of those who came at once is refused, once or so"
    assert max(report.first) < 15
    assert report.silent <= 1


# -- when there is one stream a minute


def gate_of(bot: BotHarness) -> RateLimiter:
    gate = bot.app.workspaces.of("T1").api.permits._rate_limiter
    assert isinstance(gate, RateLimiter)
    return gate


@on_virtual_time
async def test_without_a_slot_in_time_the_answer_becomes_a_message_that_is_edited() -> None:
    tapes = answer(LONG, seconds=30), answer(LONG.upper(), seconds=30, ids="2")
    async with run_bot(*tapes, starts_per_minute=1) as bot:
        first, second = await bot.ask("one"), await bot.ask("two", user="U2")
        await asyncio.sleep(3)
        assert bot.workspace.status_line("C1", second, now=bot.now) == "is writing..."
        await asyncio.sleep(4)
        (shown,) = bot.read(second)
        assert shown and LONG.upper().startswith(shown.strip())
        await bot.idle()
        assert (bot.read(first), bot.read(second)) == ([LONG], [LONG.upper()])
        assert [len(bot.calls(f"chat.{name}Stream")) for name in ("start", "stop")] == [1, 1]
        assert not waiting_for(gate_of(bot))


@on_virtual_time
async def test_an_answer_that_is_whole_before_its_slot_comes_is_one_post() -> None:
    async with run_bot(answer(LONG, seconds=30), answer(SHORT, ids="2"), starts_per_minute=1) as bot:
        await bot.ask("one")
        await asyncio.sleep(0.1)  # or it is left to chance who comes first
        second = await bot.ask("two", user="U2")
        await bot.idle()
        assert bot.read(second) == [SHORT]
        assert [len(bot.calls(f"chat.{name}Stream")) for name in ("start", "stop")] == [1, 1]
        assert len(bot.calls("chat.postMessage")) == 1
        assert not bot.calls("chat.update")


@on_virtual_time
async def test_who_stops_while_waiting_gets_nothing_more_and_leaves_the_line() -> None:
    tapes = answer(LONG, seconds=30), answer(LONG.upper(), seconds=30, ids="2")
    async with run_bot(*tapes, starts_per_minute=1) as bot:
        first, second = await bot.ask("one"), await bot.ask("two", user="U2")
        await asyncio.sleep(3)
        assert waiting_for(gate_of(bot)) == 1
        await bot.ask("stop", user="U2", thread_ts=second)
        await asyncio.sleep(0.1)
        assert not waiting_for(gate_of(bot))
        await bot.idle()
        assert bot.read(first) == [LONG]
        assert "WORD" not in "".join(bot.read(second))
        assert sorted(bot.outcomes) == ["answered", "stopped"]


@on_virtual_time
async def test_a_bot_that_ends_while_answers_wait_leaves_nobody_in_the_line() -> None:
    tapes = [answer(LONG, seconds=30, ids=str(number)) for number in range(3)]
    async with run_bot(*tapes, starts_per_minute=1) as bot:
        roots = [await bot.ask("one", user=user) for user in ("U1", "U2", "U3")]
        await asyncio.sleep(3)
        gate = gate_of(bot)
        assert waiting_for(gate) == 2
        await bot.app.close(grace=0)
        assert not waiting_for(gate)
        told = [extra for root in roots for seen in bot.thread(root) for extra in seen.extras]
        assert sum("could not finish this answer" in extra for extra in told) == 3
        assert bot.workspace.open_streams() == []


@on_virtual_time
async def test_a_refusal_after_all_is_waited_out_and_learned_from() -> None:
    faults = {"chat.appendStream": [None, "ratelimited:5", None, "rate_limited", None]}
    async with run_bot(answer(LONG, seconds=30), faults=faults) as bot:
        root = await bot.ask("one")
        await bot.idle()
        assert bot.read(root) == [LONG]
        calls = [call for call in bot.workspace.calls if call.method == "chat.appendStream"]
        refused = [number for number, call in enumerate(calls) if not call.ok]
        assert [calls[number].error for number in refused] == ["ratelimited", "rate_limited"]
        first, second = (calls[number + 1].now - calls[number].now for number in refused)
        assert 5 <= first < 5.1
        assert second < 2, "in band Slack names no time: a short pause"
