"""Connections of the agent's client, with real servers."""

from __future__ import annotations

import asyncio
import inspect
import ssl
import threading
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, asynccontextmanager, contextmanager
from pathlib import Path
from socket import AF_INET, SOCK_STREAM, create_server, socket
from typing import Any

import httpx
import pytest
import uvloop

from slack_bot.agents.wire.connections import PooledTransport
from tests.tls import new_certificate

HEAD = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
WHOLE = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
Serve = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


def chunk(data: bytes) -> bytes:
    return b"%x\r\n%s\r\n" % (len(data), data)


@asynccontextmanager
async def client_of(
    serve: Serve, certificate: Path | None = None, *, trusts: bool = True, **timeouts: float
) -> AsyncIterator[tuple[httpx.AsyncClient, str]]:
    """A client, and the address of a server that handles each request by `serve`."""

    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while await reader.readuntil(b"\r\n\r\n"):
                await serve(reader, writer)
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()

    context = None
    if certificate is not None:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate)
    server = await asyncio.start_server(handle, "127.0.0.1", 0, ssl=context)
    address = f"http{'s' if context else ''}://localhost:{server.sockets[0].getsockname()[1]}/"
    trusted = ssl.create_default_context(cafile=str(certificate) if certificate and trusts else None)
    timeout = httpx.Timeout(None, **timeouts) if timeouts else None
    async with server, httpx.AsyncClient(transport=PooledTransport(trusted), timeout=timeout) as http:
        yield http, address


@contextmanager
def deaf_port() -> Iterator[int]:
    """A port of 127.0.0.2 that takes no connection and refuses none: its queue is full."""
    with create_server(("127.0.0.2", 0), backlog=0) as server, ExitStack() as stack:
        for _ in range(2):
            waiting = stack.enter_context(socket())
            waiting.setblocking(False)
            waiting.connect_ex(server.getsockname())
        yield server.getsockname()[1]


def leads_to(monkeypatch: pytest.MonkeyPatch, *addresses: tuple[str, int]) -> None:
    """Let each name have these addresses. uvloop asks for those of an address too."""
    loop = asyncio.get_running_loop()
    known = loop.getaddrinfo

    async def look_up(host: str, port: int, **more: Any) -> list[tuple[object, ...]]:
        if host.endswith(".example"):
            return [(AF_INET, SOCK_STREAM, 6, "", address) for address in addresses]
        return list(await known(host, port, **more))

    monkeypatch.setattr(loop, "getaddrinfo", look_up)


