"""The whole bot, an agent on a2a-sdk that checks tokens, and the authorization server that gives them."""

from __future__ import annotations

import asyncio
import io
import logging
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

from slack_bot.agents.agent import Agent
from slack_bot.agents.wire.auth import Credentials
from slack_bot.agents.wire.client import MessageRequest
from slack_bot.agents.wire.token_endpoint import token_source
from slack_bot.agents.wire.transport import new_http
from slack_bot.app import App, check_agent
from slack_bot.clock import system_clock
from slack_bot.errors import AgentRefused
from slack_bot.observe.health import HealthCheck
from slack_bot.settings.models import GovernorSettings
from slack_bot.testing.harness import CHANNEL, bot_settings, build_in_memory, keep_delivering, wait_until
from slack_bot.testing.slack.workspace import SeenMessage, Workspace
from slack_bot.tools.capture.capture import CaptureProgress, CaptureRequest, capture
from slack_bot.tools.files import OutputFile
from tests.authorization_server import SECRET, TokenServer
from tests.live_agent import HELD, Live, live_agent
from tests.token_guard import TokenGuard

NO_LOGIN_NOW = "I could not log in to the agent just now, so your question did not reach it. Reference: "


class Town:
    """A bot, its workspace, and its agent."""

    def __init__(self, app: App, workspace: Workspace, live: Live, guard: TokenGuard) -> None:
        self.app, self.workspace, self.live, self.guard = app, workspace, live, guard

    def ask(self, text: str, person: str = "U1") -> str:
        return self.workspace.say(person, CHANNEL, f"<@U0BOT> {text}", now=self.app.clock.wall())

    def answers(self, root: str) -> list[SeenMessage]:
        return [each for each in self.workspace.thread(CHANNEL, root) if each.is_bot]

    def text(self, root: str) -> str:
        return "".join(each.text for each in self.answers(root))

    def note(self, root: str) -> str:
        return " ".join(text for each in self.answers(root) for text in each.extras)

    async def until(self, condition: Callable[[], object]) -> None:
        await wait_until(condition, self.workspace)

    async def answered(self, root: str) -> str:
        await self.until(lambda: self.text(root) or self.note(root))
        await self.app.threads.idle()
        return self.text(root) or self.note(root)


def login(server: TokenServer, **client: Any) -> dict[str, Any]:
    found = {"id": "bot", "secret": SECRET, "token_url": f"{server.url}/token", **client}
    return {f"agent.client.{name}": value for name, value in found.items()}


@asynccontextmanager
async def town(server: TokenServer, audience: str = "", **overrides: Any) -> AsyncIterator[Town]:
    workspace, guard = Workspace(), TokenGuard(server, audience)
    workspace.add_channel(CHANNEL)
    async with live_agent(guard=guard) as live:
        settings = bot_settings({**login(server), "connect_retries": 0, **overrides}, live.url)
        async with await build_in_memory(workspace, settings, system_clock(), None) as app:
            delivering = asyncio.create_task(keep_delivering(app, workspace))
            try:
                yield Town(app, workspace, live, guard)
            finally:
                delivering.cancel()


async def ended(server: TokenServer, token: str) -> None:
    while (await server.about(token))["active"]:  # noqa: ASYNC110  the time is that of another process
        await asyncio.sleep(0.05)


async def test_fifty_questions_at_once_and_one_fetch(server: TokenServer) -> None:
    rates = {name: 1e6 for name in GovernorSettings.model_fields if name.endswith("_per_minute")}
    async with town(server, **rates) as here:
        roots = [here.ask(f"echo {number}") for number in range(50)]
        await here.until(lambda: all(map(here.text, roots)))
        await here.app.threads.idle()
        assert [here.text(root) for root in roots] == [f"echo {number}" for number in range(50)]
        assert len(server.asked()) == 1
        assert set(here.guard.taken) == set(server.tokens()) == set(here.app.agent.secrets)


