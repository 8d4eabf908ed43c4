"""Slack in by Socket Mode: no public address needed."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable

from slack_bolt.adapter.socket_mode.aiohttp import AsyncSocketModeHandler
from slack_bolt.async_app import AsyncApp
from slack_sdk.socket_mode.aiohttp import SocketModeClient
from slack_sdk.web.async_client import AsyncWebClient

from .signin import must

log = logging.getLogger(__name__)

PING_INTERVAL = 10.0
"""Seconds between two pings, and between two attempts to connect."""


async def serve_socket(
    bolt: AsyncApp,
    client: AsyncWebClient,
    app_token: str,
    stop: asyncio.Event,
    *,
    ready: Callable[[], None] | None = None,
    ping_interval: float = PING_INTERVAL,
) -> None:
    """Let Slack in until `stop` is set; `ready` is called when it is.

    SlackError if the token is not good or Slack cannot be reached.
    """
    # The SDK's client would try a wrong token for ever, so the first ticket is fetched here and handed to it.
    ticket = await must(client, "apps.connections.open", setting="SLACK_APP_TOKEN", token=app_token)
    handler = _Handler(bolt, app_token, client, ping_interval)
    handler.client.wss_uri = ticket.get("url")
    connecting = asyncio.ensure_future(handler.connect_async())  # type: ignore[no-untyped-call]
    stopping = asyncio.ensure_future(stop.wait())
    try:
        await asyncio.wait({connecting, stopping}, return_when=asyncio.FIRST_COMPLETED)
        if connecting.done():
            await connecting
            log.info("connected to Slack (Socket Mode)")
            if ready is not None:
                ready()
            await stopping
    finally:
        for task in (connecting, stopping):
            task.cancel()
        await handler.close_async()  # type: ignore[no-untyped-call]  # Bolt leaves these two untyped


class _Handler(AsyncSocketModeHandler):
    """Bolt's, on our client."""

    def __init__(self, bolt: AsyncApp, app_token: str, client: AsyncWebClient, ping_interval: float) -> None:
        self.app, self.app_token = bolt, app_token
        self.client = _Client(app_token, logger=bolt.logger, web_client=client, ping_interval=ping_interval)
        self.client.socket_mode_request_listeners.append(self.handle)  # type: ignore[arg-type]  # as in Bolt


class _Client(SocketModeClient):
    """The SDK's client, which tries one address again and again, though its ticket is good once only: after a
    handshake that broke it would never connect any more. Here an address is forgotten before the next try.
    """

    _address: str | None = None

    @property  # type: ignore[override]  # never None there, whatever it is set to
    def wss_uri(self) -> str | None:
        return self._address

    @wss_uri.setter
    def wss_uri(self, address: str | None) -> None:
        self._address = address
        if address is not None:
            asyncio.get_running_loop().call_later(self.ping_interval, self._forget, address)

    def _forget(self, address: str) -> None:
        if self._address == address:
            self._address = None
