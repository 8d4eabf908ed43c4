"""Serves `/livez`, `/readyz` and `/metrics` on a port of their own. The answers are in memory."""

import logging
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import TypeAlias

from aiohttp import web

from ..observe.health import Health
from ..settings.models import HealthSettings
from .http_server import ConnectionLimits, Handler, check_address, listening, refusal

log = logging.getLogger(__name__)

HEALTH_ADDRESS = "SLACK_BOT_HEALTH__"
"""The prefix of this port's settings."""
ALIVE = {"live": True}
"""The answer of `/livez`."""
Scrape: TypeAlias = Callable[[], tuple[str, bytes]]
"""Returns the content type and the body of `/metrics`."""


@asynccontextmanager
async def serving_health(
    settings: HealthSettings, health: Health, wait: float = 0.0, scrape: Scrape | None = None
) -> AsyncIterator[None]:
    """Serve the health addresses inside the block; do nothing if no port is set.

    `wait`: seconds for which another process may still hold the port. Raises SettingsError if the port cannot
    be used.
    """
    if not settings.port:
        yield
        return
    await check_address(HEALTH_ADDRESS, settings.host, settings.port, wait)

    async def live(_: web.BaseRequest) -> web.StreamResponse:
        return web.json_response(ALIVE)  # the event loop turns

    async def ready(_: web.BaseRequest) -> web.StreamResponse:
        return web.json_response(health.body(), status=200 if health.is_ready else 503)

    async def measures(_: web.BaseRequest) -> web.StreamResponse:
        if scrape is None:
            return refusal(404)
        content_type, body = scrape()
        return web.Response(body=body, headers={"Content-Type": content_type})

    limits = ConnectionLimits(
        header_timeout=settings.header_timeout,
        max_connections=settings.max_connections,
        variable="SLACK_BOT_HEALTH__MAX_CONNECTIONS",
    )
    routes = {"/livez": _read_only(live), "/readyz": _read_only(ready), "/metrics": _read_only(measures)}
    async with listening(routes, limits, HEALTH_ADDRESS, settings.host, settings.port):
        address = f"http://{settings.host}:{settings.port}"
        log.info("probes are answered at %s/livez and /readyz, metrics at /metrics", address)
        yield


def _read_only(handler: Handler) -> Handler:
    async def handle(request: web.BaseRequest) -> web.StreamResponse:
        return await handler(request) if request.method in ("GET", "HEAD") else refusal(405)

    return handle
