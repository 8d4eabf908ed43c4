"""PURE. A tape or a recording as a server sends it: which bytes when, how it ends, and the state of the task.

A recording goes out byte for byte, a tape as server-sent events around its JSON, with the request id. A cut
ends the connection and not the task, which goes on by the tape's clock (facts: A2A 2.3).
"""

from __future__ import annotations

import json
from array import array
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Any, Literal, TypeAlias

from ...turn.json_values import read_json
from ..tape.items import HTTP_STATUS, http_status_of
from ..tape.tape import MappedLines, Moment, Recording, Tape, interrupted_at

Json: TypeAlias = dict[str, Any]
Wire: TypeAlias = Literal["0.3", "1.0"]
RequestId: TypeAlias = str | int | None

INTERNAL_ERROR = -32603
_SAID_BY_HTTP = {"content-type": "content_type", "retry-after": "retry_after"}
_BOM = b"\xef\xbb\xbf"
_NEVER = 365 * 86_400.0
_SLACK = 1e-6  # seconds of tolerance: times are sums of floats


@dataclass(frozen=True, slots=True)
class Beat:
    """Bytes to send at `t` seconds from the request, or the end: closed properly, or cut."""

    t: float
    data: bytes = b""
    end: Literal["closed", "cut"] | None = None


class Playback:
    """One capture, ready to be served any number of times.

    `cut_after`: events after which the connection is cut. `agent_error`: after so many events the agent fails
    with its own error (`{"after": events, "message": text}`). `goes_on`: a cut by `cut_after` does not end
    the task. `is_json`: the answer is one JSON object in place of a stream. `length`: seconds until the end.
    """

    def __init__(
        self,
        source: Tape | Recording,
        *,
        cut_after: int | None = None,
        agent_error: Mapping[str, Any] | None = None,
        goes_on: bool = True,
    ) -> None:
        self._source, self._cut_after, self._agent_error = source, cut_after, agent_error
        self._breaks_after = None if agent_error is None else int(agent_error.get("after", 0))
        self._moments = source.moments if isinstance(source, Tape) else _recorded_events(source)
        self._places, self._times = _events_in(self._moments)
        limits = [self._breaks_after, None if goes_on else cut_after]
        whole = len(self._places)
        self._known = min([whole, *(max(0, limit) for limit in limits if limit is not None)])
        ends = self._times[: self._known].tolist()
        if agent_error is None and self._known == whole:
            ends += [source.ended] if isinstance(source, Recording) else [m.t for m in source.moments[-1:]]
        self.length = max([0.0, *ends])
        self.wire = self._wire()
        self._set_head()

    def _wire(self) -> Wire:
        said = self._source.head.get("wire") if isinstance(self._source, Tape) else None
        if said in ("0.3", "1.0"):
            return "1.0" if said == "1.0" else "0.3"
        return wire_of(map(self._event, range(len(self._places))))

    def _set_head(self) -> None:
        """An error before the first event comes as JSON, not as a stream (facts: A2A 5)."""
        error = self._first_error()
        self._fails_at_once = bool(error) or (self._breaks_after is not None and self._breaks_after <= 0)
        status = http_status_of(error)
        media = "application/json" if self._fails_at_once else "text/event-stream; charset=utf-8"
        self.headers = {"content-type": media, "cache-control": "no-store", "x-accel-buffering": "no"}
        self.status, self.is_json = status or 200, self._fails_at_once
        if isinstance(self._source, Recording):
            self.status = self._source.status
            if not self._fails_at_once:
                self.headers = dict(self._source.headers)
                self.is_json = _is_json(self._source)
        elif status is not None:
            self.headers |= {name: str(error[key]) for name, key in _SAID_BY_HTTP.items() if key in error}

    def _first_error(self) -> Json:
        limits = [self._cut_after, self._breaks_after]
        if isinstance(self._source, Recording) or any(limit is not None and limit <= 0 for limit in limits):
            return {}
        first = next((each for each in self._moments if each.comment is None), None)
        return (first.error if first is not None else None) or {}

    def _event(self, number: int) -> Json:
        return self._moments[self._places[number]].event or {}

    # -- what is sent

    def beats(self, request_id: RequestId) -> Iterator[Beat]:
        """All that is sent in answer to the question; the last beat is the end."""
        if self._cut_after is not None and self._cut_after <= 0:
            yield Beat(0.0, end="cut")
        elif isinstance(self._source, Recording):
            yield from self._recorded(self._source, request_id)
        else:
            yield from self._taped(request_id)

    def later(self, request_id: RequestId, after: float) -> Iterator[Beat]:
        """What is sent to a client that joins after so many seconds: never cut."""
        for number in range(self._known):
            if (t := self._times[number]) > after + _SLACK:
                yield Beat(t, sse(envelope(request_id, result=self._event(number))))
        yield Beat(self.length, end="closed")

    def _taped(self, request_id: RequestId) -> Iterator[Beat]:
        count, t = 0, 0.0
        broken = self._broken(count, t, request_id)
        for moment in () if broken else self._moments:
            t = moment.t
            if moment.end is not None:
                yield Beat(t + self._silence(), end=moment.end)
                return
            if moment.comment is not None and self.is_json:
                continue
            yield Beat(t, self._data(moment, request_id))
            count += moment.event is not None
            if broken := self._broken(count, t, request_id):
                break
        yield from broken or [Beat(t, end="closed")]

    def _silence(self) -> float:
        """Seconds before the end of a capture that was interrupted: its real end is not known."""
        if interrupted_at(self._source) is None:
            return 0.0
        # after a deliberate end the task was polled, and the poll was interrupted
        ends = isinstance(self._source, Recording) or any(each.end for each in self._moments[-2:-1])
        return _NEVER if ends else 0.0

    def _data(self, moment: Moment, request_id: RequestId) -> bytes:
        if moment.comment is not None:
            return "".join(f": {line}\n" for line in moment.comment.split("\n")).encode() + b"\n"
        if moment.error is not None:
            return self._error(request_id, moment.error)
        if moment.raw is not None:
            return moment.raw.encode("utf-8", "surrogatepass")
        return sse(envelope(request_id, result=moment.event or {}))

    def _recorded(self, recording: Recording, request_id: RequestId) -> Iterator[Beat]:
        limits = [limit for limit in (self._cut_after, self._breaks_after) if limit is not None]
        ends = [0, *(at for at, _ in framed(recording.body))]
        count = max(0, min(limits, default=len(ends)))
        is_broken = count < len(ends)
        stop = ends[count] if is_broken else len(recording.body)
        sent, t = 0, 0.0
        for at, data in recording.chunks:
            if sent < stop:
                t, piece = at, data[: stop - sent]
                yield Beat(t, piece)
                sent += len(piece)
        ended = max(t, recording.ended) + self._silence()
        broken = self._broken(count, t, request_id) if is_broken else []
        yield from broken or [Beat(ended, end="cut" if recording.cut else "closed")]

    def _broken(self, count: int, t: float, request_id: RequestId) -> list[Beat]:
        if self._agent_error is not None and self._breaks_after is not None and count >= self._breaks_after:
            error = {"code": INTERNAL_ERROR, "message": str(self._agent_error.get("message", ""))}
            return [Beat(t, self._error(request_id, error)), Beat(t, end="closed")]
        if self._cut_after is not None and count >= self._cut_after:
            return [Beat(t, end="cut")]
        return []

    def _error(self, request_id: RequestId, error: Json) -> bytes:
        if http_status_of(error) is not None and "code" not in error:
            return str(error.get("message", "")).encode("utf-8", "replace")
        error = {key: value for key, value in error.items() if key != HTTP_STATUS}
        answer = envelope(request_id, error=error)
        if self._fails_at_once:
            return json_bytes(answer)
        # 1.0 servers name the event, 0.3 servers do not (facts: A2A 5)
        return (b"event: error\n" if self.wire == "1.0" else b"") + sse(answer)

    # -- the task meanwhile

    def task_at(self, t: float) -> Json | None:
        """The task `t` seconds after the question, once an event named it."""
        task = task_of(self._played(t), self.wire)
        if task is None or self._breaks_after is None or is_over(task):
            return task
        # a task that breaks is failed from then on
        broken = self._known >= self._breaks_after and t + _SLACK >= max([0.0, *self._times[: self._known]])
        return with_state(task, "failed", self.wire) if broken else task

    def message_at(self, t: float) -> Json | None:
        """What an agent without a task has said last."""
        found = [content for kind, content in map(opened, self._played(t)) if kind == "message"]
        return found[-1] if found else None

    def _played(self, t: float) -> Iterator[Json]:
        return (self._event(n) for n in range(self._known) if self._times[n] <= t + _SLACK)


