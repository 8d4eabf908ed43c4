"""Tokens of a real authorization server (Authlib's, in a process of its own), and what may go wrong there."""

from __future__ import annotations

import asyncio
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from slack_bot.agents.wire.token_endpoint import TokenEndpoint, life_of, token_source
from slack_bot.agents.wire.tokens import FetchedToken, FetchedTokens, FileTokens
from slack_bot.clock import Clock, system_clock
from slack_bot.errors import TokenRefused, TokenUnavailable
from slack_bot.settings.models import ClientSettings
from tests.authorization_server import (
    ACCOUNT,
    BOT,
    CLUSTER,
    EXCHANGE,
    JWT_BEARER,
    SECRET,
    TokenServer,
    authorization_server,
)
from tests.signing_keys import KeyPair
from tests.tls import new_certificate


def endpoint(server: TokenServer, *, ahead: float = 0.0, **settings: Any) -> TokenEndpoint:
    """`ahead`: seconds by which this machine's clock is wrong."""
    usual = system_clock()
    clock = Clock(usual.monotonic, lambda: usual.wall() + ahead)
    where = {} if "issuer" in settings else {"token_url": f"{server.url}/token"}
    return TokenEndpoint(ClientSettings(**{"id": "bot", "secret": SECRET, **where, **settings}), clock)


async def fetched(server: TokenServer, **settings: Any) -> FetchedToken:
    return await endpoint(server, **settings).fetch()


async def refusal(server: TokenServer, **settings: Any) -> TokenRefused:
    with pytest.raises(TokenRefused) as caught:
        await fetched(server, **settings)
    assert SECRET not in str(caught.value)
    return caught.value


async def trouble(server: TokenServer, **settings: Any) -> str:
    with pytest.raises(TokenUnavailable) as caught:
        await fetched(server, **settings)
    assert SECRET not in str(caught.value)
    return str(caught.value)


# -- what works


@pytest.mark.parametrize("method", ["auto", "client_secret_basic", "client_secret_post"])
async def test_a_secret(method: str, server: TokenServer) -> None:
    token = await fetched(server, method=method, scope="ask")
    assert token.life == 3600.0
    about = await server.about(token.value)
    assert (about["client_id"], about["scope"]) == ("bot", "ask")
    (asked,) = server.asked()
    assert asked["authorization"] == ("" if method == "client_secret_post" else "Basic")
    assert token.value not in repr(token)


@pytest.mark.parametrize("kind", ["RSA", "EC"])
async def test_a_signed_statement_with_a_key_that_is_rotated(
    kind: str, server: TokenServer, tmp_path: Path
) -> None:
    old, new, file = KeyPair(kind), KeyPair(kind, "k2"), tmp_path / "key"
    old.write_pem(file)

    def client(pair: KeyPair) -> dict[str, Any]:
        return {"signer": {"methods": ["client_assertion_jwt"], "keys": pair.public}}

    server.set_up(clients=client(old))
    tokens = endpoint(server, id="signer", secret=None, private_key=str(file))
    first = await tokens.fetch()
    server.change(clients=client(new))
    with pytest.raises(TokenRefused) as caught:
        await tokens.fetch()
    assert caught.value.error == "invalid_client"
    new.write_pem(file)
    assert (await tokens.fetch()).value != first.value
    assert all(each["form"]["client_id"] == "signer" for each in server.asked())


async def test_the_certificate_of_the_connection(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "server").mkdir()
    (tmp_path / "bot").mkdir()
    own, bots = new_certificate(tmp_path / "server", "localhost"), new_certificate(tmp_path / "bot", "bot")
    monkeypatch.setenv("SSL_CERT_FILE", str(own))
    with authorization_server(own, bots) as server:
        settings = {"id": "tls", "secret": None, "method": "tls_client_auth", "certificate": str(bots)}
        said = await trouble(server, **settings)
        assert "the token server" in said
        error = await refusal(server, certificate_for="token", **settings)
        assert error.error == "invalid_client"  # it has no such client: the connection was made
        wrong = {**settings, "certificate": str(tmp_path / "gone")}
        error = await refusal(server, certificate_for="both", **wrong)
        assert "gone cannot be read" in str(error)


