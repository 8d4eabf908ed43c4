"""`/livez` and `/readyz`, on a port of their own. What they say is in memory: a probe asks nobody."""

import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from aiohttp import web

from ..observe.health import Health
from ..settings.models import HealthSettings
from .http_server import check_address, running

log = logging.getLogger(__name__)

_ADDRESS = "SLACK_BOT_HEALTH__"
_LAST_REQUESTS = 1.0  # seconds, when the bot ends


@asynccontextmanager
async def serving_health(settings: HealthSettings, health: Health, wait: float = 0.0) -> AsyncIterator[None]:
    """Probes are answered meanwhile; without a port none is. SettingsError if it cannot be used.

    Another process that has it gets `wait` seconds to end.
    """
    if not settings.port:
        yield
        return
    await check_address(_ADDRESS, settings.host, settings.port, wait)

    async def live(_: web.Request) -> web.Response:
        return web.json_response({"live": True})  # the event loop turns

    async def ready(_: web.Request) -> web.Response:
        return web.json_response(health.body(), status=200 if health.is_ready else 503)

    app = web.Application()
    app.add_routes([web.get("/livez", live), web.get("/readyz", ready)])
    runner = web.AppRunner(app, access_log=None, handle_signals=False, shutdown_timeout=_LAST_REQUESTS)
    async with running(runner, _ADDRESS, settings.host, settings.port):
        log.info("probes are answered at http://%s:%s/livez and /readyz", settings.host, settings.port)
        yield
