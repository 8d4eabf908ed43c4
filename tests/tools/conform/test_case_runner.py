"""Cases run on a tape, on the agent in memory and on a live one; and what several runs come to."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace

import httpx
import pytest

from slack_bot.errors import SettingsError
from slack_bot.playground.reference.modes import memory_target
from slack_bot.testing.harness import bot_settings
from slack_bot.tools.conform.case_runner import LiveTarget, QuestionCounter, run_case
from slack_bot.tools.conform.cases import Case, open_suite, read_suite

SUITE, TAPES = open_suite("extended")
CASES = {case.name: case for case in SUITE.cases}


def test_a_tape_is_played_whoever_is_there_to_be_asked() -> None:
    run = run_case(CASES["same-result"], memory_target(), TAPES)
    assert run.measures is not None
    assert (run.measures.asked, run.measures.questions, run.measures.outcomes) == (1, 1, ("answered",))
    assert all(verdict.ok for verdict in run.results)
    assert 3.0 < run.seconds < 4.0, "virtual seconds"


@pytest.mark.parametrize("mode", [None, "marker"])
def test_the_agent_in_memory_answers_on_virtual_time_and_the_same_each_time(mode: str | None) -> None:
    asker = memory_target(mode)
    one, two = (run_case(CASES["simple-chat"], asker, TAPES) for _ in range(2))
    assert one.measures is not None and two.measures is not None
    assert (one.seconds, one.measures.text, one.results) == (two.seconds, two.measures.text, two.results)
    assert one.measures.result["events"] == two.measures.result["events"]
    assert asker.refusal(CASES["fails"]) is None


def test_the_pace_of_a_case_is_the_agents() -> None:
    usual = run_case(CASES["simple-chat"], memory_target(), TAPES)
    quick = run_case(replace(CASES["simple-chat"], pace=0), memory_target(), TAPES)
    assert quick.seconds < usual.seconds


def test_a_case_that_cannot_be_run_fails_in_all_its_checks() -> None:
    text = json.dumps(
        {"cases": [{"name": "a", "query": "q", "checks": ["no_tools"], "around": {"settings": {"nope": 1}}}]}
    )
    run = run_case(read_suite(text, "x").cases[0], memory_target(), {})
    assert (run.measures, [verdict.ok for verdict in run.results]) == (None, [False])
    assert run.error is not None and "nope" in run.error


def test_what_a_live_agent_is_not_asked() -> None:
    live = LiveTarget("http://a/", bot_settings({}, "http://a/"))
    assert live.refusal(CASES["simple-chat"]) is None
    assert "tape" in str(live.refusal(CASES["agent-cut"]))
    assert "playground" in str(live.refusal(CASES["fails"]))
    assert replace(live, is_ours=True).refusal(CASES["fails"]) is None


def test_settings_of_a_case_count_for_a_live_agent_too() -> None:
    case: Case = replace(
        CASES["simple-chat"], around=replace(CASES["simple-chat"].around, settings={"no": 1})
    )
    with pytest.raises(SettingsError):
        LiveTarget("http://a/", bot_settings({}, "http://a/")).ask(case)


def test_questions_are_counted_and_nothing_else() -> None:
    async def story() -> int:
        counting = QuestionCounter(httpx.MockTransport(lambda request: httpx.Response(200)))
        async with httpx.AsyncClient(transport=counting) as client:
            for method in ("message/stream", "SendMessage", "tasks/get"):
                await client.post(
                    "http://a/", json={"jsonrpc": "2.0", "id": 1, "method": method, "params": {}}
                )
            await client.get("http://a/")
        return counting.questions

    assert asyncio.run(story()) == 2
