"""An agent's server in memory: what it answers is served at the HTTP border, byte for byte and in time."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx

from slack_bot.testing.tape.recording import Recording, read_recording

CAPTURES = Path(__file__).parent.parent / "captures" / "a2a"
SSE = {"content-type": "text/event-stream"}
JSON = {"content-type": "application/json"}
URL = "http://agent.example/"


def capture(name: str) -> Recording:
    """A recording of a real server, by its file's name without the ending."""
    found = read_recording((CAPTURES / f"{name}.txt").read_bytes())
    assert found is not None, name
    return found


@dataclass(frozen=True)
class Body(httpx.AsyncByteStream):
    """Chunks, each `(seconds from the start, bytes)`; then the end, or an httpx error."""

    chunks: Sequence[tuple[float, bytes]]
    error: Exception | None = None
    ended: float = 0.0

    async def __aiter__(self) -> AsyncIterator[bytes]:
        loop = asyncio.get_running_loop()
        start = loop.time()
        for at, chunk in self.chunks:
            await asyncio.sleep(max(0.0, start + at - loop.time()))
            yield chunk
        await asyncio.sleep(max(0.0, start + self.ended - loop.time()))
        if self.error is not None:
            raise self.error


def reply(
    *chunks: bytes, status: int = 200, headers: Mapping[str, str] = SSE, error: Exception | None = None
) -> httpx.Response:
    """A response whose body comes at once, in these chunks."""
    return httpx.Response(
        status, headers=dict(headers), stream=Body([(0.0, chunk) for chunk in chunks], error)
    )


def json_reply(value: Any, status: int = 200) -> httpx.Response:
    """A JSON response."""
    return reply(json.dumps(value).encode(), status=status, headers=JSON)


def sse_reply(*results: Any) -> httpx.Response:
    """A stream of JSON-RPC results."""
    return reply(
        *(b"data: " + json.dumps({"jsonrpc": "2.0", "result": each}).encode() + b"\n\n" for each in results)
    )


def recorded(recording: Recording, *, in_time: bool = False) -> httpx.Response:
    """The response of a recording; `in_time` with the pauses between its chunks."""
    error = httpx.RemoteProtocolError("peer closed connection") if recording.cut else None
    chunks = [(at if in_time else 0.0, data) for at, data in recording.chunks]
    return httpx.Response(
        recording.status, headers=recording.headers, stream=Body(chunks, error, recording.ended * in_time)
    )


@dataclass
class Server(httpx.AsyncBaseTransport):
    """Answers by `answer(request)`; what it returns may be an exception to raise. Keeps what was asked."""

    answer: Callable[[httpx.Request], httpx.Response | Exception]
    asked: list[httpx.Request] = field(default_factory=list)

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        await request.aread()
        self.asked.append(request)
        found = self.answer(request)
        if isinstance(found, Exception):
            raise found
        found.request = request
        return found

    @property
    def bodies(self) -> list[Any]:
        """The JSON bodies of all POST requests."""
        return [json.loads(each.content) for each in self.asked if each.method == "POST"]
