"""Hears what Slack sends to an app, by Socket Mode or by HTTP, and acknowledges it."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, Self, TypeAlias
from urllib.parse import parse_qs

import aiohttp
from aiohttp import web

from ...clock import Clock

Way: TypeAlias = Literal["delivery", "http"]
"""How events come: by Socket Mode, or by HTTP; as in the ids of the rules."""
_WITHIN = 10.0  # seconds that an event may take
BY_HAND = 180.0
"""Seconds that a person may take."""
_HELLO = 10.0  # seconds that Slack has to greet
_LISTENS = "0.0.0.0"


@dataclass(frozen=True, slots=True)
class HeardEvent:
    """An envelope. `attempt`: how often it came before, and why it comes again."""

    at: float
    payload: Mapping[str, Any]
    attempt: int = 0
    reason: str = ""

    @property
    def event(self) -> Mapping[str, Any]:
        """The event in it."""
        return self.payload.get("event") or {}


Matches: TypeAlias = Callable[[HeardEvent], bool]


class NoConnection(Exception):
    """Slack lets none in. `str()` is the reason that it gives."""


async def open_socket(http: aiohttp.ClientSession, url: str) -> tuple[aiohttp.ClientWebSocketResponse, int]:
    """A connection, and how many the app has with it. Raises NoConnection."""
    try:
        socket = await http.ws_connect(url)
        async with asyncio.timeout(_HELLO):
            said = json.loads((await socket.receive()).data or "{}")
    except (aiohttp.ClientError, OSError, TimeoutError, ValueError, TypeError) as error:
        status = error.status if isinstance(error, aiohttp.WSServerHandshakeError) else ""
        raise NoConnection(f"http_{status}" if status else type(error).__name__) from error
    if said.get("type") != "hello":
        await socket.close()
        raise NoConnection(str(said.get("reason")))
    return socket, int(said.get("num_connections") or 1)


class Ears:
    """What was `heard`. `leaves`: what gets no answer; `refuses`: what is refused for good, by HTTP."""

    way: Way = "delivery"

    def __init__(self, clock: Clock) -> None:
        self.heard: list[HeardEvent] = []
        self.leaves: Matches = lambda heard: False
        self.refuses: Matches = lambda heard: False
        self._clock, self._changed = clock, asyncio.Condition()

    async def until(self, matches: Matches, within: float = _WITHIN, since: int = 0) -> HeardEvent | None:
        """The first envelope that `matches`, of those behind the first `since`; None: none came in time."""
        at = since
        try:
            async with asyncio.timeout(within), self._changed:
                while True:
                    for heard in self.heard[at:]:
                        if matches(heard):
                            return heard
                    at = len(self.heard)
                    await self._changed.wait()
        except TimeoutError:
            return None

    async def hear(self, payload: Mapping[str, Any], attempt: object, reason: object) -> HeardEvent:
        """Keep an envelope, and tell those who wait for it."""
        heard = HeardEvent(self._clock.wall(), payload, int(str(attempt or 0)), str(reason or ""))
        async with self._changed:
            self.heard.append(heard)
            self._changed.notify_all()
        return heard


class SocketEars(Ears):
    """One connection, as an async context manager."""

    def __init__(self, socket: aiohttp.ClientWebSocketResponse, clock: Clock) -> None:
        super().__init__(clock)
        self._socket = socket
        self._task = asyncio.create_task(self._listen(), name="ears")

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *error: object) -> None:
        await self._socket.close()
        await self._task

    async def _listen(self) -> None:
        async for frame in self._socket:
            if frame.type is not aiohttp.WSMsgType.TEXT:
                continue
            envelope = json.loads(frame.data)
            if "envelope_id" not in envelope:
                continue
            payload = envelope.get("payload") or {}
            heard = await self.hear(payload, envelope.get("retry_attempt"), envelope.get("retry_reason"))
            if not self.leaves(heard):
                await self._socket.send_json({"envelope_id": envelope["envelope_id"]})


class HttpEars(Ears):
    """A server for events, as an async context manager. `at`: a port, or the path of a socket.

    Entering raises OSError where that cannot be had.
    """

    way: Way = "http"

    def __init__(self, at: int | str, clock: Clock) -> None:
        super().__init__(clock)
        self._at = at

    async def __aenter__(self) -> Self:
        app = web.Application()
        app.add_routes([web.post("/{path:.*}", self._take)])
        self._runner = web.AppRunner(app, handler_cancellation=True, shutdown_timeout=1.0, access_log=None)
        await self._runner.setup()
        await self._site().start()
        return self

    async def __aexit__(self, *error: object) -> None:
        await self._runner.cleanup()

    def _site(self) -> web.BaseSite:
        if isinstance(self._at, str):
            return web.UnixSite(self._runner, self._at)
        return web.TCPSite(self._runner, _LISTENS, self._at)

    async def _take(self, request: web.Request) -> web.Response:
        body = await request.text()
        is_form = request.content_type == "application/x-www-form-urlencoded"
        payload = json.loads(parse_qs(body)["payload"][0] if is_form else body)
        if payload.get("type") == "url_verification":
            return web.Response(text=str(payload.get("challenge")))
        told = request.headers
        heard = await self.hear(payload, told.get("X-Slack-Retry-Num"), told.get("X-Slack-Retry-Reason"))
        if self.leaves(heard):
            await asyncio.Event().wait()  # until Slack has had enough and hangs up
        if self.refuses(heard):
            return web.Response(status=500, headers={"x-slack-no-retry": "1"})
        return web.Response()
