"""The playground's authorization server over HTTP, as browsers and the bot use it."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from urllib.parse import parse_qs, urlsplit

import httpx
import pytest

from slack_bot.clock import system_clock
from slack_bot.playground.others.authorization import AuthorizationDesk
from slack_bot.playground.others.authorization_pages import (
    AuthorizationPages,
    new_secret,
    serve_authorization,
)
from tests.playground.others.test_authorization import CALLBACK, QUERY, RESOURCE, form_of


@pytest.fixture
async def http() -> AsyncIterator[httpx.AsyncClient]:
    desk = AuthorizationDesk(CALLBACK, RESOURCE, new_secret)

    def build(issuer: str) -> AuthorizationPages:
        return AuthorizationPages(issuer, desk, CALLBACK, system_clock())

    async with (
        serve_authorization(build) as issuer,
        httpx.AsyncClient(base_url=issuer, trust_env=False) as client,
    ):
        yield client


async def decide(http: httpx.AsyncClient, **form: str) -> httpx.Response:
    """Open the page, and press a button there."""
    page = await http.get("/authorize", params=QUERY)
    found = re.search(r'name="request" value="([^"]+)"', page.text)
    assert found is not None
    return await http.post("/authorize", data={"request": found[1], **form})


def sent_back(response: httpx.Response) -> dict[str, str]:
    """What the browser takes to the bot."""
    assert response.status_code == 303
    address = response.headers["location"]
    assert address.startswith(f"{CALLBACK}?")
    return {name: value for name, (value,) in parse_qs(urlsplit(address).query).items()}


APPLICATION = {
    "client_name": "ops",
    "redirect_uris": [CALLBACK],
    "grant_types": ["authorization_code", "refresh_token"],
    "response_types": ["code"],
    "token_endpoint_auth_method": "none",
}


async def test_the_metadata_names_addresses_of_this_issuer(http: httpx.AsyncClient) -> None:
    told = (await http.get("/.well-known/oauth-authorization-server")).json()
    issuer = str(http.base_url).rstrip("/")
    assert told["issuer"] == issuer
    addresses = [value for name, value in told.items() if name.endswith("_endpoint")]
    assert len(addresses) == 5 and all(each.startswith(f"{issuer}/") for each in addresses)
    assert told["code_challenge_methods_supported"] == ["S256"]


@pytest.mark.parametrize(
    ("hint", "chosen"), [("JONAS@example.com", ["jonas"]), ("", []), ('"><script>', []), ("nobody@x", [])]
)
async def test_the_account_that_the_bot_names_is_chosen_and_else_none(
    http: httpx.AsyncClient, hint: str, chosen: list[str]
) -> None:
    page = await http.get("/authorize", params={**QUERY, "login_hint": hint})
    assert re.findall(r'value="(\w+)" required checked', page.text) == chosen
    assert page.text.count('type="radio"') == page.text.count("required") == 3
    assert "<script" not in page.text


async def test_the_page_names_the_people_and_what_is_asked_and_nothing_of_others(
    http: httpx.AsyncClient,
) -> None:
    page = await http.get("/authorize", params={**QUERY, "state": '"><script>'})
    assert page.status_code == 200
    for words in ("Maya", "jonas@example.com", "read your open tickets", "Allow", "Refuse"):
        assert words in page.text
    assert "<script" not in page.text
    assert "frame-ancestors 'none'" in page.headers["content-security-policy"]
    assert page.headers["cache-control"] == "no-store"


async def test_who_allows_it_goes_back_with_a_code_that_becomes_tokens(http: httpx.AsyncClient) -> None:
    back = sent_back(await decide(http, decision="allow", account="maya"))
    assert (back["state"], back["iss"]) == ("s", str(http.base_url).rstrip("/"))
    given = await http.post("/token", data=form_of(back["code"]))
    assert given.status_code == 200
    login = {"Authorization": f"Bearer {given.json()['access_token']}"}
    about = (await http.get("/userinfo", headers=login)).json()
    assert about["email"] == "maya@example.com" and about["email_verified"] is True
    asked = {"token": given.json()["refresh_token"], "client_id": "slack-bot"}
    assert (await http.post("/revoke", data=asked)).status_code == 200
    assert (await http.get("/userinfo", headers=login)).status_code == 401


async def test_who_refuses_goes_back_without_one(http: httpx.AsyncClient) -> None:
    back = sent_back(await decide(http, decision="refuse", account="maya"))
    assert back["error"] == "access_denied" and "code" not in back


async def test_a_press_that_is_nobody_s_decision_is_no_consent(http: httpx.AsyncClient) -> None:
    assert sent_back(await decide(http))["error"] == "access_denied"
    told = await decide(http, decision="allow", account="nobody")
    assert told.status_code == 400 and "no such account" in told.text


async def test_a_page_that_is_over_says_so(http: httpx.AsyncClient) -> None:
    told = await http.post("/authorize", data={"request": "x", "decision": "allow", "account": "maya"})
    assert told.status_code == 400
    assert "Go back to the conversation." in told.text


async def test_another_site_cannot_decide(http: httpx.AsyncClient) -> None:
    told = await http.post("/authorize", data={"request": "x"}, headers={"Origin": "https://evil.example"})
    assert told.status_code == 403


async def test_another_name_of_this_machine_is_refused(http: httpx.AsyncClient) -> None:
    told = await http.get("/authorize", params=QUERY, headers={"Host": "evil.example"})
    assert told.status_code == 403


@pytest.mark.parametrize("changed", [{"client_id": "x"}, {"redirect_uri": "https://evil.example/"}])
async def test_a_browser_is_never_sent_to_an_unknown_address(
    http: httpx.AsyncClient, changed: dict[str, str]
) -> None:
    told = await http.get("/authorize", params={**QUERY, **changed})
    assert told.status_code == 400 and "location" not in told.headers


async def test_another_error_goes_back_to_the_bot(http: httpx.AsyncClient) -> None:
    back = sent_back(await http.get("/authorize", params={**QUERY, "code_challenge_method": "plain"}))
    assert (back["error"], back["state"]) == ("invalid_request", "s")


async def test_a_parameter_that_comes_twice_counts_as_missing(http: httpx.AsyncClient) -> None:
    twice = [*QUERY.items(), ("redirect_uri", "https://evil.example/")]
    assert (await http.get("/authorize", params=twice)).status_code == 400


@pytest.mark.parametrize(
    ("path", "form", "status", "error"),
    [
        ("/token", form_of("unknown"), 400, "invalid_grant"),
        ("/token", form_of("unknown", client_id="x"), 401, "invalid_client"),
        ("/token", {}, 401, "invalid_client"),
        ("/token", {"client_id": "slack-bot"}, 400, "unsupported_grant_type"),
        ("/revoke", {"token": "x"}, 401, "invalid_client"),
    ],
)
async def test_the_bot_is_refused_with_the_error_of_the_standard(
    http: httpx.AsyncClient, path: str, form: dict[str, str], status: int, error: str
) -> None:
    told = await http.post(path, data=form)
    assert (told.status_code, told.json()["error"]) == (status, error)


@pytest.mark.parametrize("login", ["", "Bearer", "Bearer unknown", "Basic YTpi"])
async def test_no_one_is_described_without_a_good_token(http: httpx.AsyncClient, login: str) -> None:
    told = await http.get("/userinfo", headers={"Authorization": login})
    assert told.status_code == 401
    assert told.headers["www-authenticate"] == 'Bearer error="invalid_token"'


async def test_an_application_registers_itself_and_the_page_says_its_name(http: httpx.AsyncClient) -> None:
    asked = {**APPLICATION, "client_name": "<b>Ops</b>"}
    answer = await http.post("/register", json=asked)
    assert answer.status_code == 201 and answer.json() == {**asked, "client_id": answer.json()["client_id"]}
    page = await http.get("/authorize", params={**QUERY, "client_id": answer.json()["client_id"]})
    assert "&lt;b&gt;Ops&lt;/b&gt;" in page.text


@pytest.mark.parametrize("body", [b"", b"[]", b"{", b'{"redirect_uris": ["https://other.example/"]}'])
async def test_what_is_no_application_is_not_registered(http: httpx.AsyncClient, body: bytes) -> None:
    answer = await http.post("/register", content=body)
    assert answer.status_code == 400 and answer.json()["error"] == "invalid_redirect_uri"
