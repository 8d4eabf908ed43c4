"""An HTTP server for a port to which anyone may send anything.

It adds limits that aiohttp lacks: on connections, and on the time for the head of a request. It also logs no
traceback for requests that cannot be read.
"""

import asyncio
import errno
import logging
import os
import socket
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any, TypeAlias

from aiohttp import ClientError, ClientSession, ClientTimeout, http, web

from ..errors import PortInUse, SettingsError
from ..settings.models import SlackSettings

log = logging.getLogger(__name__)

Handler: TypeAlias = Callable[[web.BaseRequest], Awaitable[web.StreamResponse]]

_BROKEN = (web.RequestPayloadError, http.HttpProcessingError, OSError)  # an incomplete request
_LAST_REQUESTS = 2.0  # seconds for running requests when the bot ends: one takes milliseconds
_IDLE = 75.0  # seconds between two requests of one connection. nginx closes after 60, and must be the first.
_PORT_SECONDS = 0.2  # between two looks at a port that another process has
_LOOK = ClientTimeout(total=2.0)  # seconds, for what has a port
_LINGER = 2.0  # seconds to discard the rest of a refused request, so that its sender sees the answer


@dataclass(frozen=True, slots=True)
class ConnectionLimits:
    """The limits of a port.

    `header_timeout`: seconds for the head of a request. `max_connections`: how many may be open at once, and
    `variable`: the environment variable that sets this number.
    """

    header_timeout: float
    max_connections: int
    variable: str


def slack_limits(slack: SlackSettings) -> ConnectionLimits:
    """The limits of HTTP mode's port."""
    return ConnectionLimits(
        header_timeout=slack.http_header_timeout,
        max_connections=slack.http_max_connections,
        variable="SLACK_BOT_SLACK__HTTP_MAX_CONNECTIONS",
    )


@asynccontextmanager
async def listening(
    routes: Mapping[str, Handler], limits: ConnectionLimits, prefix: str, host: str, port: int
) -> AsyncIterator[None]:
    """Serve `routes` inside the block. A route that ends in a slash serves all paths below it.

    `prefix`: how the names of the two settings of the address begin, for the error. Raises SettingsError if
    the address cannot be used.
    """
    runner = web.ServerRunner(_Server(routes, limits), handle_signals=False, shutdown_timeout=_LAST_REQUESTS)
    async with running(runner, prefix, host, port):
        yield


@asynccontextmanager
async def running(runner: web.BaseRunner, prefix: str, host: str, port: int) -> AsyncIterator[None]:
    """Let `runner` listen inside the block. Raises SettingsError if the address cannot be used."""
    await runner.setup()
    try:
        try:
            await web.TCPSite(runner, host, port).start()
        except OSError as error:
            raise _unusable(prefix, host, port, error) from error
        yield
    finally:
        await runner.cleanup()


async def check_address(prefix: str, host: str, port: int, wait: float = 0.0) -> None:
    """Check that this process could listen there, and stop at once. Raises SettingsError if not.

    `wait`: seconds for which another process may still hold the port.
    """
    attempts = round(wait / _PORT_SECONDS)
    for attempt in range(attempts + 1):
        try:
            server = await asyncio.get_running_loop().create_server(asyncio.Protocol, host, port)
        except OSError as error:
            if error.errno != errno.EADDRINUSE or attempt == attempts:
                raise _unusable(prefix, host, port, error) from error
            if attempt == 0:
                log.info("another process listens on port %d: waiting up to %g s for its end", port, wait)
            await asyncio.sleep(_PORT_SECONDS)
        else:
            server.close()
            await server.wait_closed()
            return


async def answer_at(host: str, port: int, path: str) -> object:
    """The JSON that a server on this machine answers there; None: none that can be read."""
    near = "127.0.0.1" if host in ("0.0.0.0", "::", "") else host
    url = f"http://{f'[{near}]' if ':' in near else near}:{port}{path}"
    try:
        async with ClientSession(timeout=_LOOK) as session, session.get(url) as response:
            answer: object = await response.json()
    except (ClientError, TimeoutError, OSError, ValueError):
        return None
    return answer


def _unusable(prefix: str, host: str, port: int, error: OSError) -> SettingsError:
    # From Python 3.12 on, asyncio gives no number where no address of the host is one of this machine.
    number = errno.EADDRNOTAVAIL if error.errno is None else error.errno
    if isinstance(error, socket.gaierror) or number == errno.EADDRNOTAVAIL:
        reason = error.strerror or os.strerror(number)
        return SettingsError(
            f"{host} is no address of this machine ({reason}); set {prefix}HOST to one,"
            " or to 0.0.0.0 for all of them."
        )
    said, remedy = f"Port {port} cannot be used ({error.strerror})", f"set {prefix}PORT to another."
    if number == errno.EADDRINUSE:
        return PortInUse(f"{said}; end the process that has it, or {remedy}")
    return SettingsError(f"{said}; {remedy}")


