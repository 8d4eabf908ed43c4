"""The emulated workspace on the network: Web API, uploads, response addresses, Socket Mode or Events API.

Real Bolt and slack_sdk talk to it with nothing changed but the base URL:

    async with SlackServer(workspace, clock) as server:
        client = AsyncWebClient(token=BOT_TOKEN, base_url=server.api_url)

What the app does not acknowledge in time comes again, up to three times; then it is lost (facts: Slack 3.3
and 3.4).
"""

import asyncio
import hashlib
import hmac
import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from http import HTTPStatus
from typing import Any, Self
from urllib.parse import urlencode

import aiohttp
from aiohttp import WSMsgType, web

from ...clock import Clock
from .files import FILES_PATH, file_of_path
from .in_process import PAGE, Line, bearer
from .teams import EmulatedTeams
from .workspace import SIGNING_SECRET, CallAnswer, Change, Envelope, Workspace, WorkspaceRules

_MAX_BODY = 32 * 1024 * 1024
RETRY_DELAYS = (0.0, 60.0, 300.0)
ACK_TIMEOUT = 3.0
"""Seconds."""
MOST_CONNECTIONS = 10
"""Connections of an app. The next one is told `too_many_websockets` (facts: Slack 3.4)."""
_EVERYWHERE = frozenset({"0.0.0.0", "::"})
_REDIRECTS = 3  # the first that is not followed
_GREETING = {"host": "applink-emulated", "build_number": 1, "approximate_connection_time": 18_060}


def _delays_of(rules: WorkspaceRules, way: str) -> Sequence[float]:
    """The pauses before retries, `way` as in the ids of the rules."""
    first, *later = RETRY_DELAYS
    named = zip(("second", "third"), later, strict=True)
    delays = [first, *(rules.size(f"{way}.{name}_pause", int(usual)) for name, usual in named)]
    return delays[: rules.size(f"{way}.retries", len(delays))]


class EventDelivery:
    """One way to the app. `acknowledged`: what it answered, by envelope id; `lost`: what it never took."""

    def __init__(self, retry_delays: Sequence[float]) -> None:
        self.acknowledged: dict[str, Any] = {}
        self.lost: list[Envelope] = []
        self._delays = (0.0, *retry_delays)

    async def deliver(self, envelope: Envelope) -> None:
        """Send an envelope until it is taken or lost."""
        reason = ""
        for attempt, delay in enumerate(self._delays):
            await asyncio.sleep(delay)
            if not (reason := await self._send(envelope, attempt, reason)):
                return
        self.lost.append(envelope)

    async def repeat(self, envelope: Envelope, attempt: int) -> bool:
        """Send once more what was settled before, as that retry: Slack may. True: it was taken again."""
        return not await self._send(envelope, attempt, "unknown_error")

    async def _send(self, envelope: Envelope, attempt: int, reason: str) -> str:
        """ "": the matter is settled. Otherwise Slack's word for why it comes again, then in `reason`."""
        raise NotImplementedError


