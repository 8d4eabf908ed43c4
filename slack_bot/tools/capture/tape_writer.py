"""PURE. What a server answered becomes the lines of a tape, one by one: a capture can stop at any time.

A refused attempt that is made again on the other wire is no part of the conversation: it becomes a comment.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal, Protocol

from ...testing.tape.items import HTTP_STATUS, INTERRUPTED, RESULT_KEYS, Moment, http_status_of
from ...testing.tape.json_file import Json
from ...testing.tape.recording import BY_HAND
from ...testing.tape.tape import FORMAT, VERSION, as_line, row_of
from .redaction import Redactor, StreamRedactor
from .sse_split import SseBlock

_QUOTED = 300
_DIGITS = 4


@dataclass(frozen=True, slots=True)
class Asked:
    """A JSON-RPC call that went out. `verb` is what it does; `text` is the question's, "" for others."""

    method: str
    verb: Literal["ask", "get", "other"]
    wire: str
    id: str
    text: str = ""


class ExchangeListener(Protocol):
    """Somebody who is told what goes over the wire. Times are seconds from the first question."""

    def asked(self, t: float, asked: Asked, body: bytes) -> None:
        """A call goes out."""

    def answered(self, t: float, status: int, headers: Mapping[str, str]) -> None:
        """The head of its answer came."""

    def heard(self, t: float, data: bytes, moment: Moment | None) -> None:
        """A piece of the answer came: its bytes, and what they say."""

    def ended(self, t: float, end: Literal["closed", "cut"]) -> None:
        """Nothing more of this answer will come."""


def moments_of(t: float, piece: SseBlock) -> list[Moment]:
    """What a piece of an event stream says: its comments, then its event."""
    found = [Moment(t, comment=comment) for comment in piece.comments]
    if piece.data is not None:
        found.append(_judged(t, piece.data, piece.raw))
    elif not piece.whole:
        found.append(Moment(t, raw=_text(piece.raw)))
    return found


def moment_of_body(
    t: float,
    status: int,
    body: bytes,
    content_type: str = "application/json",
    pause: int | None = None,
    masks: Redactor | None = None,
) -> Moment:
    """What an answer in one piece says. `pause` is its Retry-After, in seconds. `masks` take the secrets out
    of a body that is quoted: what is cut off could be the half of one.

    What is no success, or not A2A's JSON, is an error that says what HTTP said (`HTTP_STATUS`): replayed, it
    is served as it came.
    """
    judged = _judged(t, _text(body), body)
    is_success = 200 <= status < 300
    if is_success and judged.raw is None and "json" in content_type.lower():
        return judged
    text = _text(body) if masks is None else masks.text(_text(body))
    error: Json = {"message": text[:_QUOTED], **(judged.error or {}), HTTP_STATUS: status}
    if is_success:
        error["content_type"] = content_type
    if pause is not None:
        error["retry_after"] = pause
    return Moment(t, error=error)


def _judged(t: float, data: str, raw: bytes) -> Moment:
    """The event or the error in `data`; the bytes themselves where it is neither."""
    try:
        value = json.loads(data)
    except (ValueError, RecursionError):
        return Moment(t, raw=_text(raw))
    found = _unwrapped(value) if isinstance(value, dict) else None
    return Moment(t, raw=_text(raw)) if found is None else replace(found, t=t)


def _unwrapped(value: Json) -> Moment | None:
    if RESULT_KEYS & value.keys():
        return Moment(0.0, event=value)
    result, error = value.get("result"), value.get("error")
    if isinstance(result, dict):
        return Moment(0.0, event=result)
    return Moment(0.0, error=error) if isinstance(error, dict) else None


def _reason(error: Json) -> str:
    status = http_status_of(error)
    return str(error.get("message", "")) if status is None or "code" in error else f"HTTP {status}"


def _text(data: bytes) -> str:
    return data.decode("utf-8", "replace")


