"""A front as AWS AgentCore has it, emulated by its documentation: not tried against AWS itself.

It wants a session header of 33 to 256 characters on each call, gives each session a machine of its own, and
serves the card below the address of the runtime, with a qualifier.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from aiohttp import web
from aiohttp.test_utils import TestServer

from slack_bot.tools.replay.scenario import make_scenario
from tests.live_agent import replay_live

HEADER = "X-Amzn-Bedrock-AgentCore-Runtime-Session-Id"
RUNTIME = "/runtimes/arn%3Aaws%3Abedrock-agentcore%3Aeu-west-1%3A1%3Aruntime%2Fours/invocations"


class Front:
    """`machines` counts the questions of each session. `refused`: calls without a usable header."""

    def __init__(self) -> None:
        self.machines = Counter[str]()
        self.refused: list[str] = []
        self.queries: list[str] = []

    async def handle(self, request: web.Request) -> web.StreamResponse:
        session = request.headers.get(HEADER, "")
        self.queries.append(request.query_string)
        if not 33 <= len(session) <= 256:
            self.refused.append(request.path)
            return web.json_response({"message": "the session id has no valid length"}, status=400)
        if request.method == "GET":
            here = {"url": f"{request.url.origin()}{RUNTIME}/?qualifier=LIVE", "protocolBinding": "JSONRPC"}
            return web.json_response(
                {"name": "C", "supportedInterfaces": [here], "capabilities": {}, "skills": []}
            )
        self.machines[session] += 1
        said = f"Question {self.machines[session]} of this machine."
        message = {"messageId": "m", "role": "ROLE_AGENT", "parts": [{"text": said}]}
        data = json.dumps({"jsonrpc": "2.0", "id": 1, "result": {"message": message}})
        return web.Response(text=f"data: {data}\n\n", content_type="text/event-stream")


@asynccontextmanager
async def serving(front: Front) -> AsyncIterator[str]:
    app = web.Application()
    app.router.add_route("*", "/{rest:.*}", front.handle)
    async with TestServer(app) as server:
        yield f"{server.make_url('/')}{RUNTIME[1:]}/.well-known/agent-card.json?qualifier=LIVE"


async def answer(url: str, thread: str, **settings: Any) -> str:
    """What a process of its own answers in a thread."""
    scenario = make_scenario({"text": "q", "thread_ts": thread, "settings": settings})
    result = await replay_live(scenario, url)
    return str(result["visible"]) if result["outcome"] == "answered" else str(result["outcome"])


async def test_a_conversation_stays_with_its_machine_over_restarts_and_another_has_its_own() -> None:
    front = Front()
    async with serving(front) as url:
        said = [await answer(url, thread, session_header=HEADER) for thread in ("1.1", "1.1", "2.2")]
    assert said == [f"Question {number} of this machine." for number in (1, 2, 1)]
    assert not front.refused
    assert set(front.queries) == {"qualifier=LIVE"}


async def test_without_the_setting_the_front_refuses() -> None:
    front = Front()
    async with serving(front) as url:
        assert await answer(url, "1.1") == "refused"
    assert front.refused
