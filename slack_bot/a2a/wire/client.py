"""The A2A calls, on the 0.3 and on the 1.0 wire. One attempt each, at one interface.

Unknown ids are left out, never null. fasta2a 0.6 answers HTTP 500 without `acceptedOutputModes`.
`historyLength` 0 means "everything" to some 0.3 servers (facts: A2A 1.2, 2.8).

A stream's error comes as JSON instead, as an event's data, as an event named `error`, or as a cut (facts: A2A
5). A JSON answer may as well be a success.
"""

import asyncio
import json
from collections.abc import AsyncGenerator, AsyncIterator, Mapping, Sequence
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Literal, TypeAlias

import httpx

from ...errors import BadAgentData, StreamCut, StreamIdle
from ...settings.models import AgentSettings
from ...turn.files import GivenFile
from ...turn.json_values import Object, objects_of, text_of
from . import frames, sse, transport
from .auth import origin_of

Json: TypeAlias = dict[str, Any]
Wire: TypeAlias = Literal["0.3", "1.0"]
TaskVerb: TypeAlias = Literal["get", "cancel", "subscribe"]

OUTPUT_MODES = ("text/plain", "text/markdown", "application/json")
HISTORY_LENGTH = 1
MISSED_MESSAGES = 1000
"""Messages to read of a task whose stream was lost."""
_PAGE_TASKS = 20
_MOST_PAGES = 10  # pages that are read to find a task. Servers send the newest first ([spec] 3.1.4).

_METHODS: Mapping[str, Mapping[Wire, str]] = {
    "stream": {"0.3": "message/stream", "1.0": "SendStreamingMessage"},
    "send": {"0.3": "message/send", "1.0": "SendMessage"},
    "get": {"0.3": "tasks/get", "1.0": "GetTask"},
    "cancel": {"0.3": "tasks/cancel", "1.0": "CancelTask"},
    "subscribe": {"0.3": "tasks/resubscribe", "1.0": "SubscribeToTask"},
    "list": {"1.0": "ListTasks"},
    "set-push": {"0.3": "tasks/pushNotificationConfig/set", "1.0": "CreateTaskPushNotificationConfig"},
    "delete-push": {
        "0.3": "tasks/pushNotificationConfig/delete",
        "1.0": "DeleteTaskPushNotificationConfig",
    },
}
_SSE = "text/event-stream"
_STREAM_PATH = "/message:stream"
_KEEP_ALIVE_NAMES = frozenset({"ping", "heartbeat", "keepalive", "keep-alive"})


@dataclass(frozen=True, slots=True)
class Interface:
    """One JSON-RPC address, and its wire by the card."""

    url: str
    wire: Wire
    tenant: str | None = None


@dataclass(frozen=True, slots=True)
class MessageRequest:
    """One question. `task_id` only where it answers that task's question; `references`: other tasks.

    `files`: behind the text. `quoted`: what was said before it, as a part of its own behind the question.
    `data`: further parts, each with its metadata, which may be all there is. `metadata`: of the message.
    """

    text: str
    message_id: str
    context_id: str | None = None
    task_id: str | None = None
    references: tuple[str, ...] = ()
    files: tuple[GivenFile, ...] = field(default=(), repr=False)
    quoted: str | Mapping[str, Any] | None = None
    data: Sequence[tuple[Mapping[str, Any], Mapping[str, Any]]] = ()
    metadata: Mapping[str, Any] = field(default_factory=dict, hash=False)


def ask_body(at: Interface, request: MessageRequest, *, stream: bool) -> Json:
    """A question, with the streaming or the waiting method."""
    parts = [_part(at.wire, request.text)] if request.text or not request.data else []
    parts += [_file_part(at.wire, each) for each in request.files]
    for content, about in request.data:
        parts.append({**_part(at.wire, content), **({"metadata": dict(about)} if about else {})})
    if request.quoted is not None:
        parts.append({**_part(at.wire, request.quoted), "metadata": {"role": "context"}})
    if at.wire == "0.3":
        message: Json = {"kind": "message", "role": "user", "parts": parts}
        waiting = {"blocking": True}
    else:
        message = {"role": "ROLE_USER", "parts": parts}
        waiting = {"returnImmediately": False}
    ids = {"messageId": request.message_id, "contextId": request.context_id, "taskId": request.task_id}
    message |= {name: value for name, value in ids.items() if value}
    if request.references:
        message["referenceTaskIds"] = list(request.references)
    if request.metadata:
        message["metadata"] = dict(request.metadata)
    accepted = {"acceptedOutputModes": list(OUTPUT_MODES), "historyLength": HISTORY_LENGTH}
    params = {"message": message, "configuration": accepted | waiting}
    return _envelope(at, "stream" if stream else "send", request.message_id, params)


