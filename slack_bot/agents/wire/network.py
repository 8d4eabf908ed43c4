"""Reads and writes the bytes of the connections to the agent with asyncio's own transports.

httpcore's usual backend asks the kernel to begin and to end reading for each chunk, and sets up a timeout
(anyio `SocketStream.receive`). That is as much work as all the rest of httpx does for an event of a stream.
asyncio itself allocates 256 KiB for each chunk if it has no buffer to read into.
"""
# ruff: noqa: ASYNC109  httpcore hands a timeout to each method

import asyncio
import select
import socket
import ssl
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from typing import Any, cast

from aiohappyeyeballs import start_connection

from ...http_client import httpcore

_AT_ONCE = 64 * 1024  # bytes that are read by one call of the kernel
_MOST_UNREAD = 256 * 1024  # bytes; the other side waits then
_NEXT_ADDRESS = 0.25  # seconds until the next address of a host is tried beside (RFC 8305)


class AsyncioBackend(httpcore.AsyncNetworkBackend):
    """Connects in the loop of asyncio or uvloop.

    Local addresses and socket options are ignored: no pool sets any.
    """

    def __init__(self) -> None:
        self._buffer = memoryview(bytearray(_AT_ONCE))

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore.AsyncNetworkStream:
        """Connect to the first address of the host that answers; uvloop does not race addresses itself."""
        loop = asyncio.get_running_loop()
        with _mapped(httpcore.ConnectTimeout, httpcore.ConnectError):
            async with asyncio.timeout(timeout):
                addresses = await loop.getaddrinfo(host, port, type=socket.SOCK_STREAM)
                connected = await start_connection(addresses, happy_eyeballs_delay=_NEXT_ADDRESS)
                _, stream = await loop.create_connection(lambda: _Stream(self._buffer), sock=connected)
        return stream

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)


class _Stream(asyncio.BufferedProtocol, httpcore.AsyncNetworkStream):
    """One connection. `read` and `write` raise httpcore's errors; `read` returns b"" at the end.

    All connections of one event loop may share `buffer`: what asyncio reads into it is copied at once.
    """

    _transport: asyncio.Transport

    def __init__(self, buffer: memoryview) -> None:
        self._buffer, self._unread = buffer, bytearray()
        self._is_over = self._is_reading_paused = False
        self._error: Exception | None = None
        self._reader: asyncio.Future[None] | None = None
        self._may_write = asyncio.Event()
        self._may_write.set()

    # -- called by asyncio

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)

    def get_buffer(self, sizehint: int) -> memoryview:
        return self._buffer

    def buffer_updated(self, nbytes: int) -> None:
        self._unread += self._buffer[:nbytes]
        if len(self._unread) > _MOST_UNREAD and not self._is_reading_paused:
            self._is_reading_paused = True
            self._transport.pause_reading()
        self._wake()

    def eof_received(self) -> None:
        self._is_over = True
        self._wake()

    def connection_lost(self, exc: Exception | None) -> None:
        self._is_over, self._error = True, exc
        self._may_write.set()
        self._wake()

    def pause_writing(self) -> None:
        self._may_write.clear()

    def resume_writing(self) -> None:
        self._may_write.set()

    def _wake(self) -> None:
        if self._reader is not None and not self._reader.done():
            self._reader.set_result(None)

    # -- called by httpcore

    async def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        if not (self._unread or self._is_over):
            self._reader = asyncio.get_running_loop().create_future()
            if timeout is None:
                await self._reader
            else:
                with _mapped(httpcore.ReadTimeout, httpcore.ReadError):
                    async with asyncio.timeout(timeout):
                        await self._reader
        unread = self._unread
        data = bytes(unread) if len(unread) <= max_bytes else bytes(unread[:max_bytes])
        del unread[:max_bytes]
        if self._is_reading_paused and not self._unread:
            self._is_reading_paused = False
            self._transport.resume_reading()
        if self._error is not None and not data:
            raise httpcore.ReadError(str(self._error)) from self._error
        return data

    async def write(self, buffer: bytes, timeout: float | None = None) -> None:
        if self._is_over:
            raise httpcore.WriteError("the connection is closed")
        self._transport.write(buffer)
        with _mapped(httpcore.WriteTimeout, httpcore.WriteError):
            async with asyncio.timeout(timeout):
                await self._may_write.wait()
        if self._error is not None:
            raise httpcore.WriteError(str(self._error)) from self._error

    async def aclose(self) -> None:
        self._transport.close()
        await asyncio.sleep(0)
        with suppress(AttributeError):  # of asyncio in Python 3.11.2, where a TLS connection is over already
            self._transport.abort()  # what the other side does not take is not waited for

    async def start_tls(
        self, ssl_context: ssl.SSLContext, server_hostname: str | None = None, timeout: float | None = None
    ) -> httpcore.AsyncNetworkStream:
        loop = asyncio.get_running_loop()
        with _mapped(httpcore.ConnectTimeout, httpcore.ConnectError):
            async with asyncio.timeout(timeout):
                secured = await loop.start_tls(
                    self._transport, self, ssl_context, server_hostname=server_hostname
                )
        assert secured is not None, "it was closed"
        self._transport = secured
        return self

    def get_extra_info(self, info: str) -> Any:
        if info == "is_readable":  # of a connection that is not in use: the server has closed it
            return self._is_over or bool(self._unread) or _is_readable(self._transport)
        names = {"client_addr": "sockname", "server_addr": "peername"}
        return self._transport.get_extra_info(names.get(info, info))


def _is_readable(transport: asyncio.Transport) -> bool:
    """Whether the kernel has data that the loop, if it was busy, has not read."""
    polled = select.poll()
    polled.register(transport.get_extra_info("socket"), select.POLLIN)
    return bool(polled.poll(0))


@contextmanager
def _mapped(timeout: type[Exception], failed: type[Exception]) -> Iterator[None]:
    try:
        yield
    except TimeoutError as error:
        raise timeout(str(error)) from error
    except OSError as error:
        raise failed(str(error)) from error
