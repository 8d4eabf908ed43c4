"""Slack in by HTTP: the Events API and interactivity, on one signed address.

Anyone may send anything to the port, or try to block Slack. So a body is read only if its head looks like
Slack's and is recent, and parsed only if it is signed. aiohttp limits neither connections nor the time for a
head, and logs a traceback for each request that it cannot read.
"""

from __future__ import annotations

import asyncio
import errno
import logging
import socket
from collections.abc import Callable, Mapping
from typing import Any

from aiohttp import http, web
from slack_bolt.adapter.aiohttp import to_aiohttp_response
from slack_bolt.async_app import AsyncApp
from slack_bolt.request.async_request import AsyncBoltRequest
from slack_sdk.signature import SignatureVerifier

from ..errors import SettingsError
from ..observe.health import Health, HealthCheck
from ..settings.models import SlackSettings

log = logging.getLogger(__name__)

EVENTS_PATH = "/slack/events"
_ADDRESS = "SLACK_BOT_SLACK__HTTP_"

_BROKEN = (web.RequestPayloadError, http.HttpProcessingError, OSError)
"""An incomplete request."""
_UNREADABLE = (ValueError, AttributeError, TypeError, RecursionError)
"""A body that is not text, or that Bolt cannot read."""
_TIMESTAMP, _SIGNATURE = "X-Slack-Request-Timestamp", "X-Slack-Signature"
_TIMESTAMP_DIGITS = 20
_OLDEST = 300.0
"""Seconds for which a signature is valid. Slack: five minutes."""
_LAST_REQUESTS = 2.0
"""Seconds for running requests when the bot ends: one takes milliseconds."""
_IDLE = 75.0
"""Seconds between two requests of one connection. nginx closes after 60, and must be the first."""
_LINGER = 2.0
"""Seconds to discard the rest of a refused request, so that its sender sees the answer."""


async def serve_http(
    bolt: AsyncApp,
    slack: SlackSettings,
    stop: asyncio.Event,
    *,
    health: Health,
    now: Callable[[], float],
    ready: Callable[[], None] | None = None,
) -> None:
    """Let Slack in until `stop` is set; `ready` is called when it is in. `now`: seconds since 1970.

    SettingsError without a signing secret, or if the port cannot be used.
    """
    if slack.signing_secret is None:  # then anyone could pose as Slack
        raise SettingsError("SLACK_SIGNING_SECRET is not set: HTTP mode needs it")
    server = _Server(bolt, slack, SignatureVerifier(slack.signing_secret.get_secret_value()), now)
    runner = web.ServerRunner(server, handle_signals=False, shutdown_timeout=_LAST_REQUESTS)
    await runner.setup()
    try:
        try:
            await web.TCPSite(runner, slack.http_host, slack.http_port).start()
        except OSError as error:
            raise unusable(_ADDRESS, slack.http_host, slack.http_port, error) from error
        health.passed(HealthCheck.SLACK)
        log.info("waiting for Slack at http://%s:%s%s", slack.http_host, slack.http_port, EVENTS_PATH)
        if ready is not None:
            ready()
        await stop.wait()
    finally:
        health.failed(HealthCheck.SLACK, "The port for Slack is closed.")
        await runner.cleanup()


async def check_address(host: str, port: int) -> None:
    """Listen there for a moment. SettingsError if the address or the port cannot be used."""
    try:
        server = await asyncio.get_running_loop().create_server(asyncio.Protocol, host, port)
    except OSError as error:
        raise unusable(_ADDRESS, host, port, error) from error
    server.close()
    await server.wait_closed()


def unusable(settings: str, host: str, port: int, error: OSError) -> SettingsError:
    """Why an address cannot be listened on. `settings`: what the names of its two settings begin with."""
    if isinstance(error, socket.gaierror) or error.errno == errno.EADDRNOTAVAIL:
        return SettingsError(
            f"{host} is no address of this machine ({error.strerror}); set {settings}HOST to one,"
            " or to 0.0.0.0 for all of them."
        )
    return SettingsError(f"Port {port} cannot be used ({error.strerror}); set {settings}PORT to another.")


