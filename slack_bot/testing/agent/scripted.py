"""A scripted agent: serves any tape or recording as an A2A server does, behind httpx or on a port."""

import asyncio
import base64
import json
import math
from collections.abc import AsyncGenerator, AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from aiohttp import web

from ...http_client import (
    AsyncBaseTransport,
    AsyncByteStream,
    ReadTimeout,
    RemoteProtocolError,
    Request,
    Response,
)
from ..tape.tape import Recording, Tape
from .playback import (
    Beat,
    Json,
    Playback,
    RequestId,
    Wire,
    envelope,
    is_over,
    json_bytes,
    sse,
    status_event,
    with_state,
)

_SEND = frozenset({"message/send", "SendMessage"})
_STREAM = frozenset({"message/stream", "SendStreamingMessage"})
_GET = frozenset({"tasks/get", "GetTask"})
_CANCEL = frozenset({"tasks/cancel", "CancelTask"})
_JOIN = frozenset({"tasks/resubscribe", "SubscribeToTask"})
_CARDS = (".well-known/agent-card.json", ".well-known/agent.json")
_EVENTS = {"content-type": "text/event-stream; charset=utf-8", "cache-control": "no-store"}


class ConnectionCut(Exception):
    """The connection breaks here. A transport turns this into its own error."""


@dataclass(frozen=True, slots=True)
class AgentCall:
    """A JSON-RPC call that came in. `headers` have lower-case names."""

    method: str
    id: RequestId
    params: Json
    headers: Mapping[str, str]

    @property
    def text(self) -> str:
        """The question."""
        texts = [part.get("text") for part in self._parts() if not _is_context(part)]
        return "".join(text for text in texts if isinstance(text, str))

    @property
    def quoted(self) -> Any:
        """What came with the question as data or as text, None without any."""
        found = (part.get("data") or part.get("text") for part in self._parts() if _is_context(part))
        return next(found, None)

    @property
    def files(self) -> list[tuple[str, str, bytes]]:
        """Name, media type and bytes of each file that came with the question, on either wire."""
        return [
            (str(file.get("name")), str(file.get("mimeType")), base64.b64decode(file.get("bytes") or ""))
            for part in self._parts()
            if (file := _file(part)) is not None
        ]

    def _parts(self) -> list[Json]:
        message = self.params.get("message")
        parts = message.get("parts") if isinstance(message, dict) else None
        return [part for part in parts or () if isinstance(part, dict)]


def _file(part: Json) -> Json | None:
    """A file part as 0.3 spells it."""
    if part.get("kind") == "file" and isinstance(part.get("file"), dict):
        file: Json = part["file"]
        return file
    if "raw" in part or "url" in part:
        about = {"name": part.get("filename"), "mimeType": part.get("mediaType")}
        return {**about, "bytes": part.get("raw"), "uri": part.get("url")}
    return None


def _is_context(part: Json) -> bool:
    metadata = part.get("metadata")
    return isinstance(metadata, dict) and metadata.get("role") == "context"


@dataclass(frozen=True, slots=True)
class ScriptedAnswer:
    """An HTTP answer. Reading `body` takes its time, and raises `ConnectionCut` where it is cut."""

    status: int
    headers: Mapping[str, str]
    body: AsyncGenerator[bytes, None]


@dataclass(slots=True)
class _Playing:
    playback: Playback
    started: float
    stopped: asyncio.Event = field(default_factory=asyncio.Event)
    canceled: Json | None = None


