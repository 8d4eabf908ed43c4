"""PURE. A tape or a recording as a server sends it: which bytes when, how it ends, and the state of the task.

A recording goes out byte for byte, a tape as server-sent events around its JSON, with the request id.
A scenario can cut either after so many events, or break it with an error of the agent. A cut ends the
connection and not the task, which goes on by the tape's clock (facts: A2A 2.3).
"""

from __future__ import annotations

import json
from array import array
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Any, Literal, TypeAlias, overload

from ..tape.items import HTTP_STATUS, http_status_of
from ..tape.mapped_tape import MappedLines
from ..tape.tape import Moment, Recording, Tape, interrupted_at
from .snapshot import Json, Wire, is_over, last_message, task_of, wire_of, with_state

RequestId: TypeAlias = str | int | None

INTERNAL_ERROR = -32603
_SAID_BY_HTTP = {"content-type": "content_type", "retry-after": "retry_after"}
_BOM = b"\xef\xbb\xbf"
_NEVER = 365 * 86_400.0
_SLACK = 1e-6  # seconds of tolerance: times are sums of floats


@dataclass(frozen=True, slots=True)
class Breakdown:
    """The agent fails after so many events, with this message."""

    after: int
    message: str


@dataclass(frozen=True, slots=True)
class Beat:
    """Bytes to send at `t` seconds from the request, or the end: closed properly, or cut."""

    t: float
    data: bytes = b""
    end: Literal["closed", "cut"] | None = None