async def test_a_token_that_ends_in_the_middle_of_an_answer(server: TokenServer) -> None:
    """The stream goes on; the Stop, which comes after its end, has a new token."""
    server.change(expires_in=1)
    async with town(server) as here:
        here.live.hold = 2
        root = here.ask("held")
        await here.until(lambda: HELD[0].strip() in here.text(root))
        first = here.guard.taken[-1]
        await ended(server, first)
        here.workspace.say("U1", CHANNEL, "stop", now=here.app.clock.wall(), thread_ts=root)
        await here.until(lambda: len(here.guard.taken) > 1)
        await here.app.threads.idle()
        assert here.guard.refused == []
        assert here.guard.taken[-1] != first


async def test_a_cut_stream_is_joined_again_with_a_new_token(server: TokenServer) -> None:
    server.change(expires_in=1)
    async with live_agent(guard=(guard := TokenGuard(server))) as live:
        live.hold = 2
        settings = bot_settings(login(server), live.url).agent
        async with new_http(settings) as http:
            agent = Agent(http, settings, system_clock())
            asking = agent.ask(MessageRequest("held", "m"))
            task_id = ""
            while not task_id:
                task_id = getattr((await anext(asking)).frame, "task_id", "") or ""
            await asking.aclose()
            await ended(server, guard.taken[-1])
            joined = await agent.subscribe(task_id)
            await anext(joined)
            await joined.aclose()
            assert (await agent.task("get", task_id)).task_id == task_id
            live.release.set()
        assert guard.refused == []
        assert len(set(guard.taken)) == len(server.asked()) > 1


async def test_a_revoked_token_is_one_new_fetch_and_one_more_question(server: TokenServer) -> None:
    async with town(server) as here:
        assert await here.answered(here.ask("echo one")) == "echo one"
        server.change(revoke_all=True)
        roots = [here.ask(f"echo {number}") for number in range(10)]
        await here.until(lambda: all(map(here.text, roots)))
        await here.app.threads.idle()
        assert [here.text(root) for root in roots] == [f"echo {number}" for number in range(10)]
        assert len(server.asked()) == 2
        assert len(here.live.messages) == 11  # none was executed twice


async def test_a_large_question_is_sent_once_more_as_a_whole(server: TokenServer) -> None:
    async with live_agent(guard=(guard := TokenGuard(server))) as live:
        settings = bot_settings(login(server), live.url).agent
        async with new_http(settings) as http:
            agent = Agent(http, settings, system_clock())
            assert [each async for each in agent.ask(MessageRequest("echo", "1"))]
            server.change(revoke_all=True)
            question = "unicode " + "x" * 500_000
            assert [each async for each in agent.ask(MessageRequest(question, "2"))]
        assert live.messages[-1]["parts"][0]["text"] == question
        assert len(guard.refused) == 1


async def test_a_wrong_audience_is_no_storm(server: TokenServer) -> None:
    async with town(server, audience="agent") as here:
        said = await here.answered(here.ask("echo"))
        assert said.startswith("I cannot log in to the agent. ") and "Try again" not in said
        assert len(server.asked()) == 2
        assert len(here.guard.refused) == 3
        assert here.live.messages == []


async def test_what_the_agent_says_of_a_token_is_in_the_error(server: TokenServer) -> None:
    async with live_agent(guard=TokenGuard(server, "agent")) as live:
        settings = bot_settings(login(server), live.url).agent
        async with new_http(settings) as http:
            with pytest.raises(AgentRefused) as caught:
                await Agent(http, settings, system_clock()).task("get", "none")
    assert caught.value.said == "invalid_token: The audience is wrong"


async def test_a_token_server_that_is_down_is_trouble_that_may_pass(
    server: TokenServer, caplog: pytest.LogCaptureFixture
) -> None:
    server.change(fault="down")
    async with town(server) as here:
        root = here.ask("echo")
        said = await here.answered(root)
        assert said.startswith(NO_LOGIN_NOW) and said.endswith("Try again")
        assert not here.app.health.is_ok(HealthCheck.AGENT)
        assert "gives no token now (HTTP 503)" in caplog.text
        server.change(fault="")
        await here.app.threads.idle()
        root = here.ask("echo again")
        assert await here.answered(root) == "echo again"
        assert here.app.health.is_ok(HealthCheck.AGENT)


