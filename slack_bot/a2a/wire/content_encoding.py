"""Unpacks a compressed answer in small pieces, so that its size can be bounded.

A proxy may compress unasked, and httpx would unpack a whole chunk at once: 260 kB of gzip become 256 MB.
"""

from __future__ import annotations

import asyncio
import zlib
from collections.abc import AsyncGenerator, AsyncIterator, Iterator

import httpx

from ...errors import BadEncoding

PIECE = 64 * 1024
"""Bytes that are unpacked at once, at most."""
_GROWTH = 100
"""Times that a body may grow beyond the size of one answer. Text grows 5 to 20 times, zeros 1,000 times."""
_REMEDY = "turn compression off at the agent or the proxy in front of it"
_AUTO = zlib.MAX_WBITS | 32  # gzip and zlib, by their heads
_RAW = -zlib.MAX_WBITS


class Unpacker:
    """Unpacks a body of this Content-Encoding. `free`: bytes that may come out however few went in.

    BadEncoding: neither gzip nor deflate, or more than once.
    """

    def __init__(self, encoding: str, free: int) -> None:
        names = [
            name for each in encoding.lower().split(",") if (name := each.strip()) not in ("", "identity")
        ]
        if len(names) > 1:
            raise BadEncoding(f"the agent's answer is compressed more than once: {_REMEDY}")
        if names and names[0] not in ("gzip", "x-gzip", "deflate"):
            raise BadEncoding(f"the agent's answer is compressed with {names[0][:20]!r}, not gzip: {_REMEDY}")
        self.is_plain = not names
        """The body is not compressed."""
        self._may_be_bare = names == ["deflate"]
        self._zlib: zlib._Decompress | None = None
        self._head = b""
        self._free = free + PIECE  # the caller's own bound comes first
        self._taken = self._given = 0

    def feed(self, data: bytes) -> Iterator[bytes]:
        """The unpacked `data`, in pieces of at most `PIECE` bytes.

        Raises BadEncoding if the body grows too much, httpx.DecodingError if it is broken.
        """
        if self.is_plain:
            yield data
            return
        self._taken += len(data)
        self._head = data = self._head + data
        if self._zlib is None and len(data) < 2:
            return  # the first two bytes say whether there is a head
        unzip = self._zlib = self._zlib or zlib.decompressobj(self._window(data))
        self._head = b""
        while not unzip.eof:
            try:
                piece = unzip.decompress(data, PIECE)
            except zlib.error as error:
                raise httpx.DecodingError(str(error)) from error
            data = unzip.unconsumed_tail
            self._given += len(piece)
            if self._given > self._free + _GROWTH * self._taken:
                raise BadEncoding(f"the agent's answer grows too much when it is unpacked: {_REMEDY}")
            if piece:
                yield piece
            if not data and len(piece) < PIECE:
                return

    def _window(self, data: bytes) -> int:
        """Servers send deflate with its head (RFC 9110) and without."""
        has_head = data[0] & 0x0F == zlib.DEFLATED and int.from_bytes(data[:2]) % 31 == 0
        return _RAW if self._may_be_bare and not has_head else _AUTO


def unpacked(response: httpx.Response, max_bytes: int) -> AsyncIterator[bytes]:
    """The unpacked body, as it comes. `max_bytes`: the bound of one answer."""
    if response.is_stream_consumed:  # from a transport in memory: httpx has unpacked it
        return response.aiter_bytes()
    unpacker = Unpacker(response.headers.get("content-encoding", ""), max_bytes)
    return response.aiter_raw() if unpacker.is_plain else _pieces(response, unpacker)


async def _pieces(response: httpx.Response, unpacker: Unpacker) -> AsyncGenerator[bytes, None]:
    async for chunk in response.aiter_raw():
        for piece in unpacker.feed(chunk):
            yield piece
            await asyncio.sleep(0)  # other tasks run, and a deadline may end this one