# -- framing


def sse(answer: Json) -> bytes:
    """One event. Line separators other than newlines stay raw (facts: A2A 6)."""
    return b"data: " + json_bytes(answer) + b"\n\n"


def json_bytes(value: Any) -> bytes:
    """UTF-8 JSON; lone surrogates, which UTF-8 does not have, are escaped."""
    text = json.dumps(value, ensure_ascii=False)
    try:
        return text.encode()
    except UnicodeEncodeError:
        return json.dumps(value).encode()


def envelope(request_id: RequestId, **content: Json) -> Json:
    """A JSON-RPC answer with its `result` or `error`."""
    return {"jsonrpc": "2.0", "id": request_id, **content}


def framed(body: bytes) -> list[tuple[int, bytes]]:
    """The events of an SSE body: (offset of its end, data). An unterminated last one counts."""
    found: list[tuple[int, bytes]] = []
    data: list[bytes] = []
    at = 0
    for line in body.splitlines(keepends=True):
        text = line.rstrip(b"\r\n").removeprefix(b"" if at else _BOM)
        at += len(line)
        if text.startswith(b"data:"):
            data.append(text.removeprefix(b"data:").removeprefix(b" ").removeprefix(b"\x1e"))
        elif not text and data:
            found.append((at, b"\n".join(data)))
            data = []
    return [*found, (at, b"\n".join(data))] if data else found