async def test_a_token_server_that_hangs_does_not_hold_up_a_question(
    server: TokenServer, caplog: pytest.LogCaptureFixture
) -> None:
    server.change(fault="hang")
    async with town(server, connect_retries=2, **{"agent.client.token_timeout": 0.3}) as here:
        for _ in range(3):
            assert (await here.answered(here.ask("echo"))).startswith(NO_LOGIN_NOW)
        assert len(server.asked()) == 1  # no question has waited for it but the first one, and that once
        problem = "No token for the agent could be had when it was last asked; see the log."
        assert here.app.health.body()["checks"]["agent"] == problem  # type: ignore[index]
    host = server.url.removeprefix("http://")
    lines = [each.getMessage() for each in caplog.records if each.name.endswith("task_consumer")]
    assert len(lines) == 3
    assert all(
        f"the bot cannot log in to the agent: {host} gave no token within 0.3 s" in each for each in lines
    )


async def test_an_agent_that_refuses_the_login_is_known_from_the_start_until_it_takes_a_question(
    server: TokenServer, caplog: pytest.LogCaptureFixture
) -> None:
    async with town(server, audience="agent", card_ttl=0.001) as here:
        await check_agent(here.app.agent, here.app.agents.label(here.app.agent))
        (warned,) = [each.getMessage() for each in caplog.records if each.name == "slack_bot.app"]
        assert warned.startswith("the agent is not ready, questions will say so until it is: ")
        assert (
            "does not accept the bot's credentials (HTTP 401); let SLACK_BOT_AGENT__CLIENT__AUDIENCE"
            in warned
        )
        checks: Any = here.app.health.body()["checks"]
        assert checks["agent"] == "The agent refused the bot's login when it was last asked; see the log."
        assert not here.live.messages
        await here.app.agent.ensure_card()  # that anybody may read the card says nothing of a login
        assert not here.app.health.is_ok(HealthCheck.AGENT)
        here.guard.audience = ""
        assert await here.answered(here.ask("echo")) == "echo"
        assert here.app.health.is_ok(HealthCheck.AGENT)
        await check_agent(here.app.agent, here.app.agents.label(here.app.agent))
        assert here.app.health.is_ok(HealthCheck.AGENT)


async def test_a_wrong_secret_is_for_the_operator(
    server: TokenServer, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG, "slack_bot")
    async with town(server, **login(server, secret="an-old-secret")) as here:
        root = here.ask("echo")
        said = await here.answered(root)
        assert said.startswith(
            "I cannot log in to the agent. Trying again will not help: please tell whoever"
        )
        assert "Try again" not in said
        problem = "The bot gets no token for the agent; see the log."
        assert here.app.health.body()["checks"]["agent"] == problem  # type: ignore[index]
        lines = [each for each in caplog.records if "invalid_client" in each.getMessage()]
        assert lines and all("SLACK_BOT_AGENT__CLIENT__ID" in each.getMessage() for each in lines)
        assert any(getattr(each, "turn", None) for each in lines)
        assert "an-old-secret" not in caplog.text


async def test_no_token_and_no_secret_is_logged(
    server: TokenServer, caplog: pytest.LogCaptureFixture
) -> None:
    for name in ("slack_bot", "httpx", "httpcore"):
        caplog.set_level(logging.DEBUG, name)
    async with town(server, **{"agent.client.method": "client_secret_post"}) as here:
        await here.answered(here.ask("echo"))
        (token,) = server.tokens()
        assert token not in caplog.text
        assert SECRET not in caplog.text
        said = await here.answered(here.ask(f"echo {token}"))
        assert said == "echo [secret removed]"


def pieces(token: str) -> list[str]:
    """It may be cut anywhere."""
    return [token[start : start + 12] for start in range(0, len(token) - 12)]


