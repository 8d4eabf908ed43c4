"""Mistakes on Slack's side are found, with their remedies."""

from __future__ import annotations

import re
from dataclasses import replace
from urllib.parse import urlsplit

import aiohttp
from pydantic import SecretStr

from slack_bot.settings.models import SlackSettings
from slack_bot.testing.harness import free_port
from slack_bot.testing.slack.rules import SHIPPED
from slack_bot.testing.slack.workspace import APP_TOKEN, SIGNING_SECRET
from slack_bot.tools.doctor.slack_checks import check_http
from tests.proxy import proxy

from .operator import FAILED, UNKNOWN, WARNING, bad, environment, one, well

__all__ = ["environment"]


async def test_3_a_token_that_was_revoked(environment: dict[str, str]) -> None:
    async with well(environment) as setup:
        environment["SLACK_BOT_TOKEN"] = "xoxb-old"
        found = await one(setup)
        assert found.check == "bot token" and "invalid_auth" in found.text
        assert found.remedy == "copy the token again from your Slack app settings"
        assert "xoxb-old" not in str(found)


async def test_4_a_scope_that_is_missing(environment: dict[str, str]) -> None:
    async with well(environment) as setup:
        lacking = {"files:write", "chat:write"}
        setup.workspace.state.manifest = replace(SHIPPED, scopes=SHIPPED.scopes - lacking)
        needed, optional = sorted(bad(await setup.look()), key=lambda each: each.state)
        assert (needed.state, optional.state) == (FAILED, WARNING)
        assert needed.text == "chat:write is missing: no answer can be written"
        assert optional.text.startswith("files:write is missing")
        assert optional.page == "https://api.slack.com/apps/A0APP/oauth"


async def test_5_an_event_that_is_not_subscribed_to(environment: dict[str, str]) -> None:
    async with well(environment) as setup:
        setup.workspace.state.manifest = replace(SHIPPED, events=SHIPPED.events - {"app_mention"})
        found = await one(setup)
        assert found.text == "the app does not subscribe to app_mention"
        assert found.page == "https://api.slack.com/apps/A0APP/event-subscriptions"
        del environment["SLACK_BOT_SLACK__CONFIG_TOKEN"]
        assert (await one(setup, UNKNOWN)).remedy.startswith("compare Event Subscriptions")
        environment["SLACK_BOT_SLACK__CONFIG_TOKEN"] = "xoxe.xoxp-old"
        assert "refuses the configuration token (invalid_auth)" in (await one(setup, UNKNOWN)).text


async def test_8_a_clock_that_is_wrong(environment: dict[str, str]) -> None:
    async with well(environment) as setup:
        # over Socket Mode nothing is signed
        found = await one(setup, WARNING, ahead=400.0)
        assert found.check == "clock" and re.search(r"(399|40[01]) s ahead of Slack's: what", found.text)
        assert "NTP" in found.remedy
        environment["SLACK_SIGNING_SECRET"] = "0" * 32
        failed = [each for each in await setup.look(http=True, ahead=-400.0) if each.state is FAILED]
        assert [(each.check, "behind Slack's, whose signed" in each.text) for each in failed] == [
            ("clock", True)
        ]


async def test_10_too_many_connections(environment: dict[str, str]) -> None:
    async with well(environment) as setup, aiohttp.ClientSession() as session:
        sockets: list[aiohttp.ClientWebSocketResponse] = []

        async def connect() -> None:
            async with session.post(
                f"{setup.server.api_url}apps.connections.open",
                headers={"Authorization": f"Bearer {APP_TOKEN}"},
            ) as answered:
                url = (await answered.json())["url"]
            sockets.append(await session.ws_connect(url))
            await sockets[-1].receive()

        for _ in range(7):
            await connect()
        found = await one(setup, WARNING)
        assert found.text.startswith("7 of 10 are in use")
        for _ in range(3):
            await connect()
        found = next(each for each in await setup.look() if each.check == "connections")
        assert found.state is FAILED and "too_many_websockets" in found.text


async def test_15_socket_mode_is_off(environment: dict[str, str]) -> None:
    async with well(environment) as setup:
        setup.workspace.state.manifest = replace(SHIPPED, socket_mode=False)
        found = next(each for each in await setup.look() if each.check == "connections")
        assert found.state is FAILED and "Socket Mode is off" in found.text
        assert found.remedy == "switch it on, or start the bot with run --http"
        assert found.page == "https://api.slack.com/apps"


async def test_all_of_slack_is_reached_through_the_proxy_of_the_environment(
    environment: dict[str, str],
) -> None:
    """The host of Slack is known to the proxy alone."""
    async with well(environment) as setup, proxy(urlsplit(setup.server.api_url).port or 0) as between:
        setup.workspace.state.link_base = "ws://slack.invalid"
        environment["SLACK_API_URL"] = "http://slack.invalid/api/"
        environment["HTTPS_PROXY"] = between.url
        assert bad(await setup.look()) == []
        environment["HTTPS_PROXY"] = f"http://127.0.0.1:{free_port()}"
        found = next(each for each in await setup.look() if each.state is FAILED)
        assert "cannot be reached" in found.text
        assert "the proxy if there is one (HTTPS_PROXY)" in found.remedy


async def test_an_address_at_which_there_is_no_slack(environment: dict[str, str]) -> None:
    async with well(environment) as setup:
        environment["SLACK_API_URL"] = setup.server.api_url.removesuffix("api/")
        found = next(each for each in await setup.look() if each.state is FAILED)
        assert found.text == "Slack refused SLACK_APP_TOKEN (HTTP 404)"
        assert found.remedy.startswith("check SLACK_API_URL")


async def test_the_signing_secret_of_the_emulated_workspace_is_right_there_and_only_there(
    environment: dict[str, str],
) -> None:
    async with well(environment) as setup:
        environment["SLACK_SIGNING_SECRET"] = SIGNING_SECRET
        assert [
            each.text for each in bad(await setup.look(http=True)) if each.check == "signing secret"
        ] == []
        wrong = SlackSettings(signing_secret=SecretStr(SIGNING_SECRET))
        (found,) = [each async for each in check_http(wrong)]
        assert (found.state, found.remedy) == (WARNING, "copy it again from Basic Information")


async def test_11_a_signing_secret_that_is_something_else(environment: dict[str, str]) -> None:
    async with well(environment) as setup:
        environment["SLACK_SIGNING_SECRET"] = "abc"
        secret, events = bad(await setup.look(http=True))
        assert (secret.state, secret.remedy) == (WARNING, "copy it again from Basic Information")
        assert events.state is UNKNOWN
        assert events.remedy == "compare Event Subscriptions with slack-bot manifest"
        assert "only a connection of Socket Mode tells the app's id" in events.text