async def test_the_issuer_s_metadata_say_where(server: TokenServer) -> None:
    token = await fetched(server, issuer=server.url)
    assert (await server.about(token.value))["active"]


async def test_entra_as_documented(server: TokenServer, tmp_path: Path) -> None:
    issuer, scope = f"{server.url}/tenant/v2.0", "api://agent/.default"
    token = await fetched(server, issuer=issuer, scope=scope, method="client_secret_post")
    assert token.life == 3599.0
    assert server.asked()[-1]["path"] == "/tenant/oauth2/v2.0/token"
    error = await refusal(server, issuer=issuer, scope=scope, secret="old")
    assert error.error == "invalid_client" and "AADSTS7000215" in error.said
    assert "whether they have expired" in error.brief
    error = await refusal(server, issuer=issuer, scope="ask")
    assert error.error == "invalid_scope" and "correct SLACK_BOT_AGENT__CLIENT__SCOPE" in error.brief


async def test_workload_identity_on_aks(server: TokenServer, tmp_path: Path) -> None:
    """A token of the cluster's issuer, which the kubelet renews in its file, stands for the secret."""
    pair, file = KeyPair(), tmp_path / "azure-identity-token"
    federated = {"methods": ["federated"], "federated": True, "keys": pair.public, "scopes": BOT["scopes"]}
    server.set_up(clients={"bot": federated})
    tokens = endpoint(
        server,
        secret=None,
        issuer=f"{server.url}/tenant/v2.0",
        scope="api://agent/.default",
        assertion_file=str(file),
    )
    file.write_text(pair.sign(iss=CLUSTER, sub="system:serviceaccount:other:one", aud=EXCHANGE))
    with pytest.raises(TokenRefused, match="invalid_client"):
        await tokens.fetch()
    file.write_text(pair.sign(iss=CLUSTER, sub=ACCOUNT, aud=EXCHANGE))
    assert (await server.about((await tokens.fetch()).value))["active"]


async def test_google_s_service_account_as_documented(server: TokenServer, tmp_path: Path) -> None:
    """The token endpoint is on another host than the issuer, and an ID token comes without a life."""
    pair, name = KeyPair(), "bot@project.iam.gserviceaccount.com"
    server.set_up(clients={name: {"grants": [JWT_BEARER], "keys": pair.public}})
    token = await fetched(
        server,
        id=name,
        secret=None,
        issuer=f"{server.url}/google",
        grant="jwt_bearer",
        private_key=str(pair.write_pem(tmp_path / "key")),
        audience="https://agent.example",
    )
    assert token.life == 300.0
    assert (await server.about(token.value))["aud"] == "https://agent.example"
    assert server.asked()[-1]["path"] == "/google/token"


# -- what is refused


@pytest.mark.parametrize(
    ("settings", "error", "said"),
    [
        ({"secret": "wrong"}, "invalid_client", "127.0.0.1:PORT does not accept the bot's client id"),
        ({"id": "nobody"}, "invalid_client", "see whether SLACK_BOT_AGENT__CLIENT__ID and the secret"),
        (
            {"scope": "own"},
            "invalid_scope",
            "does not give the scope (invalid_scope); correct SLACK_BOT",
        ),
        (
            {"audience": "x"},
            "invalid_target",
            "does not know the audience (invalid_target); correct",
        ),
        ({"id": "other"}, "unauthorized_client", "does not let this client get tokens in this way"),
    ],
)
async def test_refusals(settings: dict[str, Any], error: str, said: str, server: TokenServer) -> None:
    other = {**BOT, "grants": ["authorization_code"]}
    server.set_up(clients={"bot": BOT, "other": other}, audiences=[None, "agent"])
    found = await refusal(server, **settings)
    assert found.error == error
    assert said.replace("PORT", server.url.rpartition(":")[2]) in found.brief


async def test_what_the_server_repeats_of_a_secret_is_taken_out(server: TokenServer) -> None:
    server.change(fault="echo")
    error = await refusal(server, method="client_secret_post")
    assert error.said.startswith("not ImmutableMultiDict")
    assert SECRET not in error.said


