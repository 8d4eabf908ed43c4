from __future__ import annotations

import asyncio
import functools
import gzip
import json
import ssl
import threading
import tracemalloc
import zlib
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import aclosing, asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
from aiohttp import web

from slack_bot.agents.agent import Agent
from slack_bot.agents.wire.calls import MessageRequest
from slack_bot.agents.wire.frames import Frame, Snapshot, TaskState
from slack_bot.agents.wire.transport import (
    PIECE,
    error_from_status,
    map_exceptions,
    media_type,
    new_http,
    new_token_http,
    not_a2a,
    offload,
    parse_json,
    read_body,
    unpack,
    unpacked,
)
from slack_bot.clock import system_clock
from slack_bot.errors import (
    AgentError,
    AgentFailed,
    AgentRefused,
    AgentUnreachable,
    BadAgentData,
    CardError,
    StreamCut,
    StreamIdle,
    WrongAddress,
)
from slack_bot.settings.identity import ExchangeSettings
from slack_bot.settings.models import AgentSettings
from tests.agents.memory_server import JSON, URL, json_reply, reply
from tests.tls import new_certificate

HOST = "agent.example"
NO_LOGIN = AgentSettings()


async def test_one_client_without_a_limit_of_connections() -> None:
    settings = AgentSettings(url="https://agent.example/", connect_timeout=7, write_timeout=8)
    async with new_http(settings) as http:
        assert http.timeout == httpx.Timeout(connect=7, write=8, read=None, pool=7)
        assert not http.follow_redirects


async def test_an_agent_on_this_machine_is_not_asked_through_a_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:1")
    async with port_of(None) as port:
        url = f"http://localhost:{port}/"
        async with new_http(AgentSettings(url=url)) as http:
            assert (await http.get(url)).text == "ok"


@pytest.mark.parametrize(
    ("theirs", "ours"),
    [
        (httpx.ConnectError("x"), AgentUnreachable),
        (httpx.ConnectTimeout("x"), AgentUnreachable),
        (httpx.PoolTimeout("x"), AgentUnreachable),
        (httpx.ProxyError("x"), AgentUnreachable),
        (httpx.UnsupportedProtocol("x"), AgentUnreachable),
        (httpx.LocalProtocolError("x"), AgentUnreachable),
        (httpx.InvalidURL("x"), AgentUnreachable),
        (httpx.ReadTimeout("x"), StreamIdle),
        (httpx.WriteTimeout("x"), StreamCut),
        (httpx.WriteError("x"), StreamCut),
        (httpx.ReadError("x"), StreamCut),
        (httpx.CloseError("x"), StreamCut),
        (httpx.RemoteProtocolError("x"), StreamCut),
        (httpx.DecodingError("x"), BadAgentData),
        (ssl.SSLError("bad record mac"), StreamCut),
        (ConnectionResetError("x"), StreamCut),
        (TimeoutError("x"), StreamIdle),
    ],
)
def test_the_table_of_faults(theirs: Exception, ours: type[AgentError]) -> None:
    with pytest.raises(ours) as caught, map_exceptions(HOST):
        raise theirs
    assert type(caught.value) is ours
    assert HOST in str(caught.value)
    assert HOST not in caught.value.safe


async def test_a_certificate_of_an_own_authority_is_trusted_by_ssl_cert_file_on_this_machine_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    certificate = new_certificate(tmp_path, "localhost")
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    async with port_of(context) as port:
        url = f"https://localhost:{port}/"
        async with new_http(AgentSettings(url=url)) as http:
            with pytest.raises(WrongAddress) as caught, map_exceptions(HOST):
                await http.get(url)
        monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
        async with new_http(AgentSettings(url=url)) as http:
            assert (await http.get(url)).text == "ok"
    assert str(caught.value) == (
        f"{HOST} has a certificate that is not trusted here (self-signed certificate);"
        " name its authority in SSL_CERT_FILE"
    )


async def test_an_https_address_of_an_http_server_is_named_as_such() -> None:
    said = "does not answer in TLS; its address may begin with http://, not with https://"
    async with port_of(None) as port, new_http(AgentSettings(url=f"https://localhost:{port}/")) as http:
        with pytest.raises(WrongAddress, match=said), map_exceptions(HOST):
            await http.get(f"https://localhost:{port}/")