class ScriptedAgent:
    """Answers the n-th question with the n-th source, and all further questions with the last one.

    `cut_after`, `agent_error` and `goes_on` as for `Playback`. It plays `speed` times as fast as the source;
    `math.inf`: at once. `wire`: the dialect that the card announces, the first source's.
    """

    def __init__(
        self,
        *sources: Tape | Recording,
        cut_after: int | None = None,
        agent_error: Mapping[str, Any] | None = None,
        speed: float = 1.0,
        goes_on: bool = True,
        streaming: bool = True,
    ) -> None:
        if not sources or not speed > 0:
            raise ValueError("a scripted agent needs a tape and a speed above 0")
        self._playbacks = [
            Playback(source, cut_after=cut_after, agent_error=agent_error, goes_on=goes_on)
            for source in sources
        ]
        self.wire: Wire = self._playbacks[0].wire
        self._speed, self._streaming = speed, streaming
        self._playings: list[_Playing] = []
        self.calls: list[AgentCall] = []

    @property
    def questions(self) -> list[AgentCall]:
        return [call for call in self.calls if call.method in _SEND | _STREAM]

    async def handle(
        self, method: str, url: str, body: bytes = b"", headers: Mapping[str, str] | None = None
    ) -> ScriptedAnswer:
        address = url.partition("?")[0]
        if method == "GET":
            for path in _CARDS:
                if address.endswith("/" + path):
                    return _json(self.card(address.removesuffix(path)))
            return _json({"error": "not found"}, status=404)
        try:
            call = _read_call(body, headers or {})
        except (ValueError, RecursionError):
            return _refused(None, -32700, "Invalid JSON payload")
        self.calls.append(call)
        return await self._dispatch(call)

    def card(self, url: str) -> Json:
        card: Json = {
            "name": "Scripted agent",
            "description": "Plays a capture.",
            "version": "1.0.0",
            "capabilities": {"streaming": self._streaming},
            "defaultInputModes": ["text/plain"],
            "defaultOutputModes": ["text/plain"],
            "skills": [],
        }
        if self.wire == "0.3":
            return card | {"url": url, "preferredTransport": "JSONRPC", "protocolVersion": "0.3.0"}
        interface = {"url": url, "protocolBinding": "JSONRPC", "protocolVersion": "1.0"}
        return card | {"supportedInterfaces": [interface]}

    async def _dispatch(self, call: AgentCall) -> ScriptedAnswer:
        if call.method in _SEND | _STREAM:
            number = min(len(self._playings), len(self._playbacks) - 1)
            playing = _Playing(self._playbacks[number], _now())
            self._playings.append(playing)
            if call.method in _STREAM or playing.playback.is_json:
                body = self._play(playing, playing.playback.beats(call.id), call.id)
                return ScriptedAnswer(playing.playback.status, playing.playback.headers, body)
            return await self._whole(call, playing)
        if call.method not in _GET | _CANCEL | _JOIN:
            return _refused(call.id, -32601, "Method not found")
        for playing in reversed(self._playings):  # the latest question whose task has this id
            t = self._elapsed(playing)
            task = playing.canceled or playing.playback.task_at(t)
            if task is not None and task["id"] == call.params.get("id"):
                return self._about_task(call, playing, task, t)
        return _refused(call.id, -32001, "Task not found")

    def _about_task(self, call: AgentCall, playing: _Playing, task: Json, t: float) -> ScriptedAnswer:
        if call.method in _GET:
            return _json(envelope(call.id, result=task))
        if call.method in _CANCEL:
            if is_over(task):
                return _refused(call.id, -32002, "Task cannot be canceled")
            playing.canceled = with_state(task, "canceled", playing.playback.wire)
            playing.stopped.set()
            return _json(envelope(call.id, result=playing.canceled))
        if is_over(task):
            return _refused(call.id, -32004, "The task is over")
        return ScriptedAnswer(200, _EVENTS, self._join(call, playing, task, t))

    async def _whole(self, call: AgentCall, playing: _Playing) -> ScriptedAnswer:
        playback = playing.playback
        await self._reached(playing, playback.length)
        task = playing.canceled or playback.task_at(math.inf)
        found = task or playback.message_at(math.inf)
        if found is None:
            return _refused(call.id, -32603, "The capture holds no answer")
        if playback.wire == "1.0":
            found = {"task": found} if task is not None else {"message": found}
        return _json(envelope(call.id, result=found))

    async def _join(
        self, call: AgentCall, playing: _Playing, task: Json, after: float
    ) -> AsyncGenerator[bytes, None]:
        """1.0 begins with the current task; on 0.3 missed events are lost (facts: A2A 2.3)."""
        if playing.playback.wire == "1.0":
            yield sse(envelope(call.id, result={"task": task}))
        async for data in self._play(playing, playing.playback.later(call.id, after), call.id):
            yield data

    async def _play(
        self, playing: _Playing, beats: Iterator[Beat], request_id: RequestId
    ) -> AsyncGenerator[bytes, None]:
        for beat in beats:
            if not await self._reached(playing, beat.t):
                assert playing.canceled is not None
                event = status_event(playing.canceled, playing.playback.wire)
                yield sse(envelope(request_id, result=event))
                return
            if beat.end == "cut":
                raise ConnectionCut
            if beat.end is not None:
                return
            yield beat.data

    async def _reached(self, playing: _Playing, t: float) -> bool:
        """Wait until `t` of the tape. False: the task was canceled before."""
        delay = playing.started + t / self._speed - _now()
        if delay > 0:
            try:
                async with asyncio.timeout(delay):
                    await playing.stopped.wait()
            except TimeoutError:
                return True
        return not playing.stopped.is_set()

    def _elapsed(self, playing: _Playing) -> float:
        if math.isinf(self._speed):
            return math.inf
        return (_now() - playing.started) * self._speed


