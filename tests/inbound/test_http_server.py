"""The port itself. What it refuses is tested through the handlers (`test_http_mode`, that of push)."""

from __future__ import annotations

import asyncio
import logging

import aiohttp
import pytest
from aiohttp import web

from slack_bot.errors import SettingsError
from slack_bot.inbound.http_server import (
    check_address,
    keep_open,
    listening,
    read_body,
    refusal,
    slack_limits,
)
from slack_bot.settings.models import SlackSettings
from slack_bot.testing.harness import free_port

NAMES = "SLACK_BOT_SLACK__HTTP_"


@pytest.mark.parametrize("host", ["203.0.113.9", '"127.0.0.1"'])
async def test_an_address_that_is_not_this_machine_s_is_named(host: str) -> None:
    with pytest.raises(SettingsError, match=r"is no address of this machine .*SLACK_BOT_SLACK__HTTP_HOST"):
        await check_address(NAMES, host, 0)


async def test_a_port_is_looked_at_before_anything_else_and_left_free() -> None:
    port = free_port()
    for _ in range(2):
        await check_address(NAMES, "127.0.0.1", port)
    async with listening({}, slack_limits(SlackSettings()), NAMES, "127.0.0.1", port):
        taken = rf"^Port {port} cannot be used \(.+\); end the process .*, or set SLACK_BOT_SLACK__HTTP_PORT"
        with pytest.raises(SettingsError, match=taken):
            await check_address(NAMES, "127.0.0.1", port)
        with pytest.raises(SettingsError, match=taken):
            async with listening({}, slack_limits(SlackSettings()), NAMES, "127.0.0.1", port):
                pytest.fail("the port is taken")


async def test_a_port_that_another_process_gives_up_is_waited_for(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    port, begun = free_port(), asyncio.Event()

    async def begin() -> None:
        await check_address(NAMES, "127.0.0.1", port, wait=60.0)
        begun.set()

    async with listening({}, slack_limits(SlackSettings()), NAMES, "127.0.0.1", port):
        waiting = asyncio.create_task(begin())
        while not caplog.messages:  # noqa: ASYNC110  no event reports it
            await asyncio.sleep(0.01)
        assert not begun.is_set()
    await waiting
    assert caplog.messages == [f"another process listens on port {port}: waiting up to 60 s for its end"]


async def say(request: web.BaseRequest) -> web.StreamResponse:
    return web.Response(text=request.path)


@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("/one", 200),
        ("/one/", 404),
        ("/one/more", 404),
        ("/below/", 200),
        ("/below/more", 200),
        ("/below", 404),
        ("/", 404),
    ],
)
async def test_a_path_is_served_as_it_is_or_by_its_beginning(path: str, status: int) -> None:
    port = free_port()
    async with (
        listening({"/one": say, "/below/": say}, slack_limits(SlackSettings()), NAMES, "127.0.0.1", port),
        aiohttp.ClientSession(f"http://127.0.0.1:{port}") as session,
        session.get(path) as answered,
    ):
        assert (answered.status, await answered.text()) == (status, path if status == 200 else "")


@pytest.mark.parametrize(
    ("size", "seconds", "result"), [(10, 10.0, b"x" * 10), (11, 10.0, 413), (None, 0.1, 408)]
)
async def test_a_body_is_read_whole_within_its_limits(
    size: int | None, seconds: float, result: bytes | int
) -> None:
    read = asyncio.get_running_loop().create_future()

    async def take(request: web.BaseRequest) -> web.StreamResponse:
        read.set_result(await read_body(request, seconds, 10))
        return refusal(400)

    port = free_port()
    async with listening({"/": take}, slack_limits(SlackSettings()), NAMES, "127.0.0.1", port):
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(b"POST / HTTP/1.1\r\nHost: bot\r\nContent-Length: %d\r\n\r\n" % (size or 10))
        writer.write(b"x" * (size or 9))
        assert (await reader.read()).startswith(b"HTTP/1.1 400")
        writer.close()
    assert read.result() == result


async def test_a_request_whose_sender_is_known_keeps_its_place() -> None:
    known, answer = asyncio.Event(), asyncio.Event()

    async def take(request: web.BaseRequest) -> web.StreamResponse:
        keep_open(request)
        known.set()
        await answer.wait()
        return web.Response(text="kept")

    port = free_port()
    limits = slack_limits(SlackSettings(http_max_connections=2))
    async with (
        asyncio.timeout(60),
        listening({"/": take}, limits, NAMES, "127.0.0.1", port),
        aiohttp.ClientSession() as session,
    ):
        asking = asyncio.create_task(session.get(f"http://127.0.0.1:{port}/"))
        await known.wait()
        others = [await asyncio.open_connection("127.0.0.1", port) for _ in range(5)]
        for reader, writer in others[:4]:  # the last one has the second place
            assert await reader.read() == b""
            writer.close()
        answer.set()
        async with await asking as answered:
            assert await answered.text() == "kept"
        others[4][1].close()
