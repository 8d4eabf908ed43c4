"""Hears what Slack sends to an app in Socket Mode, and acknowledges it."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Self

import aiohttp

from ...clock import Clock

_WITHIN = 10.0  # seconds that an event may take
_HELLO = 10.0  # seconds that Slack has to greet


@dataclass(frozen=True, slots=True)
class HeardEvent:
    """An envelope. `attempt`: how often it came before, and why it comes again."""

    at: float
    id: str
    payload: Mapping[str, Any]
    attempt: int = 0
    reason: str = ""

    @property
    def event(self) -> Mapping[str, Any]:
        """The event in it."""
        return self.payload.get("event") or {}


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


class SocketEars:
    """One connection, as an async context manager. `leaves`: of which envelopes it acknowledges none."""

    def __init__(self, socket: aiohttp.ClientWebSocketResponse, clock: Clock) -> None:
        self.heard: list[HeardEvent] = []
        self.leaves: Callable[[HeardEvent], bool] = lambda heard: False
        self._socket, self._clock = socket, clock
        self._changed = asyncio.Condition()
        self._task = asyncio.create_task(self._listen(), name="ears")

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *error: object) -> None:
        await self._socket.close()
        await self._task

    async def until(
        self, matches: Callable[[HeardEvent], bool], within: float = _WITHIN, since: int = 0
    ) -> HeardEvent | None:
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

    async def _listen(self) -> None:
        async for frame in self._socket:
            if frame.type is not aiohttp.WSMsgType.TEXT:
                continue
            envelope = json.loads(frame.data)
            if "envelope_id" not in envelope:
                continue
            heard = HeardEvent(
                self._clock.wall(),
                str(envelope["envelope_id"]),
                envelope.get("payload") or {},
                int(envelope.get("retry_attempt") or 0),
                str(envelope.get("retry_reason") or ""),
            )
            if not self.leaves(heard):
                await self._socket.send_json({"envelope_id": heard.id})
            async with self._changed:
                self.heard.append(heard)
                self._changed.notify_all()
