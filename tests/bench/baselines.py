"""Three bots for the same crowd: ours, one on slack_sdk's `chat_stream`, one that flushes at line ends.

The two others are what a competent afternoon gives: they read the agent's stream and write to Slack through
slack_sdk as its documentation shows, and log what fails. They get the mention without Bolt and the answer
without the agent's card, which only makes them quicker.
"""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any

import httpx
from slack_bolt.request.async_request import AsyncBoltRequest
from slack_sdk.errors import SlackClientError
from slack_sdk.web.async_client import AsyncWebClient

from slack_bot.app import build
from slack_bot.testing.agent.scripted import ScriptedTransport
from slack_bot.testing.harness import bot_settings
from slack_bot.testing.memory_store import MemoryStore
from slack_bot.testing.slack.in_process import SlackSession
from slack_bot.testing.slack.workspace import BOT_TOKEN

from .load_model import Crowd

LATENCY = 0.05
"""Seconds that a call takes to reach Slack, for all three."""
FLUSH_AFTER = 1.0
"""Seconds after which a rival flushes without a line end."""

_log = logging.getLogger("bench.rivals")

Deliver = Callable[[Mapping[str, Any]], Awaitable[None]]
"""Takes one event of Slack's."""
Idle = Callable[[], Awaitable[None]]
"""Returns when nothing is being answered any more."""
Open = Callable[[Crowd], AbstractAsyncContextManager[tuple[Deliver, Idle]]]


def _session(crowd: Crowd) -> Any:
    return SlackSession(crowd.workspace, crowd.clock, latency=LATENCY)


@asynccontextmanager
async def ours(crowd: Crowd) -> AsyncIterator[tuple[Deliver, Idle]]:
    """The whole bot, with the settings it comes with."""
    app = await build(
        bot_settings(),
        clock=crowd.clock,
        http_transport=ScriptedTransport(crowd.agent),
        slack_session=_session(crowd),
        store=MemoryStore(),
    )

    async def deliver(payload: Mapping[str, Any]) -> None:
        await app.bolt.async_dispatch(AsyncBoltRequest(body=dict(payload), mode="socket_mode"))

    async with app:
        yield deliver, app.threads.idle


@asynccontextmanager
async def on_chat_stream(crowd: Crowd) -> AsyncIterator[tuple[Deliver, Idle]]:
    """`AsyncWebClient.chat_stream`: it buffers 256 characters and stops with the rest."""

    async with _rival(crowd, write_chat_stream) as parts:
        yield parts


async def write_chat_stream(
    client: AsyncWebClient, event: Mapping[str, Any], tokens: AsyncIterator[str]
) -> None:
    """Writes one answer as slack_sdk's documentation shows."""
    stream = await client.chat_stream(**address(event))
    async for token in tokens:
        await stream.append(markdown_text=token)
    await stream.stop()


@asynccontextmanager
async def at_line_ends(crowd: Crowd) -> AsyncIterator[tuple[Deliver, Idle]]:
    """Flushes at a line end, or with the next token after a second. What failed is tried with the next."""

    async def answer(client: AsyncWebClient, event: Mapping[str, Any], tokens: AsyncIterator[str]) -> None:
        shown = _Flushed(client, event)
        last = crowd.clock.monotonic()
        async for token in tokens:
            shown.waiting += token
            now = crowd.clock.monotonic()
            if "\n" in token or now - last >= FLUSH_AFTER:
                last = now
                await shown.flush()
        await shown.flush()
        await shown.stop()

    async with _rival(crowd, answer) as parts:
        yield parts


class _Flushed:
    """A stream that is fed by hand. A call that fails leaves the text for the next one."""

    def __init__(self, client: AsyncWebClient, event: Mapping[str, Any]) -> None:
        self._client, self._event = client, event
        self._ts: str | None = None
        self.waiting = ""

    async def flush(self) -> None:
        if not self.waiting:
            return
        try:
            if self._ts is None:
                begun = await self._client.chat_startStream(
                    **address(self._event), markdown_text=self.waiting
                )
                self._ts = begun["ts"]
            else:
                await self._client.chat_appendStream(
                    channel=self._event["channel"], ts=self._ts, markdown_text=self.waiting
                )
            self.waiting = ""
        except (SlackClientError, TimeoutError, OSError) as error:
            _log.info("flush failed: %s", error)

    async def stop(self) -> None:
        if self._ts is not None:
            await self._client.chat_stopStream(channel=self._event["channel"], ts=self._ts)


def address(event: Mapping[str, Any]) -> dict[str, Any]:
    """Where the answer to a mention is streamed."""
    return {
        "channel": event["channel"],
        "thread_ts": event["ts"],
        "recipient_user_id": event["user"],
        "recipient_team_id": event.get("team") or "T1",
    }


Write = Callable[[AsyncWebClient, Mapping[str, Any], AsyncIterator[str]], Awaitable[None]]


@asynccontextmanager
async def _rival(crowd: Crowd, write: Write) -> AsyncIterator[tuple[Deliver, Idle]]:
    """A bot that answers each mention with `write`, in a task of its own, and logs what breaks."""
    client = AsyncWebClient(token=BOT_TOKEN, session=_session(crowd))
    running: set[asyncio.Task[None]] = set()

    async def answer(http: httpx.AsyncClient, event: Mapping[str, Any]) -> None:
        status = {"channel_id": event["channel"], "thread_ts": event["ts"], "status": "is thinking..."}
        try:
            await client.api_call("assistant.threads.setStatus", json=status)
            await write(client, event, _tokens(http, str(event["text"])))
        except (SlackClientError, TimeoutError, OSError, AttributeError) as error:
            _log.info("answer failed: %s", error)

    async with httpx.AsyncClient(transport=ScriptedTransport(crowd.agent), timeout=None) as http:

        async def deliver(payload: Mapping[str, Any]) -> None:
            event = payload.get("event") or {}
            if event.get("type") == "app_mention":
                task = asyncio.create_task(answer(http, event))
                running.add(task)
                task.add_done_callback(running.discard)

        async def idle() -> None:
            while running:
                await asyncio.wait(tuple(running))

        yield deliver, idle


async def _tokens(http: httpx.AsyncClient, text: str) -> AsyncIterator[str]:
    """The agent's answer, piece by piece."""
    message = {"role": "user", "messageId": text, "parts": [{"kind": "text", "text": text}]}
    body = {"jsonrpc": "2.0", "id": 1, "method": "message/stream", "params": {"message": message}}
    async with http.stream("POST", "http://agent.test/", json=body) as answer:
        async for line in answer.aiter_lines():
            result = json.loads(line[5:]).get("result", {}) if line.startswith("data:") else {}
            for part in (result.get("artifact") or {}).get("parts", ()):
                yield part.get("text", "")
