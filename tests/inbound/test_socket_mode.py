"""Socket Mode on real sockets: the whole way of a mention, and tokens that are no good."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field, replace
from typing import Any

import aiohttp
import pytest
from aiohttp import web
from pydantic import SecretStr
from slack_bolt.async_app import AsyncApp
from slack_bolt.request.async_request import AsyncBoltRequest
from slack_bolt.response import BoltResponse
from slack_sdk.web.async_client import AsyncWebClient

from slack_bot.app import serve
from slack_bot.clock import system_clock
from slack_bot.errors import SettingsError, SlackError
from slack_bot.inbound.socket_mode import SocketConnections
from slack_bot.observe.health import Health, HealthCheck
from slack_bot.settings.models import SlackSettings
from slack_bot.testing.harness import CHANNEL, bot_on_network, wait_until
from slack_bot.testing.slack.rules import SHIPPED
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
        await app.threads.idle()


async def test_after_slack_asked_to_reconnect_the_bot_still_hears() -> None:
    async with bot_on_network(answer("Still here.", seconds=0.1)) as (workspace, face, app):
        await face.refresh()
        root = workspace.say("U1", CHANNEL, f"<@{workspace.bot.user_id}> hi", now=time.time())
        await wait_until(lambda: done(workspace, root, "Still here."), workspace)
        await face.settle()
        assert face.lost == []
        await app.threads.idle()


async def test_a_wrong_app_token_is_one_sentence_at_once() -> None:
    with pytest.raises(SlackError, match=r"Slack refused SLACK_APP_TOKEN \(invalid_auth\)"):
        async with bot_on_network(app_token="xapp-wrong"):
            pytest.fail("it must not begin")


async def test_without_an_app_token_the_setting_is_named() -> None:
    async with bot_on_network(http=True, app_token=None) as (_, _, app):
        with pytest.raises(SettingsError, match="SLACK_APP_TOKEN"):
            await serve(app, asyncio.Event())


class Told(Health):
    """Keeps what was said of the connection to Slack."""

    def __init__(self) -> None:
        super().__init__()
        self.problems: list[str] = []

    def failed(self, check: HealthCheck, problem: str) -> None:
        super().failed(check, problem)
        if check is HealthCheck.SLACK:
            self.problems.append(problem)


@dataclass
class Process:
    """One process of the app. It acknowledges everything, after `may_answer`; `events` are what came."""

    task: asyncio.Task[None] = field(init=False)
    stop: asyncio.Event = field(default_factory=asyncio.Event)
    ready: asyncio.Event = field(default_factory=asyncio.Event)
    may_answer: asyncio.Event = field(default_factory=asyncio.Event)
    health: Told = field(default_factory=Told)
    times_in: int = 0
    events: list[tuple[str, bool]] = field(default_factory=list)
    """The text of each, and whether it came again."""

    def is_in(self) -> None:
        self.times_in += 1
        self.ready.set()

    @property
    def texts(self) -> list[str]:
        return [text for text, _ in self.events]

    async def answer(self, request: AsyncBoltRequest) -> BoltResponse:
        text = str(request.body.get("event", {}).get("text"))
        self.events.append((text, "x-slack-retry-num" in request.headers))
        await self.may_answer.wait()
        return BoltResponse(status=200)


@asynccontextmanager
async def one_process(api_url: str, *, is_alone: bool = True, **settings: Any) -> AsyncIterator[Process]:
    """`settings` are Slack's."""
    async with aiohttp.ClientSession() as session:
        client = AsyncWebClient(BOT_TOKEN, api_url, session=session, retry_handlers=[])
        bolt, process = AsyncApp(signing_secret="x", client=client), Process()
        bolt.use(process.answer)
        process.may_answer.set()
        slack = SlackSettings(app_token=SecretStr(APP_TOKEN), **settings)
        health, ready = process.health, process.is_in
        socket = SocketConnections(bolt, slack, client, health, is_alone=is_alone, ready=ready)
        process.task = asyncio.create_task(socket.serve(process.stop))
        yield process
        process.stop.set()
        async with asyncio.timeout(60):
            await process.task


QUICK = {"socket_ping_interval": 0.2}
"""Tries again soon, and gives a connection up where this machine stands still."""
FIRM = {"socket_ping_interval": 1.0}


