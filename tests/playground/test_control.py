"""A test in another language, by HTTP beside the page: orders, threads that change, calls, connections."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from aiohttp import ClientSession
from slack_sdk.socket_mode.aiohttp import SocketModeClient
from slack_sdk.web.async_client import AsyncWebClient

from slack_bot.playground.visitor import CHANNEL
from slack_bot.playground.workspace import RunningWorkspace, open_workspace
from slack_bot.testing.harness import wait_until
from slack_bot.testing.slack.workspace import APP_TOKEN, BOT_TOKEN

PAGE = Path(__file__).parents[2] / "docs" / "testing-kit.md"
SAY = {"type": "say", "user": "U0MAYA", "channel": CHANNEL, "text": "<@U0BOT> hello"}


class Door:
    """Requests to the workspace of a test."""

    def __init__(self, alone: RunningWorkspace, http: ClientSession) -> None:
        self.alone, self._http = alone, http

    async def get(self, path: str, status: int = 200, **query: Any) -> dict[str, Any]:
        async with self._http.get(f"{self.alone.url}test/{path}", params=query) as response:
            assert response.status == status, await response.text()
            body: dict[str, Any] = await response.json()
            return body

    async def post(self, path: str, status: int = 200, **options: Any) -> dict[str, Any]:
        async with self._http.post(f"{self.alone.url}test/{path}", **options) as response:
            assert response.status == status, await response.text()
            body: dict[str, Any] = await response.json()
            return body

    async def ask(self) -> str:
        return str((await self.post("do", json=SAY))["ts"])


@asynccontextmanager
async def a_door() -> AsyncIterator[tuple[Door, AsyncWebClient]]:
    async with open_workspace() as alone, ClientSession() as http:
        yield Door(alone, http), AsyncWebClient(token=BOT_TOKEN, base_url=alone.api_url, session=http)


async def test_a_test_waits_until_the_thread_has_changed_and_reads_what_a_person_reads() -> None:
    async with a_door() as (door, slack):
        ts = await door.ask()
        before = await door.get("thread", channel=CHANNEL, ts=ts)
        assert [message["author"] for message in before["messages"]] == ["U0MAYA"]
        waiting = asyncio.create_task(door.get("thread", channel=CHANNEL, ts=ts, after=before["number"]))
        await asyncio.sleep(0)
        stream = await slack.chat_stream(
            channel=CHANNEL, thread_ts=ts, recipient_user_id="U0MAYA", recipient_team_id="T1", buffer_size=1
        )
        await stream.append(markdown_text="Half")
        seen = (await waiting)["messages"][1]
        assert (seen["text"], seen["state"], seen["is_bot"], seen["read"]) == (
            "Half",
            "streaming",
            True,
            "Half",
        )
        await stream.stop()
        after = await door.get("thread", channel=CHANNEL, ts=ts)
        assert after["messages"][1]["state"] == "sealed"
        assert after["number"] > before["number"]
        same = await door.get("thread", channel=CHANNEL, ts=ts, after=after["number"], within=0)
        assert same["number"] == after["number"]


async def test_calls_are_told_with_what_came_of_them_and_fail_where_a_test_wants_it() -> None:
    async with a_door() as (door, slack):
        faults = {"chat.postMessage": ["ratelimited:1", None]}
        await door.post("do", json={"type": "faults", "slack_faults": faults})
        ts = await door.ask()
        async with ClientSession() as http:
            asked = {
                "headers": {"Authorization": f"Bearer {BOT_TOKEN}"},
                "json": {"channel": CHANNEL, "text": "a"},
            }
            async with http.post(f"{door.alone.api_url}chat.postMessage", **asked) as refused:
                assert (refused.status, refused.headers["Retry-After"]) == (429, "1")
        await slack.chat_postMessage(channel=CHANNEL, thread_ts=ts, text="b")
        told = await door.get("calls", method="chat.postMessage")
        assert [(call["ok"], call["error"]) for call in told["calls"]] == [
            (False, "ratelimited"),
            (True, None),
        ]
        later = await door.get("calls", method="chat.postMessage", **{"from": told["number"] - 1})
        assert [call["args"]["text"] for call in later["calls"]] == ["b"]


async def test_connections_are_counted_and_asked_to_come_again() -> None:
    async with a_door() as (door, slack):
        refused = await door.post("sockets", 400, json={"do": "refresh"})
        assert refused["error"] == "No bot is connected."
        client = SocketModeClient(app_token=APP_TOKEN, web_client=slack)
        await client.connect()
        try:
            assert await door.get("sockets") == {"open": 1, "lost": []}
            first = await client.session_id()
            assert (await door.post("sockets", json={"do": "refresh"})) == {"ok": True}
            opened = "apps.connections.open"
            calls = door.alone.workspace.calls
            await wait_until(lambda: [c.method for c in calls].count(opened) == 2, door.alone.workspace)
            assert first
        finally:
            await client.close()


@pytest.mark.parametrize(
    ("path", "options", "status", "said"),
    [
        ("do", {"data": b"{"}, 400, "The body is one JSON object"),
        ("do", {"data": b"[]"}, 400, "The body is one JSON object"),
        ("do", {"json": {**SAY, "user": "U9"}}, 400, "Nobody here has that name."),
        ("do", {"json": {**SAY, "channel": "C9"}}, 400, "not there"),
        ("do", {"json": {"type": "faults", "slack_faults": {"chat.nothing": []}}}, 400, "chat.nothing"),
        ("do", {"json": SAY, "headers": {"Origin": "http://evil.example"}}, 403, "no web page"),
        ("do", {"json": SAY, "headers": {"Host": "evil.example"}}, 403, None),
        ("sockets", {"json": {"do": "dance"}}, 400, "refresh, warning or freeze"),
    ],
)
async def test_what_cannot_be_done_is_one_sentence(
    path: str, options: dict[str, Any], status: int, said: str | None
) -> None:
    async with a_door() as (door, _):
        if said is None:
            async with (
                ClientSession() as http,
                http.post(f"{door.alone.url}test/{path}", **options) as response,
            ):
                assert response.status == status
            return
        assert said in (await door.post(path, status, **options))["error"]


@pytest.mark.parametrize(
    ("query", "status", "said"),
    [
        ({"channel": CHANNEL}, 400, "Say which ts"),
        ({"channel": CHANNEL, "ts": "1.0"}, 404, "no message 1.0 in C0GENERAL"),
        ({"channel": CHANNEL, "ts": "1.0", "after": "x"}, 400, "after is 'x'; give a whole number."),
    ],
)
async def test_a_thread_that_cannot_be_shown_is_one_sentence(
    query: dict[str, str], status: int, said: str
) -> None:
    async with a_door() as (door, _):
        assert said in (await door.get("thread", status, **query))["error"]


async def test_the_requests_of_the_page_of_the_kit_are_answered() -> None:
    named = set(re.findall(r"`(GET|POST) /test/(\w+)", PAGE.read_text("utf-8")))
    assert len(named) == 5
    async with a_door() as (door, _), ClientSession() as http:
        for method, path in named:
            async with http.request(method, f"{door.alone.url}test/{path}", data=b"?") as response:
                assert response.status in (200, 400), path
                assert response.content_type == "application/json", path