async def test_an_http_server_that_ends_what_it_cannot_read_is_named_too() -> None:
    async def end(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read(1024)
        writer.close()

    async with await asyncio.start_server(end, "localhost", 0) as server:
        url = f"https://localhost:{server.sockets[0].getsockname()[1]}/"
        async with new_http(AgentSettings(url=url)) as http:
            with pytest.raises(WrongAddress, match="may begin with http://, not"), map_exceptions(HOST):
                await http.get(url)


async def test_a_name_that_nobody_knows_is_named_as_such() -> None:
    async with new_http(AgentSettings(url="http://agent.invalid/")) as http:
        with pytest.raises(WrongAddress, match="is not a name that is known here"), map_exceptions(HOST):
            await http.get("http://agent.invalid/")


@asynccontextmanager
async def port_of(context: ssl.SSLContext | None) -> AsyncIterator[int]:
    """Of a server that answers each request with "ok"."""

    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read(1024)
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
        writer.close()

    server = await asyncio.start_server(handle, "localhost", 0, ssl=context)
    async with server:
        yield server.sockets[0].getsockname()[1]


def test_other_errors_pass() -> None:
    with pytest.raises(ZeroDivisionError), map_exceptions(HOST):
        raise ZeroDivisionError


def test_the_media_type() -> None:
    assert media_type(httpx.Response(200, headers={"content-type": "Text/Event-Stream; charset=x"})) == (
        "text/event-stream"
    )
    assert media_type(httpx.Response(200)) == ""


async def test_json_is_read_within_bounds() -> None:
    body = await read_body(reply(b'\xef\xbb\xbf{"a"', b": 1}"), HOST, 100)
    assert parse_json(body, HOST) == {"a": 1}
    with pytest.raises(BadAgentData, match="larger than"):
        await read_body(reply(b"x" * 60, b"x" * 60), HOST, 100)
    packed = reply(gzip.compress(b" " * 10_000), headers=JSON | {"content-encoding": "gzip"})
    with pytest.raises(BadAgentData, match="larger than"):
        await read_body(packed, HOST, 100)


@pytest.mark.parametrize("text", ["", "<html>", '{"a": ', "[" * 200_000, "9" * 5000, b"\xff\xfe"])
def test_what_is_not_json(text: str | bytes) -> None:
    with pytest.raises(BadAgentData):
        parse_json(text, HOST)


@pytest.mark.parametrize("status", [400, 401, 403, 404, 405, 413, 429, 503, 302, 308])
async def test_refusals(status: int) -> None:
    error = await error_from_status(
        reply(b"<html>", status=status, headers={"retry-after": "7"}), HOST, AgentSettings()
    )
    assert isinstance(error, AgentRefused)
    assert (error.status, error.retry_after) == (status, 7.0)
    assert HOST in str(error)
    assert str(status) in str(error)
    assert HOST not in error.safe


@pytest.mark.parametrize("after", ["", "Wed, 21 Oct 2026 07:28:00 GMT", "-1"])
async def test_a_retry_after_that_is_no_number_of_seconds(after: str) -> None:
    error = await error_from_status(reply(status=429, headers={"retry-after": after}), HOST, NO_LOGIN)
    assert isinstance(error, AgentRefused)
    assert error.retry_after is None


@pytest.mark.parametrize(
    ("after", "date", "seconds"),
    [
        ("Wed, 21 Oct 2026 07:28:00 GMT", "Wed, 21 Oct 2026 07:27:30 GMT", 30.0),
        ("Wed, 21 Oct 2026 07:28:00 GMT", "Wed, 21 Oct 2026 07:28:30 GMT", 0.0),
        ("Wed, 21 Oct 2026 07:28:00 GMT", "Wed, 21 Oct 2026 07:28:30 -0000", None),
        ("Wed, 21 Oct 2026 07:28:00 +99999999999999", "Wed, 21 Oct 2026 07:27:30 GMT", None),
    ],
)
async def test_a_retry_after_may_be_a_date_by_the_server_s_own_clock(
    after: str, date: str, seconds: float | None
) -> None:
    error = await error_from_status(
        reply(status=503, headers={"retry-after": after, "date": date}), HOST, AgentSettings()
    )
    assert isinstance(error, AgentRefused)
    assert error.retry_after == seconds


@pytest.mark.parametrize("status", [500, 502, 504])
async def test_a_broken_server_or_gateway_has_not_refused(status: int) -> None:
    error = await error_from_status(reply(b"Bad Gateway", status=status), HOST, NO_LOGIN)
    assert isinstance(error, BadAgentData)
    assert str(error) == f"{HOST} answered HTTP {status} instead of A2A"
    assert error.safe == "The agent's server reported an error."


async def test_what_the_body_says() -> None:
    failed = await error_from_status(
        json_reply({"error": {"code": -32600, "message": "no"}}, status=400), HOST, NO_LOGIN
    )
    assert isinstance(failed, AgentFailed)
    assert failed.code == -32600
    said = await error_from_status(
        json_reply({"error": "Accept header must include x"}, status=400), HOST, AgentSettings()
    )
    assert isinstance(said, AgentRefused)
    assert "Accept header must include x" in str(said)
    # a status that says why weighs more than a body
    denied = await error_from_status(
        json_reply({"error": {"code": -32600}}, status=401), HOST, AgentSettings()
    )
    assert isinstance(denied, AgentRefused)


async def test_a_refused_login_says_whether_there_is_one_and_what_sets_it() -> None:
    with_token = AgentSettings(bearer_token="t")
    error = await error_from_status(reply(status=401), HOST, with_token)
    refused = "does not accept the bot's credentials (HTTP 401)"
    assert (
        str(error) == f"{HOST} {refused}; set SLACK_BOT_AGENT__BEARER_TOKEN to a token that the agent takes"
    )
    error = await error_from_status(reply(status=401), HOST, NO_LOGIN)
    assert str(error).startswith(f"{HOST} wants a login (HTTP 401), and no credentials are set for it; set ")


async def test_a_body_that_cannot_be_had_does_not_hide_the_status() -> None:
    for response in (
        reply(b"{", status=404, error=httpx.ReadError("cut")),
        reply(*[b"x" * 50_000] * 3, status=404),
        reply(b"[" * 60_000, status=404),
        json_reply(["x"], status=404),
    ):
        error = await error_from_status(response, HOST, NO_LOGIN)
        assert isinstance(error, AgentRefused)


def test_answers_that_are_not_a2a() -> None:
    page = str(not_a2a(reply(headers={"content-type": "text/html; charset=utf-8"}), HOST))
    assert "a web page (HTTP 200, text/html)" in page
    assert "no content type (HTTP 200)" in str(not_a2a(reply(headers={}), HOST))
    assert URL not in page


async def test_the_loop_runs_while_a_body_comes_in_tiny_chunks() -> None:
    class Hurried(httpx.AsyncByteStream):
        async def __aiter__(self) -> AsyncIterator[bytes]:
            for _ in range(10_000):
                yield b" "
            yield b"{}"

    turns, is_over = 0, False

    def turn() -> None:
        nonlocal turns
        turns += 1
        if not is_over:
            asyncio.get_running_loop().call_soon(turn)

    turn()
    body = await read_body(httpx.Response(200, stream=Hurried()), HOST, 20_000)
    assert parse_json(body, HOST) == {}
    is_over = True
    assert turns >= 100


MB = 1024 * 1024
BOMB = 256 * MB
LIMIT = MB
SSE, JSON_TYPE = "text/event-stream", "application/json"
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
            yield Agent(http, settings, system_clock())
    finally:
        await runner.cleanup()


async def asked(agent: Agent) -> list[Frame]:
    async with aclosing(agent.ask(MessageRequest("hi", "m"))) as coming:
        return [received.frame async for received in coming]


async def polled(agent: Agent) -> list[Frame]:
    return [await agent.task("get", "t")]


async def peak_of(work: Awaitable[Any], error: type[AgentError]) -> tuple[int, str]:
    """Bytes of memory at most while `work` fails, and what it says."""
    tracemalloc.start()
    try:
        with pytest.raises(error) as caught:
            await work
        return tracemalloc.get_traced_memory()[1], str(caught.value)
    finally:
        tracemalloc.stop()


@functools.cache
def zeros() -> bytes:
    return zipped(b" ")


PLACES: dict[str, tuple[str, int, bool, Callable[[Agent], Awaitable[Any]], type[AgentError]]] = {
    "stream": (SSE, 200, False, asked, BadAgentData),
    "JSON answer": (JSON_TYPE, 200, False, asked, BadAgentData),
    "error body": (JSON_TYPE, 400, False, asked, AgentRefused),
    "poll": (JSON_TYPE, 200, False, polled, BadAgentData),
    "card": (JSON_TYPE, 200, True, Agent.ensure_card, CardError),
}


@pytest.mark.parametrize("place", PLACES)
async def test_a_bomb_is_not_unpacked(place: str) -> None:
    """256 MB in 260 kB took 260 MB of memory."""
    kind, status, card, call, error = PLACES[place]
    assert len(zeros()) < 300_000
    async with served(zeros(), kind, "gzip", status=status, card=card) as agent:
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
    async with served(pack(REPLY), JSON_TYPE, encoding) as agent:
        assert await asked(agent) == await polled(agent) == FOUND
    refused = pack(b'{"error": {"code": -32602, "message": "no"}}')
    async with served(refused, JSON_TYPE, encoding, status=400) as agent:
        with pytest.raises(AgentError, match="-32602"):
            await asked(agent)
    card = {"name": "a", "url": "/", "protocolVersion": "0.3.0"}
    async with served(pack(json.dumps(card).encode()), JSON_TYPE, encoding, card=True) as agent:
        assert (await agent.ensure_card()).name == "a"


@pytest.mark.parametrize("encoding", ["br", "zstd", "gzip, gzip", "deflate, gzip", "gzip, br", "compress"])
async def test_what_was_not_asked_for_is_refused_in_one_sentence(encoding: str) -> None:
    twice = gzip.compress(zeros())
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


async def coming(*chunks: bytes) -> AsyncIterator[bytes]:
    for chunk in chunks:
        yield chunk


async def test_a_piece_is_unpacked_when_it_is_asked_for() -> None:
    pieces = unpack(coming(zeros()), "gzip", BOMB)
    assert [len(await anext(pieces)) for _ in range(3)] == [PIECE] * 3


@pytest.mark.parametrize("encoding", ["gzip", "deflate"])
@pytest.mark.parametrize("size", [0, 1, PIECE - 1, PIECE, PIECE + 1, 3 * PIECE])
@pytest.mark.parametrize("step", [1, 2, 7, 1000])
async def test_it_does_not_matter_where_the_chunks_are_cut(encoding: str, size: int, step: int) -> None:
    for pack in (gzip.compress, zlib.compress) if encoding == "gzip" else (zlib.compress, raw_deflate):
        packed = pack(bytes(range(256)) * (size // 256) + bytes(size % 256)) + b"and what stands behind it"
        chunks = (packed[at : at + step] for at in range(0, len(packed), step))
        found = [piece async for piece in unpack(coming(*chunks), encoding, BOMB)]
        assert sum(map(len, found)) == size
        assert max(map(len, found), default=0) <= PIECE


async def test_text_comes_out_as_soon_as_it_came() -> None:
    """Servers flush what they compress event by event."""
    pack = zlib.compressobj(wbits=zlib.MAX_WBITS | 16)
    events = [f"data: {number}\n\n".encode() for number in range(3)]
    chunks = [pack.compress(event) + pack.flush(zlib.Z_SYNC_FLUSH) for event in events]
    sent: list[bytes] = []

    async def sending() -> AsyncIterator[bytes]:
        for chunk in chunks:
            sent.append(chunk)
            yield chunk

    found = [(piece, len(sent)) async for piece in unpack(sending(), "gzip", LIMIT)]
    assert found == list(zip(events, (1, 2, 3), strict=True))


@pytest.mark.parametrize("body", [b"not gzip at all", gzip.compress(REPLY, mtime=0)[:12] + b"x" * 12, b"x"])
async def test_broken_compression(body: bytes) -> None:
    async with served(body, JSON_TYPE, "gzip") as agent:
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


# --- work in a thread ---------------------------------------------------------------------------------------


async def test_it_is_done_in_a_thread() -> None:
    assert await offload(threading.get_ident) != threading.get_ident()


async def test_the_loop_runs_while_a_thread_works() -> None:
    turned = threading.Event()
    asyncio.get_running_loop().call_later(0.0, turned.set)
    assert await offload(turned.wait, 60.0), "the loop set it meanwhile"


async def test_what_it_raises_is_raised() -> None:
    with pytest.raises(ValueError, match="invalid literal"):
        await offload(int, "x")


async def test_who_is_cancelled_waits_for_the_work_all_the_same() -> None:
    begun, go_on = threading.Event(), threading.Event()
    done: list[str] = []

    def work() -> None:
        begun.set()
        go_on.wait(60.0)
        done.append("done")

    working = asyncio.create_task(offload(work))
    assert await asyncio.to_thread(begun.wait, 60.0)
    working.cancel()
    await asyncio.sleep(0)
    assert not working.done() and not done
    go_on.set()
    with pytest.raises(asyncio.CancelledError):
        await working
    assert done == ["done"]


async def test_what_is_in_the_place_of_the_network_is_left_open_by_a_request_for_a_token() -> None:
    """Answers of agents come through it meanwhile."""

    class Network(httpx.AsyncBaseTransport):
        is_closed = False

        async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
            return httpx.Response(200, json={}, request=request)

        async def aclose(self) -> None:
            self.is_closed = True

    network = Network()
    async with new_token_http("https://login.example", ExchangeSettings(), network) as http:
        assert (await http.get("https://login.example/")).is_success
    assert not network.is_closed
