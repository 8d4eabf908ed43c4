"""Bolt reads nothing from the environment."""

from __future__ import annotations

import logging

import pytest
from slack_bolt.authorization import AuthorizeResult
from slack_sdk.web.async_client import AsyncWebClient

from slack_bot.inbound.authorizer import Identities
from slack_bot.inbound.bolt_app import new_bolt
from slack_bot.testing.harness import bot_settings


async def test_a_token_in_the_environment_is_neither_used_nor_warned_about(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    async def authorize() -> AuthorizeResult:
        return AuthorizeResult(enterprise_id=None, team_id="T1")

    monkeypatch.setenv("SLACK_BOT_TOKEN", "xoxb-of-the-environment")
    client = AsyncWebClient("xoxb-of-the-settings")
    bolt = new_bolt(client, Identities(authorize), bot_settings().slack)
    assert (bolt.client.token, client.token, caplog.messages) == (None, None, [])
    assert logging.getLogger("slack_bot.bolt").level == logging.WARNING
