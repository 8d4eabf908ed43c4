"""What the load bench counts, it counts right: an answer is whole only if all of it stands there once."""

from __future__ import annotations

import asyncio
import random
from typing import Any

import pytest

from slack_bot.testing.slack.workspace import BOT_TOKEN
from slack_bot.testing.virtual_clock import new_clock, on_virtual_time

from .load_model import Crowd, Load, Report, answer_tokens
from .running import CHANNEL, event

SMALL = Load(2, 4, a_second=2)


def crowd_of_two() -> tuple[Crowd, list[str]]:
    crowd = Crowd(SMALL, new_clock())
    return crowd, [crowd.ask(number) for number in (1, 2)]


def call(crowd: Crowd, method: str, **args: Any) -> Any:
    answer = crowd.workspace.call(method, args, now=crowd.clock.wall(), token=BOT_TOKEN, is_json=True)
    return answer.body


def post(crowd: Crowd, root: str, text: str) -> None:
    assert call(crowd, "chat.postMessage", channel=CHANNEL, thread_ts=root, text=text)["ok"]


def answers(crowd: Crowd) -> list[str]:
    dice = random.Random(1)
    return ["".join(answer_tokens(number, SMALL.tokens, dice)) for number in (1, 2)]


@on_virtual_time
async def test_whole_is_all_of_it_once() -> None:
    crowd, (one, two) = crowd_of_two()
    first, second = answers(crowd)
    post(crowd, one, first)
    assert (crowd.report().whole, crowd.broken()) == (1, [""])
    post(crowd, two, second[:-2])
    assert (crowd.report().whole, crowd.broken()) == (1, [second[:-2]])
    post(crowd, two, second[-2:])
    assert (crowd.report().whole, crowd.broken()) == (2, [])
    post(crowd, two, second)
    assert (crowd.report().whole, crowd.broken()) == (1, [second + second])


@on_virtual_time
async def test_an_answer_in_two_threads_counts_once() -> None:
    crowd, roots = crowd_of_two()
    for root in roots:
        post(crowd, root, answers(crowd)[0])
    assert crowd.report().whole == 1


@on_virtual_time
async def test_times_are_counted_from_the_question_and_from_the_token() -> None:
    crowd, (one, _) = crowd_of_two()
    tokens = answer_tokens(1, SMALL.tokens, random.Random(1))

    def said(token: str) -> None:
        said_now = str(event(token, "1")).replace("'", '"').encode()
        crowd.agent.sent.append((crowd.clock.wall(), said_now))

    await asyncio.sleep(1)
    said(tokens[0])
    await asyncio.sleep(1)
    post(crowd, one, tokens[0])
    said(tokens[1])
    said(tokens[2])
    await asyncio.sleep(5)
    post(crowd, one, "".join(tokens[1:3]))
    report = crowd.report()
    assert report.first == [2.0]
    assert report.lags == [1.0, 5.0, 5.0]
    assert (report.stood_still, report.waits, report.took) == ([5.0], [5.0], 7.0)
    assert report.age == (1 * 0.5 + 5 * 2.5) / 6, "until each text came, its age grew from nothing"


@on_virtual_time
async def test_silence_is_neither_text_nor_status() -> None:
    crowd, (one, two) = crowd_of_two()
    watching = asyncio.create_task(crowd.watch())
    post(crowd, one, "Answer 1: so")
    await asyncio.sleep(3.5)
    assert crowd.report().silent == 3
    status = {"channel_id": CHANNEL, "thread_ts": two, "status": "is thinking..."}
    assert call(crowd, "assistant.threads.setStatus", **status)["ok"]
    await asyncio.sleep(10)
    watching.cancel()
    assert crowd.report().silent == 3


@on_virtual_time
async def test_refusals_and_open_streams_are_counted() -> None:
    crowd, (one, _) = crowd_of_two()
    for _ in range(22):
        call(
            crowd,
            "chat.startStream",
            channel=CHANNEL,
            thread_ts=one,
            recipient_user_id="U1",
            recipient_team_id="T1",
            chunks=[{"type": "markdown_text", "text": "x"}],
        )
    report = crowd.report()
    assert (report.refused, report.left_open) == (2, 20)


def test_the_same_seed_is_the_same_crowd() -> None:
    def made(seed: int) -> tuple[Any, ...]:
        crowd = Crowd(Load(5, 50, within=60, failing=0.1), new_clock(), seed)
        return crowd.times, [crowd.workspace.faults.next("chat.update") for _ in range(50)], crowd._answers

    assert made(1) == made(1)
    assert made(1) != made(2)


@pytest.mark.parametrize(
    ("load", "name"),
    [
        (Load(3, 100), "3 askers, 100 tokens"),
        (Load(20, 1200, a_second=40), "20 askers, 1,200 tokens at 40/s"),
        (Load(40, 200, within=60), "40 askers, 200 tokens within 60 s"),
        (Load(20, 200, failing=0.1), "20 askers, 200 tokens, 10% of calls failing"),
    ],
)
def test_a_load_has_a_name(load: Load, name: str) -> None:
    assert load.name == name


def test_nothing_seen_is_never() -> None:
    cells = Report(SMALL, 0, [], [], [], 0.0, [], 0, 0, 5.0, 9.0).cells()
    assert cells == ["0 of 2", "never", "never", "never", "0.00", "-", "0", "0", "5", "9"]
