"""Listens in on the bot's own A2A client, so that a capture is made by the code that runs in production.

The tap sees each answer's bytes before the client does and hands them on, except events that would make the
client give up: a capture wants to see what comes after them.
"""

import json
import math
import re
from collections.abc import AsyncIterable, AsyncIterator, Sequence
from typing import Any, Literal

from ...agents.wire.frames import decode
from ...agents.wire.sse import SseBlock, SseReader
from ...agents.wire.transport import encoding_of, parse_retry_after, unpack
from ...clock import Clock
from ...errors import AgentFailed, BadAgentData, BadEncoding
from ...http_client import AsyncByteStream, AsyncClient, HTTPError, Request, Response
from ...testing.tape.items import Moment
from ...text.redaction import Redactor
from ...turn.json_values import read_json
from .tape_writer import ExchangeListener, TappedCall, moment_of_body, moments_of

_VERBS = {
    **dict.fromkeys(("message/stream", "message/send", "SendStreamingMessage", "SendMessage"), "ask"),
    **dict.fromkeys(("tasks/get", "GetTask"), "get"),
}
_PATH = re.compile(  # of HTTP+JSON
    r"(?P<old>/v1)?(?P<name>/message:(?:stream|send)|/tasks/(?P<task>[^/:]+)(?::\w+|/pushNotificationConfigs.*)?)\Z"
)
_WITHHELD = b": withheld\n\n"


class HttpTap:
    """Gives `listeners` all A2A calls of `http` and their answers. One event has at most `max_bytes`.

    `masks` take secrets out of what is shortened here. `is_done`: the answer is complete, and a stream that
    is left from now on was not cut.
    """

    def __init__(
        self,
        http: AsyncClient,
        listeners: Sequence[ExchangeListener],
        clock: Clock,
        max_bytes: int,
        masks: Redactor | None = None,
    ) -> None:
        self.listeners, self.max_bytes, self.masks = listeners, max_bytes, masks or Redactor()
        self.is_done = False
        self._clock = clock
        self._start: float | None = None
        http.event_hooks = {"request": [self._on_request], "response": [self._on_response]}

    def now(self) -> float:
        """Seconds since the first question, 0 before it."""
        return 0.0 if self._start is None else self._clock.monotonic() - self._start

    async def _on_request(self, request: Request) -> None:
        # a token that was fetched is in no setting, and the agent may send it back
        self.masks.learn(request.headers.get("authorization", "").partition(" ")[2])
        if (call := await tapped_call(request)) is not None:
            self.is_done = False
            if self._start is None:
                self._start = self._clock.monotonic()
            for listener in self.listeners:
                listener.on_request(self.now(), call, request.content)

    async def _on_response(self, response: Response) -> None:
        if await tapped_call(response.request) is not None:
            for listener in self.listeners:
                listener.on_response(self.now(), response.status_code, response.headers)
            response.stream = _TappedBody(response, self)


