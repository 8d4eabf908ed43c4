"""Records what the agent sends, question by question, for a tape.

The answers to later polls of the task are in it too: a recovered thread replays to the same thread.
"""

import json
from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import replace
from typing import Any

from ..agents.wire.sse import SseReader
from ..clock import system_clock
from ..http_client import (
    AsyncBaseTransport,
    AsyncByteStream,
    ConnectError,
    HTTPError,
    ReadError,
    Request,
    Response,
)
from ..testing.tape.recording import Recording
from ..testing.tape.tape import Tape
from ..tools.capture.http_tap import tapped_call
from ..tools.capture.tape_writer import TappedCall
from ..tools.files import taped

QUESTIONS_KEPT = 30
_KNOWN_BY = 64 * 1024  # bytes at the start of an answer that must hold its task's id
_LONGEST_EVENT = 64 * 1024 * 1024


class _RecordedBody(AsyncByteStream):
    """The body of `response`, recorded as it is read, and broken on purpose after so many events."""

    def __init__(self, response: Response, now: Callable[[], float], cut_after: int | None) -> None:
        assert isinstance(response.stream, AsyncByteStream)
        self._inner, self._now = response.stream, now
        self._status, self._kind = response.status_code, response.headers.get("content-type", "")
        self._chunks: list[tuple[float, bytes]] = []
        self._was_cut = False
        self._ended: float | None = None
        self.began = now()
        self.is_stream = self._kind.startswith("text/event-stream")
        self._left = cut_after if self.is_stream else None

    def recording(self) -> Recording:
        """As `replay` takes it; times are seconds from the request."""
        chunks = tuple((at - self.began, data) for at, data in self._chunks)
        ended = (self._now() if self._ended is None else self._ended) - self.began
        return Recording(self._status, {"content-type": self._kind}, chunks, self._was_cut, ended)

    def names(self, task_id: str) -> bool:
        return task_id.encode() in b"".join(data for _, data in self._chunks)[:_KNOWN_BY]

    async def __aiter__(self) -> AsyncIterator[bytes]:
        try:
            async for data in self._inner if self._left is None else self._until_cut(self._left):
                self._chunks.append((self._now(), data))
                yield data
        except HTTPError:
            self._was_cut = True
            raise
        finally:
            self._ended = self._now()

    async def _until_cut(self, left: int) -> AsyncIterator[bytes]:
        splitter = SseReader(_LONGEST_EVENT)
        async for chunk in self._inner:
            for piece in splitter.feed(chunk):
                if left <= 0:
                    raise ReadError("cut on purpose")
                yield piece.raw
                left -= piece.data is not None
            if left <= 0:
                raise ReadError("cut on purpose")
        for piece in splitter.end():
            yield piece.raw

    async def aclose(self) -> None:
        await self._inner.aclose()


class Recorder:
    """Keeps the last questions, by their A2A message ids. `now` is monotonic seconds."""

    def __init__(self, now: Callable[[], float]) -> None:
        self._now = now
        # the protocol of each question, its answer, and the answers to all polls of its task
        self._logs: dict[str, tuple[str, list[_RecordedBody]]] = {}

    def record(self, response: Response, call: TappedCall, cut_after: int | None = None) -> None:
        """Record the body of `response` to `call`, and break the answer to a question after `cut_after`."""
        body = _RecordedBody(response, self._now, cut_after if call.verb == "ask" else None)
        response.stream = body
        if call.verb == "ask" and call.names:
            _, before = self._logs.pop(call.names[0], ("", []))
            self._logs[call.names[0]] = call.wire, [body, *before[1:]]
            if len(self._logs) > QUESTIONS_KEPT:
                del self._logs[next(iter(self._logs))]
            return
        for _, bodies in reversed(self._logs.values()):
            if any(bodies[0].names(name) for name in call.names):
                bodies.append(body)
                return

    def tape(self, message_id: str, head: Mapping[str, Any]) -> Tape | None:
        """The answer to the message with this id; None if there was none."""
        if message_id not in self._logs:
            return None
        wire, (answer, *polls) = self._logs[message_id]
        moments, seen = list(taped(answer.recording()).moments), None
        for poll in polls:
            for moment in taped(poll.recording()).moments:
                # two equal events in a stream are two events
                is_news = poll.is_stream or moment.event is None or moment.event != seen
                if moment.end is None and is_news:
                    moments.append(replace(moment, t=moment.t + poll.began - answer.began))
                    seen = moment.event or seen
        rounded = (replace(moment, t=round(moment.t, 4)) for moment in moments)
        return Tape({"wire": wire, **head}, tuple(sorted(rounded, key=lambda moment: moment.t)))

    def began(self, message_id: str) -> float | None:
        """When the answer to the message with this id began: second 0 of its tape."""
        return self._logs[message_id][1][0].began if message_id in self._logs else None


class ReplayRouter(AsyncBaseTransport):
    """An httpx transport over `network` that records. `cut_after` breaks each stream after so many events;
    while the agent is `away` nothing reaches it. `on_ask` gets what each question sends: message id, params.
    """

    def __init__(self, network: AsyncBaseTransport, recorder: Recorder | None = None) -> None:
        self._network = network
        self.recorder = recorder or Recorder(system_clock().monotonic)
        self.cut_after: int | None = None
        self.away = False
        self.on_ask: Callable[[str, Mapping[str, Any]], None] = lambda message_id, params: None

    async def handle_async_request(self, request: Request) -> Response:
        cut_after = self.cut_after  # as it was when the question was asked
        call = await tapped_call(request)
        if call is not None and call.verb == "ask" and call.names:
            body = json.loads(request.content)
            self.on_ask(call.names[0], body.get("params", body))  # HTTP+JSON has no envelope
        if self.away:
            raise ConnectError("away on purpose")
        response = await self._network.handle_async_request(request)
        if call is not None:
            self.recorder.record(response, call, cut_after)
        return response

    async def aclose(self) -> None:
        await self._network.aclose()
