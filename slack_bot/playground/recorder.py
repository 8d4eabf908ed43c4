"""What went over the wire between the bot and its agent, question by question, to be kept as a tape.

Bytes are kept as they came, with their times; nothing is read before somebody wants the tape. What the bot
learned by asking for the task afterwards stands in the tape too, at its time: a thread that was put together
from a broken stream and from looks at the task comes out the same when it is replayed.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import httpx

from ..a2a.wire.sse import SseReader
from ..testing.tape.items import Moment
from ..testing.tape.recording import Recording
from ..testing.tape.tape import Tape
from ..tools.open_capture import taped

QUESTIONS_KEPT = 30
_KNOWN_BY = 64 * 1024  # bytes of an answer in which its task's id must have stood
_LONGEST_EVENT = 64 * 1024 * 1024


@dataclass(slots=True)
class Answered:
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
        """Its events are told one after the other: two that are alike are two."""
        return self.kind.startswith("text/event-stream")

    def names(self, task_id: str) -> bool:
        """The task stands in it."""
        return task_id.encode() in b"".join(data for _, data in self.chunks)[:_KNOWN_BY]


@dataclass(slots=True)
class _Log:
    """A question: the answer to it, and all looks at its task."""

    wire: str
    answer: Answered | None = None
    looks: list[Answered] = field(default_factory=list)


class Recorder:
    """Keeps the last questions, by their A2A message ids. `now` is monotonic seconds."""

    def __init__(self, now: Callable[[], float]) -> None:
        self.now = now
        self._logs: OrderedDict[str, _Log] = OrderedDict()

    def heard(
        self,
        response: httpx.Response,
        verb: Literal["ask", "get", "other"],
        wire: str,
        names: tuple[str, ...],
        cut_after: int | None = None,
    ) -> httpx.Response:
        """`response`, listened to. `names` are the message's or the task's id.

        `cut_after` breaks it after so many events, on purpose; None: never.
        """
        kind = response.headers.get("content-type", "")
        answered = Answered(self.now(), response.status_code, kind)
        if verb == "ask" and names:
            log = self._logs.setdefault(names[0], _Log(wire))
            log.answer, log.wire = answered, wire
            self._logs.move_to_end(names[0])
            while len(self._logs) > QUESTIONS_KEPT:
                self._logs.popitem(last=False)
        elif (found := self._log_of(names)) is not None:
            found.looks.append(answered)
        most = cut_after if answered.is_stream else None
        assert isinstance(response.stream, httpx.AsyncByteStream)
        response.stream = _Listened(response.stream, answered, self.now, most)
        return response

    def tape(self, message_id: str, head: Mapping[str, Any]) -> Tape | None:
        """What was heard in answer to the question with this id; None where nothing was."""
        log = self._logs.get(message_id)
        if log is None or log.answer is None:
            return None
        began, moments = log.answer.began, list(taped(log.answer.recording(self.now())).moments)
        seen: Any = None
        for look in log.looks:
            for moment in taped(look.recording(self.now())).moments:
                is_news = look.is_stream or moment.event is None or moment.event != seen
                if moment.end is None and is_news:
                    moments.append(replace(moment, t=moment.t + look.began - began))
                    seen = moment.event or seen
        return Tape({"wire": log.wire, **head}, tuple(_in_order(moments)))

    def began(self, message_id: str) -> float | None:
        """When the answer to the question with this id began: second 0 of its tape."""
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


class _Listened(httpx.AsyncByteStream):
    """A body that is kept, and broken where it is to be."""

    def __init__(
        self,
        inner: httpx.AsyncByteStream,
        answered: Answered,
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
        """Whoever reads has had enough."""
        await self._inner.aclose()