@asynccontextmanager
async def serving(ack_timeout: float = 60.0, **settings: Any) -> AsyncIterator[tuple[SlackServer, Process]]:
    """A bot with all its connections, and its Slack. `settings` are Slack's."""
    workspace = Workspace()
    workspace.add_channel(CHANNEL)
    async with (
        SlackServer(workspace, system_clock(), ack_timeout=ack_timeout, retry_delays=(0.0, 0.0, 0.0)) as face,
        one_process(face.api_url, **settings) as process,
    ):
        await until(lambda: face.sockets.connections == settings.get("socket_connections", 2))
        await process.ready.wait()
        yield face, process


async def until(condition: Callable[[], object]) -> None:
    async with asyncio.timeout(60):
        while not condition():  # noqa: ASYNC110  no event reports it
            await asyncio.sleep(0.01)


def opened(face: SlackServer) -> int:
    """How often a connection was asked for."""
    return sum(call.method == "apps.connections.open" for call in face.workspace.calls)


def say(face: SlackServer, *texts: str) -> None:
    for text in texts:
        face.workspace.say("U1", CHANNEL, text, now=time.time())


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


async def test_a_handshake_that_breaks_is_repeated_with_another_ticket() -> None:
    async with SlackServer(Workspace(), system_clock()) as face, asyncio.timeout(60):
        face.sockets.breaks = 2
        async with one_process(face.api_url, **QUICK) as process:
            await process.ready.wait()
            await until(lambda: face.sockets.connections == 2)
            assert face.sockets.breaks == 0


async def test_a_reconnect_that_breaks_is_repeated_with_another_ticket() -> None:
    async with serving(**QUICK) as (face, process), asyncio.timeout(60):
        face.sockets.breaks = 2
        await face.refresh()
        say(face, "after the refresh")  # to the first one that is new
        await face.settle()
        assert (face.sockets.breaks, process.texts) == (0, ["after the refresh"])


async def test_who_is_told_to_end_ends_though_slack_lets_nobody_in() -> None:
    async with SlackServer(Workspace(), system_clock()) as face:
        face.sockets.breaks = 1_000_000
        async with one_process(face.api_url, **QUICK) as process:
            await until(lambda: face.sockets.breaks < 1_000_000)
            process.stop.set()
            async with asyncio.timeout(60):
                await process.task
            assert not process.ready.is_set()


class UnreachableSocket:
    """Slack's API, which names an unreachable socket server, then one that refuses."""

    def __init__(self, refuses_at: int = 4) -> None:
        self.tickets, self.refuses_at = 0, refuses_at

    async def open(self, request: web.Request) -> web.Response:
        self.tickets += 1
        host = "127.0.0.1:1" if self.tickets < self.refuses_at else request.host
        return web.json_response({"ok": True, "url": f"ws://{host}/link?ticket=hunter{self.tickets}"})


async def test_a_socket_server_that_cannot_be_reached_is_one_line_an_attempt_with_longer_pauses(
    caplog: pytest.LogCaptureFixture,
) -> None:
    slack = UnreachableSocket()
    async with slack_api(slack.open) as api_url:
        with log_watch() as log:
            settings = {"socket_connections": 1, "socket_ping_interval": 0.05}
            async with one_process(api_url, **settings) as process:
                await log.wait_for("(HTTP 404)")
                assert not process.ready.is_set() and not process.task.done()
                assert "cannot be reached (HTTP 404)" in process.health.problems[-1]
    lines = [line for line in log.messages if "socket server" in line]
    said = "WARNING: Slack's socket server %s cannot be reached (%s): check the network, and the proxy if"
    assert lines[0].startswith(said % ("127.0.0.1:1", "Connect call failed ('127.0.0.1', 1)"))
    assert [line.rpartition(" is in ")[2] for line in lines] == ["0.05 s.", "0.1 s.", "0.2 s.", "0.4 s."]
    assert "hunter" not in caplog.text
    assert not any(record.exc_info for record in caplog.records)
    assert slack.tickets == 4, "each attempt has a ticket of its own"


async def test_an_api_that_gives_no_address_in_time_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("slack_bot.inbound.socket_mode._OPEN_TIMEOUT", 0.05)
    slack, ended = UnreachableSocket(), asyncio.Event()

    async def open_once(request: web.Request) -> web.Response:
        if slack.tickets:
            await ended.wait()
        return await slack.open(request)

    async with slack_api(open_once) as api_url:
        with log_watch() as log:
            async with one_process(api_url, socket_connections=1, socket_ping_interval=0.05) as process:
                await log.wait_for("(TimeoutError)")
                said = f"Slack's API {api_url} cannot be reached (TimeoutError): check the network"
                assert said in process.health.problems[-1]
        ended.set()


