"""An agent that numbers its events: where its stream goes on after a cut, and that a lost one is noticed."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer

from slack_bot.tools.replay.scenario import make_scenario
from tests.live_agent import replay_live

TEXTS = ("The first. ", "The second. ", "The third. ", "The last.")
ANSWER = "".join(TEXTS)


def _events() -> list[dict[str, Any]]:
    ids = {"taskId": "t", "contextId": "c"}
    task = {"id": "t", "contextId": "c", "status": {"state": "TASK_STATE_WORKING"}}
    found: list[dict[str, Any]] = [{"task": task}]
    for number, text in enumerate(TEXTS):
        artifact = {"artifactId": "a", "parts": [{"text": text}]}
        found.append({"artifactUpdate": {**ids, "artifact": artifact, "append": number > 0}})
    return [*found, {"statusUpdate": {**ids, "status": {"state": "TASK_STATE_COMPLETED"}}}]


EVENTS = _events()
DONE = {
    "id": "t",
    "contextId": "c",
    "status": {"state": "TASK_STATE_COMPLETED"},
    "artifacts": [{"artifactId": "a", "parts": [{"text": ANSWER}]}],
}


@dataclass
class Numbered:
    """The agent. `cut`: events of the question's stream before it breaks. `left_out` are not sent at all.

    `resumes`: it goes on behind `Last-Event-ID`; else a joined stream begins anew, with other ids.
    """

    ids: Sequence[str] = tuple(map(str, range(7, 7 + len(EVENTS))))
    cut: int | None = None
    left_out: Sequence[int] = ()
    resumes: bool = True
    keeps_tasks: bool = True
    events: Sequence[dict[str, Any]] = tuple(EVENTS)
    methods: list[str] = field(default_factory=list)
    last_ids: list[str | None] = field(default_factory=list)

    async def card(self, request: web.Request) -> web.Response:
        face = {"url": str(request.url.origin()), "protocolBinding": "JSONRPC", "protocolVersion": "1.0"}
        return web.json_response(
            {"name": "N", "supportedInterfaces": [face], "capabilities": {"streaming": True}, "skills": []}
        )

    async def call(self, request: web.Request) -> web.StreamResponse:
        method = (await request.json())["method"]
        self.methods.append(method)
        if method == "GetTask":
            found = {"result": DONE} if self.keeps_tasks else {"error": {"code": -32601, "message": "no"}}
            return web.json_response({"jsonrpc": "2.0", "id": 1, **found})
        response = web.StreamResponse(headers={"content-type": "text/event-stream"})
        await response.prepare(request)
        if method == "SubscribeToTask":
            last = request.headers.get("Last-Event-ID")
            self.last_ids.append(last)
            start = self.ids.index(last) + 1 if self.resumes and last in self.ids else len(EVENTS) - 1
            await self._send(response, range(start, len(EVENTS)))
            return response
        await self._send(response, range(len(self.events) if self.cut is None else self.cut))
        if self.cut is not None:
            assert request.transport is not None
            request.transport.close()
        return response

    async def _send(self, response: web.StreamResponse, numbers: Sequence[int]) -> None:
        for number in numbers:
            if number in self.left_out:
                continue
            data = json.dumps({"jsonrpc": "2.0", "id": 1, "result": self.events[number]})
            await response.write(f"id: {self.ids[number]}\ndata: {data}\n\n".encode())
            await asyncio.sleep(0)


@asynccontextmanager
async def serving(agent: Numbered) -> AsyncIterator[str]:
    app = web.Application()
    app.router.add_get("/.well-known/agent-card.json", agent.card)
    app.router.add_post("/", agent.call)
    async with TestServer(app) as server:
        yield str(server.make_url("/"))


async def answered(agent: Numbered) -> dict[str, Any]:
    async with serving(agent) as url:
        settings = {"poll_intervals": [0.05], "first_flush_delay": 0.0, "flush_interval": 0.05}
        return await replay_live(make_scenario({"text": "q", "settings": settings}), url)


@pytest.mark.parametrize("cut", range(1, len(EVENTS)))
async def test_a_stream_that_is_cut_goes_on_behind_the_last_event(cut: int) -> None:
    agent = Numbered(cut=cut)
    result = await answered(agent)
    assert (result["outcome"], result["visible"]) == ("answered", ANSWER)
    assert agent.last_ids == [agent.ids[cut - 1]]
    assert "GetTask" not in agent.methods[: agent.methods.index("SubscribeToTask")]


@pytest.mark.parametrize("cut", range(1, len(EVENTS)))
@pytest.mark.parametrize("ids", [None, ["x", "y", "z", "1a", "b", "c"]])
async def test_an_agent_that_does_not_go_on_there_is_asked_for_the_task(
    cut: int, ids: list[str] | None
) -> None:
    agent = Numbered(cut=cut, resumes=False)
    agent.ids = ids or agent.ids
    result = await answered(agent)
    assert (result["outcome"], result["visible"]) == ("answered", ANSWER)
    assert agent.last_ids[0] == agent.ids[cut - 1]


@pytest.mark.parametrize("left_out", [1, 2, 3, 4])
async def test_an_event_that_is_left_out_is_read_from_the_task(left_out: int) -> None:
    agent = Numbered(left_out=(left_out,))
    result = await answered(agent)
    assert (result["outcome"], result["visible"]) == ("answered", ANSWER)
    assert agent.methods == ["SendStreamingMessage", "GetTask"]


async def test_nobody_is_asked_where_nothing_is_left_out() -> None:
    agent = Numbered()
    result = await answered(agent)
    assert (result["outcome"], result["visible"]) == ("answered", ANSWER)
    assert agent.methods == ["SendStreamingMessage"]


TIMES = ("1795800001", "1795800007", "1795800020", "1795800021", "1795800040", "1795800041")
REPLY = {"message": {"messageId": "m", "role": "ROLE_AGENT", "parts": [{"text": ANSWER}]}}


@pytest.mark.parametrize("events", [EVENTS, [REPLY, REPLY]])
async def test_ids_that_are_times_lose_no_answer_where_no_task_can_be_read(
    events: Sequence[dict[str, Any]],
) -> None:
    agent = Numbered(ids=TIMES, keeps_tasks=False, events=events)
    result = await answered(agent)
    assert (result["outcome"], result["visible"]) == ("answered", ANSWER)
