"""A Stop ends the turn at once, whatever the agent does with it; and what is asked next is not lost."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from typing import Any

import httpx
import pytest

from slack_bot.testing.harness import CHANNEL, BotHarness, run_bot
from slack_bot.testing.tape.builders import answer, task
from slack_bot.testing.virtual_clock import on_virtual_time

LONG = answer(" ".join(f"word{n}" for n in range(100)), seconds=60)
NEXT = answer("Second.", ids="2")
WORKS_ON = "The agent has not stopped yet and may still be working."
CANNOT = "This agent cannot be stopped: it works on, and nothing more of that is shown."
COULD_NOT = "The agent could not be stopped and may still be working."


class Door(httpx.AsyncBaseTransport):
    """Before the agent: `cancel` answers its cancels (None: never), `refusal` questions while one runs."""

    def __init__(
        self, inner: httpx.AsyncBaseTransport, cancel: dict[str, Any] | None, refusal: httpx.Response | None
    ) -> None:
        self.inner, self.cancel, self.refusal, self.asked = inner, cancel, refusal, list[float]()

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        call = json.loads(await request.aread() or b"{}")
        now = asyncio.get_running_loop().time()
        if call.get("method") == "tasks/cancel":
            if self.cancel is None:
                await asyncio.Event().wait()
            return httpx.Response(200, json={"id": call["id"], **(self.cancel or {})}, request=request)
        if call.get("method") == "message/stream":
            self.asked.append(now)
            if self.refusal is not None and len(self.asked) > 1 and now < 60:
                return self.refusal
        return await self.inner.handle_async_request(request)


def through(doors: list[Door], *parts: Any) -> Callable[[httpx.AsyncBaseTransport], httpx.AsyncBaseTransport]:
    def door(inner: httpx.AsyncBaseTransport) -> httpx.AsyncBaseTransport:
        doors.append(Door(inner, *parts))
        return doors[0]

    return door


async def stop_and_ask(bot: BotHarness) -> str:
    root = await bot.ask("one")
    await asyncio.sleep(10)
    await bot.ask("two", thread_ts=root)
    bot.workspace.stop("U1", CHANNEL, root, now=bot.now)
    await bot.deliver()
    return root


@pytest.mark.parametrize(
    ("cancel", "words"),
    [
        (None, WORKS_ON),
        ({"result": task("working")}, WORKS_ON),
        ({"result": task("canceled")}, "Stopped."),
        ({"error": {"code": -32004, "message": "no"}}, CANNOT),
        ({"error": {"code": -32603, "message": "no"}}, COULD_NOT),
    ],
)
@on_virtual_time
async def test_the_turn_ends_at_once_and_the_next_question_goes_out(
    cancel: dict[str, Any] | None, words: str
) -> None:
    doors: list[Door] = []
    async with run_bot(LONG, NEXT, through=through(doors, cancel, None)) as bot:
        root = await stop_and_ask(bot)
        await bot.idle()
        assert bot.outcomes == ["stopped", "answered"]
        assert doors[0].asked[1] < 13, "the agent works for a minute"
        stopped, _, second = [seen for seen in bot.thread(root) if seen.is_bot]
        assert words in str(stopped.blocks)
        assert second.text == "Second."
        contexts = [call.params["message"].get("contextId") for call in bot.agent.questions]
        assert contexts == [None, "ctx-1"]


@pytest.mark.parametrize(
    "refusal",
    [
        httpx.Response(409, text="busy"),
        httpx.Response(200, json={"jsonrpc": "2.0", "id": 1, "error": {"code": -32600, "message": "busy"}}),
    ],
)
@on_virtual_time
async def test_a_question_that_is_refused_for_it_is_asked_again_when_the_stopped_task_has_ended(
    refusal: httpx.Response,
) -> None:
    doors: list[Door] = []
    async with run_bot(LONG, NEXT, through=through(doors, {"result": task("working")}, refusal)) as bot:
        root = await stop_and_ask(bot)
        await asyncio.sleep(10)
        assert "waits for the stopped task to end..." in [seen.status_line for seen in bot.thread(root)]
        await bot.idle()
        assert bot.outcomes == ["stopped", "answered"]
        assert len(doors[0].asked) == 3 and 60 < doors[0].asked[2] < 70
        assert bot.read(root)[-1] == "Second."


@on_virtual_time
async def test_a_question_that_is_refused_for_itself_is_not_asked_again() -> None:
    doors: list[Door] = []
    busy = httpx.Response(409, text="busy")
    async with run_bot(LONG, NEXT, through=through(doors, {"result": task("canceled")}, busy)) as bot:
        await stop_and_ask(bot)
        await bot.idle()
        assert bot.outcomes == ["stopped", "refused"]
        assert len(doors[0].asked) == 2


@on_virtual_time
async def test_a_stop_ends_that_waiting_too() -> None:
    doors: list[Door] = []
    busy = httpx.Response(409, text="busy")
    async with run_bot(LONG, NEXT, through=through(doors, {"result": task("working")}, busy)) as bot:
        root = await stop_and_ask(bot)
        await asyncio.sleep(10)
        bot.workspace.stop("U1", CHANNEL, root, now=bot.now)
        await bot.deliver()
        async with asyncio.timeout(35):
            await bot.idle()
        assert bot.outcomes == ["stopped", "stopped"]
        assert len(doors[0].asked) == 2


class Agno(httpx.AsyncBaseTransport):
    """Before the agent: its card names the address of streams, which serves nothing else (agno 3.1.10)."""

    stream = "/v1/message:stream"

    def __init__(self, inner: httpx.AsyncBaseTransport) -> None:
        self.inner, self.cancelled_at = inner, list[str]()

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        if request.method == "GET":
            response = await self.inner.handle_async_request(request)
            card = json.loads(await response.aread())
            return httpx.Response(200, json={**card, "url": card["url"] + self.stream}, request=request)
        call = json.loads(await request.aread())
        if call["method"] == "message/stream":
            return await self.inner.handle_async_request(request)
        self.cancelled_at.append(request.url.path)
        if request.url.path.endswith(self.stream):
            return httpx.Response(400, text="no message", request=request)
        return httpx.Response(200, json={"id": call["id"], "result": task("canceled")}, request=request)


@on_virtual_time
async def test_a_task_is_cancelled_beside_the_address_of_streams() -> None:
    agents: list[Agno] = []

    def agno(inner: httpx.AsyncBaseTransport) -> httpx.AsyncBaseTransport:
        agents.append(Agno(inner))
        return agents[0]

    async with run_bot(LONG, NEXT, through=agno) as bot:
        root = await stop_and_ask(bot)
        await bot.idle()
        assert [path.rpartition("/v1/")[2] for path in agents[0].cancelled_at] == ["tasks:cancel"]
        stopped = next(seen for seen in bot.thread(root) if seen.is_bot)
        assert "Stopped." in str(stopped.blocks) and "Stopped here" not in str(stopped.blocks)