async def test_a_problem_of_all_connections_is_said_once_for_each_attempt() -> None:
    async with slack_api(UnreachableSocket(refuses_at=10**9).open) as api_url:
        with log_watch() as log:
            async with one_process(api_url, socket_connections=3, socket_ping_interval=0.05):
                await log.wait_for("is in 0.4 s.")
    pauses = [line.rpartition(" is in ")[2] for line in log.messages if "socket server" in line]
    assert pauses[:4] == ["0.05 s.", "0.1 s.", "0.2 s.", "0.4 s."]
    assert len(set(pauses)) == len(pauses)


# -- more than one process

WARNING = (
    "WARNING: another process is connected to Slack as this app, or a connection broke and Slack has not"
    " noticed (connections besides this process's: %d)"
)
ALONE = "INFO: no other process is connected to Slack as this app"


async def test_a_second_process_that_stays_is_warned_of_with_the_remedy() -> None:
    async with SlackServer(Workspace(), system_clock()) as face, one_process(face.api_url) as first:
        await first.ready.wait()
        await until(lambda: face.sockets.connections == 2)
        with log_watch() as log:
            async with one_process(face.api_url, connection_check_delay=0.05):
                await log.wait_for("run one process only")
        (said,) = [line for line in log.messages if "another process" in line]
        assert said.startswith(WARNING % 2)


async def test_at_a_restart_the_old_process_is_no_false_alarm() -> None:
    async with SlackServer(Workspace(), system_clock()) as face, AsyncExitStack() as old:
        await old.enter_async_context(one_process(face.api_url))
        await until(lambda: face.sockets.connections == 2)
        with log_watch() as log:
            async with one_process(face.api_url, connection_check_delay=5.0) as process:
                await process.ready.wait()
                await old.aclose()
                await log.wait_for(ALONE)
        assert not [line for line in log.messages if "another process" in line]


async def test_one_process_alone_does_not_look_again_however_often_its_connections_are_replaced() -> None:
    async with serving(connection_check_delay=0.001, **QUICK) as (face, _):
        with log_watch() as log:
            for number in range(1, 4):
                await face.refresh()
                await until(lambda: opened(face) >= 2 + 2 * number)  # noqa: B023  called at once
                await log.wait_for("connected to Slack", times=2 * number)
        assert not [line for line in log.messages if "other process" in line or "could not be asked" in line]


async def test_where_processes_share_a_store_another_one_is_no_reason_to_look_again() -> None:
    async with serving() as (face, first):
        with log_watch() as log:
            async with one_process(face.api_url, is_alone=False, connection_check_delay=0.001):
                await log.wait_for("connections of the app: 4")
                await face.refresh()
                await log.wait_for("connections of the app", times=6)
        assert (opened(face), first.events) == (8, [])


async def test_a_second_look_that_fails_is_no_alarm() -> None:
    async with SlackServer(Workspace(), system_clock()) as face, one_process(face.api_url):
        await until(lambda: face.sockets.connections == 2)
        with log_watch() as log:
            async with one_process(face.api_url, connection_check_delay=4.0):
                await until(lambda: face.sockets.connections == 4)
                face.sockets.breaks = 1
                await log.wait_for("could not be asked: HTTP 503")
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
        is_first = self._opened == 1  # the process has one
        socket = web.WebSocketResponse()
        await socket.prepare(request)
        if not is_first:
            await socket.send_str("not json")
            await socket.send_str("[]")
            await socket.send_json({"type": "events_api", "envelope_id": "e1", "payload": {"event": {}}})
        await socket.send_json({"type": "hello", "num_connections": 2 if is_first else 4})
        async for frame in socket:
            if not is_first and "e1" in frame.data:
                self.acknowledged.set()
        return socket


async def test_an_event_that_comes_during_the_second_look_is_not_lost() -> None:
    slack = TwoConnections()
    async with slack_api(slack.open, web.get("/link", slack.link)) as api_url:
        with log_watch() as log:
            settings = {"socket_connections": 1, "connection_check_delay": 0.05}
            async with one_process(api_url, **settings), asyncio.timeout(60):
                await slack.acknowledged.wait()
                await log.wait_for(WARNING % 2)
        assert slack.acknowledged.is_set()


# -- connections that end, and that do not


@pytest.mark.parametrize("reason", ["refresh_requested", "warning"])
async def test_nothing_is_lost_or_sent_twice_while_slack_asks_for_other_connections(reason: str) -> None:
    async with serving() as (face, process):
        face.sockets.warning_time = 0.3
        texts = [f"event {number}" for number in range(60)]
        for number, text in enumerate(texts):
            say(face, text)
            if number == 25:
                await face.sockets.refresh(reason)
            await asyncio.sleep(0.01)
        await face.settle()
        assert sorted(process.events) == sorted((text, False) for text in texts), "each once, at once"
        assert (face.lost, process.health.problems) == ([], [])
        assert opened(face) == 4


