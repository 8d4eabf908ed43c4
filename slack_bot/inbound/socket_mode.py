"""Socket Mode: the bot opens web sockets to Slack and needs no public address.

A process has more than one connection, and opens the next one before it closes an old one, so that there is
no gap. The client of slack_sdk closes the old one first. It also acknowledges an event on whatever connection
it has by then, and repeats an attempt with the same address, whose ticket is good only once.

Slack sends each event to any one of the app's connections, and a mention is two events. So two processes with
a store each answer some questions twice. Slack tells the number of the app's connections in the `hello` of a
new connection (facts: Slack 3.4): at the start, after a failure, and every few hours.
"""

from __future__ import annotations

import asyncio
import json
import logging
import math
from collections.abc import Callable, Collection
from contextlib import suppress
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

import aiohttp
from slack_bolt.adapter.socket_mode.async_internals import run_async_bolt_app
from slack_bolt.async_app import AsyncApp
from slack_sdk.socket_mode.request import SocketModeRequest
from slack_sdk.socket_mode.response import SocketModeResponse
from slack_sdk.web.async_client import AsyncWebClient

from ..errors import SettingsError, SlackError
from ..observe.health import Health, HealthCheck
from ..settings.models import SlackSettings
from .authorizer import call_or_raise

log = logging.getLogger(__name__)

_LONGEST_PAUSE = 300.0
_MOST_DOUBLINGS = 16
_OPEN_TIMEOUT = 30.0  # seconds to open a connection, with Slack's hello
_FRESH = 15.0  # seconds for which the address of a connection is used; Slack does not say how long it is good
_OVERLAP = 5.0  # seconds for which a connection is read after another one has taken its place
_ACK_TIMEOUT = 3.0  # seconds in which Slack wants its acknowledgement (facts: Slack 3.4)
_CLOSE_TIMEOUT = 2.0  # seconds to close a connection whose other end may be gone: half of them for its answer
_BROKEN = (aiohttp.ClientError, OSError, TimeoutError)
_TOO_MANY = "too_many_websockets"
_OFF = "link_disabled"
_SILENT = "no event came for long"
_CROWDED = (
    f"All connections that Slack allows the app are in use ({_TOO_MANY}; Slack: ten): end other processes of"
    " the app, or set SLACK_BOT_SLACK__SOCKET_CONNECTIONS to 1."
)
_REFUSALS = {
    _TOO_MANY: _CROWDED,
    _OFF: f"Socket Mode is off in the settings of the Slack app ({_OFF}): switch it on, or use run --http.",
}


@dataclass(frozen=True, slots=True)
class SocketAddress:
    """The address of a new connection, which holds a ticket. `given_at`: when Slack gave it, in the loop's
    time.
    """

    url: str
    given_at: float


async def new_address(client: AsyncWebClient, slack: SlackSettings) -> SocketAddress:
    """Ask Slack for an address, which also shows whether the app token is good.

    Raises SettingsError without one, TokenNotGood if it is wrong, and SlackError.
    """
    if not slack.app_token:
        raise SettingsError("SLACK_APP_TOKEN is not set: Socket Mode needs it (xapp-...)")
    token = slack.app_token.get_secret_value()
    answer = await call_or_raise(client, "apps.connections.open", setting="SLACK_APP_TOKEN", token=token)
    return SocketAddress(str(answer.get("url")), asyncio.get_running_loop().time())


class _NotConnected(Exception):
    """A connection could not be opened. `str()` is a sentence for people, `reason` a word for it."""

    def __init__(self, problem: str, reason: str) -> None:
        super().__init__(problem)
        self.reason = reason