class _TappedBody(AsyncByteStream):
    """The body of `response`, passed to the listeners of `tap` too."""

    def __init__(self, response: Response, tap: HttpTap) -> None:
        assert isinstance(response.stream, AsyncByteStream)
        self._inner, self._tap = response.stream, tap
        self._chunks = _unpacked(response, tap.max_bytes)
        self._status, pause = response.status_code, parse_retry_after(response)
        self._retry_after = None if pause is None else math.ceil(pause)
        self._type = response.headers.get("content-type", "")
        self._is_sse = response.is_success and self._type.lower().startswith("text/event-stream")
        self._events, self._body = 0, bytearray()
        self._has_ended = False

    async def __aiter__(self) -> AsyncIterator[bytes]:
        try:
            async for data in self._read_events() if self._is_sse else self._read_whole():
                yield data
        except HTTPError as error:
            broke = f"the connection broke ({type(error).__name__})"
            self._notify(b"", Moment(self._tap.now(), comment=broke))
            self._end("cut")
            raise
        self._end("closed")

    async def aclose(self) -> None:
        """The client has had enough; of what cannot be an answer it does not even read the body."""
        can_answer = self._is_sse or (200 <= self._status < 300 and "json" in self._type.lower())
        if not self._has_ended and not can_answer:
            self._notify_body()
            self._end("closed")
        self._end("closed" if self._tap.is_done else "cut")
        await self._inner.aclose()

    async def _read_events(self) -> AsyncIterator[bytes]:
        splitter = SseReader(self._tap.max_bytes)
        try:
            async for data in self._chunks:
                for block in splitter.feed(data):
                    yield self._take(block)
        except HTTPError:
            for block in splitter.end():
                self._take(block)
            raise
        for block in splitter.end():
            yield self._take(block)

    async def _read_whole(self) -> AsyncIterator[bytes]:
        async for data in self._chunks:
            self._body += data[: max(0, self._tap.max_bytes - len(self._body))]
            self._notify(data, None)
            yield data
        self._notify_body()

    def _notify_body(self) -> None:
        body, now = bytes(self._body), self._tap.now()
        moment = moment_of_body(now, self._status, body, self._type, self._retry_after, self._tap.masks)
        self._notify(b"", moment)

    def _take(self, block: SseBlock) -> bytes:
        """Pass on `block`. Returns what of it the client gets."""
        moments = moments_of(self._tap.now(), block)
        self._notify(block.raw, moments[0] if moments else None)
        for moment in moments[1:]:
            self._notify(b"", moment)
        if block.data is None:
            return block.raw
        self._events += 1
        return block.raw if self._is_bearable(block.data) else _WITHHELD

    def _is_bearable(self, data: str) -> bool:
        """The client goes on after it. An error that comes first is the answer, and the client gets it."""
        try:
            decode(read_json(data))
        except AgentFailed:
            return self._events == 1
        except (ValueError, RecursionError, BadAgentData):
            return False
        return True

    def _notify(self, data: bytes, moment: Moment | None) -> None:
        for listener in self._tap.listeners:
            listener.on_data(self._tap.now(), data, moment)

    def _end(self, end: Literal["closed", "cut"]) -> None:
        if not self._has_ended:
            self._has_ended = True
            for listener in self._tap.listeners:
                listener.on_end(self._tap.now(), end)


async def tapped_call(request: Request) -> TappedCall | None:
    """The A2A call in a request, which is read; None for cards, tokens and whatever else is fetched."""
    try:
        body: Any = json.loads(await request.aread() or b"{}")
    except (ValueError, RecursionError):
        return None
    if not isinstance(body, dict):
        return None
    path, task = _PATH.search(request.url.path), None
    if body.get("jsonrpc") == "2.0":
        method, params, name = str(body.get("method", "")), _object(body.get("params")), body.get("id")
        verb, wire = _VERBS.get(method, "other"), "1.0" if method[:1].isupper() else "0.3"
    elif path is not None:
        method, params, task = f"{request.method} {path['name']}", body, path["task"]
        name = task or _object(params.get("message")).get("messageId")
        verb = "ask" if task is None else "get" if request.method == "GET" else "other"
        wire = "0.3" if path["old"] else "1.0"
    else:
        return None
    message = _object(params.get("message"))
    listed = message.get("parts") or message.get("content")
    found = listed if isinstance(listed, list) else ()
    text = "".join(str(part.get("text", "")) for part in found if isinstance(part, dict))
    names = message.get("messageId"), message.get("taskId"), params.get("id"), params.get("taskId"), task
    return TappedCall(
        method,
        verb,
        wire,
        str(name),
        text,
        tuple(dict.fromkeys(each for each in names if isinstance(each, str))),
    )


def _object(value: object) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _unpacked(response: Response, max_bytes: int) -> AsyncIterable[bytes]:
    """What cannot be decompressed is left for the client to refuse."""
    assert isinstance(response.stream, AsyncByteStream)
    try:
        encoding = encoding_of(response)
    except BadEncoding:
        return response.stream
    response.headers.pop("content-encoding", None)
    return unpack(response.stream, encoding, max_bytes) if encoding else response.stream