class TapeLines:
    """An ear that writes a tape, line by line. `head` is all but format, version, wire and method."""

    def __init__(self, write: Callable[[str], None], head: Json, masks: Redactor) -> None:
        self._write, self._head, self._masks = write, head, masks
        self._seams = StreamRedactor(masks.secrets)
        self._asked: Asked | None = None
        self._verb = "ask"
        self._held: list[Moment] = []
        self._is_open = False
        self._task: Any = None
        self.began = False

    def asked(self, t: float, asked: Asked, body: bytes) -> None:
        """A call goes out; one with the id of the last question is another attempt at it."""
        del body
        self._verb = asked.verb
        if asked.verb != "ask":
            return
        again = self._asked is not None and self._asked.id == asked.id
        if again:
            said = (_reason(each.error) for each in self._held if each.error is not None)
            self._held = [
                Moment(t, comment=f"refused ({why}); asked again as {asked.method}") for why in said
            ]
        if again or self._asked is None:
            self._head = {**self._head, "wire": asked.wire, "method": asked.method}
        self.flush()
        if self._asked is not None and not again:
            self._put(Moment(t, question=asked.text))
        self._asked, self._is_open = asked, True

    def answered(self, t: float, status: int, headers: Mapping[str, str]) -> None:
        """Heads are not kept: they hold what should not be."""

    def heard(self, t: float, data: bytes, moment: Moment | None) -> None:
        """A moment is a line. An error that may be the reason to ask again waits for what follows."""
        del data
        if moment is None:
            return
        if self._verb == "get":
            self._look(moment)
        elif moment.error is not None or self._held:
            self._held.append(moment)
        else:
            self._put(moment)

    def ended(self, t: float, end: Literal["closed", "cut"]) -> None:
        """The end of an answer to a question is a line, too."""
        if self._verb != "ask" or not self._is_open:
            return
        self._is_open = False
        if self._held:
            self._held.append(Moment(t, end=end))
        else:
            self._put(Moment(t, end=end))

    def flush(self) -> None:
        """Nothing is held any more: no other attempt follows."""
        held, self._held = self._held, []
        for moment in held:
            self._put(moment)
        for row in self._seams.end():
            self._write(as_line(row))

    def interrupted(self, t: float) -> None:
        """Whoever asked does not wait any longer. Where nothing came yet, there is nothing to write."""
        self.flush()
        if self.began:
            if self._is_open:
                self.ended(t, "cut")
            self._put(Moment(t, comment=INTERRUPTED))
            self.flush()

    def _look(self, moment: Moment) -> None:
        """The task from the side: worth a line where it has changed."""
        if moment.event is None or moment.event != self._task:
            self._task = moment.event
            self._put(moment)

    def _put(self, moment: Moment) -> None:
        if not self.began:
            self.began = True
            head = {"format": FORMAT, "version": VERSION, **self._head}
            self._write(as_line(self._masks.value(head)))
        row = self._masks.value(row_of(replace(moment, t=round(moment.t, _DIGITS))))
        for ready in self._seams.push(row):
            self._write(as_line(ready))


class RawLines:
    """An ear that writes the first answer byte for byte, with its head before it and its times after it."""

    def __init__(self, write: Callable[[bytes], None], masks: Redactor) -> None:
        self._write, self._masks = write, masks
        self._id: str | None = None
        self._request = b""
        self._times: list[str] = []
        self._held: list[bytes] | None = None  # an answer in one piece, until nobody asks again
        self._listens = self._is_over = False

    def asked(self, t: float, asked: Asked, body: bytes) -> None:
        """The question, or another attempt at it. Other calls are not kept."""
        self._listens = asked.verb == "ask" and self._id in (None, asked.id)
        if self._listens:
            self._id, self._held, self._times, self._is_over = asked.id, None, [], False
            self._request = b"# >>> POST " + asked.method.encode() + b"\n# >>> " + body + b"\n"

    def answered(self, t: float, status: int, headers: Mapping[str, str]) -> None:
        """Of the head, only what says how to read the body."""
        if self._listens:
            kind = headers.get("content-type", "")
            self._held = None if kind.startswith("text/event-stream") else []
            pause = headers.get("retry-after")
            line = f"# <<< HTTP/1.1 {status}\n# <<< content-type: {kind}\n"
            line += f"# <<< retry-after: {pause}\n" if pause else ""
            line += "# ===== raw body below =====\n"
            self._put(self._request + line.encode("utf-8", "replace"))

    def heard(self, t: float, data: bytes, moment: Moment | None) -> None:
        """Bytes, as they came."""
        if self._listens and data:
            self._put(data)
            self._times.append(f"{t:.3f}:{len(data)}")

    def ended(self, t: float, end: Literal["closed", "cut"]) -> None:
        """When each piece came, and how it ended."""
        if self._listens and not self._is_over:
            self._is_over = True
            times = f"# chunk timing (seconds:bytes): {' '.join(self._times)}\n"
            how = f"# closed at {t:.3f}s err={'cut' if end == 'cut' else None}\n"
            self._put(f"\n# ===== end of raw body =====\n{times}{how}".encode())

    def interrupted(self, t: float) -> None:
        """Whoever asked does not wait any longer: so the answer ended, and no other attempt follows."""
        if self._is_over:
            self._put(f"# closed at {t:.3f}s err={BY_HAND}\n".encode())
        self.flush()

    def flush(self) -> None:
        """No other attempt follows."""
        if self._held is not None:  # as a whole: a secret may have come in two chunks
            self._write(self._masks.raw(b"".join(self._held)))
        self._held = None

    def _put(self, data: bytes) -> None:
        if self._held is None:
            self._write(self._masks.raw(data))
        else:
            self._held.append(data)
