"""An agent of the playground on a2a-sdk."""

from __future__ import annotations

import socket

import httpx
import pytest

from slack_bot.playground.others.served_agent import serve_agent
from slack_bot.playground.others.travel import build_travel


async def test_it_is_served_where_it_says_and_ends_with_its_context() -> None:
    async with httpx.AsyncClient(trust_env=False) as http:
        async with serve_agent(lambda url: build_travel(url, 0)) as url:
            card = (await http.get(f"{url}.well-known/agent-card.json")).json()
            assert card["supportedInterfaces"][0]["url"] == url
        with pytest.raises(httpx.ConnectError):
            await http.get(url)


async def test_a_port_that_is_taken_is_an_error_of_the_system() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken, pytest.raises(OSError, match="in use"):
        async with serve_agent(lambda url: build_travel(url, 0), port=taken.getsockname()[1]):
            raise AssertionError("not reached")
