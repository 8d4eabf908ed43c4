"""The HTTP server of HTTP mode, with limits: anyone who reaches the port may try to block Slack.

aiohttp limits neither the number of connections nor the time for the head of a request, and logs a traceback
for each request that it cannot read. `http_mode` limits the bodies.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from typing import Any

from aiohttp import http, web

log = logging.getLogger(__name__)

BROKEN = (web.RequestPayloadError, http.HttpProcessingError, OSError)
"""An incomplete request: the sender's mistake, or a broken connection."""

_IDLE = 75.0
"""Seconds between two requests of one connection. nginx closes after 60, and must be the first: otherwise it
may send a request into a connection that is being closed."""
_LINGER = 2.0
"""Seconds to discard the rest of a refused request, so that its sender sees the answer."""


class LimitedServer(web.Server):
    """aiohttp's server with limits.

    `header_timeout`: seconds for a request's head, from the start of the connection or the first byte. Beyond
    `max_connections` the oldest connection that is not being answered is closed.
    """

    def __init__(
        self,
        handler: Callable[[web.BaseRequest], Awaitable[web.StreamResponse]],
        *,
        header_timeout: float,
        max_connections: int,
    ) -> None:
        super().__init__(self._handle)
        self.header_timeout = header_timeout
        self._handler = handler
        self._most = max_connections
        self._open: dict[web.RequestHandler, None] = {}  # oldest first
        self._is_crowded = False

    def __call__(self) -> web.RequestHandler:
        """A new connection."""
        return _Connection(self)

    async def _handle(self, request: web.BaseRequest) -> web.StreamResponse:
        assert isinstance(request.protocol, _Connection)
        with request.protocol.handling():
            return await self._handler(request)

    def connection_made(self, handler: web.RequestHandler, transport: asyncio.Transport) -> None:
        """aiohttp's callback."""
        super().connection_made(handler, transport)
        self._open[handler] = None
        if len(self._open) > self._most:
            self._make_room(handler)

    def connection_lost(self, handler: web.RequestHandler, exc: BaseException | None = None) -> None:
        """aiohttp's callback."""
        super().connection_lost(handler, exc)
        self._open.pop(handler, None)
        self._is_crowded = self._is_crowded and len(self._open) > self._most // 2

    def _make_room(self, newest: web.RequestHandler) -> None:
        if not self._is_crowded:
            self._is_crowded = True
            log.warning(
                "more than %d connections at once: the oldest are closed"
                " (SLACK_BOT_SLACK__HTTP_MAX_CONNECTIONS); put a reverse proxy in front of this port",
                self._most,
            )
        idle = (each for each in self._open if isinstance(each, _Connection) and not each.is_answering)
        oldest = next(idle, newest)
        del self._open[oldest]
        if oldest.transport is not None:
            oldest.transport.abort()


class _Connection(web.RequestHandler):
    """aiohttp's connection, with a time limit for the head of a request."""

    __slots__ = ("_head_timer", "_is_handling", "_limited", "is_answering")

    def __init__(self, server: LimitedServer) -> None:
        super().__init__(
            server,
            loop=asyncio.get_running_loop(),
            access_log=None,  # type: ignore[arg-type]  # None switches it off, as aiohttp's own runners do
            auto_decompress=False,  # Slack sends nothing compressed
            keepalive_timeout=_IDLE,
            lingering_time=_LINGER,
        )
        self.is_answering = False  # a signed request is complete, and Bolt works on it
        self._is_handling = False
        self._limited = server
        self._head_timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        super().connection_made(transport)
        self._expect_head()

    def connection_lost(self, exc: BaseException | None) -> None:
        self._expect_no_head()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        if self._head_timer is None and not self._is_handling:  # the first bytes of another request
            self._expect_head()
        super().data_received(data)

    @contextmanager
    def handling(self) -> Iterator[None]:
        """From the end of a request's head on: what comes now is its body."""
        self._expect_no_head()
        self._is_handling = True
        try:
            yield
        finally:
            self._is_handling = False

    def log_exception(self, *args: Any, **kw: Any) -> None:
        """A request that cannot be read is no error of the bot."""
        if isinstance(kw.get("exc_info"), BROKEN):
            log.debug("a request could not be read: %s", type(kw["exc_info"]).__name__)
        else:
            super().log_exception(*args, **kw)

    def _expect_head(self) -> None:
        loop = asyncio.get_running_loop()
        self._head_timer = loop.call_later(self._limited.header_timeout, self.force_close)

    def _expect_no_head(self) -> None:
        if self._head_timer is not None:
            self._head_timer.cancel()
            self._head_timer = None


@contextmanager
def answering(request: web.BaseRequest) -> Iterator[None]:
    """Within this context the connection of `request` is not closed for another one."""
    connection = request.protocol
    assert isinstance(connection, _Connection)
    connection.is_answering = True
    try:
        yield
    finally:
        connection.is_answering = False