def _part(wire: Wire, content: str | Mapping[str, Any]) -> Json:
    """A part of text or data."""
    if isinstance(content, str):
        return {"kind": "text", "text": content} if wire == "0.3" else {"text": content}
    if wire == "0.3":
        return {"kind": "data", "data": dict(content)}
    return {"data": dict(content), "mediaType": "application/json"}


def _file_part(wire: Wire, file: GivenFile) -> Json:
    """A part of bytes, or of an address (facts: A2A 1.4)."""
    if wire == "0.3":
        where = {"uri": file.url} if file.url else {"bytes": file.content}
        return {"kind": "file", "file": {"name": file.name, "mimeType": file.media_type, **where}}
    where = {"url": file.url} if file.url else {"raw": file.content}
    return {**where, "filename": file.name, "mediaType": file.media_type}


def task_body(at: Interface, verb: TaskVerb, task_id: str, messages: int = HISTORY_LENGTH) -> Json:
    """Reads (with its last `messages`), cancels or re-joins a task."""
    params: Json = {"id": task_id}
    if verb == "get":
        params["historyLength"] = messages
    return _envelope(at, verb, f"{verb}-{task_id}", params)


def task_url(url: str, verb: TaskVerb) -> str:
    """Where a task is read or cancelled.

    An address that is REST's for streams serves no other call: agno takes JSON-RPC there, and each other call
    at an address of its own beside it (facts: A2A 2.7).
    """
    base, is_of_stream, rest = url.partition(_STREAM_PATH)
    return f"{base}/tasks:{verb}{rest}" if is_of_stream and rest[:1] in ("", "?") else url


def list_body(at: Interface, context_id: str | None, since: float, page: str) -> Json:
    """Reads one page of a conversation's tasks, with their messages. 1.0 only.

    None: of all tasks that changed `since` then, in seconds since 1970.
    """
    params: Json = {"pageSize": _PAGE_TASKS, "historyLength": MISSED_MESSAGES}
    if context_id is None:
        params["statusTimestampAfter"] = datetime.fromtimestamp(since, UTC).isoformat().replace("+00:00", "Z")
    else:
        params["contextId"] = context_id
    if page:
        params["pageToken"] = page
    return _envelope(at, "list", f"list-{context_id or since}", params)


def set_push_body(at: Interface, task_id: str, push_id: str, url: str, token: str) -> Json:
    """Has news of a task posted to `url`.

    `token` stands in both places: each server sends one or the other ([spec] 4.3.3, a2a-python#585).
    """
    config = {"id": push_id, "url": url, "token": token}
    if at.wire == "0.3":
        authentication: Json = {"schemes": ["Bearer"], "credentials": token}
        params: Json = {
            "taskId": task_id,
            "pushNotificationConfig": config | {"authentication": authentication},
        }
    else:
        authentication = {"scheme": "Bearer", "credentials": token}
        params = {"taskId": task_id, **config, "authentication": authentication}
    return _envelope(at, "set-push", f"set-push-{push_id}", params)


def delete_push_body(at: Interface, task_id: str, push_id: str) -> Json:
    """Ends what `set_push_body` began."""
    ids = {"id": task_id, "pushNotificationConfigId": push_id}
    if at.wire == "1.0":
        ids = {"taskId": task_id, "id": push_id}
    return _envelope(at, "delete-push", f"delete-push-{push_id}", ids)


def headers(wire: Wire, extensions: Sequence[str] = (), *, stream: bool) -> dict[str, str]:
    """LangGraph streams only if SSE is accepted; compression and caches would delay a stream.

    Extensions have an older header on 0.3 (facts: A2A 1.6).
    """
    found = {
        "Content-Type": "application/json",
        "Accept": "text/event-stream, application/json" if stream else "application/json",
        "Accept-Encoding": "identity",
        "Cache-Control": "no-store",
        "A2A-Version": wire,
    }
    if extensions:
        found["A2A-Extensions"] = ", ".join(extensions)
        if wire == "0.3":
            found["X-A2A-Extensions"] = found["A2A-Extensions"]
    return found


def _envelope(at: Interface, verb: str, request_id: str, params: Json) -> Json:
    if at.tenant:  # the client must echo what the card's interface says ([spec] 8.3.2)
        params["tenant"] = at.tenant
    return {"jsonrpc": "2.0", "id": request_id, "method": _METHODS[verb][at.wire], "params": params}


class _Content:
    """The body of a request. httpx keeps the request for as long as the answer comes."""

    def __init__(self, content: bytes) -> None:
        self._content: bytes | None = content
        self.size = len(content)

    async def __aiter__(self) -> AsyncIterator[bytes]:
        if self._content is None:  # h11's own error for a body that is too short is not httpx's
            raise httpx.WriteError("the agent has had this request")
        yield self._content

    def release(self) -> None:
        """The agent has it. It cannot be sent again after this; a login that is renewed asks before."""
        self._content = None