class SocketMode(EventDelivery):
    """The sockets of one app; an envelope waits for the first.

    `breaks`: handshakes that come to nothing. `warning_time`: seconds of use after a warning.
    """

    def __init__(
        self, workspace: Workspace, *, ack_timeout: float = 3.0, retry_delays: Sequence[float] = RETRY_DELAYS
    ) -> None:
        super().__init__(retry_delays)
        self.breaks, self.warning_time = 0, 10.0
        self._frozen: dict[web.WebSocketResponse, bool] = {}
        self._ending: set[asyncio.Task[None]] = set()
        self._workspace, self._ack_timeout = workspace, ack_timeout
        self._sockets: list[web.WebSocketResponse] = []
        self._open: set[web.WebSocketResponse] = set()
        self._connected = asyncio.Event()
        self._waiting: dict[str, asyncio.Event] = {}
        self._turn = 0

    @property
    def connections(self) -> int:
        """Open sockets, also those that were asked to reconnect."""
        return len(self._open)

    async def connected(self) -> None:
        await self._connected.wait()

    async def handle(self, request: web.Request) -> web.WebSocketResponse:
        """An app connects with the ticket that apps.connections.open gave it."""
        ticket, tickets = request.query.get("ticket", ""), self._workspace.state.tickets
        if ticket not in tickets:
            raise web.HTTPForbidden(text="invalid ticket")
        if self._workspace.state.rules.holds("socket.ticket_once"):
            tickets.remove(ticket)
        if self.breaks > 0:
            self.breaks -= 1
            raise web.HTTPServiceUnavailable(text="try again")
        socket = web.WebSocketResponse(timeout=1.0, autoping=False, autoclose=False)
        await socket.prepare(request)
        rules = self._workspace.state.rules
        has_room = self.connections < rules.size("socket.count", MOST_CONNECTIONS)
        if not has_room or not self._workspace.state.manifest.socket_mode:
            too_many = rules.word("socket.refusal", "too_many_websockets")
            await self._ask_to_leave(socket, "link_disabled" if has_room else too_many)
            await socket.close()
            return socket
        self._sockets.append(socket)
        self._open.add(socket)
        app = {"app_id": self._workspace.bot.app_id}
        hello = {"type": "hello", "num_connections": self.connections, "connection_info": app}
        await socket.send_json({**hello, "debug_info": _GREETING})
        self._connected.set()
        try:
            await self._serve(socket)
        finally:
            self._drop(socket)
            self._open.discard(socket)
        return socket

    async def _serve(self, socket: web.WebSocketResponse) -> None:
        async for frame in socket:
            if self._frozen.get(socket) is False:
                break
            if frame.type is WSMsgType.PING:
                await socket.pong(frame.data)
            elif frame.type is WSMsgType.TEXT and socket not in self._frozen:
                self._hear(frame.data)
        if self._frozen.get(socket) is False:
            await asyncio.Event().wait()  # until the app ends the TCP connection
        await socket.close()

    def freeze(self, *, answers_pings: bool = False) -> None:
        """The oldest socket says nothing more and hears nothing, though it is open and counts."""
        self._frozen[self._sockets[0]] = answers_pings

    async def deliver(self, envelope: Envelope) -> None:
        with self._heard_of(envelope):
            await super().deliver(envelope)

    async def repeat(self, envelope: Envelope, attempt: int) -> bool:
        again = replace(envelope, id=self._workspace.state.next_id("envelope-"))
        with self._heard_of(again):
            return await super().repeat(again, attempt)

    @contextmanager
    def _heard_of(self, envelope: Envelope) -> Iterator[None]:
        """Acknowledgements of `envelope` count meanwhile, late ones too."""
        self._waiting[envelope.id] = asyncio.Event()
        try:
            yield
        finally:
            del self._waiting[envelope.id]

    async def refresh(self, reason: str = "refresh_requested") -> None:
        """Ask every socket to reconnect, as Slack does every few hours.

        After a "warning" it is used for `warning_time` seconds more, and closed a little later.
        """
        for socket in tuple(self._sockets):
            await self._ask_to_leave(socket, reason)
            if reason == "warning":
                ending = asyncio.create_task(self._close_later(socket))
                self._ending.add(ending)
                ending.add_done_callback(self._ending.discard)
            else:
                self._drop(socket)

    async def _ask_to_leave(self, socket: web.WebSocketResponse, reason: str) -> None:
        await socket.send_json({"type": "disconnect", "reason": reason, "debug_info": _GREETING})

    async def _close_later(self, socket: web.WebSocketResponse) -> None:
        await asyncio.sleep(self.warning_time)
        self._drop(socket)
        await asyncio.sleep(self._ack_timeout)  # for what was sent last
        await socket.close()

    async def close(self) -> None:
        for ending in self._ending:
            ending.cancel()
        for socket in tuple(self._open):
            self._drop(socket)
            await socket.close()

    async def _send(self, envelope: Envelope, attempt: int, reason: str) -> str:
        frame = {
            "envelope_id": envelope.id,
            "type": envelope.type,
            "accepts_response_payload": envelope.accepts_response_payload,
            "payload": envelope.payload,
        }
        if attempt:
            frame |= {"retry_attempt": attempt, "retry_reason": reason}
        while True:
            await self._connected.wait()
            self._turn += 1
            socket = self._sockets[self._turn % len(self._sockets)]
            try:
                if socket not in self._frozen:
                    await socket.send_json(frame)
                break
            except ConnectionError:  # it closed in this moment: another one takes the envelope
                self._drop(socket)
        try:
            async with asyncio.timeout(self._ack_timeout):
                await self._waiting[envelope.id].wait()
        except TimeoutError:
            return self._workspace.state.rules.word("delivery.reason", "timeout")
        return ""

    def _hear(self, text: str) -> None:
        try:
            ack = json.loads(text)
        except (ValueError, RecursionError):
            return
        envelope_id = str(ack.get("envelope_id")) if isinstance(ack, dict) else ""
        if envelope_id in self._waiting:
            self.acknowledged[envelope_id] = ack.get("payload")
            self._waiting[envelope_id].set()

    def _drop(self, socket: web.WebSocketResponse) -> None:
        if socket in self._sockets:
            self._sockets.remove(socket)
        if not self._sockets:
            self._connected.clear()


