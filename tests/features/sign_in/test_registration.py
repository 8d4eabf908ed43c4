"""What the bot says of itself to be registered, and how the answer is read."""

from __future__ import annotations

from typing import Any

import pytest

from slack_bot.errors import TokenRefused, TokenUnavailable
from slack_bot.features.sign_in.registration import (
    RegisteredClient,
    Registration,
    client_in,
    key_for,
    metadata_for,
    method_for,
    refusal_of,
)
from slack_bot.settings.sign_in import OAuthSettings

CALLBACK = "https://bot.example/oauth/callback"


def oauth(**settings: Any) -> OAuthSettings:
    usual = {"issuer": "https://login.example", "register_client": True}
    return OAuthSettings.model_validate({**usual, **settings})


def asked(settings: OAuthSettings | None = None, method: str = "client_secret_basic") -> dict[str, Any]:
    about = metadata_for(settings or oauth(), "files", CALLBACK)
    return {**about, "token_endpoint_auth_method": method}


def test_what_the_bot_says_of_itself() -> None:
    assert metadata_for(oauth(), "files", CALLBACK) == {
        "client_name": "slack_bot (files)",
        "scope": "openid email offline_access",
        "redirect_uris": [CALLBACK],
        "grant_types": ["authorization_code", "refresh_token"],
        "response_types": ["code"],
    }
    device = metadata_for(oauth(device_flow=True), "files", CALLBACK)
    assert "redirect_uris" not in device and device["response_types"] == []
    assert device["grant_types"][0].endswith(":device_code")


@pytest.mark.parametrize(
    ("settings", "offered", "method"),
    [
        ({}, (), "client_secret_basic"),
        ({}, ("none", "client_secret_post"), "client_secret_post"),
        ({}, ("private_key_jwt", "none"), "none"),
        ({"method": "none"}, ("client_secret_basic", "none"), "none"),
    ],
)
def test_how_the_bot_will_prove_who_it_is(
    settings: dict[str, str], offered: tuple[str, ...], method: str
) -> None:
    assert method_for(oauth(**settings), offered, "login.example") == method


def test_a_server_that_takes_no_proof_of_the_bots_is_named_with_what_it_takes() -> None:
    with pytest.raises(TokenRefused) as refused:
        method_for(oauth(), ("private_key_jwt",), "login.example")
    assert refused.value.brief == (
        "login.example takes private_key_jwt from its clients, and no client_secret_basic or"
        " client_secret_post or none; correct SLACK_BOT_AGENT__OAUTH__METHOD"
    )


def test_a_client_as_it_was_registered_is_kept_and_read_again() -> None:
    answer = {**asked(), "client_id": "c", "client_secret": "the-secret", "client_secret_expires_at": 900}
    client = client_in(answer, asked(), oauth(), "login.example", 0.0)
    assert client == RegisteredClient("c", "the-secret", "client_secret_basic", 900.0)
    assert RegisteredClient.read(client.text) == client
    assert not client.is_over(800.0) and client.is_over(850.0)
    used = client.used_by(oauth())
    assert (used.id, used.method) == ("c", "client_secret_basic") and "the-secret" not in repr(client)
    assert used.secret is not None and used.secret.get_secret_value() == "the-secret"


def test_a_server_may_give_another_proof_and_no_more_than_an_id() -> None:
    found = client_in(
        {"client_id": "c", "token_endpoint_auth_method": "none", "client_secret": "unused"},
        asked(), oauth(), "login.example", 0.0,
    )  # fmt: skip
    assert found == RegisteredClient("c", "", "none")
    assert found.used_by(oauth()).secret is None


@pytest.mark.parametrize(
    ("answer", "what"),
    [
        ({}, "gave no client id that can be sent"),
        ({"client_id": "a\nb"}, "gave no client id that can be sent"),
        ({"client_id": "c" * 5_000}, "gave no client id that can be sent"),
        ({"client_id": "c"}, "gave no secret that can be sent"),
        ({"client_id": "c", "client_secret": "ö"}, "gave no secret that can be sent"),
        ({"client_id": "c", "client_secret": "s", "client_secret_expires_at": 1}, "a secret that has ended"),
        (
            {"client_id": "c", "token_endpoint_auth_method": "tls_client_auth"},
            "registered the bot with a proof that it does not have",
        ),
        (
            {"client_id": "c", "client_secret": "s", "redirect_uris": ["https://other.example/"]},
            "registered another address for browsers than the bot's",
        ),
        (
            {"client_id": "c", "client_secret": "s", "grant_types": ["client_credentials"]},
            "registered another grant",
        ),
    ],
)
def test_a_client_that_is_of_no_use_is_refused(answer: dict[str, Any], what: str) -> None:
    with pytest.raises(TokenRefused) as refused:
        client_in(answer, asked(), oauth(), "login.example", 1_000.0)
    assert what in refused.value.brief
    assert "SLACK_BOT_AGENT__OAUTH__ID in place of SLACK_BOT_AGENT__OAUTH__REGISTER" in refused.value.brief


def test_a_proof_that_the_settings_name_is_not_replaced() -> None:
    settings = oauth(method="client_secret_post")
    answer = {"client_id": "c", "token_endpoint_auth_method": "none"}
    with pytest.raises(TokenRefused) as refused:
        client_in(answer, asked(settings, "client_secret_post"), settings, "login.example", 0.0)
    assert "registered another METHOD than client_secret_post" in refused.value.brief


@pytest.mark.parametrize(
    ("status", "error", "token", "what"),
    [
        (400, "invalid_redirect_uri", None, f"does not take {CALLBACK}, where browsers come back to"),
        (400, "invalid_client_metadata", None, "correct SLACK_BOT_AGENT__OAUTH__SCOPE and"),
        (400, "unapproved_software_statement", None, "wants a software statement"),
        (401, "", None, "set SLACK_BOT_AGENT__OAUTH__REGISTRATION_TOKEN, or register"),
        (403, "invalid_token", "t", "does not accept the initial access token"),
        (404, "", None, "has nothing at its address for registrations (HTTP 404)"),
        (302, "", None, "does not register the bot (HTTP 302)"),
        (400, "a b\nc", None, "does not register the bot (HTTP 400)"),
    ],
)
def test_each_refusal_is_a_sentence_with_its_remedy(
    status: int, error: str, token: str | None, what: str
) -> None:
    refused = refusal_of(status, {"error": error}, asked(), oauth(registration_token=token), "login.example")
    assert isinstance(refused, TokenRefused) and what in refused.brief and "; " in refused.brief
    assert refused.brief.startswith("login.example ")


@pytest.mark.parametrize(("status", "error"), [(503, ""), (429, ""), (400, "temporarily_unavailable")])
def test_what_may_pass_is_tried_again_later(status: int, error: str) -> None:
    refused = refusal_of(status, {"error": error}, asked(), oauth(), "login.example")
    assert isinstance(refused, TokenUnavailable)


def test_with_other_settings_it_is_another_client() -> None:
    keys = {
        key_for(agent, issuer, metadata_for(oauth(scope=scope), agent, uri))
        for agent in ("files", "ops")
        for issuer in ("https://login.example", "https://other.example")
        for scope in ("openid", "openid email")
        for uri in (CALLBACK, "https://new.example/oauth/callback")
    }
    assert len(keys) == 16


def test_one_process_at_a_time_registers_the_bot() -> None:
    first = Registration().claimed("a", 0.0, 20.0)
    assert first is not None and first.claimed("b", 19.0, 40.0) is None
    late = first.claimed("b", 20.0, 40.0)
    assert late is not None and late.registrar == "b"
    assert late.released("a") is None and late.released("b") == Registration()
