"""`python -m tests.bench.rivals KIND`: a bot of a competent afternoon, in a process of its own, over Socket
Mode. It reads the variables of `slack-bot run`.

`line-ends` is Bolt with threads, as its documentation begins, and flushes at line ends or after a second.
`chat-stream` is Bolt on asyncio with slack_sdk's `chat_stream`.
"""

from __future__ import annotations

import asyncio
import json
import logging
import os
import sys
import time
from collections.abc import AsyncIterator, Iterator, Mapping
from typing import Any

import httpx
from slack_bolt import App
from slack_bolt.adapter.socket_mode import SocketModeHandler
from slack_bolt.adapter.socket_mode.async_handler import AsyncSocketModeHandler
from slack_bolt.async_app import AsyncApp
from slack_sdk.web import WebClient
from slack_sdk.web.async_client import AsyncWebClient

from .baselines import FLUSH_AFTER, address, write_chat_stream

KINDS = ("line-ends", "chat-stream")


def _client() -> dict[str, str]:
    return {"token": os.environ["SLACK_BOT_TOKEN"], "base_url": os.environ["SLACK_API_URL"]}


def _question(event: Mapping[str, Any]) -> dict[str, Any]:
    message = {"role": "user", "messageId": event["ts"], "parts": [{"kind": "text", "text": event["text"]}]}
    params = {"message": {"kind": "message", **message}}
    body = {"jsonrpc": "2.0", "id": 1, "method": "message/stream", "params": params}
    return {"method": "POST", "url": os.environ["A2A_AGENT_URL"], "json": body, "timeout": None}


def _text(line: str) -> str:
    result = json.loads(line[5:]).get("result", {}) if line.startswith("data:") else {}
    return "".join(part.get("text", "") for part in (result.get("artifact") or {}).get("parts", ()))


def line_ends() -> None:
    """Until it is killed."""
    app = App(client=WebClient(**_client()))

    @app.event("app_mention")
    def on_mention(event: dict[str, Any], client: WebClient) -> None:
        waiting, ts, last = "", "", time.monotonic()
        for token in _tokens(event):
            waiting += token
            if "\n" in token or time.monotonic() - last >= FLUSH_AFTER:
                last = time.monotonic()
                ts, waiting = _flush(client, event, ts, waiting), ""
        ts = _flush(client, event, ts, waiting) if waiting else ts
        client.chat_stopStream(channel=event["channel"], ts=ts)

    SocketModeHandler(app, os.environ["SLACK_APP_TOKEN"]).start()  # type: ignore[no-untyped-call]


def _tokens(event: Mapping[str, Any]) -> Iterator[str]:
    with httpx.Client() as http, http.stream(**_question(event)) as answer:
        yield from filter(None, map(_text, answer.iter_lines()))


def _flush(client: WebClient, event: Mapping[str, Any], ts: str, text: str) -> str:
    if ts:
        client.chat_appendStream(channel=event["channel"], ts=ts, markdown_text=text)
        return ts
    return str(client.chat_startStream(**address(event), markdown_text=text)["ts"])


async def chat_stream() -> None:
    """Until it is killed."""
    app = AsyncApp(client=AsyncWebClient(**_client()))
    limits = httpx.Limits(max_connections=None)
    async with httpx.AsyncClient(limits=limits) as http:

        @app.event("app_mention")
        async def on_mention(event: dict[str, Any], client: AsyncWebClient) -> None:
            async def tokens() -> AsyncIterator[str]:
                async with http.stream(**_question(event)) as answer:
                    async for line in answer.aiter_lines():
                        if text := _text(line):
                            yield text

            await write_chat_stream(client, event, tokens())

        handler = AsyncSocketModeHandler(app, os.environ["SLACK_APP_TOKEN"])  # type: ignore[no-untyped-call]
        await handler.start_async()  # type: ignore[no-untyped-call]


if __name__ == "__main__":
    logging.disable(logging.WARNING)
    if sys.argv[1] == "line-ends":
        line_ends()
    else:
        asyncio.run(chat_stream())