def sign(secret: str, timestamp: int, body: str) -> str:
    """Slack's signature of a request: `v0=` and the HMAC of version, time and body."""
    digest = hmac.new(secret.encode(), f"v0:{timestamp}:{body}".encode(), hashlib.sha256)
    return f"v0={digest.hexdigest()}"


class EventsApi(EventDelivery):
    """Posts envelopes to `url`. An app ends the retries with `x-slack-no-retry: 1` (facts: Slack 3.3)."""

    def __init__(
        self,
        url: str,
        clock: Clock,
        *,
        ack_timeout: float = 3.0,
        retry_delays: Sequence[float] = RETRY_DELAYS,
        connector: aiohttp.BaseConnector | None = None,
        rules: WorkspaceRules | None = None,
    ) -> None:
        super().__init__(retry_delays)
        self._url, self._clock, self._rules = url, clock, rules or WorkspaceRules()
        timeout = aiohttp.ClientTimeout(total=ack_timeout)
        self._http = aiohttp.ClientSession(timeout=timeout, connector=connector)

    async def close(self) -> None:
        await self._http.close()

    async def verify(self) -> bool:
        """The handshake of Slack's settings: the app must echo the challenge."""
        challenge = "emulated-challenge"
        body = json.dumps({"type": "url_verification", "token": "verification-token", "challenge": challenge})
        async with self._post(body, "application/json", {}) as response:
            return challenge in await response.text()

    async def _send(self, envelope: Envelope, attempt: int, reason: str) -> str:
        content_type, body = "application/json", json.dumps(envelope.payload)
        if envelope.type == "interactive":
            content_type, body = "application/x-www-form-urlencoded", urlencode({"payload": body})
        retry = {"X-Slack-Retry-Num": str(attempt), "X-Slack-Retry-Reason": reason} if attempt else {}
        try:
            async with self._post(body, content_type, retry) as response:
                if HTTPStatus.OK <= response.status < HTTPStatus.MULTIPLE_CHOICES:
                    self.acknowledged[envelope.id] = await response.text()
                    return ""
                has_had_enough = response.headers.get("x-slack-no-retry") == "1"
                if has_had_enough and self._rules.holds("http.no_retry"):
                    self.lost.append(envelope)
                    return ""
                return "http_error"
        except TimeoutError:
            return self._rules.word("http.reason", "http_timeout")
        except aiohttp.TooManyRedirects:
            return "too_many_redirects"
        except aiohttp.ClientError:
            return "connection_failed"

    def _post(self, body: str, content_type: str, retry: Mapping[str, str]) -> Any:
        now = int(self._clock.wall())
        signed = {"X-Slack-Request-Timestamp": str(now), "X-Slack-Signature": sign(SIGNING_SECRET, now, body)}
        headers = {"Content-Type": content_type, **signed, **retry}
        return self._http.post(self._url, data=body, headers=headers, max_redirects=_REDIRECTS)


