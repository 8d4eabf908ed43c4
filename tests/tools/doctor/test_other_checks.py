"""Mistakes of agent, store and addresses are found, with their remedies."""

from __future__ import annotations

import sqlite3
import sys
from contextlib import AsyncExitStack, closing
from pathlib import Path

import pytest
from aiohttp import web

from slack_bot.inbound.health_server import serving_health
from slack_bot.observe.health import Health
from slack_bot.observe.outage import Outage
from slack_bot.settings.models import HealthSettings
from slack_bot.store.stores import open_store
from slack_bot.testing.harness import free_port
from tests.live_agent import live_agent
from tests.store import subjects

from .guarded_agent import guarded_agent
from .operator import FAILED, UNKNOWN, WARNING, bad, environment, one, well

__all__ = ["environment"]


async def test_6_an_agent_that_is_not_there_and_one_that_refuses_the_key(environment: dict[str, str]) -> None:
    async with well(environment) as setup:
        environment["A2A_AGENT_URL"] = f"http://127.0.0.1:{free_port()}"
        found = await one(setup)
        assert found.check == "agent card" and "cannot be reached" in found.text
        async with guarded_agent("s3cret", is_said=True) as url:
            environment["A2A_AGENT_URL"] = url
            asked, refused = bad(await setup.look())
            assert (asked.state, refused.state) == (WARNING, FAILED)
            assert "the agent card asks for bearer" in asked.text
            assert (refused.check, "HTTP 401" in refused.text) == ("agent login", True)
            for each in (asked, refused):
                assert "SLACK_BOT_AGENT__BEARER_TOKEN" in each.remedy
            environment["SLACK_BOT_AGENT__BEARER_TOKEN"] = "wrong"
            wrong = await one(setup)
            assert wrong.check == refused.check
            assert wrong.remedy == "set SLACK_BOT_AGENT__BEARER_TOKEN to a token that the agent takes"
            assert "no credentials are set" in refused.text
            assert "refuses the bot's credentials with HTTP 401" in wrong.text
            environment["SLACK_BOT_AGENT__BEARER_TOKEN"] = "s3cret"
            assert bad(await setup.look()) == []


async def test_7_a_store_that_cannot_be_written(environment: dict[str, str], tmp_path: Path) -> None:
    async with well(environment) as setup:
        environment["SLACK_BOT_STORE__URL"] = "sqlite:////nowhere/bot.sqlite"
        found = await one(setup)
        assert (found.check, found.text) == ("store", "there is no directory /nowhere")
        environment["SLACK_BOT_STORE__URL"] = (
            "sqlite:////proc/bot.sqlite"  # not even root may, and 0 B are free
        )
        found = await one(setup)
        assert found.text == "nothing can be written into /proc (No such file or directory)"
        assert found.remedy == "let the bot's user write there, or set SLACK_BOT_STORE__URL"
        file = tmp_path / "newer.sqlite"
        with closing(sqlite3.connect(file)) as connection, connection:
            connection.execute("PRAGMA user_version = 99")
        file.chmod(0o600)
        environment["SLACK_BOT_STORE__URL"] = f"sqlite:///{file}"
        assert "newer" in (await one(setup)).text
        environment["SLACK_BOT_STORE__URL"] = "memory://"
        assert "is gone when the process ends" in (await one(setup, WARNING)).text