class _Reachability:
    """Tells `health` whether Slack is connected. `ready` is called when it is connected again after an
    outage of `backfill_after` seconds or more.
    """

    def __init__(self, health: Health, backfill_after: float, ready: Callable[[], None] | None) -> None:
        self._health, self._ready = health, ready
        self._backfill_after = backfill_after
        self._out_since: float | None = -math.inf  # None: Slack is connected
        self._is_ending = False

    def update(self, problem: str, *, is_open: bool) -> None:
        """`is_open`: some connection is. `problem`: why one is not."""
        if self._is_ending:
            return
        now = asyncio.get_running_loop().time()
        if not is_open:
            self._health.failed(HealthCheck.SLACK, f"No connection to Slack is open. {problem}".rstrip())
            self._out_since = now if self._out_since is None else self._out_since
        elif self._out_since is not None:
            self._health.passed(HealthCheck.SLACK)
            since, self._out_since = self._out_since, None
            if self._ready is not None and now - since >= self._backfill_after:
                self._ready()

    def end(self) -> None:
        """The bot closes its connections: say so, and report nothing after it."""
        self._is_ending = True
        self._health.failed(HealthCheck.SLACK, "The bot closes its connections to Slack.")


class SocketConnections:
    """All connections of this process to Slack.

    `ready` is called when Slack is connected, and again after an outage of at least `slack.backfill_after`
    seconds. `is_alone`: no other process of this app should run; a warning is logged if one does.
    """

    def __init__(
        self,
        bolt: AsyncApp,
        slack: SlackSettings,
        client: AsyncWebClient,
        health: Health,
        *,
        is_alone: bool = True,
        ready: Callable[[], None] | None = None,
    ) -> None:
        self._bolt, self._slack, self._client = bolt, slack, client
        self._is_alone = is_alone
        self._reachability = _Reachability(health, slack.backfill_after, ready)
        health.connections = self._alive
        self._open: set[_Connection] = set()
        self._opening = asyncio.Lock()  # one at a time, so that they can be counted
        self._closing: set[asyncio.Task[None]] = set()
        self._check: asyncio.Task[None] | None = None
        self._failures: dict[str, int] = {}  # problems, with how many failures in a row were logged

    async def serve(self, stop: asyncio.Event, first: SocketAddress | None = None) -> None:
        """Receive Slack's events until `stop` is set. `first`: an address that Slack gave before.

        Without it a wrong token ends the bot here, which later would be tried for ever: raises as
        `new_address`.
        """
        first = first or await new_address(self._client, self._slack)
        is_fresh = asyncio.get_running_loop().time() - first.given_at < _FRESH
        async with aiohttp.ClientSession() as self._session:
            address = first.url if is_fresh else None
            addresses = [address, *[None] * (self._slack.socket_connections - 1)]
            tasks: list[asyncio.Task[object]] = [asyncio.create_task(stop.wait(), name="stop")]
            tasks += [
                asyncio.create_task(self._keep_one(each), name="slack connection") for each in addresses
            ]
            try:
                done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
                for task in done:
                    task.result()
            finally:
                self._reachability.end()
                await _cancelled(tasks)
                await _cancelled([task for task in (self._check, *self._closing) if task is not None])
                await asyncio.gather(*map(self._close, tuple(self._open)))

    async def _keep_one(self, address: str | None) -> None:
        """Keep one connection open for ever; the first one at `address`.

        The pause grows with each failure in a row. A connection that ends soon counts as a failure too, but
        after the first of these there is no pause.
        """
        loop, failures, connection = asyncio.get_running_loop(), 0, None
        while True:
            try:
                new_connection = await self._connect(address)
            except _NotConnected as problem:
                may_make_room = problem.reason == _TOO_MANY and connection is not None and self._alive() > 1
                pause = self._pause(failures if may_make_room else failures + 1)
                failures += 1
                if failures > self._failures.get(str(problem), 0):  # the other connections fail as often
                    self._failures[str(problem)] = failures
                    log.warning("%s The next attempt to connect is in %g s.", problem, pause)
                self._report(str(problem))
                if connection is not None and may_make_room:  # the others go on meanwhile
                    await self._close(connection)
                    connection = None
            else:
                if connection is not None:
                    self._retire(connection)
                connection, began = new_connection, loop.time()
                self._failures.clear()
                log.info("a connection to Slack is replaced: %s", await connection.end_of_use)
                failures = 0 if loop.time() - began > self._slack.socket_ping_interval else failures + 1
                pause = self._pause(failures - 1)
            address = None
            await asyncio.sleep(pause)

    def _pause(self, failures: int) -> float:
        if failures < 1:
            return 0.0
        doublings = min(failures - 1, _MOST_DOUBLINGS)
        return min(self._slack.socket_ping_interval * float(2**doublings), _LONGEST_PAUSE)

    def _alive(self) -> int:
        return sum(each.is_alive for each in self._open)

    def _report(self, problem: str = "") -> None:
        self._reachability.update(problem, is_open=self._alive() > 0)

    async def _connect(self, address: str | None) -> _Connection:
        """Open a connection and wait for Slack's hello. Raises _NotConnected."""
        async with self._opening:
            connection = await self._new(address)
            others = connection.count - len(self._open)
        self._report()
        log.info("connected to Slack (Socket Mode); connections of the app: %d", connection.count)
        if others > 0 and self._is_alone and (self._check is None or self._check.done()):
            self._check = asyncio.create_task(self._count_again(), name="connection check")
        return connection

    async def _new(self, address: str | None = None) -> _Connection:
        try:
            async with asyncio.timeout(_OPEN_TIMEOUT):
                address = address or (await new_address(self._client, self._slack)).url
                socket = await self._session.ws_connect(
                    address,
                    proxy=self._client.proxy,
                    ssl=self._client.ssl or True,
                    heartbeat=self._slack.socket_ping_interval,
                    timeout=aiohttp.ClientWSTimeout(ws_close=_CLOSE_TIMEOUT / 2),
                )
                connection = _Connection(socket, self._bolt, self._slack.socket_silence_timeout, self._report)
                self._open.add(connection)
                try:
                    await connection.hello
                finally:
                    if not connection.is_alive:
                        await self._close(connection)
        except SlackError as error:
            raise _NotConnected(str(error), error.error) from error
        except _BROKEN as error:
            where = f"socket server {urlsplit(address).netloc}" if address else f"API {self._client.base_url}"
            raise _NotConnected(
                f"Slack's {where} cannot be reached"
                f" ({_reason(error)}): check the network, and the proxy if there is one.",
                _reason(error),
            ) from error
        return connection

    def _retire(self, connection: _Connection) -> None:
        """Close a connection after `_OVERLAP` seconds, because Slack may have sent something on it."""

        async def close() -> None:
            await connection.over(_OVERLAP)
            await self._close(connection)

        task = asyncio.create_task(close(), name="end of a slack connection")
        self._closing.add(task)
        task.add_done_callback(self._closing.discard)

    async def _close(self, connection: _Connection) -> None:
        try:
            await connection.close()
        finally:
            self._open.discard(connection)

    async def _count_again(self) -> None:
        """Count the app's connections again later: right after a restart, the old process may still count."""
        await asyncio.sleep(self._slack.connection_check_delay)
        try:
            async with self._opening:
                connection = await self._new()
                others = connection.count - len(self._open)
        except _NotConnected as problem:
            log.info("how many connections the app has could not be asked: %s", problem.reason)
            return
        await self._close(connection)
        if others > 0:
            log.warning(
                "another process is connected to Slack as this app, or a connection broke and Slack has not"
                " noticed (connections besides this process's: %d): processes with a store each answer some"
                " questions twice; run one process only",
                others,
            )
        else:
            log.info("no other process is connected to Slack as this app")


