"""What an authorization server says of itself, and what is sent to which of its addresses."""

from __future__ import annotations

from typing import Any

import pytest
from aiohttp import web

from slack_bot.clock import system_clock
from slack_bot.errors import TokenRefused, TokenUnavailable
from slack_bot.features.sign_in.server_requests import ServerRequests
from slack_bot.settings.sign_in import OAuthSettings
from tests.features.sign_in.test_server import server


@pytest.mark.parametrize(
    "said",
    [
        pytest.param({"issuer": "https://other.example"}, id="another issuer"),
        pytest.param({"issuer": None}, id="no issuer"),
        pytest.param({"token_endpoint": None}, id="no token endpoint"),
        pytest.param({"token_endpoint": "http://tokens.example/"}, id="a token endpoint without TLS"),
        pytest.param({"authorization_endpoint": "javascript:alert(1)"}, id="no address"),
        pytest.param({"code_challenge_methods_supported": ["plain"]}, id="no S256"),
    ],
)
async def test_metadata_with_which_no_one_may_sign_in(said: dict[str, Any]) -> None:
    async with server(**said) as there:
        with pytest.raises(TokenRefused):
            await there.metadata()


async def test_an_address_that_secrets_may_not_go_to_is_not_used() -> None:
    async with server(revocation_endpoint="http://tokens.example/", jwks_uri="ftp://x/") as there:
        found = await there.metadata()
    assert (found.revocation, found.keys, found.names_itself) == ("", "", False)


async def test_a_server_that_is_away() -> None:
    settings = OAuthSettings.model_validate({"issuer": "http://127.0.0.1:1", "id": "bot"})
    with pytest.raises(TokenUnavailable):
        await ServerRequests(settings, system_clock()).metadata()


@pytest.mark.parametrize("place", ["http://login.example/register", "ftp://x/", "", None])
async def test_an_address_that_the_initial_token_may_not_go_to_is_none(place: str | None) -> None:
    async with server(registration_endpoint=place) as there:
        assert (await there.metadata()).registration == ""


async def test_how_clients_may_prove_who_they_are() -> None:
    async with server(token_endpoint_auth_methods_supported=["none", 1, "client_secret_post"]) as there:
        assert (await there.metadata()).methods == ("none", "", "client_secret_post")


async def test_metadata_are_read_again_when_they_must_be_new() -> None:
    said: dict[str, Any] = {}
    async with server(**said) as there:
        requests = ServerRequests(
            OAuthSettings.model_validate({"issuer": there.issuer, "id": "bot"}), system_clock()
        )
        first = await requests.metadata()
        assert await requests.metadata() is first
        assert await requests.metadata(must_be_new=True) is not first


async def test_the_initial_token_does_not_follow_a_redirect() -> None:
    got: list[str] = []

    def elsewhere(request: web.Request) -> web.Response:
        got.append(request.headers["Authorization"])
        return web.Response(status=307, headers={"Location": "/token"})

    async with server(elsewhere) as there:
        requests = ServerRequests(
            OAuthSettings.model_validate({"issuer": there.issuer, "id": "bot"}), system_clock()
        )
        status, answer = await requests.register(f"{there.issuer}/token", {"client_name": "bot"}, "the-token")
    assert (status, answer, got) == (307, {}, ["Bearer the-token"])