class Playback:
    """One capture, ready to be served any number of times.

    `cut_after`: events after which the connection is cut. `breakdown`: the agent's own error. `goes_on`:
    whether the task is worked on after a cut that is not the capture's own.
    """

    def __init__(
        self,
        source: Tape | Recording,
        *,
        cut_after: int | None = None,
        breakdown: Breakdown | None = None,
        goes_on: bool = True,
    ) -> None:
        self._source = source
        self._cut_after = cut_after
        self._breakdown = breakdown
        self._events = _events_of(source)
        known = self._events if breakdown is None else self._events[: breakdown.after]
        self._known = known if goes_on or cut_after is None else known[:cut_after]
        self.wire: Wire = _wire(source, self._events)
        self._times = _times(self._known)

    @property
    def length(self) -> float:
        """Seconds from the question to the end of the work."""
        if self._breakdown is None and len(self._known) == len(self._events):
            own_end = self._source.ended if isinstance(self._source, Recording) else _last(self._source)
            return max([*self._times, own_end])
        return max([0.0, *self._times])

    @property
    def status(self) -> int:
        """HTTP status of the answer to the question."""
        if isinstance(self._source, Recording):
            return self._source.status
        return http_status_of(self._first_error) or 200

    @property
    def headers(self) -> dict[str, str]:
        """HTTP headers of that answer."""
        if isinstance(self._source, Recording) and not self._fails_at_once:
            return dict(self._source.headers)
        media = "application/json" if self.is_json else "text/event-stream; charset=utf-8"
        usual = {"content-type": media, "cache-control": "no-store", "x-accel-buffering": "no"}
        if http_status_of(error := self._first_error) is None:
            return usual
        return usual | {name: str(error[key]) for name, key in _SAID_BY_HTTP.items() if key in error}

    @property
    def is_json(self) -> bool:
        """The answer is one JSON object in place of a stream."""
        if isinstance(self._source, Recording) and not self._fails_at_once:
            return "json" in self._source.headers.get("content-type", "").lower()
        return self._fails_at_once

    @property
    def _fails_at_once(self) -> bool:
        """An error before the first event comes as JSON, not as a stream (facts: A2A 5)."""
        return (self._breakdown is not None and self._breakdown.after <= 0) or bool(self._first_error)

    @property
    def _first_error(self) -> Json:
        """The error that a tape begins with; {} if there is none, or the scenario comes first."""
        limits = [self._cut_after, None if self._breakdown is None else self._breakdown.after]
        if any(limit is not None and limit <= 0 for limit in limits):
            return {}
        first = next((each for each in _moments(self._source) if each.comment is None), None)
        return (first.error if first is not None else None) or {}

    # -- what is sent ----------------------------------------------------------------------------------------

    def beats(self, request_id: RequestId) -> Iterator[Beat]:
        """All that is sent in answer to the question; the last beat is the end."""
        if self._cut_after is not None and self._cut_after <= 0:
            yield Beat(0.0, end="cut")
        elif isinstance(self._source, Recording):
            yield from self._recorded(self._source, request_id)
        else:
            yield from self._taped(self._source, request_id)

    def later(self, request_id: RequestId, after: float) -> Iterator[Beat]:
        """What is sent to a client that resubscribes after `after` seconds: never cut."""
        for t, event in self._known:
            if t > after + _SLACK:
                yield Beat(t, sse(result_of(request_id, event)))
        yield Beat(self.length, end="closed")

    def _taped(self, tape: Tape, request_id: RequestId) -> Iterator[Beat]:
        count, t = 0, 0.0
        if (broken := self._broken(count, t, request_id)) is not None:
            yield from broken
            return
        for moment in tape.moments:
            t = moment.t
            if moment.end is not None:
                yield Beat(t + self._silence, end=moment.end)
                return
            if moment.comment is not None and self.is_json:
                continue
            yield self._beat(moment, request_id)
            count += moment.event is not None
            if moment.event is not None and (broken := self._broken(count, t, request_id)) is not None:
                yield from broken
                return
        yield Beat(t, end="closed")

    @property
    def _silence(self) -> float:
        """Seconds of silence before the end of a capture that was interrupted: its real end is not known."""
        if interrupted_at(self._source) is None:
            return 0.0
        # after a deliberate end the task was polled, and the poll was interrupted
        ends = isinstance(self._source, Recording) or any(each.end for each in self._source.moments[-2:-1])
        return _NEVER if ends else 0.0

    def _beat(self, moment: Moment, request_id: RequestId) -> Beat:
        if moment.comment is not None:
            lines = moment.comment.split("\n")
            return Beat(moment.t, "".join(f": {line}\n" for line in lines).encode() + b"\n")
        if moment.error is not None:
            return Beat(moment.t, self._error(request_id, moment.error))
        if moment.raw is not None:
            return Beat(moment.t, moment.raw.encode("utf-8", "surrogatepass"))
        return Beat(moment.t, sse(result_of(request_id, moment.event or {})))

    def _recorded(self, recording: Recording, request_id: RequestId) -> Iterator[Beat]:
        count, stop = self._limit(recording.body)
        sent, t = 0, 0.0
        for at, data in recording.chunks:
            if sent < stop:
                t, piece = at, data[: stop - sent]
                yield Beat(t, piece)
                sent += len(piece)
        broken = None if count is None else self._broken(count, t, request_id)
        ended = max(t, recording.ended) + self._silence
        yield from broken or [Beat(ended, end="cut" if recording.cut else "closed")]

    def _limit(self, body: bytes) -> tuple[int | None, int]:
        """After how many events the scenario breaks the stream, if it does, and the bytes before that."""
        limits = [] if self._cut_after is None else [self._cut_after]
        limits += [] if self._breakdown is None else [self._breakdown.after]
        ends = [0, *(at for at, _ in framed(body))]
        count = max(0, min(limits, default=len(ends)))
        return (count, ends[count]) if count < len(ends) else (None, len(body))

    def _broken(self, count: int, t: float, request_id: RequestId) -> list[Beat] | None:
        """The end after `count` events, if the scenario has one there."""
        if self._breakdown is not None and count >= self._breakdown.after:
            error = {"code": INTERNAL_ERROR, "message": self._breakdown.message}
            return [Beat(t, self._error(request_id, error)), Beat(t, end="closed")]
        if self._cut_after is not None and count >= self._cut_after:
            return [Beat(t, end="cut")]
        return None

    def _error(self, request_id: RequestId, error: Json) -> bytes:
        if http_status_of(error) is not None and "code" not in error:
            return str(error.get("message", "")).encode("utf-8", "replace")
        envelope = error_of(request_id, {key: value for key, value in error.items() if key != HTTP_STATUS})
        if self._fails_at_once:
            return json_bytes(envelope)
        # 1.0 servers name the event, 0.3 servers do not (facts: A2A 5)
        return (b"event: error\n" if self.wire == "1.0" else b"") + sse(envelope)

    # -- the task meanwhile ----------------------------------------------------------------------------------

    def task_at(self, t: float) -> Json | None:
        """The task `t` seconds after the question; None before an event names it."""
        task = task_of(self._played(t), self.wire)
        if task is None or self._breakdown is None or is_over(task):
            return task
        # a task that breaks is failed from then on
        broken = len(self._times) >= self._breakdown.after and t + _SLACK >= max([0.0, *self._times])
        return with_state(task, "failed", self.wire) if broken else task

    def message_at(self, t: float) -> Json | None:
        """The message of an agent without a task, `t` seconds after the question."""
        return last_message(self._played(t))

    def _played(self, t: float) -> Iterator[Json]:
        return (event for at, event in self._known if at <= t + _SLACK)


