"""A TCP proxy before Redis: it refuses connections, lets them hang, or is slow, as long as a test wants."""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

from slack_bot.testing.harness import free_port


class RedisProxy:
    """Use `redis_proxy`. `slowness`: the least and the most seconds until an answer of Redis goes on."""

    def __init__(self, upstream: int) -> None:
        self.port, self._upstream = free_port(), upstream
        self.url = f"redis://127.0.0.1:{self.port}/0"
        self.slowness: tuple[float, float] | None = None
        self._flows = asyncio.Event()
        self._flows.set()
        self._server: asyncio.Server | None = None
        self._connections: set[asyncio.Task[None]] = set()
        self._gates: set[asyncio.Event] = set()  # one of each connection
        self.held = 0  # pieces that wait

    @property
    def connections(self) -> int:
        return len(self._connections)

    async def listen(self) -> None:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", self.port)

    async def refuse(self) -> None:
        """Connections break, and no other comes about, until `listen`."""
        if self._server is not None:
            self._server.close()
            self._server = None
        for each in tuple(self._connections):
            each.cancel()
        await asyncio.gather(*self._connections, return_exceptions=True)

    def hang(self) -> None:
        """Nothing goes through any more, until `flow`; connections come about."""
        self._flows.clear()

    def hang_open(self) -> None:
        """Nothing goes through the connections that are open now, until `flow`."""
        for gate in self._gates:
            gate.clear()

    def flow(self) -> None:
        """What was sent meanwhile arrives."""
        for gate in (self._flows, *self._gates):
            gate.set()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._connections.add(task)
        gate = asyncio.Event()
        gate.set()
        self._gates.add(gate)
        writers = [writer]
        try:
            with suppress(OSError, asyncio.CancelledError):
                up_reader, up_writer = await asyncio.open_connection("127.0.0.1", self._upstream)
                writers.append(up_writer)
                async with asyncio.TaskGroup() as pumps:
                    pumps.create_task(self._pump(reader, up_writer, gate, is_answer=False))
                    pumps.create_task(self._pump(up_reader, writer, gate, is_answer=True))
        except* OSError:
            pass  # one end is gone
        finally:
            self._connections.discard(task)
            self._gates.discard(gate)
            for each in writers:
                each.transport.abort()

    async def _pump(
        self,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        gate: asyncio.Event,
        *,
        is_answer: bool,
    ) -> None:
        while data := await reader.read(65536):
            if is_answer and self.slowness is not None:
                await asyncio.sleep(random.uniform(*self.slowness))
            self.held += 1
            await self._flows.wait()
            await gate.wait()
            self.held -= 1
            writer.write(data)
            await writer.drain()
        raise ConnectionResetError


@asynccontextmanager
async def redis_proxy(upstream: int) -> AsyncIterator[RedisProxy]:
    """One before the port `upstream` of this machine."""
    proxy = RedisProxy(upstream)
    await proxy.listen()
    try:
        yield proxy
    finally:
        proxy.flow()
        await proxy.refuse()
