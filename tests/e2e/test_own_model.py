"""The reference agent on a language model of one's own: an OpenAI-compatible endpoint on a real socket.

Endpoint, agent, bot: three servers, real HTTP between them; only Slack is emulated.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from pydantic import SecretStr
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route

from slack_bot.playground.command_line import MODES
from slack_bot.playground.hosting import host_app
from slack_bot.playground.reference.agent import serve
from slack_bot.settings.models import ReferenceSettings
from slack_bot.tools.replay.scenario import make_scenario
from tests.live_agent import replay_live

KEY = "sk-hunter2"
ANSWER = "# What AGNTCY is\n\nAn *open* collective — für Agenten 🤖.\n\nThe last word stays."


class Endpoint:
    """Searches once, then answers: with the marker, or by the response tool where it is given."""

    def __init__(self) -> None:
        self.asked: list[dict[str, Any]] = []
        self.asgi = Starlette(routes=[Route("/v1/chat/completions", self._answer, methods=["POST"])])

    async def aclose(self) -> None:
        """Nothing runs on."""

    async def _answer(self, request: Request) -> Response:
        if request.headers.get("authorization") != f"Bearer {KEY}":
            return Response(status_code=401)
        body = await request.json()
        self.asked.append(body)
        return StreamingResponse(self._chunks(body), media_type="text/event-stream")

    async def _chunks(self, body: dict[str, Any]) -> AsyncIterator[str]:
        for delta in self._deltas(body):
            yield f"data: {json.dumps({'choices': [{'index': 0, 'delta': delta}]})}\n\n"
        yield "data: [DONE]\n\n"

    def _deltas(self, body: dict[str, Any]) -> list[dict[str, Any]]:
        if body["messages"][-1]["role"] != "tool":
            return [{"content": "I'll look "}, {"content": "it up."}, _call("search", '{"query": "agntcy"}')]
        if any(each["function"]["name"] == "PlatformEngineerResponse" for each in body["tools"]):
            flags = {"is_task_complete": True, "require_user_input": False}
            return _pieces(json.dumps({**flags, "content": ANSWER}))
        text = f"Found it. [FINAL ANSWER]\n{ANSWER}"
        return [{"content": text[at : at + 3]} for at in range(0, len(text), 3)]


def _call(name: str | None, arguments: str) -> dict[str, Any]:
    return {"tool_calls": [{"index": 0, "id": "c", "function": {"name": name, "arguments": arguments}}]}


def _pieces(raw: str) -> list[dict[str, Any]]:
    return [
        _call("PlatformEngineerResponse" if at == 0 else None, raw[at : at + 5])
        for at in range(0, len(raw), 5)
    ]


@asynccontextmanager
async def asked(mode: str, key: str = KEY) -> AsyncIterator[tuple[dict[str, Any], Endpoint]]:
    endpoint = Endpoint()
    async with host_app(lambda _: endpoint, "127.0.0.1", 0) as url:
        model = {"model_url": f"{url}v1", "model_key": SecretStr(key), "model_name": "own"}
        settings = ReferenceSettings.model_validate({**model, "response_mode": mode, "pace": 0})
        async with serve(settings) as agent_url:
            scenario = make_scenario({"text": "what is agntcy", "settings": {"error_text": "show"}})
            yield await replay_live(scenario, agent_url), endpoint


@pytest.mark.parametrize("mode", MODES)
async def test_its_answer_stands_in_the_thread_letter_by_letter(mode: str) -> None:
    async with asked(mode) as (result, endpoint):
        assert result["visible"] == ANSWER
        assert result["outcome"] == "answered"
        first, second = endpoint.asked
        assert (first["model"], first["messages"][1]["content"]) == ("own", "what is agntcy")
        assert second["messages"][-2]["content"] == "I'll look it up."
        assert "agntcy" in second["messages"][-1]["content"]
        assert [task["title"] for message in result["thread"] for task in message["tasks"]] == [
            "Search “agntcy”"
        ]


async def test_a_wrong_key_is_told_in_one_sentence_without_it() -> None:
    async with asked("hybrid", "sk-wrong-key") as (result, _):
        assert result["outcome"] == "failed"
        assert "The language model refused the request (HTTP 401)." in json.dumps(result["thread"])
        assert "sk-" not in json.dumps(result)