# -- framing -------------------------------------------------------------------------------------------------


def sse(envelope: Json) -> bytes:
    """One event. Line separators other than newlines stay raw, as real servers send them (facts: A2A 6)."""
    return b"data: " + json_bytes(envelope) + b"\n\n"


def json_bytes(value: Any) -> bytes:
    """Compact UTF-8 JSON; lone surrogates, which UTF-8 does not have, are escaped."""
    text = json.dumps(value, ensure_ascii=False)
    try:
        return text.encode()
    except UnicodeEncodeError:
        return json.dumps(value).encode()


def result_of(request_id: RequestId, result: Json) -> Json:
    """A JSON-RPC answer."""
    return {"jsonrpc": "2.0", "id": request_id, "result": result}


def error_of(request_id: RequestId, error: Json) -> Json:
    """A JSON-RPC error."""
    return {"jsonrpc": "2.0", "id": request_id, "error": error}


def framed(body: bytes) -> list[tuple[int, bytes]]:
    """The events of an SSE body: (offset of its end, data). An unterminated last one counts."""
    found: list[tuple[int, bytes]] = []
    data: list[bytes] = []
    at = 0
    for line in body.splitlines(keepends=True):
        text = line.rstrip(b"\r\n").removeprefix(b"" if at else _BOM)
        at += len(line)
        if text.startswith(b"data:"):
            data.append(text.removeprefix(b"data:").removeprefix(b" "))
        elif not text and data:
            found.append((at, b"\n".join(data)))
            data = []
    return [*found, (at, b"\n".join(data))] if data else found


# -- reading captures ----------------------------------------------------------------------------------------


def _moments(source: Tape | Recording) -> Sequence[Moment]:
    return source.moments if isinstance(source, Tape) else ()


def _last(tape: Tape) -> float:
    return max((moment.t for moment in tape.moments), default=0.0)


def _wire(source: Tape | Recording, events: Sequence[tuple[float, Json]]) -> Wire:
    said = source.head.get("wire") if isinstance(source, Tape) else None
    if said in ("0.3", "1.0"):
        return "1.0" if said == "1.0" else "0.3"
    return wire_of(event for _, event in events)


class _TapeEvents(Sequence[tuple[float, Json]]):
    """The events of a tape. Only their places are kept: a long tape reads them again."""

    def __init__(self, moments: Sequence[Moment], places: array[int], times: array[float]) -> None:
        self._moments, self._places = moments, places
        self.times = times

    def __len__(self) -> int:
        return len(self._places)

    @overload
    def __getitem__(self, index: int) -> tuple[float, Json]: ...
    @overload
    def __getitem__(self, index: slice) -> _TapeEvents: ...
    def __getitem__(self, index: int | slice) -> tuple[float, Json] | _TapeEvents:
        if isinstance(index, slice):
            return _TapeEvents(self._moments, self._places[index], self.times[index])
        return self.times[index], self._moments[self._places[index]].event or {}


def _times(events: Sequence[tuple[float, Json]]) -> Sequence[float]:
    return events.times if isinstance(events, _TapeEvents) else [t for t, _ in events]


def _events_of(source: Tape | Recording) -> Sequence[tuple[float, Json]]:
    if isinstance(source, Tape):
        places, times = array("Q"), array("d")
        if isinstance(source.moments, MappedLines):
            places = source.moments.events
            return _TapeEvents(source.moments, places, array("d", map(source.moments.time, places)))
        for place, moment in enumerate(source.moments):
            if moment.event is not None:
                places.append(place)
                times.append(moment.t)
        return _TapeEvents(source.moments, places, times)
    if "json" in source.headers.get("content-type", "").lower():
        result = _result(source.body)
        return [(source.ended, result)] if result is not None else []
    found: list[tuple[float, Json]] = []
    for end, data in framed(source.body):
        if (result := _result(data)) is not None:
            found.append((_time_of(source, end), result))
    return found


def _result(data: bytes) -> Json | None:
    """The result in an envelope, or a bare event (REST). None for errors and for what is not JSON."""
    try:
        value = json.loads(data)
    except (ValueError, RecursionError):
        return None
    if not isinstance(value, dict) or "error" in value:
        return None
    result = value.get("result", value)
    return result if isinstance(result, dict) else None


def _time_of(recording: Recording, offset: int) -> float:
    """When the byte before `offset` came."""
    sizes = accumulate(len(data) for _, data in recording.chunks)
    times = zip((t for t, _ in recording.chunks), sizes, strict=True)
    return next((t for t, size in times if size >= offset), recording.ended)
