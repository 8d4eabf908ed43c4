"""An agent that says nothing, or nothing that can be read, leads to an end, and is not asked twice."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import httpx
import pytest

from slack_bot.testing.harness import run_bot
from slack_bot.testing.tape.builders import answer, status, task
from slack_bot.testing.tape.tape import Moment, Tape
from slack_bot.testing.virtual_clock import on_virtual_time

SECONDS = range(1, 4000, 5)
GARBAGE = {"kind": "heart", "beat": 1}
PINGS = tuple(Moment(float(n), comment="ping") for n in SECONDS)
UNKNOWN = tuple(Moment(float(n), event=GARBAGE) for n in SECONDS)
SILENT, NOT_UNDERSTOOD = "The agent has gone silent.", "The agent sent nothing that could be understood."


def tape(*moments: Moment) -> Tape:
    return Tape({"wire": "0.3"}, moments)


class WithoutStreams(httpx.AsyncBaseTransport):
    """Before an agent: its card says that it does not stream."""

    def __init__(self, inner: httpx.AsyncBaseTransport) -> None:
        self.inner = inner

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        response = await self.inner.handle_async_request(request)
        if request.method == "POST":
            return response
        card = json.loads(await response.aread())
        return httpx.Response(200, json={**card, "capabilities": {"streaming": False}}, request=request)


@pytest.mark.parametrize(
    ("moments", "words"),
    [
        ((Moment(0.1, comment="headers"), Moment(4000.0, end="closed")), SILENT),
        (PINGS, SILENT),
        (UNKNOWN, NOT_UNDERSTOOD),
        ((Moment(0.1, event=GARBAGE), Moment(0.2, end="closed")), NOT_UNDERSTOOD),
    ],
)
@on_virtual_time
async def test_nothing_that_can_be_read_ends_with_a_way_to_try_again(
    moments: tuple[Moment, ...], words: str
) -> None:
    async with run_bot(tape(*moments), answer("Here I am.")) as bot:
        root, began = await bot.ask("hi"), asyncio.get_running_loop().time()
        await bot.ask("and?", thread_ts=root)
        async with asyncio.timeout(200):
            await bot.idle()
        assert asyncio.get_running_loop().time() - began < 150
        assert bot.outcomes == ["lost", "answered"]
        shown = str(bot.thread(root)[2])
        assert words in shown and "Try again" in shown
        assert [call.params["message"]["parts"][0]["text"] for call in bot.agent.questions] == ["hi", "and?"]
        assert bot.workspace.open_streams() == []


@on_virtual_time
async def test_an_agent_that_answers_by_messages_and_names_no_task_may_pause() -> None:
    """It has begun. What it says after a pause that is longer than `idle_timeout` is part of its answer."""
    pieces = [Moment(at, event=message("m-1", text)) for at, text in ((0.1, "First. "), (200.0, "Last."))]
    async with run_bot(tape(*pieces, Moment(200.1, end="closed"))) as bot:
        root = await bot.ask("hi")
        await bot.idle()
        assert (bot.read(root), bot.outcomes) == (["First. Last."], ["answered"])


def message(key: str, text: str) -> dict[str, Any]:
    parts = [{"kind": "text", "text": text}]
    return {"kind": "message", "messageId": key, "role": "agent", "parts": parts}


@on_virtual_time
async def test_an_agent_that_sends_its_answer_whole_may_be_silent_for_long() -> None:
    late = tape(Moment(600.0, event=task("completed", text="At last.")), Moment(600.1, end="closed"))
    async with run_bot(late, through=WithoutStreams) as bot:
        root = await bot.ask("hi")
        await bot.idle()
        assert bot.read(root) == ["At last."]


def last_one(state: str) -> dict[str, Any]:
    return {**status(state), "final": True}


@pytest.mark.parametrize("end", ["closed", None])
@on_virtual_time
async def test_a_stream_that_is_final_though_its_task_works_ends_and_is_looked_after(end: str | None) -> None:
    """kagent-adk 0.10.4, where its question was answered as ADK wants it."""
    last = (Moment(0.2, event=last_one("working")), *([Moment(0.3, end="closed")] if end else PINGS))
    async with run_bot(tape(Moment(0.1, event=task()), *last), answer("Here I am.", ids="2")) as bot:
        root, began = await bot.ask("hi"), asyncio.get_running_loop().time()
        await bot.ask("and?", thread_ts=root)
        async with asyncio.timeout(200):
            await bot.idle()
        assert asyncio.get_running_loop().time() - began < 150
        assert bot.outcomes == ["watched", "answered"]
        shown = str(bot.thread(root)[2])
        assert "ended its reply, but not its task" in shown and "Try again" in shown
