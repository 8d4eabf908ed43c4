"""Socket Mode on real sockets: the whole way of a mention, and tokens that are no good."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import aiohttp
import pytest
from slack_bolt.async_app import AsyncApp
from slack_sdk.web.async_client import AsyncWebClient

from slack_bot.app import serve
from slack_bot.clock import loop_clock
from slack_bot.errors import SettingsError, SlackError
from slack_bot.listeners.socket_mode import serve_socket
from slack_bot.playground.slack_api import SlackFace
from slack_bot.playground.workspace import APP_TOKEN, BOT_TOKEN, Workspace
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
        await face.settle()
        assert (face.lost, face.sockets.connections) == ([], 1)
        await app.desk.idle()


async def test_a_wrong_app_token_is_one_sentence_at_once() -> None:
    with pytest.raises(SlackError, match=r"Slack refused SLACK_APP_TOKEN \(invalid_auth\)"):
        async with bot_on_network(app_token="xapp-wrong"):
            pytest.fail("it must not begin")


async def test_without_an_app_token_the_setting_is_named() -> None:
    async with bot_on_network(http=True, app_token=None) as (_, _, app):
        with pytest.raises(SettingsError, match="SLACK_APP_TOKEN"):
            await serve(app, asyncio.Event())


@asynccontextmanager
async def serving(
    breaks: int,
) -> AsyncIterator[tuple[SlackFace, asyncio.Task[None], asyncio.Event, asyncio.Event]]:
    """A bot that hears nothing but is connected to Slack, whose first handshakes break."""
    async with SlackFace(Workspace(), loop_clock()) as face, aiohttp.ClientSession() as session:
        face.sockets.breaks = breaks
        client = AsyncWebClient(BOT_TOKEN, face.api_url, session=session, retry_handlers=[])
        bolt = AsyncApp(signing_secret="x", client=client)
        stop, ready = asyncio.Event(), asyncio.Event()
        task = asyncio.create_task(
            serve_socket(bolt, client, APP_TOKEN, stop, ready=ready.set, ping_interval=0.05)
        )
        yield face, task, stop, ready
        stop.set()
        async with asyncio.timeout(5):
            await task


async def test_a_handshake_that_breaks_is_repeated_with_another_ticket() -> None:
    async with serving(breaks=2) as (face, _, _, ready), asyncio.timeout(10):
        await ready.wait()
        assert face.sockets.connections == 1


async def test_a_reconnect_that_breaks_is_repeated_with_another_ticket() -> None:
    async with serving(breaks=0) as (face, _, _, ready), asyncio.timeout(10):
        await ready.wait()
        face.sockets.breaks = 2
        await face.refresh()
        await face.sockets.connected()
        assert (face.sockets.breaks, face.sockets.connections) == (0, 1)


async def test_who_is_told_to_end_ends_though_slack_lets_nobody_in() -> None:
    async with serving(breaks=1_000_000) as (_, task, stop, ready):
        await asyncio.sleep(0.2)
        stop.set()
        async with asyncio.timeout(5):
            await task
        assert not ready.is_set()
