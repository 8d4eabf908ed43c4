"""A card that has people sign in at other servers than the settings."""

from __future__ import annotations

import logging

import pytest

from tests.features.sign_in.cards import ELSEWHERE, by_code, with_scheme
from tests.features.sign_in.town import host, town
from tests.openid_server import OpenIDServer


@pytest.mark.parametrize("url", [ELSEWHERE, ""])
async def test_it_is_a_warning_when_the_bot_starts(
    provider: OpenIDServer, caplog: pytest.LogCaptureFixture, url: str
) -> None:
    caplog.set_level(logging.WARNING, "slack_bot")
    async with town(provider) as here:
        here.live.publish = with_scheme(by_code(url or provider.url))
        work = here.app.features["sign_in"].run
        assert work is not None
        await work()
    said = [each.getMessage() for each in caplog.records if "has people sign in" in each.getMessage()]
    warning = (
        "the card of default does not fit the settings: it has people sign in at login.example, and the"
        f" settings at {host(provider)}, which counts; correct the issuer in the settings, or have the card"
        " corrected"
    )
    assert said == ([warning] if url else [])


async def test_an_agent_that_is_away_is_no_warning(
    provider: OpenIDServer, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.WARNING, "slack_bot")
    async with town(provider, **{"agent.url": "http://127.0.0.1:9"}) as here:
        work = here.app.features["sign_in"].run
        assert work is not None
        await work()
    assert "sign in at" not in caplog.text