async def test_the_next_address_of_a_host_is_tried_where_one_does_not_answer(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def serve(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(WHOLE)

    async with client_of(serve) as (http, address):
        good = ("127.0.0.1", httpx.URL(address).port or 0)
        with deaf_port() as port:
            leads_to(monkeypatch, ("127.0.0.2", port), good)
            assert (await http.get("http://agent.example/")).text == "ok"
        leads_to(monkeypatch, ("127.0.0.2", port), good)  # refused now
        assert (await http.get("http://other.example/")).text == "ok"


async def test_where_no_address_answers_in_time_it_is_a_connect_timeout(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def serve(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(WHOLE)

    async with client_of(serve, connect=0.01) as (http, _):
        with deaf_port() as port:
            leads_to(monkeypatch, *[("127.0.0.2", port)] * 2)
            with pytest.raises(httpx.ConnectTimeout):
                await http.get("http://agent.example/")


@pytest.mark.parametrize("is_tls", [False, True])
async def test_chunks_come_as_they_are_sent(tmp_path: Path, *, is_tls: bool) -> None:
    go_on = asyncio.Event()

    async def serve(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(HEAD)
        for number in range(3):
            go_on.clear()
            writer.write(chunk(b"chunk %d" % number))
            await go_on.wait()
        writer.write(chunk(b""))

    certificate = new_certificate(tmp_path, "localhost") if is_tls else None
    async with client_of(serve, certificate) as (http, url):
        found = []
        for _ in range(2):  # the second on the same connection
            async with http.stream("GET", url) as answer:
                async for data in answer.aiter_raw():
                    found.append(data)
                    go_on.set()
    assert found == [b"chunk 0", b"chunk 1", b"chunk 2"] * 2


async def test_a_server_that_sends_faster_than_it_is_read_waits() -> None:
    size, sent = 40 * 1024 * 1024, 0

    async def serve(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal sent
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % size)
        while sent < size:
            writer.write(bytes(64 * 1024))
            sent += 64 * 1024
            await writer.drain()

    async with client_of(serve) as (http, url), http.stream("GET", url) as answer:
        chunks = answer.aiter_raw()
        read, seen = len(await anext(chunks)), -1
        while seen != sent:  # until the buffers between are full
            seen = sent
            for _ in range(200):
                await asyncio.sleep(0)
        assert sent < size
        async for data in chunks:
            read += len(data)
    assert read == size


async def test_a_large_question_goes_through() -> None:
    body = bytes(range(256)) * 40_000
    found = b""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal found
        found = await reader.readexactly(len(body))
        writer.write(WHOLE)

    async with client_of(serve) as (http, url):
        assert (await http.post(url, content=body)).text == "ok"
    assert found == body


async def test_a_connection_that_the_server_closed_is_not_used_again() -> None:
    served = 0

    async def serve(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal served
        served += 1
        writer.write(WHOLE)
        await writer.drain()
        writer.close()

    async with client_of(serve) as (http, url):
        for _ in range(3):
            assert (await http.post(url, content=b"")).text == "ok"
    assert served == 3


async def test_a_connection_that_was_closed_while_the_loop_was_busy_is_not_used_again() -> None:
    is_read, is_closed = threading.Event(), threading.Event()

    def serve(server: socket) -> None:
        server.settimeout(10)
        for _ in range(2):
            connection, _ = server.accept()
            with connection:
                connection.recv(64 * 1024)
                connection.sendall(WHOLE)
                is_read.wait()
            is_closed.set()

    transport = PooledTransport(ssl.create_default_context())
    with create_server(("127.0.0.1", 0)) as server, ThreadPoolExecutor() as threads:
        served = threads.submit(serve, server)
        async with httpx.AsyncClient(transport=transport) as http:
            url = f"http://127.0.0.1:{server.getsockname()[1]}/"
            assert (await http.get(url)).text == "ok"
            is_read.set()
            is_closed.wait()  # the loop hears of it later
            assert (await http.get(url)).text == "ok"
        served.result()


async def test_a_cut_and_a_reset_are_read_errors() -> None:
    async def serve(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(HEAD + chunk(b"one"))
        await writer.drain()
        writer.transport.abort()

    async with client_of(serve) as (http, url):
        with pytest.raises((httpx.ReadError, httpx.RemoteProtocolError)):
            await http.get(url)


async def test_who_cannot_be_reached_is_a_connect_error(tmp_path: Path) -> None:
    async def serve(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(WHOLE)

    async with client_of(serve) as (http, url):
        pass
    async with client_of(serve) as (http, _):
        with pytest.raises(httpx.ConnectError):
            await http.get(url)
        with pytest.raises(httpx.ConnectError):
            await http.get("http://nowhere.invalid/")
    certificate = new_certificate(tmp_path, "localhost")
    async with client_of(serve, certificate, trusts=False) as (http, url):
        with pytest.raises(httpx.ConnectError, match="certificate verify failed"):
            await http.get(url)


async def test_timeouts_are_named() -> None:
    async def silent(reader: asyncio.StreamReader, _: asyncio.StreamWriter) -> None:
        await reader.read()

    async with client_of(silent, read=0.01) as (http, url):
        with pytest.raises(httpx.ReadTimeout):
            await http.get(url)

    heard = asyncio.Event()

    async def deaf(reader: asyncio.StreamReader, _: asyncio.StreamWriter) -> None:
        await heard.wait()

    async with client_of(deaf, write=0.01) as (http, url):
        with pytest.raises(httpx.WriteTimeout):
            await http.post(url, content=bytes(64 * 1024 * 1024))
        heard.set()  # from Python 3.12 on a server waits for its handlers when it is closed


OF_UVLOOP: dict[str, Callable[..., Coroutine[Any, Any, None]]] = {
    "the next address": test_the_next_address_of_a_host_is_tried_where_one_does_not_answer,
    "no address": test_where_no_address_answers_in_time_it_is_a_connect_timeout,
    "much to read": test_a_server_that_sends_faster_than_it_is_read_waits,
    "closed between": test_a_connection_that_the_server_closed_is_not_used_again,
    "closed while busy": test_a_connection_that_was_closed_while_the_loop_was_busy_is_not_used_again,
    "cut": test_a_cut_and_a_reset_are_read_errors,
    "not reached": test_who_cannot_be_reached_is_a_connect_error,
    "timeouts": test_timeouts_are_named,
}


@pytest.mark.parametrize("name", OF_UVLOOP)
def test_uvloop_does_the_same(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    scene, given = OF_UVLOOP[name], {"tmp_path": tmp_path, "monkeypatch": monkeypatch}
    uvloop.run(scene(**{each: given[each] for each in inspect.signature(scene).parameters}))


@pytest.mark.parametrize("is_tls", [False, True])
def test_chunks_come_by_uvloop_too(tmp_path: Path, *, is_tls: bool) -> None:
    uvloop.run(test_chunks_come_as_they_are_sent(tmp_path, is_tls=is_tls))