@pytest.mark.parametrize("raw", [False, True])
async def test_no_token_is_in_a_capture(raw: bool, server: TokenServer, tmp_path: Path) -> None:
    path, said = tmp_path / "capture", io.StringIO()
    async with live_agent(guard=TokenGuard(server)) as live:
        settings = bot_settings(login(server), live.url)
        with OutputFile(str(path)) as file:
            request = CaptureRequest(("login", "echo hello") if not raw else ("login",), raw=raw)
            assert await capture(request, settings, file, CaptureProgress(said)) == 0
    (token,) = server.tokens()
    written = path.read_text() + said.getvalue()
    assert "You are " in written  # what the agent sent back
    assert raw or "echo hello" in written
    assert token not in written and not any(piece in written for piece in pieces(token))
    assert SECRET not in written


# -- what a card may not do


async def test_no_secret_goes_where_only_the_card_says(server: TokenServer) -> None:
    """It names a token endpoint, an issuer and an agent on other machines: nobody there hears of the bot."""
    heard: list[str] = []

    async def anything(request: web.Request) -> web.Response:
        heard.append(str(request.headers) + await request.text())
        return web.json_response({"access_token": "stolen", "token_type": "Bearer"})

    evil = web.Application()
    evil.router.add_route("*", "/{path:.*}", anything)
    runner = web.AppRunner(evil)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    other = f"http://127.0.0.1:{runner.addresses[0][1]}"
    flow = {"clientCredentials": {"tokenUrl": f"{other}/token", "scopes": {}}}

    async def card(request: web.Request) -> web.Response:
        about = {"name": "A", "url": f"{other}/agent", "protocolVersion": "0.3.0", "skills": []}
        schemes = {
            "o": {"type": "oauth2", "flows": flow, "oauth2MetadataUrl": f"{other}/metadata"},
            "d": {"type": "openIdConnect", "openIdConnectUrl": f"{other}/.well-known/openid-configuration"},
            "k": {"type": "apiKey", "in": "query", "name": "key"},
        }
        return web.json_response({**about, "securitySchemes": schemes, "security": [{"o": []}, {"k": []}]})

    app = web.Application()
    app.router.add_get("/.well-known/agent-card.json", card)
    home = web.AppRunner(app)
    await home.setup()
    await web.TCPSite(home, "127.0.0.1", 0).start()
    try:
        settings = bot_settings(
            {**login(server), "api_key": "the-api-key"}, f"http://127.0.0.1:{home.addresses[0][1]}/"
        ).agent
        async with new_http(settings) as http:
            agent = Agent(http, settings, system_clock())
            with pytest.raises(Exception, match="another server than the configured one"):
                await agent.ensure_card()
        assert heard == []
        allowed = settings.model_copy(update={"allowed_hosts": (other.removeprefix("http://"),)})
        async with new_http(allowed) as http:
            agent = Agent(http, allowed, system_clock())
            await agent.ensure_card()
        assert heard == []
        assert [each["path"] for each in server.asked()] == ["/token", "/token"]
    finally:
        await home.cleanup()
        await runner.cleanup()


async def test_a_body_without_an_end_behind_a_401_is_not_read(server: TokenServer) -> None:
    calls: list[str] = []

    async def refuse(request: web.Request) -> web.StreamResponse:
        calls.append(request.headers["Authorization"])
        response = web.StreamResponse(status=401)
        await response.prepare(request)
        while True:
            await response.write(b"x" * 65_536)

    app = web.Application()
    app.router.add_route("*", "/{path:.*}", refuse)
    runner = web.AppRunner(app)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    try:
        settings = bot_settings(login(server), f"http://127.0.0.1:{runner.addresses[0][1]}/").agent
        async with new_http(settings) as http:
            tokens = token_source(settings.client, system_clock())
            assert tokens is not None
            tokens.accept(await tokens.token())
            auth = Credentials(settings, tokens=tokens)
            async with asyncio.timeout(10), http.stream("GET", settings.url or "", auth=auth) as answer:
                assert answer.status_code == 401
        assert len(set(calls)) == 2
    finally:
        await runner.cleanup()
