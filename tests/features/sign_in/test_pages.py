"""What a browser sees that comes back from the authorization server, or with something else."""

from __future__ import annotations

import re

import pytest

from slack_bot.text.sign_in_words import SIGN_IN_PAGES
from tests.features.sign_in.town import browser, host, nothing_is_kept, page_words, sign_in, town
from tests.openid_server import OpenIDServer


async def test_a_stolen_state_is_of_no_use_in_another_browser(provider: OpenIDServer) -> None:
    async with town(provider) as here, browser("alice") as alice, browser("bob") as thief:
        root = here.ask("echo")
        redirect = await alice.open(await here.link(), hops=1)  # the server has sent Alice back
        assert redirect.is_redirect
        back = redirect.headers["location"]
        page = await thief.open(back)
        assert page_words(page) == "This sign-in was begun in another browser. Ask again in Slack."
        assert page.status_code == 403 and provider.asked() == []
        assert page_words(await alice.open(back)).startswith("You are signed in.")
        assert await here.answered(root) == "echo"


async def test_a_code_is_good_once(provider: OpenIDServer) -> None:
    async with town(provider) as here, browser("alice") as alice:
        root = here.ask("echo")
        back = (await alice.open(await here.link(), hops=1)).headers["location"]
        await alice.open(back)
        assert await here.answered(root) == "echo"
        assert page_words(await alice.open(back)) == SIGN_IN_PAGES["used"]
        assert len(provider.asked()) == 1


async def test_a_stolen_code_is_of_no_use_in_another_sign_in(provider: OpenIDServer) -> None:
    """Bob puts Alice's code behind his own state: PKCE binds it to her sign-in."""
    async with town(provider) as here, browser("alice") as alice, browser("bob") as bob:
        here.ask("echo one")
        hers = (await alice.open(await here.link(), hops=1)).headers["location"]
        here.ask("echo two", "U2")
        his = (await bob.open(await here.link("U2"), hops=1)).headers["location"]
        stolen = re.sub(r"code=[^&]+", re.search(r"code=[^&]+", hers)[0], his)  # type: ignore[index]
        page = page_words(await bob.open(stolen))
        assert page == "The server did not complete the sign-in. Nothing was kept. Ask again in Slack."
        await here.until(lambda: len(here.private("U2")) == 2)
        assert here.private("U2")[-1] == (
            f"{host(provider)} did not complete your sign-in, so default was not asked. Please ask again in a"
            " few minutes."
        )
        assert provider.tokens() == [] and here.live.messages == []


async def test_an_id_token_for_another_client_is_not_believed(provider: OpenIDServer) -> None:
    provider.change(audience_of_id="another-client")
    async with town(provider) as here:
        here.ask("echo")
        said = "does not say which verified e-mail address signed in"
        assert await sign_in(here) == f"The server {said}. Nothing was kept."
        assert await here.refused() == f"{host(provider)} {said}, so default was not asked."
        await nothing_is_kept(here, provider)


@pytest.mark.parametrize("named", ["https://other.example", ""], ids=["another", "none"])
async def test_an_answer_of_another_server_is_refused(provider: OpenIDServer, named: str) -> None:
    """RFC 9207: this one promises to name itself."""
    provider.change(names_issuer=named)
    async with town(provider) as here:
        here.ask("echo")
        assert await sign_in(here) == "This answer is not from the server that was asked. Nothing was kept."
        assert f"did not come from {host(provider)}" in await here.refused()
        assert provider.asked() == []
        await nothing_is_kept(here, provider)


@pytest.mark.parametrize(
    ("fault", "page", "said"),
    [
        ("other key", "which verified e-mail address signed in", "does not say which verified"),
        ("denied", "You were not signed in.", "You were not signed in at"),
        ("down", "The server did not complete the sign-in.", "did not complete your sign-in"),
        ("echo", "The server did not complete the sign-in.", "did not complete your sign-in"),
    ],
)
async def test_what_goes_wrong_at_the_server_is_a_sentence(
    provider: OpenIDServer, fault: str, page: str, said: str
) -> None:
    provider.change(fault=fault)
    async with town(provider) as here:
        here.ask("echo")
        assert page in await sign_in(here)
        assert said in await here.refused()
        await nothing_is_kept(here, provider)


async def test_metadata_of_another_issuer_leads_nowhere(provider: OpenIDServer) -> None:
    provider.change(fault="other issuer")
    async with town(provider) as here, browser("alice") as alice:
        here.ask("echo")
        page = await alice.open(await here.link())
        assert page.status_code == 503 and page.url.path.startswith("/oauth/start/")
        assert provider.asked() == []


@pytest.mark.parametrize("path", ["start/", "start/none", "callback", "callback?state=a.b&code=c", "other"])
async def test_an_address_that_no_one_gave_leads_nowhere(provider: OpenIDServer, path: str) -> None:
    async with town(provider) as here, browser("alice") as alice:
        page = await alice.open(f"{here.app.settings.sign_in.base_url}/oauth/{path}")
        assert page.status_code in (403, 404, 410)
        assert provider.asked() == []
