"""Slack in by Socket Mode: no public address needed."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable

from slack_bolt.adapter.socket_mode.aiohttp import AsyncSocketModeHandler
from slack_bolt.async_app import AsyncApp
from slack_sdk.web.async_client import AsyncWebClient

from .signin import must

log = logging.getLogger(__name__)


async def serve_socket(
    bolt: AsyncApp,
    client: AsyncWebClient,
    app_token: str,
    stop: asyncio.Event,
    *,
    ready: Callable[[], None] | None = None,
) -> None:
    """Let Slack in until `stop` is set; `ready` is called when it is.

    SlackError if the token is not good or Slack cannot be reached.
    """
    # The SDK's client would try a wrong token for ever, so the first ticket is fetched here and handed to it.
    ticket = await must(client, "apps.connections.open", setting="SLACK_APP_TOKEN", token=app_token)
    handler = AsyncSocketModeHandler(bolt, app_token, web_client=client)
    handler.client.wss_uri = ticket.get("url")
    try:
        await handler.connect_async()  # type: ignore[no-untyped-call]  # Bolt leaves these two untyped
        log.info("connected to Slack (Socket Mode)")
        if ready is not None:
            ready()
        await stop.wait()
    finally:
        await handler.close_async()  # type: ignore[no-untyped-call]
