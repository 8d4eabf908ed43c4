from __future__ import annotations

from typing import Any

import httpx
import pytest

from slack_bot.a2a.wire.auth import Credentials, missing
from slack_bot.a2a.wire.card import AgentCard, Interface, Scheme
from slack_bot.a2a.wire.origins import Origins
from slack_bot.errors import SettingsError
from slack_bot.settings.models import AgentSettings

URL = "https://agent.example/"


def credentials(url: str = URL, allowed: tuple[str, ...] = (), **settings: Any) -> Credentials:
    return Credentials(AgentSettings(url=url, **settings), Origins(url, allowed))


def sent(auth: Credentials, url: str = URL) -> httpx.Headers:
    return next(auth.auth_flow(httpx.Request("POST", url))).headers


def card(*auth: tuple[Scheme, ...]) -> AgentCard:
    return AgentCard("A", (Interface(URL, "1.0"),), streaming=True, auth=auth)


def test_a_bearer_token() -> None:
    assert sent(credentials(bearer_token=" secret\n"))["authorization"] == "Bearer secret"


def test_a_header_with_a_key() -> None:
    headers = sent(credentials(header_name="X-API-Key", header_value="k", bearer_token="t"))
    assert headers["x-api-key"] == "k"
    assert headers["authorization"] == "Bearer t"


def test_user_and_password_of_the_url() -> None:
    headers = sent(credentials("https://user:p%40ss@agent.example/"))
    assert headers["authorization"] == "Basic dXNlcjpwQHNz"
    headers = sent(credentials("https://user@agent.example/"))
    assert headers["authorization"] == "Basic dXNlcjo="


def test_nothing_configured_nothing_sent() -> None:
    assert "authorization" not in sent(credentials())


def test_credentials_go_to_admitted_addresses_only() -> None:
    auth = credentials(bearer_token="secret", allowed=("friend.example",))
    assert "authorization" in sent(auth, "https://friend.example/")
    for url in ("https://evil.example/", "https://agent.example:8443/", "http://agent.example/"):
        assert "authorization" not in sent(auth, url)


@pytest.mark.parametrize(
    "settings",
    [
        {"bearer_token": "schlüssel"},
        {"bearer_token": ""},
        {"bearer_token": "a\r\nX: y"},
        {"header_name": "X-Key", "header_value": "a\x00b"},
        {"header_name": "", "header_value": "a"},
    ],
)
def test_values_that_no_header_can_carry(settings: dict[str, Any]) -> None:
    with pytest.raises(SettingsError, match="SLACK_BOT_AGENT__") as caught:
        credentials(**settings)
    assert "schl" not in str(caught.value)


@pytest.mark.parametrize(
    ("auth", "settings"),
    [
        ((), {}),
        (((),), {}),
        (((Scheme("bearer"),),), {"bearer_token": "t"}),
        (((Scheme("bearer"),),), {"header_name": "Authorization", "header_value": "Bearer t"}),
        (((Scheme("oauth2"),),), {"bearer_token": "t"}),
        (((Scheme("basic"),),), {"url": "https://u:p@agent.example/"}),
        (((Scheme("mtls"),), (Scheme("header", "X-Key"),)), {"header_name": "x-key", "header_value": "v"}),
        (
            ((Scheme("header", "X-Key"), Scheme("bearer")),),
            {"header_name": "x-key", "header_value": "v", "bearer_token": "t"},
        ),
    ],
)
def test_a_card_that_is_satisfied(auth: tuple[tuple[Scheme, ...], ...], settings: dict[str, Any]) -> None:
    assert missing(card(*auth), AgentSettings(**{"url": URL, **settings})) is None


@pytest.mark.parametrize(
    ("auth", "settings", "wanted"),
    [
        (((Scheme("bearer"),), (Scheme("header", "X-Key"),)), {}, "bearer or header X-Key"),
        (((Scheme("bearer"), Scheme("header", "X-Key")),), {"bearer_token": "t"}, "bearer with header X-Key"),
        (((Scheme("mtls"),),), {"bearer_token": "t"}, "mtls"),
        (((Scheme("basic"),),), {}, "basic"),
    ],
)
def test_a_card_that_asks_for_more(
    auth: tuple[tuple[Scheme, ...], ...], settings: dict[str, Any], wanted: str
) -> None:
    said = missing(card(*auth), AgentSettings(**{"url": URL, **settings}))
    assert said is not None
    assert f"asks for {wanted}," in said
