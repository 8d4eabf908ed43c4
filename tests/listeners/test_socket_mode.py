"""Socket Mode on real sockets: the whole way of a mention, and tokens that are no good."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager

import aiohttp
import pytest
from aiohttp import web
from pydantic import SecretStr
from slack_bolt.async_app import AsyncApp
from slack_bolt.response import BoltResponse
from slack_sdk.web.async_client import AsyncWebClient

from slack_bot.app import serve
from slack_bot.clock import loop_clock
from slack_bot.errors import SettingsError, SlackError
from slack_bot.listeners.socket_mode import serve_socket
from slack_bot.settings.models import SlackSettings
from slack_bot.testing.harness import CHANNEL, bot_on_network, wait_until
from slack_bot.testing.slack.server import SlackServer
from slack_bot.testing.slack.workspace import APP_TOKEN, BOT_TOKEN, Workspace
from slack_bot.testing.tape.builders import answer
from tests.log_watch import log_watch


def done(workspace: Workspace, root: str, text: str) -> bool:
    return any(
        message.text == text and message.state == "sealed" for message in workspace.thread(CHANNEL, root)
    )


async def test_a_mention_is_acknowledged_and_answered() -> None:
    async with bot_on_network(answer("Over the socket.", seconds=0.3)) as (workspace, face, app):
        root = workspace.say("U1", CHANNEL, f"<@{workspace.bot.user_id}> hi", now=time.time())
        await wait_until(lambda: done(workspace, root, "Over the socket."), workspace)
        await face.settle()
        assert face.lost == []
        await app.dispatcher.idle()


async def test_after_slack_asked_to_reconnect_the_bot_still_hears() -> None:
    async with bot_on_network(answer("Still here.", seconds=0.1)) as (workspace, face, app):
        await face.refresh()
        root = workspace.say("U1", CHANNEL, f"<@{workspace.bot.user_id}> hi", now=time.time())
        await wait_until(lambda: done(workspace, root, "Still here."), workspace, within=20)
        await face.settle()
        assert (face.lost, face.sockets.connections) == ([], 1)
        await app.dispatcher.idle()


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
) -> AsyncIterator[tuple[SlackServer, asyncio.Task[None], asyncio.Event, asyncio.Event]]:
    """A bot that hears nothing but is connected to Slack, whose first handshakes break."""
    async with SlackServer(Workspace(), loop_clock()) as face:
        face.sockets.breaks = breaks
        async with one_process(face.api_url, ping_interval=0.05) as (task, stop, ready):
            yield face, task, stop, ready


@asynccontextmanager
async def one_process(
    api_url: str, *, ping_interval: float = 10.0, check_delay: float = 60.0
) -> AsyncIterator[tuple[asyncio.Task[None], asyncio.Event, asyncio.Event]]:
    """One process of the app, that acknowledges everything."""
    async with aiohttp.ClientSession() as session:
        client = AsyncWebClient(BOT_TOKEN, api_url, session=session, retry_handlers=[])
        bolt = AsyncApp(signing_secret="x", client=client)
        bolt.use(acknowledge)
        slack = SlackSettings(app_token=SecretStr(APP_TOKEN), connection_check_delay=check_delay)
        stop, ready = asyncio.Event(), asyncio.Event()
        task = asyncio.create_task(
            serve_socket(bolt, slack, client, stop, ready=ready.set, ping_interval=ping_interval)
        )
        yield task, stop, ready
        stop.set()
        async with asyncio.timeout(5):
            await task


@asynccontextmanager
async def slack_api(
    open_connection: Callable[[web.Request], Awaitable[web.StreamResponse]], *routes: web.RouteDef
) -> AsyncIterator[str]:
    """The address of a Slack that answers every method with `open_connection`."""
    server = web.Application()
    server.add_routes([web.post("/api/{method}", open_connection), *routes])
    runner = web.AppRunner(server, shutdown_timeout=1.0)
    await runner.setup()
    try:
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        yield f"http://127.0.0.1:{runner.addresses[0][1]}/api/"
    finally:
        await runner.cleanup()


async def acknowledge() -> BoltResponse:
    return BoltResponse(status=200)


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
    async with serving(breaks=1_000_000) as (face, task, stop, ready):
        while face.sockets.breaks == 1_000_000:  # noqa: ASYNC110  no event reports a broken handshake
            await asyncio.sleep(0.01)
        stop.set()
        async with asyncio.timeout(5):
            await task
        assert not ready.is_set()


class UnreachableSocket:
    """Slack's API, which names an unreachable socket server, then one that refuses."""

    def __init__(self) -> None:
        self.tickets = 0

    async def open(self, request: web.Request) -> web.Response:
        self.tickets += 1
        host = "127.0.0.1:1" if self.tickets < 4 else request.host
        return web.json_response({"ok": True, "url": f"ws://{host}/link?ticket=hunter{self.tickets}"})


