"""The guard around httpx-sse: nothing without bound, nothing without end.

httpx-sse splits lines rightly, and leaves open what a server can do to us: it keeps a line of any size, hides
pings (so a dead stream that pings looks alive to a read timeout), decodes by whatever charset the header
claims, loses the first event behind a BOM and the last one without its blank line, and repeats an event with
no data after every `id:` (facts: A2A 7). `EventSource` only needs a response's headers and text, so the guard
stands between the two.
"""

from __future__ import annotations

import asyncio
import codecs
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing
from dataclasses import dataclass
from typing import cast

import httpx
from httpx_sse import EventSource, ServerSentEvent

from ...errors import BadAgentData, StreamIdle
from .content_encoding import unpacked

_AT_ONCE = 8 * 1024
"""Characters that are read before the loop runs; among them may be a thousand events."""
_A_CHUNK = 256  # characters that a chunk counts for, because each goes through all of httpx
_BLANK_LINES = (b"\n\n", b"\r\r", b"\r\n\r\n")


@dataclass(frozen=True, slots=True)
class SseEvent:
    """One event that has data. `whole` is false for a last one that nothing but the stream's end ended."""

    name: str
    data: str
    whole: bool


async def events(
    response: httpx.Response, *, idle: float, max_event_bytes: int
) -> AsyncGenerator[SseEvent, None]:
    """The events of `response`, whatever its Content-Type says.

    `idle` is in seconds and counts from event to event; comments, pings among them, are no events.

    Raises:
        StreamIdle: no event for `idle` seconds.
        BadAgentData: one event takes more than `max_event_bytes`, ended or not.
        httpx.HTTPError: the connection broke.
    """
    guarded = _Guarded(response, max_event_bytes)
    source = EventSource(cast(httpx.Response, guarded))
    async with aclosing(source.aiter_sse()) as stream:
        while True:
            try:
                async with asyncio.timeout(idle):
                    event = await _next_with_data(stream)
            except TimeoutError as error:
                raise StreamIdle(f"the agent sent no event for {idle:g} s") from error
            if event is None:
                return
            guarded.taken(event)
            yield SseEvent(event.event, event.data, whole=not guarded.is_over)


async def _next_with_data(stream: AsyncIterator[ServerSentEvent]) -> ServerSentEvent | None:
    async for event in stream:
        if event.data:
            return event
    return None


class _Guarded:
    """What `EventSource` sees of a response: an event stream in UTF-8 that ends with a blank line."""

    def __init__(self, response: httpx.Response, max_event_bytes: int) -> None:
        self.headers = httpx.Headers({"content-type": "text/event-stream"})
        self.is_over = False
        self._response = response
        self._limit = max_event_bytes
        self._pending = 0
        self._read = 0

    async def aiter_text(self) -> AsyncIterator[str]:
        """The body's text. Raises BadAgentData when what may be one event grows too large."""
        decoder = codecs.getincrementaldecoder("utf-8-sig")("replace")
        async for chunk in unpacked(self._response, self._limit):
            self._count(chunk)
            text = decoder.decode(chunk)
            for at in range(0, len(text), _AT_ONCE):
                yield text[at : at + _AT_ONCE]
                await self._let_others_run(min(len(text) - at, _AT_ONCE))
            await self._let_others_run(_A_CHUNK)
        self.is_over = True
        yield decoder.decode(b"", final=True) + "\n\n"

    async def _let_others_run(self, size: int) -> None:
        """Count what was read. Nothing else gives way to the loop while there is more to read."""
        self._read += size
        if self._read >= _AT_ONCE:
            self._read = 0
            await asyncio.sleep(0)

    def taken(self, event: ServerSentEvent) -> None:
        """An event came out: what follows is counted anew. Raises BadAgentData when it is too large."""
        if len(event.data) > self._limit:
            raise self._too_large()
        self._pending = 0

    def _count(self, chunk: bytes) -> None:
        ended = max(chunk.rfind(blank) for blank in _BLANK_LINES)
        self._pending = len(chunk) - ended if ended >= 0 else self._pending + len(chunk)
        if self._pending > self._limit:
            raise self._too_large()

    def _too_large(self) -> BadAgentData:
        return BadAgentData(f"the agent sent an event larger than agent.max_event_bytes ({self._limit})")
