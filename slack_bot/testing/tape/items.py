"""PURE. One item of a capture becomes a moment of a tape. Its keys say which wrapping a tool gave it."""

import math
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any, Literal

from ...errors import UnreadableInput
from .json_file import Json, load_json
from .recording import SPACING

RESULT_KEYS = frozenset(
    {"kind", "task", "message", "statusUpdate", "artifactUpdate", "status", "artifact", "parts"}
)
"""An object with one of these is an A2A result of 0.3 or 1.0, whole or flat."""

_LONGEST = 1e9  # seconds
_CAIPE_TASK = {"taskId": "replayed-task", "contextId": "replayed-context"}


@dataclass(frozen=True, slots=True)
class Moment:
    """One thing that came, `t` seconds from the start. Exactly one of the others is set.

    `event` is the A2A result without its envelope, `error` a JSON-RPC error object, `comment` an SSE comment,
    `raw` the text of something that is none of these, exactly as it came. `question` begins a follow-up: what
    comes after it answers this text, in the same context. `place`: where in its file it stands, for people.
    """

    t: float
    event: Json | None = None
    comment: str | None = None
    error: Json | None = None
    end: Literal["closed", "cut"] | None = None
    raw: str | None = None
    question: str | None = None
    place: str = field(default="", compare=False)


INTERRUPTED = "the capture was interrupted here"
"""The last comment of a tape that was interrupted."""
HTTP_STATUS = "http_status"
"""Key of an `error` that an HTTP answer was, in place of a stream. Beside it: `message`, the beginning of its
body, perhaps `content_type` and `retry_after` (seconds), and the keys of a JSON-RPC error in the body."""


def http_status_of(error: Json | None) -> int | None:
    """The HTTP status that an error came with; None where it is JSON-RPC's alone."""
    status = (error or {}).get(HTTP_STATUS)
    is_one = isinstance(status, int) and not isinstance(status, bool) and 100 <= status < 600
    return status if is_one else None


class Items:
    """Turns items of any known shape into moments, and keeps the time where they have none."""

    def __init__(self, name: str, unit: str) -> None:
        self._name, self._unit = name, unit
        self._first_stamp: float | None = None
        self._known = self._count = 0
        self.last = 0.0
        self.needs_end = False

    def moment(self, item: Any, number: int) -> Moment:
        """The moment that `item` describes. Raises UnreadableInput if it is not even an object."""
        return replace(self._moment(item, number), place=f"{self._unit} {number}")

    def _moment(self, item: Any, number: int) -> Moment:
        if not isinstance(item, dict):
            raise self._wrong(number, f"an event must be a JSON object, not {_kind(item)}")
        self._count += 1
        t = self._time(item, number)
        if (said := _said(t, item)) is not None:
            self._known += 1
            return said
        return self._event(t, self._inner(item, number), number)

    def check_some(self, *, may_be_empty: bool = False) -> None:
        """Raises UnreadableInput unless something was an event: a list of other things is not a capture."""
        if not self._count and not may_be_empty:
            raise UnreadableInput(f"{self._name}: there are no events in it")
        if self._count and not self._known:
            raise UnreadableInput(f"{self._name}: none of its {self._count} objects is an A2A event")

    def _event(self, t: float, value: Json, number: int) -> Moment:
        is_result = bool(RESULT_KEYS & value.keys())
        is_envelope = not is_result and ("result" in value or "jsonrpc" in value)
        error = None if is_result else value.get("error")
        if is_envelope and isinstance(result := value.get("result"), dict):
            value = result
        elif isinstance(error, dict):
            self._known += 1
            return Moment(t, error=error)
        elif is_envelope:
            raise self._wrong(number, "a JSON-RPC envelope without a result or an error")
        self._known += is_result or is_envelope
        return Moment(t, event={name: part for name, part in value.items() if name != "_t"})

    def _inner(self, item: Json, number: int) -> Json:
        if isinstance(item.get("artifact_name"), str):
            self.needs_end = True
            return _caipe_artifact(item, number)
        for wrapping in ("raw", "event", "data"):
            inner = item.get(wrapping)
            if wrapping == "data" and "event" not in item:
                continue
            if isinstance(inner, str) and wrapping == "data":
                inner = load_json(inner, self._name, number)
            if isinstance(inner, dict):
                return inner
        return item

    def _time(self, item: Json, number: int) -> float:
        inner = item.get("result")
        given = (item.get("_t"), item.get("t"), inner.get("_t") if isinstance(inner, dict) else None)
        t = next((value for value in given if value is not None), None)
        if t is not None:
            if isinstance(t, bool) or not isinstance(t, int | float) or not 0 <= t < _LONGEST:
                raise self._wrong(number, "a time must be a number of seconds from the start")
        elif (stamp := item.get("timestamp")) is not None:
            seconds = self._stamp(stamp, number)
            self._first_stamp = seconds if self._first_stamp is None else self._first_stamp
            t = round(seconds - self._first_stamp, 6)
        else:
            t = round(self.last + SPACING, 6) if self._count > 1 else 0.0
        # the order of the file is the order of arrival: clocks of capture tools step back now and then
        self.last = max(self.last, float(t))
        return self.last

    def _stamp(self, value: Any, number: int) -> float:
        if isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value):
            return value / 1000 if value > 1e11 else float(value)
        try:
            moment = datetime.fromisoformat(value)
        except (TypeError, ValueError) as error:
            raise self._wrong(number, "its timestamp is not an ISO 8601 time") from error
        return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()

    def _wrong(self, number: int, reason: str) -> UnreadableInput:
        return UnreadableInput(f"{self._name}, {self._unit} {number}: {reason}")


def _said(t: float, item: Json) -> Moment | None:
    is_result = bool(RESULT_KEYS & item.keys())
    if not is_result and (end := item.get("end")) in ("closed", "cut"):
        return Moment(t, end=end)
    for name in ("comment",) if is_result else ("comment", "raw", "question"):
        said: Json = {name: item.get(name)}
        if isinstance(said[name], str):
            return Moment(t, **said)
    return None


def _kind(value: Any) -> str:
    names = {list: "a list", str: "a string", bool: "true or false", int: "a number", float: "a number"}
    return names.get(type(value), "null")


def _caipe_artifact(item: Json, number: int) -> Json:
    """CAIPE's JSON captures keep artifacts without the events that carried them."""
    parts = item.get("parts")
    if not isinstance(parts, list):
        parts = [{"kind": "text", "text": str(item.get("text", ""))}]
    artifact = {
        "artifactId": f"artifact-{item.get('seq', number)}",
        "name": item["artifact_name"],
        "description": item.get("description", ""),
        "metadata": item.get("metadata") or {},
        "parts": parts,
    }
    update = {"kind": "artifact-update", **_CAIPE_TASK, "artifact": artifact}
    return {**update, "append": False, "lastChunk": True}


def caipe_end(status: Any) -> Json:
    """The end that such a capture leaves out; `status` is its `raw_status`, a word or an A2A status."""
    if not isinstance(status, dict):
        status = {"state": status if isinstance(status, str) else "completed"}
    return {"kind": "status-update", **_CAIPE_TASK, "status": status, "final": True}