async def test_one_connection_is_replaced_without_a_gap_too() -> None:
    async with serving(socket_connections=1) as (face, process):
        await face.refresh()
        assert face.sockets.connections == 1, "the old one is still open"
        say(face, "hello")
        await face.settle()
        assert process.events == [("hello", False)]
        assert process.health.problems == []


class LateSender:
    """Slack, which sends an event on the connection that it asked to leave, after the next one was made."""

    def __init__(self) -> None:
        self.acknowledged = asyncio.Event()
        self._opened = 0
        self._is_replaced = asyncio.Event()

    async def open(self, request: web.Request) -> web.Response:
        return web.json_response({"ok": True, "url": f"ws://{request.host}/link"})

    async def link(self, request: web.Request) -> web.WebSocketResponse:
        self._opened += 1
        number, socket = self._opened, web.WebSocketResponse()
        await socket.prepare(request)
        await socket.send_json({"type": "hello", "num_connections": number})
        if number == 1:
            await socket.send_json({"type": "disconnect", "reason": "warning"})
            await self._is_replaced.wait()
            await asyncio.sleep(0.2)  # on its way
            await socket.send_json({"type": "events_api", "envelope_id": "e1", "payload": {"event": {}}})
        else:
            self._is_replaced.set()
        async for frame in socket:
            if number == 1 and "e1" in frame.data:
                self.acknowledged.set()
        return socket


async def test_what_was_on_its_way_to_the_old_connection_is_acknowledged_there() -> None:
    slack = LateSender()
    async with slack_api(slack.open, web.get("/link", slack.link)) as api_url, asyncio.timeout(60):
        async with one_process(api_url, socket_connections=1):
            await slack.acknowledged.wait()
        assert slack.acknowledged.is_set()


async def test_a_connection_that_goes_silent_is_found_and_replaced_while_the_other_one_works() -> None:
    async with serving(ack_timeout=0.5, **FIRM) as (face, process):
        with log_watch() as log:
            face.sockets.freeze()
            say(face, "one", "two", "three")
            await log.wait_for("it no longer answers (ServerTimeoutError)")
            await until(lambda: opened(face) >= 3 and face.sockets.connections == 2)
            say(face, "four", "five", "six")
            await face.settle()
        assert set(process.texts) == {"one", "two", "three", "four", "five", "six"}
        assert (face.lost, process.health.problems) == ([], [])


async def test_without_any_connection_that_answers_the_bot_is_not_ready_until_there_is_one() -> None:
    async with serving(socket_connections=1, ack_timeout=0.5, **QUICK) as (face, process):
        face.sockets.breaks = 1
        face.sockets.freeze()
        await until(lambda: process.health.problems)
        assert process.health.problems[0] == "No connection to Slack is open."
        await until(lambda: process.health.body()["checks"]["slack"] == "ok")  # type: ignore[index]
        say(face, "hello")
        await face.settle()
        assert set(process.texts) == {"hello"}


async def test_a_connection_that_answers_pings_but_brings_nothing_is_replaced() -> None:
    async with serving(ack_timeout=0.5, socket_silence_timeout=1.0) as (face, process):
        with log_watch() as log:
            face.sockets.freeze(answers_pings=True)
            await log.wait_for("no event came for long")
            await until(lambda: opened(face) >= 4)  # the other one was as quiet
            say(face, "one", "two")
            await face.settle()
        assert set(process.texts) == {"one", "two"}
        assert (face.lost, process.health.problems) == ([], [])


async def test_slack_away_and_back() -> None:
    async with serving(**QUICK) as (face, process):
        face.sockets.breaks = 1_000_000
        await face.sockets.close()
        await until(lambda: process.health.problems)
        say(face, "while it was away")
        assert not process.health.is_ready
        face.sockets.breaks = 0
        await face.settle()
        assert process.texts == ["while it was away"]
        assert process.health.body()["checks"]["slack"] == "ok"  # type: ignore[index]


@pytest.mark.parametrize(("backfill_after", "times"), [(0.0, 2), (60.0, 1)])
async def test_after_a_long_outage_the_bot_is_told_that_it_is_in_again(
    backfill_after: float, times: int
) -> None:
    async with serving(backfill_after=backfill_after, **FIRM) as (face, process):
        await face.refresh()  # no outage
        await until(lambda: opened(face) >= 4)
        face.sockets.breaks = 2
        await face.sockets.close()
        await until(lambda: process.health.problems)
        await until(lambda: process.health.body()["checks"]["slack"] == "ok")  # type: ignore[index]
        assert process.times_in == times