class _Server(web.Server):
    """Checks requests and gives them to Bolt."""

    def __init__(
        self, bolt: AsyncApp, slack: SlackSettings, verifier: SignatureVerifier, now: Callable[[], float]
    ) -> None:
        super().__init__(self._handle)
        self._bolt, self._slack, self._verifier, self._now = bolt, slack, verifier, now
        self._open: dict[web.RequestHandler, None] = {}  # oldest first
        self._is_crowded = False

    def __call__(self) -> web.RequestHandler:
        return _Connection(self, self._slack.http_header_timeout)

    def connection_made(self, handler: web.RequestHandler, transport: asyncio.Transport) -> None:
        super().connection_made(handler, transport)
        self._open[handler] = None
        if len(self._open) > self._slack.http_max_connections:
            self._make_room(handler)

    def connection_lost(self, handler: web.RequestHandler, exc: BaseException | None = None) -> None:
        super().connection_lost(handler, exc)
        self._open.pop(handler, None)
        is_full = len(self._open) > self._slack.http_max_connections // 2
        self._is_crowded = self._is_crowded and is_full

    def _make_room(self, newest: web.RequestHandler) -> None:
        if not self._is_crowded:
            self._is_crowded = True
            log.warning(
                "more than %d connections at once: the oldest are closed"
                " (SLACK_BOT_SLACK__HTTP_MAX_CONNECTIONS); put a reverse proxy in front of this port",
                self._slack.http_max_connections,
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
            return await self._answer(request, connection)
        finally:
            connection.is_handling = connection.is_answering = False

    async def _answer(self, request: web.BaseRequest, connection: _Connection) -> web.StreamResponse:
        body, headers = self._check_head(request) or await self._body(request), request.headers
        if isinstance(body, int):
            return _refusal(body)
        try:
            if not self._verifier.is_valid(body, headers[_TIMESTAMP], headers[_SIGNATURE]):
                return _refusal(401)
            asked = AsyncBoltRequest(body=body.decode(), query=request.query_string, headers=dict(headers))
        except _UNREADABLE:
            return _refusal(400)
        connection.is_answering = True
        return await to_aiohttp_response(await self._bolt.async_dispatch(asked))

    async def _body(self, request: web.BaseRequest) -> bytes | int:
        """The whole body, or the status with which the request is refused."""
        body = bytearray()
        try:
            async with asyncio.timeout(self._slack.http_body_timeout):
                async for data in request.content.iter_any():
                    body += data
                    if len(body) > self._slack.http_max_body_bytes:
                        return 413
        except TimeoutError:
            return 408
        except (*_BROKEN, RuntimeError):  # RuntimeError: the connection was closed before it was read
            return 400
        return bytes(body)

    def _check_head(self, request: web.BaseRequest) -> int | None:
        """The status with which the request is refused by its head."""
        if request.path != EVENTS_PATH:
            return 404
        if request.method != "POST":
            return 405
        if not self._may_be_signed(request.headers):
            return 401
        return 413 if (request.content_length or 0) > self._slack.http_max_body_bytes else None

    def _may_be_signed(self, headers: Mapping[str, str]) -> bool:
        """The SDK raises for a timestamp that is no number, and for text beyond ASCII."""
        timestamp, signature = headers.get(_TIMESTAMP, ""), headers.get(_SIGNATURE, "")
        is_time = timestamp.isascii() and timestamp.isdigit() and len(timestamp) <= _TIMESTAMP_DIGITS
        is_recent = is_time and abs(self._now() - int(timestamp)) <= _OLDEST
        return is_recent and signature.isascii() and bool(signature)


class _Connection(web.RequestHandler):
    """aiohttp's connection, with a time limit for the head of a request."""

    __slots__ = ("_head_timeout", "_head_timer", "is_answering", "is_handling")

    def __init__(self, server: _Server, head_timeout: float) -> None:
        super().__init__(
            server,
            loop=asyncio.get_running_loop(),
            access_log=None,  # type: ignore[arg-type]  # None switches it off, as aiohttp's own runners do
            auto_decompress=False,  # Slack sends nothing compressed
            keepalive_timeout=_IDLE,
            lingering_time=_LINGER,
        )
        self.is_handling = False
        self.is_answering = False  # a signed request is complete, and Bolt works on it
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


def _refusal(status: int) -> web.Response:
    """Closes the connection: it still carries the rest of the refused request."""
    response = web.Response(status=status)
    response.force_close()
    return response
