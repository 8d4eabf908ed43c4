"""`/livez`, `/readyz` and `/metrics`, on a port of their own. What they say is in memory: they ask nobody."""

import logging
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import TypeAlias

from aiohttp import web

from ..observe.health import Health
from ..settings.models import HealthSettings
from .http_server import check_address, running

log = logging.getLogger(__name__)

HEALTH_ADDRESS = "SLACK_BOT_HEALTH__"
"""The prefix of the settings of this address."""
ALIVE = {"live": True}
"""What `/livez` answers."""
Scrape: TypeAlias = Callable[[], tuple[str, bytes]]
"""Gives what `/metrics` answers: its content type and its body."""
_LAST_REQUESTS = 1.0  # seconds, when the bot ends


@asynccontextmanager
async def serving_health(
    settings: HealthSettings, health: Health, wait: float = 0.0, scrape: Scrape | None = None
) -> AsyncIterator[None]:
    """Probes are answered meanwhile; without a port none is. SettingsError if it cannot be used.

    Another process that has it gets `wait` seconds to end.
    """
    if not settings.port:
        yield
        return
    await check_address(HEALTH_ADDRESS, settings.host, settings.port, wait)

    async def live(_: web.Request) -> web.Response:
        return web.json_response(ALIVE)  # the event loop turns

    async def ready(_: web.Request) -> web.Response:
        return web.json_response(health.body(), status=200 if health.is_ready else 503)

    async def measures(_: web.Request) -> web.Response:
        if scrape is None:
            raise web.HTTPNotFound
        content_type, body = scrape()
        return web.Response(body=body, headers={"Content-Type": content_type})

    app = web.Application()
    app.add_routes([web.get("/livez", live), web.get("/readyz", ready), web.get("/metrics", measures)])
    runner = web.AppRunner(app, access_log=None, handle_signals=False, shutdown_timeout=_LAST_REQUESTS)
    async with running(runner, HEALTH_ADDRESS, settings.host, settings.port):
        address = f"http://{settings.host}:{settings.port}"
        log.info("probes are answered at %s/livez and /readyz, metrics at /metrics", address)
        yield