# -- the events of a capture


def _events_in(moments: Sequence[Moment]) -> tuple[array[int], array[float]]:
    """Which moments are events, and when they came."""
    if isinstance(moments, MappedLines):
        return moments.events, array("d", map(moments.time, moments.events))
    places = array("Q", (place for place, moment in enumerate(moments) if moment.event is not None))
    return places, array("d", (moments[place].t for place in places))


def _is_json(recording: Recording) -> bool:
    return "json" in recording.headers.get("content-type", "").lower()


def _recorded_events(recording: Recording) -> list[Moment]:
    """The events of a recording, each at the time of its last byte."""
    if _is_json(recording):
        rows = [(recording.ended, recording.body)]
    else:
        sizes = list(accumulate(len(data) for _, data in recording.chunks))
        rows = [(recording.chunks[bisect_left(sizes, end)][0], data) for end, data in framed(recording.body)]
    return [Moment(t, event=result) for t, data in rows if (result := _result(data)) is not None]


def _result(data: bytes) -> Json | None:
    try:
        value = read_json(data.decode("utf-8", "surrogatepass"))
    except (ValueError, RecursionError):
        return None
    if not isinstance(value, dict) or "error" in value:
        return None
    result = value.get("result", value)
    return result if isinstance(result, dict) else None


# -- the task, in the JSON of its protocol version

_KINDS = {
    "task": "task",
    "status-update": "statusUpdate",
    "artifact-update": "artifactUpdate",
    "message": "message",
}
_WRAPPERS = tuple(_KINDS.values())
_TERMINAL = frozenset({"completed", "failed", "canceled", "cancelled", "rejected"})