def _now() -> float:
    return asyncio.get_running_loop().time()


def _read_call(body: bytes, headers: Mapping[str, str]) -> AgentCall:
    value = json.loads(body)
    if not isinstance(value, dict):
        raise ValueError("a JSON-RPC call is an object")
    params = value.get("params")
    return AgentCall(
        method=str(value.get("method", "")),
        id=value.get("id"),
        params=params if isinstance(params, dict) else {},
        headers={name.lower(): text for name, text in headers.items()},
    )


def _json(value: Json, *, status: int = 200) -> ScriptedAnswer:
    async def once() -> AsyncGenerator[bytes, None]:
        yield json_bytes(value)

    return ScriptedAnswer(status, {"content-type": "application/json"}, once())


def _refused(request_id: RequestId, code: int, message: str) -> ScriptedAnswer:
    return _json(envelope(request_id, error={"code": code, "message": message}))


class ScriptedTransport(AsyncBaseTransport):
    """The scripted agent as an httpx transport: no socket, any host, the loop's own time."""

    def __init__(self, agent: ScriptedAgent) -> None:
        self.agent = agent

    async def handle_async_request(self, request: Request) -> Response:
        """Answer `request`; its read timeout counts as it would on a socket."""
        body = await request.aread()
        handling = self.agent.handle(request.method, str(request.url), body, dict(request.headers.items()))
        answer = await _in_time(handling, request)
        stream = _Body(answer.body, request)
        return Response(answer.status, headers=dict(answer.headers), stream=stream, request=request)


async def _in_time(awaitable: Any, request: Request) -> Any:
    try:
        async with asyncio.timeout((request.extensions.get("timeout") or {}).get("read")):
            return await awaitable
    except TimeoutError:
        raise ReadTimeout("the read operation timed out", request=request) from None


class _Body(AsyncByteStream):
    def __init__(self, chunks: AsyncGenerator[bytes, None], request: Request) -> None:
        self._chunks, self._request = chunks, request

    async def __aiter__(self) -> AsyncGenerator[bytes, None]:
        try:
            while (chunk := await _in_time(anext(self._chunks, None), self._request)) is not None:
                yield chunk
        except ConnectionCut:
            # the words of h11, whose error it would be on a socket
            raise RemoteProtocolError(
                "peer closed connection without sending complete message body (incomplete chunked read)",
                request=self._request,
            ) from None

    async def aclose(self) -> None:
        await self._chunks.aclose()


_GRACE = 1.0  # seconds for streams that are still open when the server is stopped


def scripted_app(agent: ScriptedAgent) -> web.Application:
    """An aiohttp application that serves `agent` at every path."""

    async def serve(request: web.Request) -> web.StreamResponse:
        body = await request.read()
        answer = await agent.handle(request.method, str(request.url), body, dict(request.headers.items()))
        response = web.StreamResponse(status=answer.status, headers=dict(answer.headers))
        await response.prepare(request)
        try:
            async for chunk in answer.body:
                if chunk:
                    await response.write(chunk)
        except ConnectionCut:
            if request.transport is not None:
                request.transport.abort()
            return response
        except ConnectionResetError:
            return response  # the reader went away; the task does not care
        await response.write_eof()
        return response

    app = web.Application()
    app.router.add_route("*", "/{path:.*}", serve)
    return app


@asynccontextmanager
async def serve_scripted(agent: ScriptedAgent, host: str = "127.0.0.1", port: int = 0) -> AsyncIterator[str]:
    """Serve `agent` in this event loop; yields its base URL. Port 0 takes a free one."""
    runner = web.AppRunner(
        scripted_app(agent), shutdown_timeout=_GRACE, handler_cancellation=True, access_log=None
    )
    await runner.setup()
    try:
        site = web.TCPSite(runner, host, port)
        await site.start()
        yield f"http://{host}:{runner.addresses[0][1]}/"
    finally:
        await runner.cleanup()
