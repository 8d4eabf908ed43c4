"""Writes what a server answered as the lines of a tape, one by one: a capture can stop at any time."""

import codecs
import copy
import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

from ...agents.wire.sse import SseBlock
from ...testing.tape.items import HTTP_STATUS, INTERRUPTED, RESULT_KEYS, Moment, http_status_of
from ...testing.tape.json_file import Json
from ...testing.tape.recording import BY_HAND
from ...testing.tape.tape import FORMAT, VERSION, as_line, row_of
from ...text.redaction import Redactor, StreamRedactor
from ...turn.json_values import read_json

_QUOTED = 300
_DIGITS = 4


@dataclass(frozen=True, slots=True)
class TappedCall:
    """A call, in any binding. `verb` is what it does: "ask", "get" or "other". `text` is the question's.

    `names`: the ids of the message and of the task that it is about.
    """

    method: str
    verb: str
    wire: str
    id: str
    text: str = ""
    names: tuple[str, ...] = ()


class ExchangeListener:
    """Gets what goes over the wire. Times are seconds from the first question."""

    def on_request(self, t: float, call: TappedCall, body: bytes) -> None:
        """A call went out."""

    def on_response(self, t: float, status: int, headers: Mapping[str, str]) -> None:
        """The head of its answer came."""

    def on_data(self, t: float, data: bytes, moment: Moment | None) -> None:
        """A piece of the answer came: its bytes, and what they say."""

    def on_end(self, t: float, end: Literal["closed", "cut"]) -> None:
        """The answer has ended."""


def moments_of(t: float, block: SseBlock) -> list[Moment]:
    """What a block of an event stream says: its comments, then its event."""
    lines = block.raw.removeprefix(codecs.BOM_UTF8).splitlines(keepends=True)
    comments = [line[1:] for line in lines if line[:1] == b":" and line.endswith((b"\n", b"\r"))]
    found = [Moment(t, comment=_text(each.removeprefix(b" ").rstrip(b"\r\n"))) for each in comments]
    if block.data is not None:
        found.append(_moment(t, block.data, block.raw))
    elif not block.whole:
        found.append(Moment(t, raw=_text(block.raw)))
    return found


def moment_of_body(
    t: float,
    status: int,
    body: bytes,
    content_type: str = "application/json",
    retry_after: int | None = None,
    masks: Redactor | None = None,
) -> Moment:
    """What an answer that is no stream says. `retry_after` is in seconds. `masks` are for what is shortened.

    An HTTP error, or what is not A2A's JSON, becomes an error with its `HTTP_STATUS`, for a replay.
    """
    moment = _moment(t, _text(body), body)
    is_success = 200 <= status < 300
    if is_success and moment.raw is None and "json" in content_type.lower():
        return moment
    text = _text(body) if masks is None else masks.text(_text(body))
    error: Json = {"message": text[:_QUOTED], **(moment.error or {}), HTTP_STATUS: status}
    if is_success:
        error["content_type"] = content_type
    if retry_after is not None:
        error["retry_after"] = retry_after
    return Moment(t, error=error)


def _moment(t: float, data: str, raw: bytes) -> Moment:
    try:
        value = read_json(data)
    except (ValueError, RecursionError):
        value = None
    if isinstance(value, dict):
        if RESULT_KEYS & value.keys():
            return Moment(t, event=value)
        if isinstance(result := value.get("result"), dict):
            return Moment(t, event=result)
        if isinstance(error := value.get("error"), dict):
            return Moment(t, error=error)
    return Moment(t, raw=_text(raw))


def _reason(error: Json) -> str:
    status = http_status_of(error)
    return str(error.get("message", "")) if status is None or "code" in error else f"HTTP {status}"


def _text(data: bytes) -> str:
    return data.decode("utf-8", "replace")


class TapeWriter(ExchangeListener):
    """Writes a tape, line by line. `head` is all but format, version, wire and method."""

    def __init__(self, write: Callable[[str], None], head: Json, masks: Redactor) -> None:
        self._write, self._head, self._masks = write, head, masks
        self._rows = StreamRedactor[Json](masks)
        self._id: str | None = None  # of the last question
        self._verb = "ask"
        self._held: list[Moment] = []
        self._is_open = self._has_begun = False
        self._task: Json | None = None

    def on_request(self, t: float, call: TappedCall, body: bytes) -> None:
        """A call with the id of the last question is another attempt at it."""
        self._verb = call.verb
        if call.verb != "ask":
            return
        if self._id == call.id:
            reasons = (_reason(each.error) for each in self._held if each.error is not None)
            self._held = [
                Moment(t, comment=f"refused ({why}); asked again as {call.method}") for why in reasons
            ]
        is_further = self._id not in (None, call.id)
        if not is_further:
            self._head = {**self._head, "wire": call.wire, "method": call.method}
        self.flush()
        if is_further:
            self._put(Moment(t, question=call.text))
        self._id, self._is_open = call.id, True

    def on_data(self, t: float, data: bytes, moment: Moment | None) -> None:
        """An error is held: it may be the reason to ask again."""
        if moment is None:
            return
        if self._verb == "get":
            if moment.event is None or moment.event != self._task:  # a poll without news is not written
                self._task = moment.event
                self._put(moment)
        elif moment.error is not None or self._held:
            self._held.append(moment)
        else:
            self._put(moment)

    def on_end(self, t: float, end: Literal["closed", "cut"]) -> None:
        if self._verb == "ask" and self._is_open:
            self._is_open = False
            self._held.append(Moment(t, end=end))
            if len(self._held) == 1:
                self._put(self._held.pop())

    def flush(self) -> None:
        """Write what waits: no other attempt follows."""
        held, self._held = self._held, []
        for moment in held:
            self._put(moment)
        self._write_rows(self._rows.end())

    def interrupt(self, t: float) -> None:
        """The capture was stopped. Without any line yet, nothing is written."""
        self.flush()
        if self._has_begun:
            if self._is_open:
                self.on_end(t, "cut")
            self._put(Moment(t, comment=INTERRUPTED))
            self.flush()

    def _put(self, moment: Moment) -> None:
        if not self._has_begun:
            self._has_begun = True
            head = {"format": FORMAT, "version": VERSION, **self._head}
            self._write(as_line(self._masks.value(head)))
        row = copy.deepcopy(row_of(replace(moment, t=round(moment.t, _DIGITS))))
        self._write_rows(self._rows.push(row, row.get("event")))

    def _write_rows(self, rows: Iterable[Json]) -> None:
        for row in rows:
            self._write(as_line(self._masks.value(row)))