@pytest.mark.parametrize(("ahead", "how"), [(3_600.0, "ahead of"), (-3_600.0, "behind")])
async def test_a_clock_that_is_wrong(ahead: float, how: str, server: TokenServer, tmp_path: Path) -> None:
    pair = KeyPair()
    server.set_up(clients={"signer": {"methods": ["client_assertion_jwt"], "keys": pair.public}})
    error = await refusal(
        server,
        ahead=ahead,
        id="signer",
        secret=None,
        private_key=str(pair.write_pem(tmp_path / "key")),
    )
    said = rf"this machine's clock is 3(599|60[01]) s {how} the server's \(invalid_client\); set the clock"
    assert re.search(said, error.brief)


@pytest.mark.parametrize(
    ("fault", "said"),
    [
        (
            "redirect",
            "redirects (HTTP 307), which is not followed; set SLACK_BOT_AGENT__CLIENT__TOKEN",
        ),
        ("missing", "/token (HTTP 404); correct SLACK_BOT_AGENT__CLIENT__TOKEN_URL"),
        ("other kind", "gives tokens of the kind 'DPoP'; let it give bearer tokens"),
    ],
)
async def test_a_wrong_address_or_kind(fault: str, said: str, server: TokenServer) -> None:
    server.change(fault=fault)
    assert said in str(await refusal(server))
    assert [each["path"] for each in server.asked()] == ["/token"]


# -- issuers


async def test_metadata_of_another_issuer_are_not_used(server: TokenServer) -> None:
    for wrong in (f"{server.url}/", "https://evil.example"):
        server.change(issuer=wrong)
        error = await refusal(server, issuer=server.url)
        assert f"calls its issuer {wrong!r}, not {server.url!r}" in str(error)
    assert server.asked() == []


async def test_metadata_may_not_lead_to_plain_http(server: TokenServer) -> None:
    error = await refusal(server, issuer=f"{server.url}/remote")
    assert "names no https address of a token endpoint" in str(error)


async def test_an_issuer_without_metadata(server: TokenServer) -> None:
    error = await refusal(server, issuer=f"{server.url}/nobody")
    assert f"no metadata of the issuer at {server.url}/.well-known/oauth-authorization-server/nobody" in str(
        error
    )
    assert server.asked() == []


# -- what may pass


@pytest.mark.parametrize(
    ("fault", "said"),
    [
        ("down", "gives no token now (HTTP 503)"),
        ("html", "not JSON, or too large; is a login page or another site at this address?"),
        ("large", "not JSON, or too large"),
        ("list", "answered without a token that can be sent"),
        ("no token", "answered without a token that can be sent"),
        ("control characters", "answered without a token that can be sent"),
    ],
)
async def test_garbage(fault: str, said: str, server: TokenServer) -> None:
    server.change(fault=fault)
    assert said in await trouble(server)


async def test_a_server_that_hangs_is_left(server: TokenServer) -> None:
    server.change(fault="hang")
    async with asyncio.timeout(5):
        said = await trouble(server, token_timeout=0.3)
    assert "gave no token within 0.3 s" in said


async def test_nobody_there() -> None:
    said = await trouble(TokenServer("http://127.0.0.1:1"))
    assert said.startswith("the token server 127.0.0.1:1 cannot be reached")


# -- how long a token is good


@pytest.mark.parametrize(
    ("said", "life"),
    [
        (3600, 3600.0),
        ("3599", 3599.0),
        (0.5, 0.5),
        (1e9, 86_400.0),
        *((each, 300.0) for each in (None, 0, -1, True, "soon", [], {}, float("nan"), float("inf"), 10**400)),
    ],
)
def test_what_a_server_says_of_its_life(said: Any, life: float) -> None:
    assert life_of(said) == life


@given(st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.lists(st.integers()))
def test_whatever_it_says_there_is_a_life(said: Any) -> None:
    assert 0 < life_of(said) <= 86_400


async def test_a_life_that_is_nonsense_is_a_short_one(server: TokenServer) -> None:
    server.change(said_life="soon")
    assert (await fetched(server)).life == 300.0


# -- by the settings


def test_where_tokens_come_from() -> None:
    clock = system_clock()
    assert token_source(ClientSettings(), clock) is None
    assert isinstance(token_source(ClientSettings(token_file="f"), clock), FileTokens)
    found = token_source(ClientSettings(id="bot", secret="s", token_url="https://t.example"), clock)
    assert isinstance(found, FetchedTokens)
