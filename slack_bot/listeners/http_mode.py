"""Slack in by HTTP: the Events API and interactivity, on one signed address.

Anyone who reaches the port may send anything. So a body is read only if the head looks like Slack's and is
recent, and parsed only if the signature is right.
"""

from __future__ import annotations

import asyncio
import errno
import logging
import socket
from collections.abc import Callable, Mapping

from aiohttp import web
from slack_bolt.adapter.aiohttp import to_aiohttp_response
from slack_bolt.async_app import AsyncApp
from slack_bolt.request.async_request import AsyncBoltRequest
from slack_sdk.signature import SignatureVerifier

from ..errors import SettingsError
from ..settings.models import SlackSettings
from .connections import BROKEN, LimitedServer, answering

log = logging.getLogger(__name__)

EVENTS_PATH = "/slack/events"

_UNREADABLE = (ValueError, AttributeError, TypeError, RecursionError)
"""What a body that is not text, or that Bolt cannot read, raises."""
_TIMESTAMP, _SIGNATURE = "X-Slack-Request-Timestamp", "X-Slack-Signature"
_TIMESTAMP_DIGITS = 20
_OLDEST = 300.0
"""Seconds for which a signature is valid. Slack: five minutes."""
_LAST_REQUESTS = 2.0
"""Seconds for running requests when the bot ends: one takes milliseconds, and the answers need the time."""


async def serve_http(
    bolt: AsyncApp,
    slack: SlackSettings,
    stop: asyncio.Event,
    *,
    now: Callable[[], float],
    ready: Callable[[], None] | None = None,
) -> None:
    """Let Slack in until `stop` is set; `ready` is called when it is. `now`: seconds since 1970.

    SettingsError without a signing secret, or if the port cannot be used.
    """
    if slack.signing_secret is None:  # then anyone could pose as Slack
        raise SettingsError("SLACK_SIGNING_SECRET is not set: HTTP mode needs it")
    endpoint = _Endpoint(bolt, slack, slack.signing_secret.get_secret_value(), now)
    server = LimitedServer(
        endpoint.handle,
        header_timeout=slack.http_header_timeout,
        max_connections=slack.http_max_connections,
    )
    runner = web.ServerRunner(server, handle_signals=False, shutdown_timeout=_LAST_REQUESTS)
    await runner.setup()
    try:
        try:
            await web.TCPSite(runner, slack.http_host, slack.http_port).start()
        except OSError as error:
            raise _unusable(slack.http_host, slack.http_port, error) from error
        log.info("waiting for Slack at http://%s:%s%s", slack.http_host, slack.http_port, EVENTS_PATH)
        if ready is not None:
            ready()
        await stop.wait()
    finally:
        await runner.cleanup()


async def check_address(host: str, port: int) -> None:
    """Listen there for a moment. SettingsError if the address or the port cannot be used."""
    try:
        server = await asyncio.get_running_loop().create_server(asyncio.Protocol, host, port)
    except OSError as error:
        raise _unusable(host, port, error) from error
    server.close()
    await server.wait_closed()


def _unusable(host: str, port: int, error: OSError) -> SettingsError:
    if isinstance(error, socket.gaierror) or error.errno == errno.EADDRNOTAVAIL:
        return SettingsError(
            f"{host} is no address of this machine ({error.strerror}); set SLACK_BOT_SLACK__HTTP_HOST to one,"
            " or to 0.0.0.0 for all of them."
        )
    return SettingsError(
        f"Port {port} cannot be used ({error.strerror}); set SLACK_BOT_SLACK__HTTP_PORT to another."
    )


class _Endpoint:
    """Checks requests and gives them to Bolt."""

    def __init__(self, bolt: AsyncApp, slack: SlackSettings, secret: str, now: Callable[[], float]) -> None:
        self._bolt, self._now = bolt, now
        self._most, self._timeout = slack.http_max_body_bytes, slack.http_body_timeout
        self._verifier = SignatureVerifier(secret)

    async def handle(self, request: web.BaseRequest) -> web.StreamResponse:
        """Answer one request: 2xx from Bolt, or 4xx."""
        if (status := self._check_head(request)) is not None:
            return _refusal(status)
        try:
            async with asyncio.timeout(self._timeout):
                body = await self._body(request)
        except TimeoutError:
            return _refusal(408)
        except (*BROKEN, RuntimeError):  # RuntimeError: the connection was closed before it was read
            return _refusal(400)
        if body is None:
            return _refusal(413)
        return await self._dispatch(request, body)

    def _check_head(self, request: web.BaseRequest) -> int | None:
        """The status for a request that is refused by its head; None: read its body."""
        if request.path != EVENTS_PATH:
            return 404
        if request.method != "POST":
            return 405
        if not self._may_be_signed(request.headers):
            return 401
        return 413 if (request.content_length or 0) > self._most else None

    def _may_be_signed(self, headers: Mapping[str, str]) -> bool:
        """Slack may have signed this in the last minutes. The SDK raises for a timestamp that is no number,
        and for text beyond ASCII.
        """
        timestamp, signature = headers.get(_TIMESTAMP, ""), headers.get(_SIGNATURE, "")
        is_time = timestamp.isascii() and timestamp.isdigit() and len(timestamp) <= _TIMESTAMP_DIGITS
        return (
            is_time
            and abs(self._now() - int(timestamp)) <= _OLDEST
            and signature.isascii()
            and bool(signature)
        )

    async def _body(self, request: web.BaseRequest) -> bytes | None:
        """The whole body; None if it is too large."""
        body = bytearray()
        async for data in request.content.iter_any():
            body += data
            if len(body) > self._most:
                return None
        return bytes(body)

    async def _dispatch(self, request: web.BaseRequest, body: bytes) -> web.StreamResponse:
        headers = request.headers
        try:
            if not self._verifier.is_valid(body, headers[_TIMESTAMP], headers[_SIGNATURE]):
                return _refusal(401)
            bolt_request = AsyncBoltRequest(
                body=body.decode(), query=request.query_string, headers=dict(headers)
            )
        except _UNREADABLE:
            return _refusal(400)
        with answering(request):
            return await to_aiohttp_response(await self._bolt.async_dispatch(bolt_request))


def _refusal(status: int) -> web.Response:
    """The connection is closed afterwards: it still carries the rest of the refused request."""
    response = web.Response(status=status)
    response.force_close()
    return response
