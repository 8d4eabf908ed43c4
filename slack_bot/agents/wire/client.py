"""Makes the A2A calls: one attempt each, at one interface.

The error of a stream may come as JSON in its place, as an event's data, as an event named `error`, or as a
broken connection (facts: A2A 5). An answer as JSON may also be a success.
"""

import asyncio
import json
from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from contextlib import aclosing, asynccontextmanager
from dataclasses import replace
from http import HTTPStatus

from ...errors import AgentRefused, BadAgentData, StreamCut, StreamIdle
from ...http_client import AsyncClient, Auth, Response, WriteError
from ...settings.models import AgentSettings
from ...turn.json_values import Object, objects_of, text_of
from . import frames, sse, transport
from .auth import origin_of
from .calls import (
    HISTORY_LENGTH,
    Call,
    Interface,
    Json,
    MessageRequest,
    TaskVerb,
    ask_call,
    card_call,
    delete_push_call,
    headers,
    list_call,
    set_push_call,
    task_call,
)

_MOST_PAGES = 10  # pages that are read to find a task. Servers send the newest first ([spec] 3.1.4).
_SSE = "text/event-stream"
_KEEP_ALIVE_NAMES = frozenset({"ping", "heartbeat", "keepalive", "keep-alive"})


class _Content:
    """The body of a request, freed once it is sent. httpx itself keeps the request until the answer ends."""

    def __init__(self, content: bytes) -> None:
        self._content: bytes | None = content
        self.size = len(content)

    async def __aiter__(self) -> AsyncIterator[bytes]:
        if self._content is None:  # h11's own error for a body that is too short is not httpx's
            raise WriteError("the agent has had this request")
        yield self._content

    def release(self) -> None:
        """Free the body. After this it cannot be sent again; a renewed login asks before that."""
        self._content = None


