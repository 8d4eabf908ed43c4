"""Slack in by HTTP: the Events API and interactivity, on one signed address."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Mapping

from aiohttp import web
from slack_bolt.adapter.aiohttp import to_aiohttp_response, to_bolt_request
from slack_bolt.async_app import AsyncApp

from ..errors import SettingsError

log = logging.getLogger(__name__)

EVENTS_PATH = "/slack/events"

_UNREADABLE = (ValueError, AttributeError, TypeError, RecursionError)
"""What Bolt makes of a body that it cannot read, which it does before it looks at the signature."""
_TIMESTAMP_DIGITS = 20
_LAST_REQUESTS = 2.0
"""Seconds for requests under way when the bot ends: one takes milliseconds, and the answers need the time."""


async def serve_http(
    bolt: AsyncApp, host: str, port: int, stop: asyncio.Event, *, ready: Callable[[], None] | None = None
) -> None:
    """Let Slack in until `stop` is set; `ready` is called when it is. `bolt` must have a signing secret.

    SettingsError where the port cannot be used.
    """

    async def events(request: web.Request) -> web.StreamResponse:
        if not _may_be_signed(request.headers):
            return web.Response(status=401)
        try:
            asked = await to_bolt_request(request)
        except _UNREADABLE:
            return web.Response(status=400)
        return await to_aiohttp_response(await bolt.async_dispatch(asked))

    server = web.Application()
    server.router.add_post(EVENTS_PATH, events)
    runner = web.AppRunner(server, access_log=None, handle_signals=False, shutdown_timeout=_LAST_REQUESTS)
    await runner.setup()
    try:
        try:
            await web.TCPSite(runner, host, port).start()
        except OSError as error:
            raise _unusable(port, error) from error
        log.info("waiting for Slack at http://%s:%s%s", host, port, EVENTS_PATH)
        if ready is not None:
            ready()
        await stop.wait()
    finally:
        await runner.cleanup()


async def check_address(host: str, port: int) -> None:
    """Listen there for a moment, before Slack is asked anything.

    SettingsError where the port cannot be used.
    """
    try:
        server = await asyncio.get_running_loop().create_server(asyncio.Protocol, host, port)
    except OSError as error:
        raise _unusable(port, error) from error
    server.close()
    await server.wait_closed()


def _unusable(port: int, error: OSError) -> SettingsError:
    return SettingsError(
        f"Port {port} cannot be used ({error.strerror}); set SLACK_BOT_SLACK__HTTP_PORT to another."
    )


def _may_be_signed(headers: Mapping[str, str]) -> bool:
    """Whether the signature can be looked at. Anybody may send anything here: Bolt would fail at other things
    than numbers and ASCII, and log it as an error with its traceback, request by request.
    """
    timestamp, signature = headers.get("X-Slack-Request-Timestamp", "0"), headers.get("X-Slack-Signature", "")
    is_time = timestamp.isascii() and timestamp.isdigit() and len(timestamp) <= _TIMESTAMP_DIGITS
    return is_time and signature.isascii()
