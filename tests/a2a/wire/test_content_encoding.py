"""Compressed answers of a real HTTP server: what is honest is read, what is a bomb takes no memory."""

from __future__ import annotations

import asyncio
import gzip
import json
import tracemalloc
import zlib
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import aclosing, asynccontextmanager
from typing import Any

import httpx
import pytest
from aiohttp import web

from slack_bot.a2a.agent import Agent, new_http
from slack_bot.a2a.wire.client import MessageRequest
from slack_bot.a2a.wire.content_encoding import PIECE, Unpacker, unpacked
from slack_bot.a2a.wire.frames import Frame, Snapshot, TaskState
from slack_bot.clock import loop_clock
from slack_bot.errors import AgentError, AgentRefused, BadAgentData, CardError
from slack_bot.settings.models import AgentSettings
from tests.a2a.memory_server import reply

MB = 1024 * 1024
BOMB = 256 * MB
LIMIT = MB
SSE, JSON = "text/event-stream", "application/json"
DONE = {"kind": "task", "id": "t", "contextId": "c", "status": {"state": "completed"}}
REPLY = json.dumps({"jsonrpc": "2.0", "result": DONE}).encode()
FOUND = [Snapshot("t", "c", TaskState.COMPLETED)]


def zipped(pattern: bytes, size: int = BOMB, wbits: int = zlib.MAX_WBITS | 16) -> bytes:
    """`size` bytes of `pattern`, packed without ever being in memory."""
    pack = zlib.compressobj(9, wbits=wbits)
    block = pattern * (MB // len(pattern))
    return b"".join([*(pack.compress(block) for _ in range(size // len(block))), pack.flush()])


def raw_deflate(data: bytes) -> bytes:
    pack = zlib.compressobj(wbits=-zlib.MAX_WBITS)
    return pack.compress(data) + pack.flush()


@asynccontextmanager
async def served(
    body: bytes, kind: str, encoding: str, *, status: int = 200, card: bool = False, limit: int = LIMIT
) -> AsyncIterator[Agent]:
    """An agent whose server answers all calls, or asks for its card, with this body."""

    async def serve(request: web.Request) -> web.Response:
        assert request.headers["Accept-Encoding"] == "identity"
        if request.method == "GET" and not card:
            capabilities = {"streaming": kind == SSE}
            return web.json_response(
                {"name": "a", "url": str(request.url.origin()), **found, "capabilities": capabilities}
            )
        headers = {"Content-Type": kind, "Content-Encoding": encoding}
        return web.Response(status=status, body=body, headers=headers)

    found = {"protocolVersion": "0.3.0", "preferredTransport": "JSONRPC"}
    app = web.Application()
    app.router.add_route("*", "/{path:.*}", serve)
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    try:
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        settings = AgentSettings(
            url=f"http://127.0.0.1:{runner.addresses[0][1]}/", protocol_version="0.3", max_event_bytes=limit
        )
        async with new_http(settings) as http:
            yield Agent(http, settings, loop_clock())
    finally:
        await runner.cleanup()


async def asked(agent: Agent) -> list[Frame]:
    async with aclosing(agent.ask(MessageRequest("hi", "m"))) as coming:
        return [received.frame async for received in coming]


async def polled(agent: Agent) -> list[Frame]:
    return [await agent.get("t")]


async def peak_of(work: Awaitable[Any], error: type[AgentError]) -> tuple[int, str]:
    """Bytes of memory at most while `work` fails, and what it says."""
    tracemalloc.start()
    try:
        with pytest.raises(error) as caught:
            await work
        return tracemalloc.get_traced_memory()[1], str(caught.value)
    finally:
        tracemalloc.stop()


ZEROS = zipped(b" ")
PLACES: dict[str, tuple[str, int, bool, Callable[[Agent], Awaitable[Any]], type[AgentError]]] = {
    "stream": (SSE, 200, False, asked, BadAgentData),
    "JSON answer": (JSON, 200, False, asked, BadAgentData),
    "error body": (JSON, 400, False, asked, AgentRefused),
    "poll": (JSON, 200, False, polled, BadAgentData),
    "card": (JSON, 200, True, Agent.ensure_card, CardError),
}


@pytest.mark.parametrize("place", PLACES)
async def test_a_bomb_is_not_unpacked(place: str) -> None:
    """256 MB in 260 kB took 260 MB of memory."""
    kind, status, card, call, error = PLACES[place]
    assert len(ZEROS) < 300_000
    async with served(ZEROS, kind, "gzip", status=status, card=card) as agent:
        if not card:
            await agent.ensure_card()
        peak, _ = await peak_of(call(agent), error)
    assert peak < 12 * MB


EVENT = b"data: " + REPLY + b"\n\n"
HONEST = {
    "gzip": gzip.compress,
    "x-gzip": gzip.compress,
    "deflate": zlib.compress,
    "Deflate": raw_deflate,
    "identity, gzip": gzip.compress,
    "identity": bytes,
}


@pytest.mark.parametrize("encoding", HONEST)
async def test_what_a_proxy_compressed_is_read(encoding: str) -> None:
    pack = HONEST[encoding]
    async with served(pack(b": ping\n\n" * 9000 + EVENT), SSE, encoding) as agent:
        assert await asked(agent) == FOUND
    async with served(pack(REPLY), JSON, encoding) as agent:
        assert await asked(agent) == await polled(agent) == FOUND
    refused = pack(b'{"error": {"code": -32602, "message": "no"}}')
    async with served(refused, JSON, encoding, status=400) as agent:
        with pytest.raises(AgentError, match="-32602"):
            await asked(agent)
    card = {"name": "a", "url": "/", "protocolVersion": "0.3.0"}
    async with served(pack(json.dumps(card).encode()), JSON, encoding, card=True) as agent:
        assert (await agent.ensure_card()).name == "a"


@pytest.mark.parametrize("encoding", ["br", "zstd", "gzip, gzip", "deflate, gzip", "gzip, br", "compress"])
async def test_what_was_not_asked_for_is_refused_in_one_sentence(encoding: str) -> None:
    twice = gzip.compress(ZEROS)
    assert len(twice) < 5_000
    for place, (kind, status, card, call, error) in PLACES.items():
        async with served(twice, kind, encoding, status=status, card=card) as agent:
            if not card:
                await agent.ensure_card()
            peak, said = await peak_of(call(agent), error)
        assert peak < MB
        if place == "error body":
            assert "HTTP 400" in said
        else:
            assert "compress" in said and "turn compression off" in said


@pytest.mark.parametrize("pattern", [b"\n", b": ping\n\n", b'data: {"x": "' + b"x" * 1000 + b'"}\n\n'])
async def test_a_stream_that_unpacks_without_end_is_left(pattern: bytes) -> None:
    """Comments and events are taken one by one: only how much comes out of how little shows the bomb."""
    packed, events = zipped(pattern, 4 * MB), 0
    async with served(packed, SSE, "gzip", limit=PIECE) as agent:
        with pytest.raises(BadAgentData, match="grows too much"):
            async with aclosing(agent.ask(MessageRequest("hi", "m"))) as coming:
                async for _ in coming:
                    events += 1
    assert events * len(pattern) <= 2 * PIECE + 100 * len(packed) < 4 * MB


async def test_a_piece_is_unpacked_when_it_is_asked_for() -> None:
    pieces = Unpacker("gzip", BOMB).feed(ZEROS)
    assert [len(next(pieces)) for _ in range(3)] == [PIECE] * 3


@pytest.mark.parametrize("encoding", ["gzip", "deflate"])
@pytest.mark.parametrize("size", [0, 1, PIECE - 1, PIECE, PIECE + 1, 3 * PIECE])
@pytest.mark.parametrize("step", [1, 2, 7, 1000])
def test_it_does_not_matter_where_the_chunks_are_cut(encoding: str, size: int, step: int) -> None:
    for pack in (gzip.compress, zlib.compress) if encoding == "gzip" else (zlib.compress, raw_deflate):
        unpacker = Unpacker(encoding, BOMB)
        packed = pack(bytes(range(256)) * (size // 256) + bytes(size % 256)) + b"and what stands behind it"
        chunks = (packed[at : at + step] for at in range(0, len(packed), step))
        found = [piece for chunk in chunks for piece in unpacker.feed(chunk)]
        assert sum(map(len, found)) == size
        assert max(map(len, found), default=0) <= PIECE


async def test_text_comes_out_as_soon_as_it_came() -> None:
    """Servers flush what they compress event by event."""
    pack = zlib.compressobj(wbits=zlib.MAX_WBITS | 16)
    unpacker = Unpacker("gzip", LIMIT)
    for number in range(3):
        event = f"data: {number}\n\n".encode()
        assert b"".join(unpacker.feed(pack.compress(event) + pack.flush(zlib.Z_SYNC_FLUSH))) == event


@pytest.mark.parametrize("body", [b"not gzip at all", gzip.compress(REPLY, mtime=0)[:12] + b"x" * 12, b"x"])
async def test_broken_compression(body: bytes) -> None:
    async with served(body, JSON, "gzip") as agent:
        with pytest.raises(BadAgentData):
            await asked(agent)


async def test_others_go_on_while_a_body_is_unpacked() -> None:
    seen: list[int] = []

    async def others() -> None:
        while True:
            seen.append(1)
            await asyncio.sleep(0)

    other = asyncio.create_task(others())
    response = reply(zipped(b" ", 20 * PIECE), headers={"content-encoding": "gzip"})
    size = 0
    async for piece in unpacked(response, BOMB):
        size += len(piece)
    other.cancel()
    assert size == 16 * PIECE
    assert len(seen) >= 16


async def test_a_plain_body_passes_as_it_came() -> None:
    chunks = [piece async for piece in unpacked(reply(b"a" * 3 * PIECE, b"b"), 10)]
    assert chunks == [b"a" * 3 * PIECE, b"b"]


async def test_a_response_made_of_bytes_is_read_as_it_is() -> None:
    assert [piece async for piece in unpacked(httpx.Response(200, content=b"ab"), 10)] == [b"ab"]


async def test_what_httpx_raises_passes() -> None:
    with pytest.raises(httpx.ReadError):
        async for _ in unpacked(reply(b"a", error=httpx.ReadError("cut")), 10):
            pass
