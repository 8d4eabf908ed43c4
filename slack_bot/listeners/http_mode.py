"""Slack in by HTTP: the Events API and interactivity, on one signed address."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable

from aiohttp import web
from slack_bolt.adapter.aiohttp import to_aiohttp_response, to_bolt_request
from slack_bolt.async_app import AsyncApp

from ..errors import SettingsError

log = logging.getLogger(__name__)

EVENTS_PATH = "/slack/events"


async def serve_http(
    bolt: AsyncApp, host: str, port: int, stop: asyncio.Event, *, ready: Callable[[], None] | None = None
) -> None:
    """Let Slack in until `stop` is set; `ready` is called when it is. `bolt` must have a signing secret.

    SettingsError where the port cannot be used.
    """

    async def events(request: web.Request) -> web.StreamResponse:
        return await to_aiohttp_response(await bolt.async_dispatch(await to_bolt_request(request)))

    server = web.Application()
    server.router.add_post(EVENTS_PATH, events)
    runner = web.AppRunner(server, access_log=None, handle_signals=False)
    await runner.setup()
    try:
        try:
            await web.TCPSite(runner, host, port).start()
        except OSError as error:
            raise SettingsError(
                f"Port {port} cannot be used ({error.strerror}); set SLACK_BOT_SLACK__HTTP_PORT to another."
            ) from error
        log.info("waiting for Slack at http://%s:%s%s", host, port, EVENTS_PATH)
        if ready is not None:
            ready()
        await stop.wait()
    finally:
        await runner.cleanup()
