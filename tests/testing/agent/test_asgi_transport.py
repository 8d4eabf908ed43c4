"""The transport for applications in memory: streams come as they are sent, and ends are noticed."""

from __future__ import annotations

import asyncio
from typing import Any

import httpx
import pytest

from slack_bot.testing.agent.asgi_transport import AsgiTransport
from slack_bot.testing.virtual_clock import on_virtual_time

HEAD = {"type": "http.response.start", "status": 201, "headers": [(b"x-a", b"b")]}


def now() -> float:
    return asyncio.get_running_loop().time()


def client(app: Any) -> httpx.AsyncClient:
    return httpx.AsyncClient(transport=AsgiTransport(app), base_url="http://host:9/")


@on_virtual_time
async def test_each_piece_comes_when_it_is_sent() -> None:
    async def app(scope: Any, receive: Any, send: Any) -> None:
        assert (scope["method"], scope["path"], scope["query_string"]) == ("POST", "/a b", b"c=d")
        assert (await receive())["body"] == b"hello"
        await send(dict(HEAD))
        for word in (b"one", b"", b"two"):
            await send({"type": "http.response.body", "body": word, "more_body": True})
            await asyncio.sleep(5)
        await send({"type": "http.response.body", "body": b"end"})

    async with client(app) as http, http.stream("POST", "/a%20b?c=d", content=b"hello") as response:
        assert (response.status_code, response.headers["x-a"]) == (201, "b")
        came = [(now(), data) async for data in response.aiter_raw()]
    assert came == [(0.0, b"one"), (10.0, b"two"), (15.0, b"end")]


@on_virtual_time
async def test_an_application_that_breaks_breaks_its_reader() -> None:
    async def early(scope: Any, receive: Any, send: Any) -> None:
        raise KeyError("early")

    async def late(scope: Any, receive: Any, send: Any) -> None:
        await send(dict(HEAD))
        raise KeyError("late")

    async def silent(scope: Any, receive: Any, send: Any) -> None:
        pass

    for app, error in ((early, KeyError), (late, KeyError), (silent, RuntimeError)):
        async with client(app) as http:
            with pytest.raises(error):
                await http.get("/")


@on_virtual_time
async def test_whoever_stops_reading_is_gone_for_the_application() -> None:
    ends = list[str]()

    async def app(scope: Any, receive: Any, send: Any) -> None:
        await receive()
        await send(dict(HEAD))
        try:
            await send({"type": "http.response.body", "body": b"one", "more_body": True})
            ends.append((await receive())["type"])
        except asyncio.CancelledError:
            ends.append("cancelled")
            raise

    async with client(app) as http, http.stream("GET", "/") as response:
        async for _ in response.aiter_raw():
            break
    assert ends in (["cancelled"], ["http.disconnect"])


@on_virtual_time
async def test_closing_the_transport_ends_what_runs() -> None:
    ended = asyncio.Event()

    async def app(scope: Any, receive: Any, send: Any) -> None:
        await send(dict(HEAD))
        try:
            await asyncio.sleep(1e6)
        finally:
            ended.set()

    transport = AsgiTransport(app)
    response = await transport.handle_async_request(httpx.Request("GET", "http://host/"))
    assert response.status_code == 201
    await transport.aclose()
    assert ended.is_set()
