"""Cuts server-sent events out of bytes, with limits on their size and their lines.

httpx-sse alone keeps a line of any size, hides pings, and believes the header's charset. It loses the first
event after a BOM and the last one without its blank line, and repeats an event without data (facts: A2A 7).
"""

import asyncio
import math
from collections.abc import AsyncGenerator, Sequence
from typing import NamedTuple

from ...errors import BadAgentData
from ...http_client import EventSource, Response
from .transport import unpacked

_AT_ONCE = 8 * 1024  # bytes that are read before the loop runs; among them may be a thousand events
_A_CHUNK = 256  # bytes that a chunk counts for at least, because each goes through all of httpx
_BOM = b"\xef\xbb\xbf"
_RECORD_SEPARATOR = (
    "\x1e"  # before each text of a JSON text sequence (RFC 7464), as VoltAgent writes its data
)
_HEADERS = {"content-type": "text/event-stream"}
_BLANK = (b"\n", b"\r\n", b"\r")


class SseBlock(NamedTuple):
    """One event, one comment, or one blank line that ends neither.

    `raw`: its bytes. `data`: without a record separator; None for a block without data. `whole`: false for an
    event that is too large or was not ended by a blank line.
    """

    raw: bytes
    data: str | None = None
    name: str = "message"
    whole: bool = True
    id: str = ""


class SseReader:
    """Cuts bytes into blocks. An event above `limit` bytes or `max_lines` lines is cut short (not `whole`).

    A comment between events is returned as soon as its line has ended.
    """

    def __init__(self, limit: int, max_lines: float = math.inf) -> None:
        self._limit, self._max_lines = limit, max_lines
        self._partial = bytearray()  # a line that is not whole
        self._lines: list[bytes] = []  # whole lines of an event that is not
        self._size = 0  # bytes of both
        self._bom = _BOM  # that the first line may begin with

    def feed(self, chunk: bytes) -> list[SseBlock]:
        if not self._size and len(chunk) <= self._limit and (data := _only_data(chunk)) is not None:
            self._bom = b""
            return [SseBlock(chunk, data)]
        self._size += len(chunk)
        blocks: list[SseBlock] = []
        for line in self._whole_lines(chunk):
            text, self._bom = line.removeprefix(self._bom), b""
            if text in _BLANK:
                blocks.append(_event([*self._lines, line], whole=True) if self._lines else SseBlock(line))
                self._lines = []
            elif text[:1] == b":" and not self._lines:
                blocks.append(SseBlock(line))
            else:
                self._lines.append(line)
                continue
            self._size -= len(blocks[-1].raw)
        is_within = self._size <= self._limit and len(self._lines) <= self._max_lines
        return blocks if is_within else [*blocks, *self.end()]

    def end(self) -> list[SseBlock]:
        lines = [*self._lines, bytes(self._partial)]
        self._lines, self._partial, self._size = [], bytearray(), 0
        return [_event(lines, whole=False)] if any(lines) else []

    def _whole_lines(self, chunk: bytes) -> list[bytes]:
        after_cr = self._partial.endswith(b"\r")
        self._partial += chunk
        if not after_cr and b"\n" not in chunk and b"\r" not in chunk:
            return []
        lines = bytes(self._partial).splitlines(keepends=True)
        is_whole = lines[-1].endswith(b"\n")
        self._partial = bytearray(b"" if is_whole else lines.pop())
        return lines


async def events(
    response: Response, max_event_bytes: int, max_event_lines: int
) -> AsyncGenerator[SseBlock, None]:
    """Yield the events that have data, whatever the Content-Type is. The caller limits the time.

    Raises BadAgentData for an event above `max_event_bytes` or `max_event_lines`, and HTTPError.
    """
    reader, bytes_read = SseReader(max_event_bytes, max_event_lines), 0
    async for chunk in unpacked(response, max_event_bytes):
        for at in range(0, len(chunk), _AT_ONCE):
            piece = chunk[at : at + _AT_ONCE]
            for block in reader.feed(piece):
                if _has_data(block, max_event_bytes, max_event_lines):
                    yield block
            bytes_read += max(len(piece), _A_CHUNK)
            if bytes_read >= _AT_ONCE:  # nothing else lets the loop run while there is more to read
                bytes_read = 0
                await asyncio.sleep(0)
    for block in reader.end():
        if block.data:
            yield block


def _has_data(block: SseBlock, limit: int, max_lines: int) -> bool:
    if len(block.raw) > limit or len(block.data or "") > limit:
        raise BadAgentData(f"the agent sent an event larger than agent.max_event_bytes ({limit})")
    if not block.whole:
        raise BadAgentData(f"the agent sent an event of more lines than agent.max_event_lines ({max_lines})")
    return bool(block.data)


def _event(lines: Sequence[bytes], *, whole: bool) -> SseBlock:
    raw = b"".join(lines)
    content = raw.removeprefix(_BOM)
    if whole and (data := _only_data(content)) is not None:
        return SseBlock(raw, data)
    response = Response(200, headers=_HEADERS, content=content if whole else content + b"\n\n")
    event = next(EventSource(response).iter_sse(), None)
    if event is None:
        return SseBlock(raw, whole=whole)
    has_data = event.data or any(line.startswith(b"data") for line in lines)
    data = event.data.removeprefix(_RECORD_SEPARATOR) if has_data else None
    return SseBlock(raw, data, event.event, whole, event.id)


def _only_data(content: bytes) -> str | None:
    """The data of an event with one line, as nearly all chunks are; None for anything else."""
    end = -2 if content.endswith(b"\n\n") else -4 if content.endswith(b"\r\n\r\n") else 0
    if not end or not content.startswith(b"data: "):
        return None
    data = content[6:end]
    if b"\n" in data or b"\r" in data:
        return None
    return data.decode("utf-8", "replace").removeprefix(_RECORD_SEPARATOR)
