import asyncio
import os
import re
import signal
import socket

import httpx
import pytest

from slack_bot.playground.hosting import host_app, serve_until_stopped
from slack_bot.playground.reference.agent import AgentApp


async def test_two_servers_live_side_by_side_and_leave_the_signals_alone() -> None:
    before = signal.getsignal(signal.SIGTERM), signal.getsignal(signal.SIGINT)
    async with host_app(AgentApp, "127.0.0.1", 0) as one, host_app(AgentApp, "127.0.0.1", 0) as two:
        assert one != two
        assert (signal.getsignal(signal.SIGTERM), signal.getsignal(signal.SIGINT)) == before
        async with httpx.AsyncClient() as http:
            for url in (one, two):
                assert (await http.get(url + ".well-known/agent-card.json")).status_code == 200
    async with httpx.AsyncClient() as http:
        with pytest.raises(httpx.ConnectError):
            await http.get(one)


async def test_an_address_of_the_newer_kind() -> None:
    try:
        socket.create_server(("::1", 0), family=socket.AF_INET6).close()
    except OSError:
        pytest.skip("this machine has no IPv6 beside IPv4")
    async with host_app(AgentApp, "::1", 0) as url, httpx.AsyncClient() as http:
        assert url.startswith("http://[::1]:")
        card = (await http.get(url + ".well-known/agent-card.json")).json()
        assert card["url"] == url


async def test_a_taken_port_is_an_os_error() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken, pytest.raises(OSError, match="in use"):
        async with host_app(AgentApp, "127.0.0.1", taken.getsockname()[1]):
            pass


async def test_an_open_stream_does_not_keep_the_server() -> None:
    ask = {
        "jsonrpc": "2.0",
        "id": "q",
        "method": "message/stream",
        "params": {
            "message": {"messageId": "m", "role": "user", "parts": [{"kind": "text", "text": "slow 600"}]}
        },
    }
    async with httpx.AsyncClient() as http:
        async with host_app(AgentApp, "127.0.0.1", 0) as url:
            response = await http.send(http.build_request("POST", url, json=ask), stream=True)
            chunks = response.aiter_bytes()
            assert b"submitted" in await anext(chunks)
        async for _ in chunks:
            pass
        await response.aclose()


async def test_what_is_served_ends_with_the_process(capsys: pytest.CaptureFixture[str]) -> None:
    def announce(url: str) -> str:
        os.kill(os.getpid(), signal.SIGTERM)
        return f"It is at {url}"

    serving = serve_until_stopped(host_app(AgentApp, "127.0.0.1", 0), announce)
    await asyncio.wait_for(serving, 60)
    assert re.fullmatch(r"It is at http://127\.0\.0\.1:\d+/\nCtrl-C ends it\.\n", capsys.readouterr().out)
