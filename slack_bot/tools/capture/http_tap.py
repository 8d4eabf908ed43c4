"""Listening in on the bot's own A2A client, so that a capture is made by the code that runs in production.

The tap hangs on the HTTP client. It sees each answer's bytes before the client does, tells what they say, and
hands them on, but for events that would make the client give up: those are recorded and withheld, because a
capture wants to see what comes after them.
"""

from __future__ import annotations

import json
import math
from collections.abc import AsyncIterator, Sequence
from typing import Any, Literal

import httpx

from ...a2a.wire.content_encoding import Unpacker
from ...a2a.wire.decode import decode
from ...a2a.wire.sse import SseBlock, SseReader
from ...a2a.wire.transport import parse_retry_after
from ...clock import Clock
from ...errors import AgentFailed, BadAgentData, BadEncoding
from ...testing.tape.items import Moment
from .redaction import Redactor
from .tape_writer import Asked, ExchangeListener, moment_of_body, moments_of

_ASK = frozenset({"message/stream", "message/send", "SendStreamingMessage", "SendMessage"})
_GET = frozenset({"tasks/get", "GetTask"})
_WITHHELD = b": withheld\n\n"


class HttpTap:
    """Hangs on `http` and tells `ears` all A2A calls and answers. `max_bytes` bounds one event.

    `masks` take secrets out of what is shortened here; of all else the ears do that themselves.
    """

    def __init__(
        self,
        http: httpx.AsyncClient,
        ears: Sequence[ExchangeListener],
        clock: Clock,
        max_bytes: int,
        masks: Redactor | None = None,
    ) -> None:
        self._ears, self._clock, self._max = tuple(ears), clock, max_bytes
        self.masks = masks or Redactor()
        self._start: float | None = None
        self.hung_up = False
        """Whoever asked has all that was to come: a stream that is left from now on was not cut."""
        http.event_hooks = {"request": [self._request], "response": [self._response]}

    def now(self) -> float:
        """Seconds since the first question, 0 before it."""
        return 0.0 if self._start is None else self._clock.monotonic() - self._start

    async def _request(self, request: httpx.Request) -> None:
        asked = asked_in(request)
        if asked is not None:
            self.hung_up = False
            if self._start is None:
                self._start = self._clock.monotonic()
            for ear in self._ears:
                ear.asked(self.now(), asked, request.content)

    async def _response(self, response: httpx.Response) -> None:
        if asked_in(response.request) is None:
            return
        for ear in self._ears:
            ear.answered(self.now(), response.status_code, response.headers)
        response.stream = _Tapped(response, self, self._ears, self._max)


class _Tapped(httpx.AsyncByteStream):
    """The body of `response`, listened to."""

    def __init__(
        self, response: httpx.Response, tap: HttpTap, ears: tuple[ExchangeListener, ...], max_bytes: int
    ) -> None:
        assert isinstance(response.stream, httpx.AsyncByteStream)
        self._inner = response.stream
        pause = parse_retry_after(response)
        self._status, self._pause = response.status_code, None if pause is None else math.ceil(pause)
        self._type = response.headers.get("content-type", "")
        self._is_sse = response.is_success and self._type.lower().startswith("text/event-stream")
        self._unpack = _unpacker(response, max_bytes)
        self._tap, self._ears, self._now, self._max = tap, ears, tap.now, max_bytes
        self._events, self._body = 0, bytearray()
        self._is_over = False

    async def __aiter__(self) -> AsyncIterator[bytes]:
        try:
            async for data in self._events_of() if self._is_sse else self._whole():
                yield data
        except httpx.HTTPError as error:
            self._tell(b"", Moment(self._now(), comment=f"the connection broke ({type(error).__name__})"))
            self._end("cut")
            raise
        self._end("closed")

    async def aclose(self) -> None:
        """Whoever reads has had enough: of what cannot be an answer, he does not even read the body."""
        if not self._is_over and not self._may_answer:
            self._tell_whole()
            self._end("closed")
        self._end("closed" if self._tap.hung_up else "cut")
        await self._inner.aclose()

    async def _events_of(self) -> AsyncIterator[bytes]:
        splitter = SseReader(self._max)
        try:
            async for chunk in self._inner:
                for data in self._unpack.feed(chunk):
                    for piece in splitter.feed(data):
                        yield self._listened(piece)
        except httpx.HTTPError:
            for piece in splitter.end():
                self._listened(piece)
            raise
        for piece in splitter.end():
            yield self._listened(piece)

    async def _whole(self) -> AsyncIterator[bytes]:
        async for chunk in self._inner:
            for data in self._unpack.feed(chunk):
                self._body += data[: max(0, self._max - len(self._body))]
                self._tell(data, None)
                yield data
        self._tell_whole()

    @property
    def _may_answer(self) -> bool:
        return self._is_sse or (200 <= self._status < 300 and "json" in self._type.lower())

    def _tell_whole(self) -> None:
        body, masks = bytes(self._body), self._tap.masks
        said = moment_of_body(self._now(), self._status, body, self._type, self._pause, masks)
        self._tell(b"", said)

    def _listened(self, piece: SseBlock) -> bytes:
        """What of `piece` the client may have."""
        moments = moments_of(self._now(), piece)
        self._tell(piece.raw, moments[0] if moments else None)
        for moment in moments[1:]:
            self._tell(b"", moment)
        if piece.data is None:
            return piece.raw
        self._events += 1
        return piece.raw if self._is_bearable(piece.data) else _WITHHELD

    def _is_bearable(self, data: str) -> bool:
        """Whether the client goes on after it. An error that comes first is the answer, and the client's."""
        try:
            decode(json.loads(data))
        except AgentFailed:
            return self._events == 1
        except (ValueError, RecursionError, BadAgentData):
            return False
        return True

    def _tell(self, data: bytes, moment: Moment | None) -> None:
        for ear in self._ears:
            ear.heard(self._now(), data, moment)

    def _end(self, end: Literal["closed", "cut"]) -> None:
        if not self._is_over:
            self._is_over = True
            for ear in self._ears:
                ear.ended(self._now(), end)


def asked_in(request: httpx.Request) -> Asked | None:
    """The A2A call in a request; None for cards, tokens and whatever else is fetched."""
    if request.method != "POST":
        return None
    try:
        body: Any = json.loads(request.content)
    except (ValueError, RecursionError, httpx.RequestNotRead):
        return None
    if not isinstance(body, dict) or body.get("jsonrpc") != "2.0":
        return None
    method = str(body.get("method", ""))
    verb: Literal["ask", "get", "other"] = "ask" if method in _ASK else "get" if method in _GET else "other"
    wire = "1.0" if method[:1].isupper() else "0.3"
    return Asked(method, verb, wire, str(body.get("id")), _text_of(body) if verb == "ask" else "")


def _text_of(body: Any) -> str:
    params = body.get("params")
    message = params.get("message") if isinstance(params, dict) else None
    parts = message.get("parts") if isinstance(message, dict) else None
    found = parts if isinstance(parts, list) else ()
    return "".join(str(part.get("text", "")) for part in found if isinstance(part, dict))


def _unpacker(response: httpx.Response, max_bytes: int) -> Unpacker:
    """Undoes what a server that was asked not to compress did, and takes it off `response`.

    What cannot be undone is left as it is, for the client to refuse.
    """
    try:
        found = Unpacker(response.headers.get("content-encoding", ""), max_bytes)
    except BadEncoding:
        return Unpacker("", max_bytes)
    response.headers.pop("content-encoding", None)
    return found
