"""Socket Mode on real sockets: the whole way of a mention, and tokens that are no good."""

from __future__ import annotations

import asyncio
import time

import pytest

from slack_bot.app import serve
from slack_bot.errors import SettingsError, SlackError
from slack_bot.playground.workspace import Workspace
from tests.whole_bot import CHANNEL, answer, bot_on_network, seen


def done(workspace: Workspace, root: str, text: str) -> bool:
    return any(
        message.text == text and message.state == "sealed" for message in workspace.thread(CHANNEL, root)
    )


async def test_a_mention_is_acknowledged_and_answered() -> None:
    async with bot_on_network(answer("Over the socket.", seconds=0.3)) as (workspace, face, app):
        root = workspace.say("U1", CHANNEL, f"<@{workspace.bot.user_id}> hi", now=time.time())
        await seen(lambda: done(workspace, root, "Over the socket."), workspace)
        await face.settle()
        assert face.lost == []
        await app.desk.idle()


async def test_after_slack_asked_to_reconnect_the_bot_still_hears() -> None:
    async with bot_on_network(answer("Still here.", seconds=0.1)) as (workspace, face, app):
        await face.refresh()
        root = workspace.say("U1", CHANNEL, f"<@{workspace.bot.user_id}> hi", now=time.time())
        await seen(lambda: done(workspace, root, "Still here."), workspace, within=20)
        await app.desk.idle()


async def test_a_wrong_app_token_is_one_sentence_at_once() -> None:
    with pytest.raises(SlackError, match=r"Slack refused SLACK_APP_TOKEN \(invalid_auth\)"):
        async with bot_on_network(app_token="xapp-wrong"):
            pytest.fail("it must not begin")


async def test_without_an_app_token_the_setting_is_named() -> None:
    async with bot_on_network(http=True, app_token=None) as (_, _, app):
        with pytest.raises(SettingsError, match="SLACK_APP_TOKEN"):
            await serve(app, asyncio.Event())