async def test_a_socket_server_that_cannot_be_reached_is_one_line_an_attempt_with_longer_pauses(
    caplog: pytest.LogCaptureFixture,
) -> None:
    slack = UnreachableSocket()
    async with slack_api(slack.open) as api_url:
        with log_watch() as log:
            async with one_process(api_url, ping_interval=0.05) as (task, _, ready):
                await log.wait_for("(HTTP 404)")
                assert not ready.is_set() and not task.done()
    lines = [line for line in log.messages if "socket server" in line]
    said = "WARNING: Slack's socket server %s cannot be reached (%s): check the network, and the proxy if"
    assert lines[0].startswith(said % ("127.0.0.1:1", "Connect call failed ('127.0.0.1', 1)"))
    assert [line.rpartition(" is in ")[2] for line in lines] == ["0.05 s.", "0.1 s.", "0.2 s.", "0.4 s."]
    assert "hunter" not in caplog.text
    assert not any(record.exc_info for record in caplog.records)
    assert slack.tickets == 4, "each attempt has a ticket of its own"


# -- more than one process

WARNING = "WARNING: another process is connected to Slack as this app (connections besides this one: %d)"
ALONE = "INFO: no other process is connected to Slack as this app"


async def test_a_second_process_that_stays_is_warned_of_with_the_remedy() -> None:
    async with SlackServer(Workspace(), loop_clock()) as face, one_process(face.api_url) as (_, _, first):
        await first.wait()
        with log_watch() as log:
            async with one_process(face.api_url, check_delay=0.05) as (_, _, second):
                await second.wait()
                await log.wait_for("run one process only")
        (said,) = [line for line in log.messages if "another process" in line]
        assert said.startswith(WARNING % 1)


async def test_at_a_restart_the_old_process_is_no_false_alarm() -> None:
    async with SlackServer(Workspace(), loop_clock()) as face, AsyncExitStack() as old:
        _, _, ready = await old.enter_async_context(one_process(face.api_url))
        await ready.wait()
        with log_watch() as log:
            async with one_process(face.api_url, check_delay=2.0) as (_, _, ready):
                await ready.wait()
                await old.aclose()
                await log.wait_for(ALONE)
        assert not [line for line in log.messages if "another process" in line]


async def test_one_process_alone_does_not_look_again() -> None:
    async with SlackServer(Workspace(), loop_clock()) as face:
        async with one_process(face.api_url, check_delay=0.001) as (_, _, ready):
            await ready.wait()
            await face.refresh()
            await face.sockets.connected()
        assert [call.method for call in face.workspace.calls] == ["apps.connections.open"] * 2


async def test_a_second_look_that_fails_is_no_alarm() -> None:
    async with SlackServer(Workspace(), loop_clock()) as face, one_process(face.api_url) as (_, _, first):
        await first.wait()
        with log_watch() as log:
            async with one_process(face.api_url, check_delay=0.3) as (_, _, second):
                await second.wait()
                face.sockets.breaks = 1
                await log.wait_for("could not be asked: WSServerHandshakeError")
        assert not [line for line in log.messages if "another process" in line]


class TwoConnections:
    """Slack, which says that there are others, and sends an event on the connection of the second look."""

    def __init__(self) -> None:
        self.acknowledged = asyncio.Event()
        self._opened = 0

    async def open(self, request: web.Request) -> web.Response:
        return web.json_response({"ok": True, "url": f"ws://{request.host}/link"})

    async def link(self, request: web.Request) -> web.WebSocketResponse:
        self._opened += 1
        is_first = self._opened == 1
        socket = web.WebSocketResponse()
        await socket.prepare(request)
        if not is_first:
            await socket.send_str("not json")
            await socket.send_str("[]")
            await socket.send_json({"type": "events_api", "envelope_id": "e1", "payload": {"event": {}}})
        await socket.send_json({"type": "hello", "num_connections": 2 if is_first else 4})
        async for frame in socket:
            if is_first and "e1" in frame.data:
                self.acknowledged.set()
        return socket


async def test_an_event_that_comes_during_the_second_look_is_not_lost() -> None:
    slack = TwoConnections()
    async with slack_api(slack.open, web.get("/link", slack.link)) as api_url:
        with log_watch() as log:
            async with one_process(api_url, check_delay=0.05), asyncio.timeout(10):
                await slack.acknowledged.wait()
                await log.wait_for(WARNING % 2)
        assert slack.acknowledged.is_set()
