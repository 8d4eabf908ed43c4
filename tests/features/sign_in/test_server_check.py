"""What `doctor` says of the servers at which people sign in."""

from __future__ import annotations

from slack_bot.features.sign_in.server_check import check
from slack_bot.settings.load import Settings
from slack_bot.testing.harness import bot_settings
from tests.features.sign_in.cards import ELSEWHERE, by_code, with_scheme
from tests.features.sign_in.town import host, settings_of
from tests.live_agent import live_agent
from tests.openid_server import OpenIDServer


async def said(settings: Settings) -> list[tuple[str, str]]:
    return [(str(each.state), each.text) async for each in check(settings)]


async def test_off_it_says_nothing() -> None:
    assert await said(bot_settings()) == []


async def test_a_server_that_has_what_a_sign_in_needs(provider: OpenIDServer) -> None:
    server, address = await said(settings_of(provider, "http://agent.invalid", 1))
    assert server[0] == "ok" and "says what a sign-in needs" in server[1]
    assert address[0] == "warning" and "is not https" in address[1]


async def test_a_card_that_names_another_server(provider: OpenIDServer) -> None:
    async with live_agent() as live:
        live.publish = with_scheme(by_code(ELSEWHERE))
        _, card, _ = await said(settings_of(provider, live.url, 1))
        there = f"people sign in at login.example, and the settings at {host(provider)}, which counts"
        assert card == ("warning", f"default, its card: it has {there}")
        live.publish = with_scheme(by_code(provider.url))
        assert len(await said(settings_of(provider, live.url, 1))) == 2


async def test_a_server_that_revokes_nothing(provider: OpenIDServer) -> None:
    provider.change(fault="no revocation")
    first, _ = await said(settings_of(provider, "http://agent.invalid", 1))
    assert first[0] == "warning" and "revokes no tokens" in first[1]


async def test_a_server_with_another_issuer(provider: OpenIDServer) -> None:
    provider.change(fault="other issuer")
    first, _ = await said(settings_of(provider, "http://agent.invalid", 1))
    assert first[0] == "failed" and "other.example" in first[1]
