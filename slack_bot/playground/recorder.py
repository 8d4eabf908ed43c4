"""Records what the agent sends, question by question, for a tape.

Bytes are kept as they came, with their times, and parsed when the tape is exported. The answers to later
polls of the task are in the tape too, so that a recovered thread replays to the same thread.
"""

from __future__ import annotations

import json
from collections import OrderedDict
from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import httpx

from ..a2a.wire.sse import SseReader
from ..clock import Clock, loop_clock
from ..testing.tape.items import Moment
from ..testing.tape.recording import Recording
from ..testing.tape.tape import Tape
from ..tools.capture.http_tap import rpc_call
from ..tools.open_capture import taped

QUESTIONS_KEPT = 30
_KNOWN_BY = 64 * 1024  # bytes at the start of an answer that must hold its task's id
_LONGEST_EVENT = 64 * 1024 * 1024


@dataclass(slots=True)
class RecordedAnswer:
    """One HTTP answer. `chunks` have times in seconds on the recorder's clock."""

    began: float
    status: int
    kind: str
    chunks: list[tuple[float, bytes]] = field(default_factory=list)
    ended: float | None = None
    cut: bool = False

    def recording(self, now: float) -> Recording:
        """As `replay` takes it; times are seconds from the request."""
        chunks = tuple((at - self.began, data) for at, data in self.chunks)
        ended = (now if self.ended is None else self.ended) - self.began
        return Recording(self.status, {"content-type": self.kind}, chunks, self.cut, ended)

    @property
    def is_stream(self) -> bool:
        """Two equal events in a stream are two events."""
        return self.kind.startswith("text/event-stream")

    def names(self, task_id: str) -> bool:
        """It is about the task."""
        return task_id.encode() in b"".join(data for _, data in self.chunks)[:_KNOWN_BY]


@dataclass(slots=True)
class _Log:
    """A question: its answer, and all polls of its task."""

    wire: str
    answer: RecordedAnswer | None = None
    polls: list[RecordedAnswer] = field(default_factory=list)


class Recorder:
    """Keeps the last questions, by their A2A message ids. `now` is monotonic seconds."""

    def __init__(self, now: Callable[[], float]) -> None:
        self.now = now
        self._logs: OrderedDict[str, _Log] = OrderedDict()

    def record(
        self,
        response: httpx.Response,
        verb: Literal["ask", "get", "other"],
        wire: str,
        names: tuple[str, ...],
        cut_after: int | None = None,
    ) -> httpx.Response:
        """Wrap `response` so that its body is recorded. `names`: the ids of its message and its task.

        `cut_after`: break it on purpose after so many events; None: never.
        """
        kind = response.headers.get("content-type", "")
        answered = RecordedAnswer(self.now(), response.status_code, kind)
        if verb == "ask" and names:
            log = self._logs.setdefault(names[0], _Log(wire))
            log.answer, log.wire = answered, wire
            self._logs.move_to_end(names[0])
            while len(self._logs) > QUESTIONS_KEPT:
                self._logs.popitem(last=False)
        elif (found := self._log_of(names)) is not None:
            found.polls.append(answered)
        most = cut_after if answered.is_stream else None
        assert isinstance(response.stream, httpx.AsyncByteStream)
        response.stream = _RecordedBody(response.stream, answered, self.now, most)
        return response

    def tape(self, message_id: str, head: Mapping[str, Any]) -> Tape | None:
        """The answer to the message with this id; None if there was none."""
        log = self._logs.get(message_id)
        if log is None or log.answer is None:
            return None
        began, moments = log.answer.began, list(taped(log.answer.recording(self.now())).moments)
        seen: Any = None
        for poll in log.polls:
            for moment in taped(poll.recording(self.now())).moments:
                is_news = poll.is_stream or moment.event is None or moment.event != seen
                if moment.end is None and is_news:
                    moments.append(replace(moment, t=moment.t + poll.began - began))
                    seen = moment.event or seen
        return Tape({"wire": log.wire, **head}, tuple(_in_order(moments)))

    def began(self, message_id: str) -> float | None:
        """When the answer to the message with this id began: second 0 of its tape."""
        log = self._logs.get(message_id)
        return None if log is None or log.answer is None else log.answer.began

    def _log_of(self, names: tuple[str, ...]) -> _Log | None:
        for log in reversed(self._logs.values()):
            if log.answer is not None and any(log.answer.names(name) for name in names):
                return log
        return None


def _in_order(moments: list[Moment]) -> list[Moment]:
    rounded = (replace(moment, t=round(moment.t, 4)) for moment in moments)
    return sorted(rounded, key=lambda moment: moment.t)


class _RecordedBody(httpx.AsyncByteStream):
    """A body that is recorded, and cut where that is wanted."""

    def __init__(
        self,
        inner: httpx.AsyncByteStream,
        answered: RecordedAnswer,
        now: Callable[[], float],
        cut_after: int | None,
    ) -> None:
        self._inner, self._answered, self._now, self._left = inner, answered, now, cut_after

    async def __aiter__(self) -> AsyncIterator[bytes]:
        chunks = self._answered.chunks
        try:
            async for data in self._inner if self._left is None else self._until_cut(self._left):
                chunks.append((self._now(), data))
                yield data
        except httpx.HTTPError:
            self._answered.cut = True
            raise
        finally:
            self._answered.ended = self._now()

    async def _until_cut(self, left: int) -> AsyncIterator[bytes]:
        splitter = SseReader(_LONGEST_EVENT)
        async for chunk in self._inner:
            for piece in splitter.feed(chunk):
                if left <= 0:
                    raise httpx.ReadError("cut on purpose")
                yield piece.raw
                left -= piece.data is not None
            if left <= 0:
                raise httpx.ReadError("cut on purpose")
        for piece in splitter.end():
            yield piece.raw

    async def aclose(self) -> None:
        """The reader wants no more."""
        await self._inner.aclose()


class ReplayRouter(httpx.AsyncBaseTransport):
    """An httpx transport over `network`.

    `recorder` keeps what was answered; it may be shared. `cut_after` breaks each answer's stream after so
    many events.
    """

    def __init__(
        self,
        network: httpx.AsyncBaseTransport,
        clock: Clock | None = None,
        recorder: Recorder | None = None,
    ) -> None:
        self._network = network
        self.recorder = recorder or Recorder((clock or loop_clock()).monotonic)
        self.cut_after: int | None = None

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Pass `request` on."""
        names = _names_in(await request.aread()) if request.method == "POST" else ()
        cut_after = self.cut_after  # as it was when the question was asked
        response = await self._network.handle_async_request(request)
        if (asked := rpc_call(request)) is None:
            return response
        cut = cut_after if asked.verb == "ask" else None
        return self.recorder.record(response, asked.verb, asked.wire, names, cut)

    async def aclose(self) -> None:
        """Close the network's transport."""
        await self._network.aclose()


def _names_in(body: bytes) -> tuple[str, ...]:
    """The ids of the message and of the task that a call is about."""
    try:
        params = json.loads(body)["params"]
        message = params.get("message", {})
        names = message.get("messageId"), message.get("taskId"), params.get("id"), params.get("taskId")
    except (ValueError, RecursionError, TypeError, AttributeError, KeyError):
        return ()
    return tuple(name for name in names if isinstance(name, str))