async def others(face: SlackServer, session: aiohttp.ClientSession, count: int) -> list[Any]:
    """Connections of other processes."""
    client = AsyncWebClient(APP_TOKEN, face.api_url, session=session, retry_handlers=[])
    found = []
    for _ in range(count):
        answer = await client.api_call("apps.connections.open")
        found.append(await session.ws_connect(answer["url"]))
        assert (await found[-1].receive_json())["type"] == "hello"
    return found


async def test_one_connection_is_enough_where_the_app_has_no_room_for_two() -> None:
    async with SlackServer(Workspace(), system_clock()) as face, aiohttp.ClientSession() as session:
        nine = await others(face, session, 9)
        with log_watch() as log:
            async with one_process(face.api_url, **QUICK) as process:
                await log.wait_for("too_many_websockets", times=2)
                assert "slack" not in str(process.health.problems)
                assert process.health.body()["checks"]["slack"] == "ok"  # type: ignore[index]
                await nine.pop().close()
                await log.wait_for("connections of the app: 10", times=2)
        for socket in nine:
            await socket.close()


async def test_an_app_without_socket_mode_is_told_where_to_switch_it_on() -> None:
    workspace = Workspace(manifest=replace(SHIPPED, socket_mode=False))
    async with SlackServer(workspace, system_clock()) as face:
        with log_watch() as log:
            async with one_process(face.api_url, **QUICK):
                await log.wait_for("Socket Mode is off in the settings of the Slack app")
        assert any("switch it on" in line for line in log.messages)


async def test_where_no_further_connection_is_allowed_an_old_one_makes_room() -> None:
    async with serving(**FIRM) as (face, process), aiohttp.ClientSession() as session, asyncio.timeout(60):
        eight = await others(face, session, 8)
        with log_watch() as log:
            await face.refresh()
            say(face, "hello")
            await face.settle()
            await log.wait_for("connections of the app: 10", times=2)
            assert any("too_many_websockets" in line for line in log.messages)
        assert (process.texts, face.lost) == (["hello"], [])
        if not any("no longer answers" in line for line in log.messages):  # while this machine stood still
            assert process.health.problems == []
        for socket in eight:
            await socket.close()


class Greeter:
    """Slack, whose connections end after hello, or before."""

    def __init__(self, *, says_hello: bool) -> None:
        self.opened: list[float] = []
        self._says_hello = says_hello

    async def open(self, request: web.Request) -> web.Response:
        return web.json_response({"ok": True, "url": f"ws://{request.host}/link"})

    async def link(self, request: web.Request) -> web.WebSocketResponse:
        self.opened.append(asyncio.get_running_loop().time())
        socket = web.WebSocketResponse()
        await socket.prepare(request)
        if self._says_hello:
            await socket.send_json({"type": "hello", "num_connections": 1})
        await socket.close()
        return socket


async def test_connections_that_end_at_once_are_made_again_with_longer_and_longer_pauses() -> None:
    slack = Greeter(says_hello=True)
    async with slack_api(slack.open, web.get("/link", slack.link)) as api_url:
        process = one_process(api_url, socket_connections=1, **QUICK)
        async with process:
            await until(lambda: len(slack.opened) == 4)
    _, second, third, fourth = slack.opened
    assert (third - second >= 0.2, fourth - third >= 0.4) == (True, True)


async def test_a_connection_without_a_hello_is_none() -> None:
    slack = Greeter(says_hello=False)
    async with slack_api(slack.open, web.get("/link", slack.link)) as api_url:
        with log_watch() as log:
            async with one_process(api_url, socket_connections=1, **QUICK) as process:
                await log.wait_for("Slack did not say hello: Slack closed it.", times=2)
                assert not process.ready.is_set()


async def test_what_came_before_the_end_is_acknowledged_at_the_end() -> None:
    async with serving() as (face, process), asyncio.timeout(60):
        process.may_answer.clear()
        say(face, "hello")
        await until(lambda: process.events)
        process.stop.set()
        await until(lambda: process.health.problems)
        process.may_answer.set()
        await process.task
        await face.settle()
        assert process.health.problems == ["The bot closes its connections to Slack."]
        assert (len(face.sockets.acknowledged), face.lost) == (1, [])
        assert (process.events, face.sockets.connections) == ([("hello", False)], 0)