class Client:
    """The calls at one interface.

    The owner of `http` closes it. `extensions`: in addition to the configured ones.
    """

    def __init__(
        self,
        http: AsyncClient,
        interface: Interface,
        settings: AgentSettings,
        auth: Auth,
        extensions: Sequence[str] = (),
        traceparent: str | None = None,
    ) -> None:
        self._traced = {} if traceparent is None else {"traceparent": traceparent}
        self._http, self._interface, self._settings, self._auth = http, interface, settings, auth
        self._extensions = tuple(dict.fromkeys([*settings.extensions, *extensions]))
        self._host = str(origin_of(interface.url) or "the agent")

    def ask(self, request: MessageRequest, *, stream: bool = True) -> AsyncGenerator[frames.Received, None]:
        """Ask, and yield each event when it comes, or the one answer. The caller must close it (`aclosing`).

        It sets no limit on the time between events; the caller does. Raises AgentError.
        """
        call, is_large = ask_call(self._interface, request, stream=stream), bool(request.files)
        return self._received(call, stream=stream, is_large=is_large)

    async def subscribe(self, task_id: str, last_id: str = "") -> AsyncGenerator[frames.Received, None]:
        """Join a task's stream again. 0.3 servers lose the events in between, and may block.

        `last_id`: the id of the last event that came; some servers go on after it. Sets no limit on the time
        between events. Raises AgentError.
        """
        call = task_call(self._interface, "subscribe", task_id, last_id=last_id)
        try:
            async with aclosing(self._received(call)) as events:
                async for event in events:
                    yield event
        except AgentRefused as error:
            if error.status != HTTPStatus.METHOD_NOT_ALLOWED or call.body:
                raise
            # HTTP+JSON: [spec] says POST, [proto] says GET
            async with aclosing(self._received(replace(call, method="GET", body=None))) as events:
                async for event in events:
                    yield event

    async def task(self, verb: TaskVerb, task_id: str, messages: int = HISTORY_LENGTH) -> frames.Snapshot:
        call = task_call(self._interface, verb, task_id, messages)
        received = await self._framed(*await self._called(call, self._settings.call_timeout))
        if not isinstance(received.frame, frames.Snapshot):
            raise BadAgentData(f"{self._host} was asked for a task and sent something else")
        return received.frame

    async def find_task(self, context_id: str | None, message_id: str, since: float) -> str | None:
        """Find the task that has the message `message_id`; None if it is not among the newest tasks.

        For the 1.0 wire only. `context_id` and `since`: see `list_call`. Raises AgentError.
        """
        page = ""
        for _ in range(_MOST_PAGES):
            call = list_call(self._interface, context_id, since, page)
            result, _ = await self._called(call, self._settings.call_timeout)
            tasks = objects_of(result.get("tasks"))
            if task_id := await transport.offload(_holder, tasks, message_id):
                return task_id
            page = text_of(result.get("nextPageToken"))
            if not page:
                break
        return None

    async def extended_card(self) -> Object:
        """Read the card for clients with a login. Raises AgentError."""
        return (await self._called(card_call(self._interface), self._settings.card_timeout))[0]

    async def set_push(self, task_id: str, push_id: str, url: str, token: str) -> None:
        """Let the agent post news of the task to `url`, with `token`.

        Raises AgentError; AgentFailed with code -32003 means that this agent cannot.
        """
        call = set_push_call(self._interface, task_id, push_id, url, token)
        await self._called(call, self._settings.call_timeout)

    async def delete_push(self, task_id: str, push_id: str) -> None:
        call = delete_push_call(self._interface, task_id, push_id)
        await self._called(call, self._settings.call_timeout)

    async def _called(self, call: Call, limit: float, content: bytes | None = None) -> tuple[Object, int]:
        """Send one call and wait up to `limit` seconds. Returns the result and the size of the answer in
        bytes.

        `content`: the body of the call, if it is encoded already.
        """
        with transport.map_exceptions(self._host):
            try:
                async with (
                    asyncio.timeout(limit),
                    self._sent(call, content or _encoded(call.body), stream=False) as response,
                ):
                    return await self._result(response)
            except TimeoutError as error:
                raise StreamIdle(f"{self._host} did not answer within {limit:g} s") from error

    async def _received(
        self, call: Call, *, stream: bool = True, is_large: bool = False
    ) -> AsyncGenerator[frames.Received, None]:
        body, call = call.body, replace(call, body=None)
        content = await transport.offload(_encoded, body) if is_large else _encoded(body)
        del body  # with the question's files, which may be large, for as long as the agent answers
        if not stream:
            yield await self._framed(*await self._called(call, self._settings.turn_timeout, content))
            return
        with transport.map_exceptions(self._host):
            async with self._sent(call, content, stream=True) as response:
                content = b""
                if transport.media_type(response) != _SSE:
                    yield await self._framed(*await self._result(response))
                    return
                max_bytes, max_lines = self._settings.max_event_bytes, self._settings.max_event_lines
                async with aclosing(sse.events(response, max_bytes, max_lines)) as events:
                    async for event in events:
                        if len(event.raw) <= transport.LARGE:
                            received = self._read(event)
                        else:
                            received = await transport.offload(self._read, event)
                        if received is not None:
                            yield received

    @asynccontextmanager
    async def _sent(self, call: Call, body: bytes, *, stream: bool) -> AsyncIterator[Response]:
        """Send a request and yield its successful response. Other responses are raised."""
        content = _Content(body)
        del body
        request_headers = headers(self._interface, self._extensions, stream=stream) | self._traced
        if call.last_id:
            request_headers["Last-Event-ID"] = call.last_id
        if content.size:
            request_headers["Content-Length"] = str(content.size)
        async with self._http.stream(
            call.method,
            call.url,
            content=content if content.size else None,
            headers=request_headers,
            auth=self._auth,
        ) as response:
            content.release()
            if not response.is_success:
                raise await transport.error_from_status(response, self._host, self._settings, call.codes)
            yield response

    async def _result(self, response: Response) -> tuple[Object, int]:
        if "json" not in transport.media_type(response):
            raise transport.not_a2a(response, self._host)
        body = await transport.read_body(response, self._host, self._settings.max_event_bytes)
        return frames.unwrap(await transport.offload(transport.parse_json, body, self._host)), len(body)

    async def _framed(self, raw: Object, size: int) -> frames.Received:
        frame = await transport.offload(frames.frame_of, raw)
        if isinstance(frame, frames.Unknown):
            raise BadAgentData(f"{self._host} sent JSON that is not A2A")
        return frames.Received(raw, frame, size)

    def _read(self, event: sse.SseBlock) -> frames.Received | None:
        data = event.data or ""
        try:
            payload = transport.parse_json(data, self._host)
        except BadAgentData as error:
            if not event.whole:
                raise StreamCut(f"{self._host} ended the stream in the middle of an event") from error
            if event.name in _KEEP_ALIVE_NAMES:
                return None
            if event.name == "error":
                raise frames.failure(data) from error
            raise
        raw = frames.unwrap(payload)
        frame = frames.frame_of(raw)
        if event.name == "error" and isinstance(frame, frames.Unknown):
            raise frames.failure(payload)
        return frames.Received(raw, frame, len(data), event.id)


def _encoded(body: Json | None) -> bytes:
    return b"" if body is None else json.dumps(body).encode("ascii")


def _holder(tasks: Sequence[Object], message_id: str) -> str | None:
    for each in tasks:
        task = frames.frame_of({"task": each})
        if isinstance(task, frames.Snapshot) and any(
            message.message_id == message_id for message in task.history
        ):
            return task.task_id
    return None
