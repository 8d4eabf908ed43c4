from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from typing import Any

import httpx
import pytest

from slack_bot.a2a.wire.auth import Credentials
from slack_bot.a2a.wire.card import AgentCard, CardPolicy, Interface
from slack_bot.a2a.wire.card_discovery import fetch_card, rules_of
from slack_bot.a2a.wire.origins import Origins
from slack_bot.a2a.wire.transport import new_http
from slack_bot.errors import AgentUnreachable, CardError
from slack_bot.settings.models import AgentSettings
from slack_bot.testing import virtual_clock
from tests.a2a.memory_server import JSON, Body, Server, json_reply, reply

URL = "https://agent.example/x"
CARD = {"name": "A", "url": URL, "protocolVersion": "0.3.0", "capabilities": {"streaming": True}}
HTML = {"content-type": "text/html"}


async def fetch(answer: Callable[[str], Any], url: str = URL, **settings: Any) -> tuple[AgentCard, Server]:
    """Look for a card on a server that answers by the path (and query) asked for."""
    server = Server(lambda request: answer(request.url.raw_path.decode()))
    found = AgentSettings(url=url, **settings)
    async with new_http(found, server) as http:
        return await fetch_card(http, Credentials(found, Origins(url)), found), server


def only_at(*paths: str) -> Callable[[str], httpx.Response]:
    return lambda path: json_reply(CARD) if path in paths else reply(b"nothing", status=404)


async def failing(answer: Callable[[str], Any], url: str = URL, **settings: Any) -> str:
    with pytest.raises(CardError) as caught:
        await fetch(answer, url, **settings)
    said = str(caught.value)
    assert "\n" not in said
    return said


@pytest.mark.parametrize(
    ("url", "path"),
    [
        (URL, "/x/.well-known/agent-card.json"),
        (URL, "/x/.well-known/agent.json"),
        (URL, "/x"),
        ("https://agent.example/y/.well-known/agent-card.json?id=7", "/y/.well-known/agent-card.json?id=7"),
        ("https://agent.example/cards/mine.json", "/cards/mine.json"),
    ],
)
async def test_where_a_card_is_found(url: str, path: str) -> None:
    card, server = await fetch(only_at(path), url)
    assert card.interfaces == (Interface(URL, "0.3"),)
    assert server.asked[-1].url.raw_path.decode() == path
    assert all(each.method == "GET" for each in server.asked)


async def test_the_newer_place_is_asked_first() -> None:
    _, server = await fetch(lambda _: json_reply(CARD))
    assert [each.url.path for each in server.asked] == ["/x/.well-known/agent-card.json"]


async def test_a_web_page_in_one_place_does_not_hide_the_card_in_another() -> None:
    def answer(path: str) -> httpx.Response:
        return json_reply(CARD) if path.endswith("/agent.json") else reply(b"<html>", headers=HTML)

    card, _ = await fetch(answer)
    assert card.name == "A"


async def test_credentials_are_sent() -> None:
    _, server = await fetch(only_at("/x/.well-known/agent-card.json"), bearer_token="secret")
    assert server.asked[0].headers["authorization"] == "Bearer secret"


async def test_nothing_there() -> None:
    said = await failing(only_at())
    assert said.startswith("no agent card at https://agent.example/x or below its /.well-known/ (HTTP 404)")
    assert "A2A_AGENT_URL" in said
    assert "no agent card at https://agent.example/a.json (HTTP 404)" in await failing(
        only_at(), "https://agent.example/a.json"
    )


@pytest.mark.parametrize(
    ("response", "words"),
    [
        (lambda: reply(b"<html>", headers=HTML), "a web page is there"),
        (lambda: reply(b"hello", headers={"content-type": "text/plain"}), "not JSON"),
        (lambda: reply(b"{", headers=JSON), "not JSON"),
        (lambda: reply(*[b" " * 100_000] * 11, headers=JSON), "too large"),
        (lambda: json_reply(["a"]), "not an agent card"),
        (lambda: json_reply({"detail": "x"}), "not an agent card"),
        (lambda: reply(status=401), "SLACK_BOT_AGENT__BEARER_TOKEN"),
        (lambda: reply(status=403), "HTTP 403"),
        (lambda: reply(status=302, headers={"location": "/login"}), "redirects (HTTP 302)"),
        (lambda: reply(status=502), "HTTP 502"),
    ],
)
async def test_something_else_is_there(response: Callable[[], httpx.Response], words: str) -> None:
    said = await failing(lambda _: response())
    assert words in said
    assert "https://agent.example/x/.well-known/agent-card.json" in said


async def test_the_more_telling_place_is_told() -> None:
    def answer(path: str) -> httpx.Response:
        return reply(status=401) if path.endswith("/agent.json") else reply(status=404)

    assert "other credentials" in await failing(answer)


async def test_nobody_answers() -> None:
    with pytest.raises(AgentUnreachable, match="cannot be reached"):
        await fetch(lambda _: httpx.ConnectError("refused"))


async def test_a_connection_that_breaks() -> None:
    assert "cannot be read" in await failing(lambda _: httpx.ReadError("cut"))


def test_a_server_that_is_too_slow() -> None:
    async def run() -> float:
        def slow(_: str) -> httpx.Response:
            return httpx.Response(200, headers=JSON, stream=Body([(0, b"{")], ended=1000))

        assert "within 10 s" in await failing(slow)
        return asyncio.get_running_loop().time()

    assert virtual_clock.run(run()) == 10.0


async def test_a_card_that_cannot_be_used() -> None:
    wrong = json.loads(json.dumps(CARD)) | {"url": "http://0.0.0.0:8000"}
    assert "USE_CONFIGURED_URL" in await failing(lambda _: json_reply(wrong))
    card, _ = await fetch(lambda _: json_reply(wrong), use_configured_url=True)
    assert card.interfaces[0].url == URL


def test_the_rules_are_the_settings() -> None:
    settings = AgentSettings(
        url=URL, protocol_version="0.3", use_configured_url=True, allowed_hosts=("a",), extensions=("urn:x",)
    )
    assert rules_of(settings) == CardPolicy(URL, True, ("a",), "0.3", ("urn:x",))
    assert rules_of(AgentSettings()) == CardPolicy("")
