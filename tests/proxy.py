"""A TCP proxy before an agent that ends the answer to the question behind so many events, as networks do.

It keeps the names of the methods that went through (of HTTP+JSON the paths, without the task), and tells of
each event that did.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field

_METHOD = re.compile(rb'"method": ?"([A-Za-z/]+)"')
_PATH = re.compile(rb"([A-Z]+ )(?:/v1)?(/message:[a-z]+|/tasks)(?:/[^/:? ]+)?([^? ]*)")  # of HTTP+JSON
_EVENT = re.compile(rb"data: \{")
QUESTIONS = ("message/stream", "SendStreamingMessage", "POST /message:stream")


@dataclass
class Proxy:
    """`cut_after`: events of the question's stream that pass (None: all). `on_answer(method)` hears of bytes.

    `upstream` is a port and may change.
    """

    upstream: int
    cut_after: int | None = None
    on_answer: Callable[[str], None] = lambda _: None
    url: str = ""
    methods: list[str] = field(default_factory=list)

    @property
    def questions(self) -> int:
        """How often something was asked."""
        return sum(method in QUESTIONS for method in self.methods)

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """One connection of the bot's."""
        with suppress(OSError):
            up_reader, up_writer = await asyncio.open_connection("127.0.0.1", self.upstream)
            pumps = {
                asyncio.create_task(self._asking(reader, up_writer)),
                asyncio.create_task(self._answering(up_reader, writer)),
            }
            _, left = await asyncio.wait(pumps, return_when=asyncio.FIRST_COMPLETED)
            for pump in left:
                pump.cancel()
            await asyncio.gather(*pumps, return_exceptions=True)
            up_writer.close()
        writer.close()

    async def _asking(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while data := await reader.read(65536):
            self.methods += [found.decode() for found in _METHOD.findall(data)]
            if (found := _PATH.match(data)) is not None:
                self.methods.append(b"".join(found.groups()).decode())
            writer.write(data)
            await writer.drain()

    async def _answering(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        events = 0
        while data := await reader.read(65536):
            method = self.methods[-1] if self.methods else ""
            ends = self.cut_after if method in QUESTIONS else None
            found = [each.start() for each in _EVENT.finditer(data)]
            if ends is not None and events + len(found) > ends:
                data = data[: found[ends - events]]
            events += len(found)
            writer.write(data)
            await writer.drain()
            if found or method not in QUESTIONS:
                self.on_answer(method)
            if ends is not None and events >= ends:
                return


@asynccontextmanager
async def proxy(upstream: int, cut_after: int | None = None) -> AsyncIterator[Proxy]:
    """One before the port `upstream` of this machine."""
    found = Proxy(upstream, cut_after)
    server = await asyncio.start_server(found.serve, "127.0.0.1", 0)
    found.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/"
    try:
        yield found
    finally:
        server.close()
