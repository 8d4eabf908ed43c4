"""The A2A calls. One attempt each, at one interface, on one wire.

A stream's error comes as JSON instead, as an event's data, as an event named `error`, or as a cut (facts: A2A
5). A JSON answer may as well be a success.
"""

from __future__ import annotations

import asyncio
import json
import math
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import AsyncExitStack, aclosing, asynccontextmanager

import httpx

from ...errors import BadAgentData, StreamCut, StreamIdle
from ...settings.models import AgentSettings
from ..offload import LARGE, offload
from . import sse
from .decode import failure, frame_of, unwrap
from .frames import Received, Snapshot, Unknown
from .origins import origin_of
from .requests import HISTORY_LENGTH, Interface, Json, MessageRequest, TaskVerb, ask_body, headers, task_body
from .transport import (
    error_from_status,
    map_exceptions,
    media_type,
    not_a2a,
    parse_json,
    read_body,
    with_read_timeout,
)

_SSE = "text/event-stream"
_KEEP_ALIVE_NAMES = frozenset({"ping", "heartbeat", "keepalive", "keep-alive"})


class Client:
    """The calls at one interface. `http` is shared and not closed here."""

    def __init__(
        self, http: httpx.AsyncClient, interface: Interface, settings: AgentSettings, auth: httpx.Auth
    ) -> None:
        self._http = http
        self._interface = interface
        self._settings = settings
        self._auth = auth
        self._host = str(origin_of(interface.url) or "the agent")

    def stream(self, asking: MessageRequest, patience: float | None = None) -> AsyncGenerator[Received, None]:
        """Ask, and yield each event as it comes. Close it (`aclosing`).

        `patience`: seconds for each event; None: `idle_timeout`, `math.inf`: the caller keeps the time.
        """
        return self._streamed(ask_body(self._interface, asking, stream=True), patience)

    def subscribe(self, task_id: str) -> AsyncGenerator[Received, None]:
        """Join a task's stream again; the caller keeps the time. 0.3 servers lose the gap and may wedge."""
        return self._streamed(task_body(self._interface, "subscribe", task_id), math.inf)

    async def send(self, asking: MessageRequest) -> Received:
        """Ask, and wait for the one answer."""
        body = ask_body(self._interface, asking, stream=False)
        return await self._called(body, self._settings.turn_timeout)

    async def task(self, verb: TaskVerb, task_id: str, messages: int = HISTORY_LENGTH) -> Snapshot:
        """Read or cancel the task; the task as it is then."""
        body = task_body(self._interface, verb, task_id, messages)
        received = await self._called(body, self._settings.call_timeout)
        if not isinstance(received.frame, Snapshot):
            raise BadAgentData(f"{self._host} was asked for a task and sent something else")
        return received.frame

    async def _called(self, body: Json, limit: float) -> Received:
        with map_exceptions(self._host):
            async with self._in_time(limit), self._posted(body, stream=False, limit=limit) as response:
                return await self._single(response)

    async def _streamed(self, body: Json, patience: float | None) -> AsyncGenerator[Received, None]:
        idle = self._settings.idle_timeout if patience is None else patience
        with map_exceptions(self._host):
            async with self._posted(body, stream=True, limit=idle) as response:
                if media_type(response) != _SSE:
                    async with self._in_time(idle):
                        only = await self._single(response)
                    yield only
                    return
                limit = self._settings.max_event_bytes
                async with aclosing(sse.events(response, idle=idle, max_event_bytes=limit)) as events:
                    async for event in events:
                        if len(event.raw) <= LARGE:
                            received = self._received(event)
                        else:
                            received = await offload(self._received, event)
                        if received is not None:
                            yield received

    @asynccontextmanager
    async def _posted(self, body: Json, *, stream: bool, limit: float) -> AsyncIterator[httpx.Response]:
        """The successful response, its head read within `limit` seconds. Others are raised."""
        async with AsyncExitStack() as stack:
            async with self._in_time(limit):
                response = await stack.enter_async_context(
                    self._http.stream(
                        "POST",
                        self._interface.url,
                        content=json.dumps(body).encode("ascii"),
                        headers=headers(self._interface.wire, self._settings.extensions, stream=stream),
                        timeout=with_read_timeout(self._http, limit),
                        auth=self._auth,
                    )
                )
                if not response.is_success:
                    raise await error_from_status(response, self._host)
            yield response

    @asynccontextmanager
    async def _in_time(self, seconds: float) -> AsyncIterator[None]:
        try:
            async with asyncio.timeout(None if math.isinf(seconds) else seconds):
                yield
        except TimeoutError as error:
            raise StreamIdle(f"{self._host} did not answer within {seconds:g} s") from error

    async def _single(self, response: httpx.Response) -> Received:
        if "json" not in media_type(response):
            raise not_a2a(response, self._host)
        body = await read_body(response, self._host, self._settings.max_event_bytes)
        raw = unwrap(await offload(parse_json, body, self._host))
        frame = await offload(frame_of, raw)
        if isinstance(frame, Unknown):
            raise BadAgentData(f"{self._host} sent JSON that is not A2A")
        return Received(raw, frame, len(body))

    def _received(self, event: sse.SseBlock) -> Received | None:
        """What `event` says; None where it only keeps the connection alive."""
        data = event.data or ""
        try:
            payload = parse_json(data, self._host)
        except BadAgentData as error:
            if not event.whole:
                raise StreamCut(f"{self._host} ended the stream in the middle of an event") from error
            if event.name in _KEEP_ALIVE_NAMES:
                return None
            if event.name == "error":
                raise failure(data) from error
            raise
        raw = unwrap(payload)
        frame = frame_of(raw)
        if event.name == "error" and isinstance(frame, Unknown):
            raise failure(payload)
        return Received(raw, frame, len(data))
