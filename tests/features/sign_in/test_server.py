"""What an authorization server must say of itself, and how its answers are read."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest
from aiohttp import web

from slack_bot.clock import system_clock
from slack_bot.errors import TokenRefused, TokenUnavailable
from slack_bot.features.sign_in.server import AuthorizationServer
from slack_bot.settings.sign_in import OAuthSettings

Answer = Callable[[web.Request], Any]


@asynccontextmanager
async def server(token: Answer = lambda _: {}, **metadata: Any) -> AsyncIterator[AuthorizationServer]:
    """One that answers as told."""
    app, url = web.Application(), ""

    async def about(_request: web.Request) -> web.Response:
        names = {"authorization_endpoint": f"{url}/authorize", "token_endpoint": f"{url}/token"}
        said = {"issuer": url, **names, **metadata}
        return web.json_response({name: value for name, value in said.items() if value is not None})

    async def tokens(request: web.Request) -> web.StreamResponse:
        answer = token(request)
        return answer if isinstance(answer, web.StreamResponse) else web.json_response(answer)

    app.router.add_get("/.well-known/oauth-authorization-server", about)
    app.router.add_post("/token", tokens)
    runner = web.AppRunner(app)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    url = f"http://127.0.0.1:{runner.addresses[0][1]}"
    try:
        settings = {"issuer": url, "id": "bot", "scope": "a b", "resource": "https://agent.example"}
        yield AuthorizationServer(OAuthSettings.model_validate(settings), system_clock())
    finally:
        await runner.cleanup()


async def test_where_a_browser_is_sent() -> None:
    async with server(authorization_endpoint="https://login.example/authorize?tenant=1") as there:
        url = await there.authorization_url("https://bot.example/oauth/callback", "s", "c", "n")
    assert url == (
        "https://login.example/authorize?tenant=1&response_type=code&client_id=bot"
        "&redirect_uri=https%3A%2F%2Fbot.example%2Foauth%2Fcallback&scope=a+b&state=s&nonce=n"
        "&code_challenge=c&code_challenge_method=S256&resource=https%3A%2F%2Fagent.example"
    )


async def test_the_server_is_told_whose_account_it_may_offer_first() -> None:
    async with server() as there:
        url = await there.authorization_url("https://bot.example/back", "s", "c", "n", "ann+x@example.com")
    assert url.endswith("&login_hint=ann%2Bx%40example.com")


async def test_which_addresses_of_a_card_mean_this_server() -> None:
    async with server(token_endpoint="https://tokens.example/t") as there:
        here = there.issuer
        unread = [
            there.is_at([url]) for url in (f"{here}/authorize", "https://tokens.example/t", "http://[x")
        ]
        assert unread == [True, False, False]
        await there.metadata()
        assert there.is_at(["https://other.example/a", f"{here}/authorize"])
        assert there.is_at([f"{here}/.well-known/openid-configuration"])
        assert there.is_at(["https://tokens.example/t"])
        assert not there.is_at([f"{here}/other", "https://tokens.example", "", "http://[x"])
        assert not there.is_at([])


@pytest.mark.parametrize(
    ("answer", "error"),
    [
        (web.Response(status=503), TokenUnavailable),
        (web.json_response({"error": "temporarily_unavailable"}, status=400), TokenUnavailable),
        (web.json_response({"error": "invalid_grant"}, status=400), TokenRefused),
        (web.Response(status=302, headers={"Location": "/elsewhere"}), TokenRefused),
        (web.json_response({"access_token": "a\r\nX: y"}), TokenRefused),
        (web.json_response({"access_token": "t", "token_type": "DPoP"}), TokenRefused),
        (web.json_response({}), TokenRefused),
        (web.Response(text="<html>", content_type="text/html"), TokenUnavailable),
    ],
)
async def test_an_answer_that_is_no_token(answer: web.Response, error: type[Exception]) -> None:
    async with server(lambda _: answer) as there:
        with pytest.raises(error):
            await there.renewed("refresh")


async def test_a_server_that_gives_no_new_refresh_token_goes_on_taking_the_old_one() -> None:
    async with server(lambda _: {"access_token": "new", "expires_in": 60}) as there:
        found = await there.renewed("old")
    assert (found.access, found.refresh, found.life) == ("new", "old", 60)


async def test_what_a_server_says_of_an_error_has_no_secret() -> None:
    echo = {"error": "invalid_grant", "error_description": "the-refresh-token is old"}
    async with server(lambda _: web.json_response(echo, status=400)) as there:
        with pytest.raises(TokenRefused) as caught:
            await there.renewed("the-refresh-token")
    assert "the-refresh-token" not in str(caught.value) and caught.value.error == "invalid_grant"