@dataclass(slots=True)
class _RawPiece:
    """Bytes of an answer, and the JSON of their event, whose texts may be masked. `t` is when they came."""

    data: bytes
    t: float | None = None
    event: Any = None
    masked: Any = None

    def as_bytes(self, masks: Redactor) -> bytes:
        """Where a text was masked, the event is written anew in one line of data."""
        if self.masked == self.event:
            return masks.raw(self.data)
        line = b"data: " + json.dumps(self.masked, ensure_ascii=False).encode("utf-8", "replace")
        lines = self.data.split(b"\n")
        kept = [each for each in lines if each.strip() and not each.startswith(b"data:")]
        return masks.raw(b"\n".join((*kept, line, b"", b"")))


class RawWriter(ExchangeListener):
    """Writes the first answer byte for byte, its head before it and its times after it."""

    def __init__(self, write: Callable[[bytes], None], masks: Redactor) -> None:
        self._write, self._masks = write, masks
        self._id: str | None = None
        self._request = b""
        self._times: list[str] = []
        self._rows = StreamRedactor[_RawPiece](masks)
        self._held: list[bytes] | None = None  # an answer that is no stream, until no retry can follow
        self._is_question = self._has_ended = False

    def on_request(self, t: float, call: TappedCall, body: bytes) -> None:
        """Only the first question, and other attempts at it, are kept."""
        self._is_question = call.verb == "ask" and self._id in (None, call.id)
        if self._is_question:
            self._id, self._held, self._times, self._has_ended = call.id, None, [], False
            verb = "" if call.method.startswith("POST ") else "POST "  # of HTTP+JSON it is said already
            self._request = f"# >>> {verb}{call.method}\n# >>> ".encode() + body + b"\n"

    def on_response(self, t: float, status: int, headers: Mapping[str, str]) -> None:
        """Only the headers that say how to read the body: others may hold secrets."""
        if self._is_question:
            kind, pause = headers.get("content-type", ""), headers.get("retry-after")
            self._held = None if kind.startswith("text/event-stream") else []
            line = f"# <<< HTTP/1.1 {status}\n# <<< content-type: {kind}\n"
            line += f"# <<< retry-after: {pause}\n" if pause else ""
            line += "# ===== raw body below =====\n"
            self._put(_RawPiece(self._request + line.encode("utf-8", "replace")))

    def on_data(self, t: float, data: bytes, moment: Moment | None) -> None:
        if self._is_question and data:
            event = None if moment is None or self._held is not None else _json_of(data)
            self._put(_RawPiece(data, t, event, copy.deepcopy(event)))

    def on_end(self, t: float, end: Literal["closed", "cut"]) -> None:
        if self._is_question and not self._has_ended:
            self._has_ended = True
            self._write_rows(self._rows.end())
            times = f"# chunk timing (seconds:bytes): {' '.join(self._times)}\n"
            how = f"# closed at {t:.3f}s err={'cut' if end == 'cut' else None}\n"
            self._put(_RawPiece(f"\n# ===== end of raw body =====\n{times}{how}".encode()))

    def interrupt(self, t: float) -> None:
        if self._has_ended:
            self._put(_RawPiece(f"# closed at {t:.3f}s err={BY_HAND}\n".encode()))
        self.flush()

    def flush(self) -> None:
        self._write_rows(self._rows.end())
        if self._held is not None:  # as a whole: a secret may have come in two chunks
            self._write(self._masks.raw(b"".join(self._held)))
        self._held = None

    def _put(self, piece: _RawPiece) -> None:
        if self._held is None:
            self._write_rows(self._rows.push(piece, piece.masked))
            return
        self._held.append(piece.data)
        self._note(piece.t, len(piece.data))

    def _write_rows(self, pieces: Iterable[_RawPiece]) -> None:
        for piece in pieces:
            data = piece.as_bytes(self._masks)
            self._note(piece.t, len(data))
            self._write(data)

    def _note(self, t: float | None, size: int) -> None:
        if t is not None:
            self._times.append(f"{t:.3f}:{size}")


def _json_of(block: bytes) -> Any:
    """The JSON of an event of a stream; None: it has none."""
    lines = [line[5:].removeprefix(b" ") for line in block.splitlines() if line.startswith(b"data:")]
    try:
        return read_json(_text(b"\n".join(lines))) if lines else None
    except (ValueError, RecursionError):
        return None
