"""Who we are at Slack, asked once; and one sentence where Slack says no."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from typing import Any

import aiohttp
import pytest
from aiohttp import web
from slack_sdk.web.async_client import AsyncWebClient

from slack_bot.app import build, check_slack
from slack_bot.errors import SlackError
from slack_bot.inbound.authorizer import call_or_raise, new_authorize
from slack_bot.testing import virtual_clock
from slack_bot.testing.harness import CHANNEL, bot_settings, free_port, run_bot
from slack_bot.testing.memory_store import MemoryStore
from slack_bot.testing.slack.in_process import SlackResponse, SlackSession
from slack_bot.testing.slack.rules import SHIPPED
from slack_bot.testing.slack.workspace import APP_TOKEN, BOT_TOKEN, Workspace
from slack_bot.testing.tape.builders import answer
from slack_bot.testing.virtual_clock import on_virtual_time


def client(token: str = BOT_TOKEN, **faults: list[str | None]) -> AsyncWebClient:
    workspace = Workspace(faults={name.replace("_", "."): script for name, script in faults.items()})
    session = SlackSession(workspace, virtual_clock.new_clock())
    return AsyncWebClient(token=token, session=session, retry_handlers=[])  # type: ignore[arg-type]


@on_virtual_time
async def test_the_identity_is_asked_once() -> None:
    web = client()
    authorize = new_authorize(web)
    identity = await authorize()
    assert (identity.team_id, identity.bot_user_id) == ("T1", "U0BOT")
    assert await authorize() is identity
    assert (identity.bot_id, identity.bot_token) == ("B0BOT", BOT_TOKEN)
    assert len(web.session.workspace.calls) == 1  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("error", "remedy"),
    [
        ("invalid_auth", "copy the token again"),
        ("account_inactive", "install the app again"),
        ("ratelimited", "it was used too often lately; start again in a minute"),
        ("internal_error", "Slack has trouble of its own right now"),
        ("error:something_new", "check it in your Slack app settings"),
    ],
)
@on_virtual_time
async def test_a_refused_token_is_one_sentence_with_the_remedy(error: str, remedy: str) -> None:
    with pytest.raises(SlackError) as caught:
        await new_authorize(client(auth_test=[error]))()
    error = error.removeprefix("error:")
    assert str(caught.value).startswith(f"Slack refused SLACK_BOT_TOKEN ({error}): {remedy}")
    assert caught.value.error == error


@on_virtual_time
async def test_a_wrong_token_is_not_shown() -> None:
    with pytest.raises(SlackError) as caught:
        await new_authorize(client("xoxb-hunter2"))()
    assert (
        str(caught.value)
        == "Slack refused SLACK_BOT_TOKEN (invalid_auth): copy the token again from your Slack app settings."
    )


@on_virtual_time
async def test_another_token_may_be_used_for_one_call() -> None:
    ticket = await call_or_raise(
        client(), "apps.connections.open", setting="SLACK_APP_TOKEN", token=APP_TOKEN
    )
    assert str(ticket["url"]).startswith("ws")
    with pytest.raises(SlackError, match=r"SLACK_APP_TOKEN \(not_allowed_token_type\): this is another kind"):
        await call_or_raise(client(), "apps.connections.open", setting="SLACK_APP_TOKEN", token=BOT_TOKEN)


@on_virtual_time
async def test_a_slack_that_does_not_answer_is_one_sentence() -> None:
    with pytest.raises(SlackError, match=r"Slack cannot be reached at https://"):
        await call_or_raise(client(auth_test=["timeout"]), "auth.test", setting="SLACK_BOT_TOKEN")


async def test_a_slack_that_is_not_there_is_one_sentence() -> None:
    away = AsyncWebClient(token=BOT_TOKEN, base_url=f"http://127.0.0.1:{free_port()}/api/", retry_handlers=[])
    with pytest.raises(SlackError, match="cannot be reached"):
        await call_or_raise(away, "auth.test", setting="SLACK_BOT_TOKEN")


@on_virtual_time
async def test_an_event_that_comes_while_slack_does_not_know_us_is_not_acknowledged() -> None:
    async with run_bot(answer("Now."), faults={"auth.test": ["internal_error", None]}) as bot:
        root = bot.workspace.say("U1", CHANNEL, f"<@{bot.workspace.bot.user_id}> hi", now=bot.now)
        (first, second) = bot.workspace.take()
        assert await bot.deliver([first]) == [500]
        assert await bot.deliver([second]) == [200]
        await bot.idle()
        assert bot.read(root) == ["Now."]


@pytest.mark.parametrize(
    ("answer", "says"),
    [
        (lambda: web.Response(text="<html>", content_type="application/json", status=502), "HTTP 502"),
        (lambda: web.Response(text="<html>", content_type="text/html", status=502), "HTTP 502"),
        (lambda: web.Response(text="<html>Sign in", content_type="text/html"), "is not Slack"),
        (lambda: web.Response(body=b"d\xe9faut", content_type="application/json"), "is not Slack"),
        (lambda: web.json_response("upstream error"), "is not Slack"),
    ],
)
async def test_something_else_in_slack_s_place_is_one_sentence_with_the_remedy(
    answer: Callable[[], web.Response], says: str
) -> None:
    async def respond(_: web.Request) -> web.Response:
        return answer()

    app = web.Application()
    app.router.add_post("/api/auth.test", respond)
    runner = web.AppRunner(app)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    base = f"http://127.0.0.1:{runner.addresses[0][1]}/api/"
    try:
        async with aiohttp.ClientSession() as session:
            slack = AsyncWebClient(BOT_TOKEN, base, session=session, retry_handlers=[])
            with pytest.raises(SlackError, match=says) as caught:
                await call_or_raise(slack, "auth.test", setting="SLACK_BOT_TOKEN")
            assert "check SLACK_API_URL" in str(caught.value)
    finally:
        await runner.cleanup()


class SayingScopes(SlackSession):
    """Slack, which names the token's scopes in the head of each answer."""

    scopes = ""

    async def perform(self, url: str, options: Mapping[str, Any]) -> SlackResponse:
        response = await super().perform(url, options)
        response.headers["X-OAuth-Scopes"] = self.scopes
        return response


@on_virtual_time
async def test_the_token_s_scopes_are_known() -> None:
    session = SayingScopes(Workspace(), virtual_clock.new_clock())
    session.scopes = "chat:write, channels:history,"
    client = AsyncWebClient(token=BOT_TOKEN, session=session, retry_handlers=[])  # type: ignore[arg-type]
    identity = await new_authorize(client)()
    assert identity.bot_scopes is not None
    assert {"chat:write", "channels:history"} <= set(identity.bot_scopes)


@on_virtual_time
async def test_a_missing_scope_is_one_warning_at_sign_in(caplog: pytest.LogCaptureFixture) -> None:
    session = SayingScopes(Workspace(), virtual_clock.new_clock())
    session.scopes = ",".join(SHIPPED.scopes - {"channels:history"})
    async with await build(bot_settings(), slack_session=session, store=MemoryStore()) as app:
        await check_slack(app)
    (warned,) = [each for each in caplog.records if each.name == "slack_bot.app"]
    assert warned.levelno == logging.WARNING
    assert "lacks the scope channels:history" in warned.getMessage()