class SlackServer:
    """Serves one workspace, or several with the same app, while it is entered, on a free port where `port`
    is 0. Times are in seconds.

    `ack_timeout` and `retry_delays`: None, as the workspace's rules say. With `bot_url` payloads are posted
    there, signed; without, they go through Socket Mode. A `host` that is a path is a socket of the file
    system; with one, and with a `bot_connector` to another one, all works on virtual time too. Entering
    raises OSError where the address cannot be had.
    """

    def __init__(
        self,
        workspace: Workspace | Sequence[Workspace],
        clock: Clock,
        *,
        bot_url: str | None = None,
        ack_timeout: float | None = None,
        retry_delays: Sequence[float] | None = None,
        host: str = "127.0.0.1",
        port: int = 0,
        bot_connector: aiohttp.BaseConnector | None = None,
    ) -> None:
        workspaces = [workspace] if isinstance(workspace, Workspace) else workspace
        self.workspace = workspace = workspaces[0]
        self._teams = EmulatedTeams(workspaces)
        self._address = host, port
        rules, way = workspace.state.rules, "delivery" if bot_url is None else "http"
        patience = float(rules.size(f"{way}.ack", int(ACK_TIMEOUT)) if ack_timeout is None else ack_timeout)
        delays = _delays_of(rules, way) if retry_delays is None else retry_delays
        self.sockets = SocketMode(workspace, ack_timeout=patience, retry_delays=delays)
        self.events = None
        if bot_url is not None:
            self.events = EventsApi(
                bot_url,
                clock,
                ack_timeout=patience,
                retry_delays=delays,
                connector=bot_connector,
                rules=rules,
            )
        self.url = self.api_url = ""
        self._clock = clock
        self._closing = asyncio.Event()
        self._lines = {each.state.team: Line(each, clock) for each in self._teams}
        self._deliveries: set[asyncio.Task[None]] = set()

    @property
    def lost(self) -> list[Envelope]:
        return (self.events or self.sockets).lost

    async def __aenter__(self) -> Self:
        app = web.Application(client_max_size=_MAX_BODY)
        app.add_routes(
            [
                web.route("*", "/api/{method}", self._web_api),
                web.get("/link/", self.sockets.handle),
                web.post("/upload/{file}", self._upload),
                web.get(FILES_PATH + "{file}/{name:.*}", self._download),
                web.post("/response/{key}", self._respond),
            ]
        )
        self._runner = web.AppRunner(app, handler_cancellation=True, shutdown_timeout=1.0, access_log=None)
        await self._runner.setup()
        try:
            await self._site().start()
        except OSError:
            await self._runner.cleanup()
            raise
        place = self._place()
        self.url = f"http://{place}"
        self.api_url = f"{self.url}/api/"
        self._name(place)
        self._unlisten = [each.listen(partial(self._on_change, each)) for each in self._teams]
        for each in self._teams:
            self._on_change(each, Change("envelope"))
        return self

    async def __aexit__(self, *_: object) -> None:
        for unlisten in self._unlisten:
            unlisten()
        for line in self._lines.values():
            line.cancel()
        self._closing.set()
        for delivery in self._deliveries:
            delivery.cancel()
        await asyncio.gather(*self._deliveries, return_exceptions=True)
        await self.sockets.close()
        if self.events is not None:
            await self.events.close()
        await self._runner.cleanup()

    def _site(self) -> web.BaseSite:
        if self._address[0].startswith("/"):
            return web.UnixSite(self._runner, self._address[0])
        return web.TCPSite(self._runner, *self._address)

    def _place(self) -> str:
        """Host and port; a socket in the file system is reached under any name."""
        host = self._address[0]
        if host.startswith("/"):
            return "localhost"
        port = self._runner.addresses[0][1]
        return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"

    def _name(self, place: str) -> None:
        """The host and port in the addresses that the workspaces give out from now on."""
        for each in self._teams:
            each.state.file_base = f"http://{place}"
            each.state.link_base = f"ws://{place}"

    async def settle(self) -> None:
        """Wait until everything sent so far was acknowledged or lost."""
        while self._deliveries:
            await asyncio.wait(self._deliveries)

    async def refresh(self) -> None:
        await self.sockets.refresh()

    def _on_change(self, workspace: Workspace, change: Change) -> None:
        if change.kind != "envelope":
            return
        for envelope in workspace.take():
            delivery = asyncio.create_task(self._deliver(workspace, envelope), name=f"deliver {envelope.id}")
            self._deliveries.add(delivery)
            delivery.add_done_callback(self._deliveries.discard)

    async def _deliver(self, workspace: Workspace, envelope: Envelope) -> None:
        way = self.events or self.sockets
        await way.deliver(envelope)
        if envelope.id in way.acknowledged:
            workspace.answered(envelope, way.acknowledged[envelope.id])

    async def _web_api(self, request: web.Request) -> web.Response:
        method = request.match_info["method"]
        if self._address[0] in _EVERYWHERE:  # a bot in a container reaches us by what it calls us
            self._name(request.host)
        is_json = request.content_type == "application/json"
        try:
            args = await _arguments(request, is_json)
        except (ValueError, RecursionError):
            return web.json_response({"ok": False, "error": "invalid_json"})
        token = bearer(request.headers) or args.get("token")
        if not isinstance(token, str):
            token = None
        now = self._clock.wall()
        workspace = self._teams.of(token)
        answer = workspace.call(method, args, now=now, token=token, is_json=is_json)
        return _response(await self._carried(request, workspace, answer))

    async def _upload(self, request: web.Request) -> web.Response:
        content = await request.read()
        file_id = request.match_info["file"]
        workspace = self._teams.with_file(file_id)
        answer = await self._carried(request, workspace, workspace.receive_file(file_id, content))
        if answer.is_page:
            return _response(answer)
        text = f"OK - {len(content)}" if answer.body["ok"] else "refused"
        return web.Response(text=text, status=answer.status)

    async def _download(self, request: web.Request) -> web.Response:
        file_id = file_of_path(request.path) or ""
        workspace = self._teams.with_file(file_id)
        answer = workspace.download(file_id, token=bearer(request.headers))
        return _response(await self._carried(request, workspace, answer))

    async def _carried(self, request: web.Request, workspace: Workspace, answer: CallAnswer) -> CallAnswer:
        """The answer, after all that a bad line does to it; a connection that never comes about breaks."""
        answer = await self._lines[workspace.state.team].carry(answer)
        if answer.silence == "timeout":
            await self._closing.wait()  # ends earlier where the client hangs up: the handler is cancelled
        elif answer.silence and request.transport is not None:
            request.transport.close()
        await asyncio.sleep(answer.delay)
        return answer

    async def _respond(self, request: web.Request) -> web.Response:
        try:
            body = json.loads(await request.text())
        except (ValueError, RecursionError):
            return web.Response(text="invalid_payload", status=400)
        key = request.match_info["key"]
        return _response(self._teams.with_response(key).respond(key, body, now=self._clock.wall()))


def _response(answer: CallAnswer) -> web.Response:
    if answer.is_page:
        return web.Response(text=PAGE, content_type="text/html", status=answer.status)
    if answer.content is not None:
        headers = {**answer.headers, "Content-Type": answer.content_type}
        return web.Response(body=answer.content, status=answer.status, headers=headers)
    return web.json_response(answer.body, status=answer.status, headers=dict(answer.headers))


async def _arguments(request: web.Request, is_json: bool) -> dict[str, Any]:
    if not is_json:
        form = await request.post()
        return {**request.query, **{name: value for name, value in form.items() if isinstance(value, str)}}
    body = json.loads(await request.text() or "{}")
    if not isinstance(body, dict):
        raise ValueError("not an object")
    return {**request.query, **body}