class _Connection:
    """One web socket. aiohttp pings it and ends it if no answer comes; then `on_over` is called."""

    def __init__(
        self,
        socket: aiohttp.ClientWebSocketResponse,
        bolt: AsyncApp,
        silence_timeout: float,
        on_over: Callable[[], None],
    ) -> None:
        self._socket, self._bolt, self._silence_timeout = socket, bolt, silence_timeout
        self.count = 0
        """How many connections the app has, as Slack said in its hello."""
        loop = asyncio.get_running_loop()
        self.hello: asyncio.Future[None] = loop.create_future()  # Slack's, or a _NotConnected
        self.end_of_use: asyncio.Future[str] = loop.create_future()  # why another one should take its place
        self._silence = loop.call_later(silence_timeout, self._end_use, _SILENT)
        self._handlers: set[asyncio.Task[None]] = set()
        self._reading = asyncio.create_task(self._read(), name="slack connection")
        self._reading.add_done_callback(lambda _: on_over())

    @property
    def is_alive(self) -> bool:
        return self.count > 0 and not self._reading.done()

    async def over(self, seconds: float) -> None:
        await asyncio.wait({self._reading}, timeout=seconds)

    async def close(self) -> None:
        try:
            if self._handlers:
                await asyncio.wait(self._handlers, timeout=_ACK_TIMEOUT)
        finally:
            for handler in self._handlers:
                handler.cancel()
            with suppress(TimeoutError):
                async with asyncio.timeout(_CLOSE_TIMEOUT):
                    await self._socket.close()
            self._reading.cancel()

    async def _read(self) -> None:
        try:
            async for frame in self._socket:
                if frame.type is aiohttp.WSMsgType.TEXT:
                    self._take(frame.data)
        finally:
            self._silence.cancel()
            error = self._socket.exception()
            why = "Slack closed it" if error is None else f"it no longer answers ({_reason(error)})"
            self._end_use(why)
            if not self.hello.done():
                self.hello.set_exception(_NotConnected(f"Slack did not say hello: {why}.", why))

    def _take(self, text: str) -> None:
        try:
            message = json.loads(text)
            request = SocketModeRequest.from_dict(message) if isinstance(message, dict) else None
        except (ValueError, RecursionError):
            return
        if not isinstance(message, dict):
            return
        self._silence.cancel()
        loop = asyncio.get_running_loop()
        self._silence = loop.call_later(self._silence_timeout, self._end_use, _SILENT)
        if request is not None:
            handler = asyncio.create_task(self._handle(request), name=f"envelope {request.envelope_id}")
            self._handlers.add(handler)
            handler.add_done_callback(self._handled)
        elif message.get("type") == "disconnect":
            self._on_disconnect(str(message.get("reason")))
        elif message.get("type") == "hello" and not self.hello.done():
            count = message.get("num_connections")
            self.count = count if isinstance(count, int) and count > 0 else 1
            self.hello.set_result(None)

    def _on_disconnect(self, reason: str) -> None:
        self._end_use(f"Slack asked for it ({reason})")
        if not self.hello.done():
            problem = _REFUSALS.get(reason, f"Slack let nobody in ({reason}).")
            self.hello.set_exception(_NotConnected(problem, reason))

    def _end_use(self, why: str) -> None:
        if not self.end_of_use.done():
            self.end_of_use.set_result(why)

    async def _handle(self, request: SocketModeRequest) -> None:
        """Hand the event to Bolt and acknowledge it if Bolt does.

        Slack sends again what is not acknowledged.
        """
        answer = await run_async_bolt_app(self._bolt, request)
        if answer.status != 200:
            return
        body, kind = answer.body, answer.headers.get("content-type", [""])[0]
        payload = json.loads(body) if kind.startswith("application/json") else {"text": body}
        response = SocketModeResponse(request.envelope_id, payload if body else None)
        try:
            await self._socket.send_json(response.to_dict())
        except _BROKEN:
            log.info("an acknowledgement was lost with its connection; Slack sends the event again")

    def _handled(self, handler: asyncio.Task[None]) -> None:
        self._handlers.discard(handler)
        if not handler.cancelled() and (error := handler.exception()) is not None:
            log.error("an event from Slack could not be handled", exc_info=error)


async def _cancelled(tasks: Collection[asyncio.Task[Any]]) -> None:
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


def _reason(error: BaseException) -> str:
    """A word for the error, without its text: that may hold the ticket."""
    if isinstance(error, aiohttp.WSServerHandshakeError):
        return f"HTTP {error.status}"
    return getattr(error, "strerror", None) or type(error).__name__