def opened(event: Mapping[str, Any]) -> tuple[str, Json]:
    """What `event` is (the 1.0 name of its wrapper, "" if unknown) and its content, in either dialect."""
    for name in _WRAPPERS:
        if isinstance(event.get(name), dict) and "kind" not in event:
            return name, event[name]
    content = dict(event)
    if kind := _KINDS.get(str(event.get("kind"))):
        return kind, content
    if "artifact" in event:
        return "artifactUpdate", content
    if "status" in event:
        return ("task" if "id" in event else "statusUpdate"), content
    return ("message" if "parts" in event else ""), content


def wire_of(events: Iterable[Mapping[str, Any]]) -> Wire:
    """The dialect of the first event that shows one. Flat objects are 0.3."""
    for event in events:
        if "kind" in event:
            return "0.3"
        if any(isinstance(event.get(name), dict) for name in _WRAPPERS):
            return "1.0"
    return "0.3"


def state_of(task: Mapping[str, Any]) -> str:
    """The state of a task in lower-case words with hyphens, "" where it has none."""
    status = task.get("status")
    state = str(status.get("state", "")) if isinstance(status, Mapping) else ""
    return state.removeprefix("TASK_STATE_").lower().replace("_", "-")


def is_over(task: Mapping[str, Any]) -> bool:
    """No further event will come for this task."""
    return state_of(task) in _TERMINAL


def with_state(task: Json, state: str, wire: Wire) -> Json:
    """`task` in another state."""
    spelled = state if wire == "0.3" else "TASK_STATE_" + state.upper().replace("-", "_")
    return {**task, "status": {"state": spelled}}


def status_event(task: Json, wire: Wire) -> Json:
    """The status update for the state of `task`."""
    update = {"taskId": task["id"], "contextId": task.get("contextId", ""), "status": task["status"]}
    return {"kind": "status-update", **update, "final": True} if wire == "0.3" else {"statusUpdate": update}


def task_of(events: Iterable[Mapping[str, Any]], wire: Wire) -> Json | None:
    """The task after `events`, or None where none of them named one.

    Chunks are appended as parts, as a2a-sdk does it, also to an artifact never begun (facts: A2A 2.2).
    """
    task = with_state({"id": "", "contextId": ""}, "submitted", wire)
    artifacts: dict[str, Json] = {}
    history: list[Json] = []
    for event in events:
        kind, content = opened(event)
        task["id"] = content.get("id" if kind == "task" else "taskId") or task["id"]
        task["contextId"] = content.get("contextId") or task["contextId"]
        if kind == "task":
            artifacts = {_key(each): each for each in _dicts(content.get("artifacts"))} or artifacts
            history = _dicts(content.get("history")) or history
        if kind == "artifactUpdate" and isinstance(content.get("artifact"), dict):
            _add(artifacts, content["artifact"], append=content.get("append") is True)
        if kind == "message":
            history.append(content)
        if kind in ("task", "statusUpdate") and isinstance(status := content.get("status"), dict):
            said = task["status"].get("message")  # what is replaced by another goes into the history
            history += [said] if isinstance(said, dict) and said != status.get("message") else []
            task["status"] = status
        if kind in ("task", "statusUpdate") and isinstance(content.get("metadata"), dict):
            task["metadata"] = task.get("metadata", {}) | content["metadata"]
    if not task["id"]:
        return None
    task |= {"artifacts": list(artifacts.values())} if artifacts else {}
    task |= {"history": history} if history else {}
    return {"kind": "task", **task} if wire == "0.3" else task


def _add(artifacts: dict[str, Json], artifact: Json, *, append: bool) -> None:
    key = _key(artifact)
    known = artifacts.get(key) if append else None
    if known is None:
        artifacts[key] = artifact
        return
    joined: Json = {**known, "parts": [*_dicts(known.get("parts")), *_dicts(artifact.get("parts"))]}
    metadata = (known.get("metadata") or {}) | (artifact.get("metadata") or {})
    artifacts[key] = {**joined, "metadata": metadata} if metadata else joined


def _key(artifact: Mapping[str, Any]) -> str:
    return str(artifact.get("artifactId") or artifact.get("name") or "")


def _dicts(value: object) -> list[Json]:
    return [each for each in value if isinstance(each, dict)] if isinstance(value, list) else []
