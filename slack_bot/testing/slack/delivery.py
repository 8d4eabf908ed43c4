"""How envelopes reach the app: over its web sockets (Socket Mode), or as signed HTTP requests (Events API).

What is not acknowledged in time comes again, up to three times, and says so; then it is lost (facts: Slack
3.3 and 3.4).
"""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import json
from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import urlencode

import aiohttp
from aiohttp import WSMsgType, web

from ...clock import Clock
from .workspace import SIGNING_SECRET, Envelope, Workspace

RETRY_DELAYS = (0.0, 60.0, 300.0)
_GREETING = {"host": "applink-emulated", "build_number": 1, "approximate_connection_time": 18_060}


class Delivery:
    """One way to the app. Times are in seconds.

    `acknowledged` keeps what the app answered, by envelope id; `lost` what it never took.
    """

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

    async def _send(self, envelope: Envelope, attempt: int, reason: str) -> str:
        """ "": the matter is settled. Otherwise Slack's word for why it comes again, then in `reason`."""
        raise NotImplementedError


class SocketMode(Delivery):
    """The sockets of one app. Where none is connected, an envelope waits for the first.

    `breaks` is how many of the next handshakes come to nothing after their ticket was used up.
    """

    def __init__(
        self, workspace: Workspace, *, ack_timeout: float = 3.0, retry_delays: Sequence[float] = RETRY_DELAYS
    ) -> None:
        super().__init__(retry_delays)
        self.breaks = 0
        self._workspace, self._ack_timeout = workspace, ack_timeout
        self._sockets: list[web.WebSocketResponse] = []
        self._open: set[web.WebSocketResponse] = set()
        self._connected = asyncio.Event()
        self._waiting: dict[str, asyncio.Event] = {}
        self._turn = 0

    @property
    def connections(self) -> int:
        """How many sockets are open, also those that were asked to reconnect and have not closed yet."""
        return len(self._open)

    async def connected(self) -> None:
        """Wait until a socket is open."""
        await self._connected.wait()

    async def handle(self, request: web.Request) -> web.WebSocketResponse:
        """An app connects with the ticket that apps.connections.open gave it. 403 for any other."""
        if not self._workspace.redeem(request.query.get("ticket", "")):
            raise web.HTTPForbidden(text="invalid ticket")
        if self.breaks > 0:
            self.breaks -= 1
            raise web.HTTPServiceUnavailable(text="try again")
        socket = web.WebSocketResponse()
        await socket.prepare(request)
        self._sockets.append(socket)
        self._open.add(socket)
        app = {"app_id": self._workspace.bot.app_id}
        hello = {"type": "hello", "num_connections": self.connections, "connection_info": app}
        await socket.send_json({**hello, "debug_info": _GREETING})
        self._connected.set()
        try:
            async for frame in socket:
                if frame.type is WSMsgType.TEXT:
                    self._hear(frame.data)
        finally:
            self._drop(socket)
            self._open.discard(socket)
        return socket

    async def deliver(self, envelope: Envelope) -> None:
        """Send an envelope until it is acknowledged or lost."""
        self._waiting[envelope.id] = asyncio.Event()
        try:
            await super().deliver(envelope)
        finally:
            del self._waiting[envelope.id]

    async def refresh(self, reason: str = "refresh_requested") -> None:
        """Ask every socket to reconnect, as Slack does every few hours."""
        for socket in tuple(self._sockets):
            await socket.send_json({"type": "disconnect", "reason": reason, "debug_info": _GREETING})
            self._drop(socket)

    async def close(self) -> None:
        """Close every socket, also those that were asked to reconnect and did not."""
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
                await socket.send_json(frame)
                break
            except ConnectionError:  # it closed in this moment: another one takes the envelope
                self._drop(socket)
        try:
            async with asyncio.timeout(self._ack_timeout):
                await self._waiting[envelope.id].wait()
        except TimeoutError:
            return "timeout"
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


class EventsApi(Delivery):
    """Posts envelopes to `url`. An app ends the retries with `x-slack-no-retry: 1` (facts: Slack 3.3)."""

    def __init__(
        self,
        url: str,
        clock: Clock,
        *,
        ack_timeout: float = 3.0,
        retry_delays: Sequence[float] = RETRY_DELAYS,
    ) -> None:
        super().__init__(retry_delays)
        self._url, self._clock = url, clock
        self._http = aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=ack_timeout))

    async def close(self) -> None:
        """Release the connections."""
        await self._http.close()

    async def verify(self) -> bool:
        """The handshake when an address is entered in Slack's settings: the app must echo the challenge."""
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
                if response.ok:
                    self.acknowledged[envelope.id] = await response.text()
                    return ""
                if response.headers.get("x-slack-no-retry") == "1":
                    self.lost.append(envelope)
                    return ""
                return "http_error"
        except TimeoutError:
            return "http_timeout"
        except aiohttp.ClientError:
            return "connection_failed"

    def _post(self, body: str, content_type: str, retry: Mapping[str, str]) -> Any:
        now = int(self._clock.wall())
        signed = {"X-Slack-Request-Timestamp": str(now), "X-Slack-Signature": sign(SIGNING_SECRET, now, body)}
        headers = {"Content-Type": content_type, **signed, **retry}
        return self._http.post(self._url, data=body, headers=headers)
