"""Socket Mode's server side: envelopes go to one of the app's web sockets and must be acknowledged.

What is not acknowledged in time comes again, up to three times; then it is lost (facts: Slack 3.3 and 3.4).
Where no socket is connected, an envelope waits for the first.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from typing import Any

from aiohttp import WSMsgType, web

from .workspace import Envelope, Workspace

RETRY_DELAYS = (0.0, 60.0, 300.0)
_GREETING = {"host": "applink-emulated", "build_number": 1, "approximate_connection_time": 18_060}


class SocketMode:
    """The sockets of one app. `ack_timeout` and `retry_delays` are in seconds.

    `acknowledged` keeps what the app answered, by envelope id; `lost` what it never took. `breaks` is how
    many of the next handshakes come to nothing after their ticket was used up.
    """

    def __init__(
        self, workspace: Workspace, *, ack_timeout: float = 3.0, retry_delays: Sequence[float] = RETRY_DELAYS
    ) -> None:
        self.acknowledged: dict[str, Any] = {}
        self.lost: list[Envelope] = []
        self.breaks = 0
        self._workspace = workspace
        self._ack_timeout = ack_timeout
        self._retry_delays = tuple(retry_delays)
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
        await socket.send_json(
            {
                "type": "hello",
                "num_connections": self.connections,
                "connection_info": {"app_id": self._workspace.bot.app_id},
                "debug_info": _GREETING,
            }
        )
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
        heard = self._waiting[envelope.id] = asyncio.Event()
        try:
            for attempt, delay in enumerate((0.0, *self._retry_delays)):
                await asyncio.sleep(delay)
                await self._send(_frame(envelope, attempt))
                if await _happens(heard, self._ack_timeout):
                    return
            self.lost.append(envelope)
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

    async def _send(self, frame: dict[str, Any]) -> None:
        while True:
            await self._connected.wait()
            self._turn += 1
            socket = self._sockets[self._turn % len(self._sockets)]
            try:
                await socket.send_json(frame)
            except ConnectionError:  # it closed in this moment: another one takes the envelope
                self._drop(socket)
            else:
                return

    def _hear(self, text: str) -> None:
        try:
            ack = json.loads(text)
        except (ValueError, RecursionError):
            return
        envelope_id = ack.get("envelope_id") if isinstance(ack, dict) else None
        heard = self._waiting.get(str(envelope_id))
        if heard is not None:
            self.acknowledged[str(envelope_id)] = ack.get("payload")
            heard.set()

    def _drop(self, socket: web.WebSocketResponse) -> None:
        if socket in self._sockets:
            self._sockets.remove(socket)
        if not self._sockets:
            self._connected.clear()


def _frame(envelope: Envelope, attempt: int) -> dict[str, Any]:
    frame = {
        "envelope_id": envelope.id,
        "type": envelope.type,
        "accepts_response_payload": envelope.accepts_response_payload,
        "payload": envelope.payload,
    }
    if attempt:
        frame |= {"retry_attempt": attempt, "retry_reason": "timeout"}
    return frame


async def _happens(event: asyncio.Event, within: float) -> bool:
    try:
        async with asyncio.timeout(within):
            await event.wait()
    except TimeoutError:
        return False
    return True