async def test_a_redis_without_its_library_is_told_by_its_setting(
    environment: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    async with well(environment) as setup:
        for name in [each for each in sys.modules if each.startswith(("slack_bot.store.redis", "redis."))]:
            monkeypatch.delitem(sys.modules, name)
        monkeypatch.setitem(sys.modules, "redis", None)
        environment["SLACK_BOT_STORE__URL"] = "redis://127.0.0.1:1"
        settings, store = bad(await setup.look())
        assert "its library is not here" in settings.text
        assert "deploy/run.txt" in f"{settings.text} {settings.remedy}"
        assert (store.check, store.state) == ("store", UNKNOWN)


async def test_a_store_on_which_a_bot_runs_or_that_is_older_is_no_mistake(
    environment: dict[str, str], tmp_path: Path
) -> None:
    async with well(environment) as setup:
        store = await open_store(subjects.options(environment["SLACK_BOT_STORE__URL"]), Outage())
        found = await setup.look()
        assert bad(found) == [] and found[-1].text.endswith("a bot runs on it")
        await store.close()
        with closing(sqlite3.connect(tmp_path / "bot.sqlite")) as connection, connection:
            connection.execute("PRAGMA user_version = 3")
        assert bad(await setup.look()) == []


async def test_an_audit_that_cannot_be_written(environment: dict[str, str], tmp_path: Path) -> None:
    folder = tmp_path / "audit"
    async with well(environment) as setup:
        environment["SLACK_BOT_AUDIT__PATH"] = str(folder)
        found = await one(setup)
        assert (found.check, found.remedy) == ("audit", "create it for the bot's user")
        folder.mkdir()
        assert bad(await setup.look()) == []


async def serve(stack: AsyncExitStack, *routes: web.RouteDef) -> str:
    """The address of a server that has these."""
    app = web.Application()
    app.add_routes(routes)
    runner = web.AppRunner(app)
    await runner.setup()
    stack.push_async_callback(runner.cleanup)
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    return f"http://127.0.0.1:{runner.addresses[0][1]}"


NO_CARD = "what is at {}/.well-known/agent-card.json is no agent card:"


@pytest.mark.parametrize(
    ("answer", "text"),
    [
        (web.Response(status=404), "no agent card at {} or below its /.well-known/ (HTTP 404)"),
        (web.Response(text="<html>", content_type="text/html"), f"{NO_CARD} a web page"),
        (web.json_response({"a": 1}), f"{NO_CARD} it is JSON of something else"),
    ],
)
async def test_something_else_than_an_agent_is_told_from_an_agent_that_is_away(
    environment: dict[str, str], answer: web.Response, text: str
) -> None:
    async def site(request: web.Request) -> web.Response:
        headers = {"content-type": answer.content_type}
        return web.Response(body=answer.body, status=answer.status, headers=headers)

    async with well(environment) as setup, AsyncExitStack() as stack:
        address = await serve(stack, web.get("/{path:.*}", site))
        environment["A2A_AGENT_URL"] = address
        found = await one(setup)
    assert (found.check, found.text) == ("agent card", text.format(address))
    assert found.remedy == "A2A_AGENT_URL must be the agent's base address or the full address of its card"


async def test_an_agent_whose_card_names_an_address_that_takes_no_calls(environment: dict[str, str]) -> None:
    """An old card (A2A 0.2) beside an agent that has moved."""

    async def card(request: web.Request) -> web.Response:
        return web.json_response(
            {
                "name": "Old",
                "protocolVersion": "0.2.5",
                "url": f"{request.url.origin()}/a2a",
                "capabilities": {"streaming": True},
                "skills": [],
            }
        )

    async with AsyncExitStack() as stack, well(environment) as setup:
        url = await serve(stack, web.get("/.well-known/agent.json", card))
        environment["A2A_AGENT_URL"] = url
        found = await one(setup)
        assert found.check == "agent address"
        assert found.text == f"the card says to ask at {url}/a2a, and nothing takes calls there (HTTP 404)"
        assert found.remedy.startswith("let the card name the address where the agent takes JSON-RPC, or set")


@pytest.mark.parametrize(
    ("said", "spoken", "remedy"),
    [
        ("HTTP+JSON", "JSONRPC", "takes HTTP+JSON, and it takes JSON-RPC"),
        ("JSONRPC", "HTTP+JSON", "takes JSON-RPC, and it takes HTTP+JSON"),
    ],
)
async def test_an_agent_whose_card_names_the_wrong_binding(
    environment: dict[str, str], said: str, spoken: str, remedy: str
) -> None:
    async with AsyncExitStack() as stack, well(environment) as setup:
        agent = await stack.enter_async_context(live_agent(("1.0",), bindings=(spoken,)))

        async def card(_: web.Request) -> web.Response:
            face = {"url": agent.url, "protocolBinding": said, "protocolVersion": "1.0"}
            capabilities = {"streaming": True}
            return web.json_response(
                {"name": "A", "supportedInterfaces": [face], "capabilities": capabilities, "skills": []}
            )

        url = await serve(stack, web.get("/.well-known/agent-card.json", card))
        environment["A2A_AGENT_URL"] = url
        environment["SLACK_BOT_AGENT__ALLOWED_HOSTS"] = '["127.0.0.1"]'
        found = await one(setup)
        assert found.check == "agent address"
        assert found.text == f"the card says that {agent.url} {remedy}"
        assert found.remedy == f"correct the card, or set SLACK_BOT_AGENT__BINDING={spoken}"


async def test_an_agent_that_is_not_ready(environment: dict[str, str]) -> None:
    async def refuse(_: web.Request) -> web.Response:
        return web.Response(status=503)

    async with AsyncExitStack() as stack, well(environment) as setup:
        environment["A2A_AGENT_URL"] = url = await serve(stack, web.get("/{rest:.*}", refuse))
        found = await one(setup)
        assert found.text == (
            f"no agent card at {url}/.well-known/agent-card.json: the server is not ready (HTTP 503)"
        )
        assert found.remedy == "look whether the agent has started, and at its log"


async def test_the_port_of_health_that_another_program_has(environment: dict[str, str]) -> None:
    async def root(_: web.Request) -> web.Response:
        return web.json_response({})

    async with AsyncExitStack() as stack, well(environment) as setup:
        environment["SLACK_BOT_HEALTH__PORT"] = port = str(free_port())
        health = HealthSettings(port=int(port))
        assert bad(await setup.look()) == []
        async with serving_health(health, Health()):
            found = await setup.look()
            assert bad(found) == []
            assert f"a bot that runs has the port {port}" in [each.text for each in found]
        url = await serve(stack, web.get("/livez", root))
        environment["SLACK_BOT_HEALTH__PORT"] = port = url.rpartition(":")[2]
        found_in_use = await one(setup)
        assert found_in_use.text.startswith(f"Port {port} cannot be used (")
        assert "already in use" in found_in_use.text
        remedy = "end the process that has it, or set SLACK_BOT_HEALTH__PORT to another"
        assert found_in_use.remedy == remedy