async def read_body(request: web.BaseRequest, seconds: float, max_bytes: int) -> bytes | int:
    """Read the whole body within `seconds`, or return the HTTP status with which to refuse the request."""
    if (request.content_length or 0) > max_bytes:
        return 413
    body = bytearray()
    try:
        async with asyncio.timeout(seconds):
            async for data in request.content.iter_any():
                body += data
                if len(body) > max_bytes:
                    return 413
    except TimeoutError:
        return 408
    except (*_BROKEN, RuntimeError):  # RuntimeError: the connection was closed before it was read
        return 400
    return bytes(body)


def keep_open(request: web.BaseRequest) -> None:
    """Keep this connection open until the answer is sent, even if too many others come."""
    connection = request.protocol
    assert isinstance(connection, _Connection)
    connection.is_answering = True


def refusal(status: int) -> web.Response:
    """An answer without a body that closes the connection, which still carries the rest of the request."""
    response = web.Response(status=status)
    response.force_close()
    return response


class _Server(web.Server):
    """Finds the handler of a request, and closes the oldest idle connections if there are too many."""

    def __init__(self, routes: Mapping[str, Handler], limits: ConnectionLimits) -> None:
        super().__init__(self._handle)
        self._exact = {path: handle for path, handle in routes.items() if not path.endswith("/")}
        self._below = [(path, handle) for path, handle in routes.items() if path.endswith("/")]
        self._limits = limits
        self._open: dict[web.RequestHandler, None] = {}  # oldest first
        self._is_crowded = False

    def __call__(self) -> web.RequestHandler:
        return _Connection(self, self._limits.header_timeout)

    def connection_made(self, handler: web.RequestHandler, transport: asyncio.Transport) -> None:
        super().connection_made(handler, transport)
        self._open[handler] = None
        if len(self._open) > self._limits.max_connections:
            self._make_room(handler)

    def connection_lost(self, handler: web.RequestHandler, exc: BaseException | None = None) -> None:
        super().connection_lost(handler, exc)
        self._open.pop(handler, None)
        self._is_crowded = self._is_crowded and len(self._open) > self._limits.max_connections // 2

    def _make_room(self, newest: web.RequestHandler) -> None:
        if not self._is_crowded:
            self._is_crowded = True
            log.warning(
                "more than %d connections at once: the oldest are closed (%s); put a reverse proxy in front"
                " of this port",
                self._limits.max_connections,
                self._limits.variable,
            )
        idle = (each for each in self._open if isinstance(each, _Connection) and not each.is_answering)
        oldest = next(idle, newest)
        del self._open[oldest]
        if oldest.transport is not None:
            oldest.transport.abort()

    async def _handle(self, request: web.BaseRequest) -> web.StreamResponse:
        connection = request.protocol
        assert isinstance(connection, _Connection)
        connection.expect_no_head()
        connection.is_handling = True  # what comes now is the request's body
        try:
            handle = self._exact.get(request.path) or next(
                (handle for path, handle in self._below if request.path.startswith(path)), None
            )
            return refusal(404) if handle is None else await handle(request)
        finally:
            connection.is_handling = connection.is_answering = False


class _Connection(web.RequestHandler):
    """aiohttp's connection, with a time limit for the head of a request."""

    __slots__ = ("_head_timeout", "_head_timer", "is_answering", "is_handling")

    def __init__(self, server: _Server, head_timeout: float) -> None:
        super().__init__(
            server,
            loop=asyncio.get_running_loop(),
            access_log=None,  # type: ignore[arg-type]  # None switches it off, as aiohttp's own runners do
            auto_decompress=False,  # nobody has a reason to send anything compressed
            keepalive_timeout=_IDLE,
            lingering_time=_LINGER,
        )
        self.is_handling = False
        self.is_answering = False  # its sender is known, and the request is being answered
        self._head_timeout = head_timeout
        self._head_timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        super().connection_made(transport)
        self._expect_head()

    def connection_lost(self, exc: BaseException | None) -> None:
        self.expect_no_head()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        if self._head_timer is None and not self.is_handling:  # the first bytes of another request
            self._expect_head()
        super().data_received(data)

    def log_exception(self, *args: Any, **kw: Any) -> None:
        if isinstance(kw.get("exc_info"), _BROKEN):
            log.debug("a request could not be read: %s", type(kw["exc_info"]).__name__)
        else:
            super().log_exception(*args, **kw)

    def _expect_head(self) -> None:
        self._head_timer = asyncio.get_running_loop().call_later(self._head_timeout, self.force_close)

    def expect_no_head(self) -> None:
        if self._head_timer is not None:
            self._head_timer.cancel()
            self._head_timer = None