class Client:
    """The calls at one interface. `http` is shared and not closed here. `extensions`: besides those set."""

    def __init__(
        self,
        http: httpx.AsyncClient,
        interface: Interface,
        settings: AgentSettings,
        auth: httpx.Auth,
        extensions: Sequence[str] = (),
        traceparent: str | None = None,
    ) -> None:
        self._traced = {} if traceparent is None else {"traceparent": traceparent}
        self._http, self._interface, self._settings, self._auth = http, interface, settings, auth
        self._extensions = tuple(dict.fromkeys([*settings.extensions, *extensions]))
        self._host = str(origin_of(interface.url) or "the agent")

    def ask(self, asking: MessageRequest, *, stream: bool = True) -> AsyncGenerator[frames.Received, None]:
        """Ask, and yield each event as it comes, or the one answer. Close it (`aclosing`).

        The caller keeps the time between events.
        """
        body, is_large = ask_body(self._interface, asking, stream=stream), bool(asking.files)
        return self._received(body, stream=stream, is_large=is_large)

    def subscribe(self, task_id: str) -> AsyncGenerator[frames.Received, None]:
        """Join a task's stream again; the caller keeps the time. 0.3 servers lose the gap and may wedge."""
        return self._received(task_body(self._interface, "subscribe", task_id))

    async def task(self, verb: TaskVerb, task_id: str, messages: int = HISTORY_LENGTH) -> frames.Snapshot:
        body = task_body(self._interface, verb, task_id, messages)
        url, limit = task_url(self._interface.url, verb), self._settings.call_timeout
        received = await self._framed(*await self._called(body, limit, url))
        if not isinstance(received.frame, frames.Snapshot):
            raise BadAgentData(f"{self._host} was asked for a task and sent something else")
        return received.frame

    async def find_task(self, context_id: str | None, message_id: str, since: float) -> str | None:
        """The task that has this message, as `list_body`. 1.0 only; None: not among the newest."""
        page = ""
        for _ in range(_MOST_PAGES):
            body = list_body(self._interface, context_id, since, page)
            found, _ = await self._called(body, self._settings.call_timeout)
            tasks = objects_of(found.get("tasks"))
            if task_id := await transport.offload(_holder, tasks, message_id):
                return task_id
            page = text_of(found.get("nextPageToken"))
            if not page:
                break
        return None

    async def set_push(self, task_id: str, push_id: str, url: str, token: str) -> None:
        """Have news of the task posted to `url`, with `token`. AgentFailed -32003: this agent cannot."""
        body = set_push_body(self._interface, task_id, push_id, url, token)
        await self._called(body, self._settings.call_timeout)

    async def delete_push(self, task_id: str, push_id: str) -> None:
        body = delete_push_body(self._interface, task_id, push_id)
        await self._called(body, self._settings.call_timeout)

    async def _called(self, body: Json | bytes, limit: float, url: str = "") -> tuple[Object, int]:
        """The result, and the size of the answer in bytes."""
        with transport.map_exceptions(self._host):
            try:
                async with asyncio.timeout(limit), self._posted(body, stream=False, url=url) as response:
                    return await self._result(response)
            except TimeoutError as error:
                raise StreamIdle(f"{self._host} did not answer within {limit:g} s") from error

    async def _received(
        self, body: Json, *, stream: bool = True, is_large: bool = False
    ) -> AsyncGenerator[frames.Received, None]:
        content = await transport.offload(_encoded, body) if is_large else _encoded(body)
        del body  # with the question's files, which may be large, for as long as the agent answers
        if not stream:
            yield await self._framed(*await self._called(content, self._settings.turn_timeout))
            return
        with transport.map_exceptions(self._host):
            async with self._posted(content, stream=True) as response:
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
    async def _posted(
        self, body: Json | bytes, *, stream: bool, url: str = ""
    ) -> AsyncIterator[httpx.Response]:
        """The successful response. Others are raised. `url`: another one than the interface's."""
        content = _Content(body if isinstance(body, bytes) else _encoded(body))
        del body
        about = headers(self._interface.wire, self._extensions, stream=stream)
        async with self._http.stream(
            "POST",
            url or self._interface.url,
            content=content,
            headers=about | {"Content-Length": str(content.size)} | self._traced,
            auth=self._auth,
        ) as response:
            content.release()
            if not response.is_success:
                raise await transport.error_from_status(response, self._host)
            yield response

    async def _result(self, response: httpx.Response) -> tuple[Object, int]:
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
        return frames.Received(raw, frame, len(data))


def _encoded(body: Json) -> bytes:
    return json.dumps(body).encode("ascii")


def _holder(tasks: Sequence[Object], message_id: str) -> str | None:
    for each in tasks:
        task = frames.frame_of({"task": each})
        if isinstance(task, frames.Snapshot) and any(said.message_id == message_id for said in task.history):
            return task.task_id
    return None
