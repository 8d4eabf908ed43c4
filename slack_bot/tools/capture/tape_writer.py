"""Writes what a server answered as the lines of a tape, one by one: a capture can stop at any time."""

import codecs
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Literal

from ...a2a.wire.sse import SseBlock
from ...testing.tape.items import HTTP_STATUS, INTERRUPTED, RESULT_KEYS, Moment, http_status_of
from ...testing.tape.json_file import Json
from ...testing.tape.recording import BY_HAND
from ...testing.tape.tape import FORMAT, VERSION, as_line, row_of
from ...turn.json_values import read_json
from .redaction import Redactor, StreamRedactor

_QUOTED = 300
_DIGITS = 4


@dataclass(frozen=True, slots=True)
class RpcCall:
    """A JSON-RPC call. `verb` is what it does: "ask", "get" or "other". `text` is the question's.

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

    def on_request(self, t: float, call: RpcCall, body: bytes) -> None:
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
        self._rows = StreamRedactor(masks.secrets)
        self._id: str | None = None  # of the last question
        self._verb = "ask"
        self._held: list[Moment] = []
        self._is_open = self._has_begun = False
        self._task: Json | None = None

    def on_request(self, t: float, call: RpcCall, body: bytes) -> None:
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
        for row in self._rows.end():
            self._write(as_line(row))

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
        row = self._masks.value(row_of(replace(moment, t=round(moment.t, _DIGITS))))
        for ready in self._rows.push(row):
            self._write(as_line(ready))


class RawWriter(ExchangeListener):
    """Writes the first answer byte for byte, its head before it and its times after it."""

    def __init__(self, write: Callable[[bytes], None], masks: Redactor) -> None:
        self._write, self._masks = write, masks
        self._id: str | None = None
        self._request = b""
        self._times: list[str] = []
        self._held: list[bytes] | None = None  # an answer that is no stream, until no retry can follow
        self._is_question = self._has_ended = False

    def on_request(self, t: float, call: RpcCall, body: bytes) -> None:
        """Only the first question, and other attempts at it, are kept."""
        self._is_question = call.verb == "ask" and self._id in (None, call.id)
        if self._is_question:
            self._id, self._held, self._times, self._has_ended = call.id, None, [], False
            self._request = b"# >>> POST " + call.method.encode() + b"\n# >>> " + body + b"\n"

    def on_response(self, t: float, status: int, headers: Mapping[str, str]) -> None:
        """Only the headers that say how to read the body: others may hold secrets."""
        if self._is_question:
            kind, pause = headers.get("content-type", ""), headers.get("retry-after")
            self._held = None if kind.startswith("text/event-stream") else []
            line = f"# <<< HTTP/1.1 {status}\n# <<< content-type: {kind}\n"
            line += f"# <<< retry-after: {pause}\n" if pause else ""
            line += "# ===== raw body below =====\n"
            self._put(self._request + line.encode("utf-8", "replace"))

    def on_data(self, t: float, data: bytes, moment: Moment | None) -> None:
        if self._is_question and data:
            self._put(data)
            self._times.append(f"{t:.3f}:{len(data)}")

    def on_end(self, t: float, end: Literal["closed", "cut"]) -> None:
        if self._is_question and not self._has_ended:
            self._has_ended = True
            times = f"# chunk timing (seconds:bytes): {' '.join(self._times)}\n"
            how = f"# closed at {t:.3f}s err={'cut' if end == 'cut' else None}\n"
            self._put(f"\n# ===== end of raw body =====\n{times}{how}".encode())

    def interrupt(self, t: float) -> None:
        if self._has_ended:
            self._put(f"# closed at {t:.3f}s err={BY_HAND}\n".encode())
        self.flush()

    def flush(self) -> None:
        if self._held is not None:  # as a whole: a secret may have come in two chunks
            self._write(self._masks.raw(b"".join(self._held)))
        self._held = None

    def _put(self, data: bytes) -> None:
        if self._held is None:
            self._write(self._masks.raw(data))
        else:
            self._held.append(data)
