"""Slack in by Socket Mode: no public address needed.

One process at a time: Slack gives each event to any one of the app's connections, and a mention comes as two
events. So two processes, each with its own store, answer some questions twice. Slack tells how many
connections the app has only in `hello`, when a connection begins (facts: Slack 3.4). So a process can notice
another one when it connects: at its start, after a failure, and when Slack asks it to reconnect, every few
hours. It does not hear at once of a process that starts later; that one notices, and warns.
"""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Callable
from typing import Any

import aiohttp
from slack_bolt.adapter.socket_mode.aiohttp import AsyncSocketModeHandler
from slack_bolt.async_app import AsyncApp
from slack_sdk.errors import SlackApiError
from slack_sdk.socket_mode.aiohttp import SocketModeClient
from slack_sdk.web.async_client import AsyncWebClient

from .authorizer import call_or_raise

log = logging.getLogger(__name__)

PING_INTERVAL = 10.0
"""Seconds between two pings, and between two attempts to connect."""

_HELLO_TIMEOUT = 30.0


async def serve_socket(
    bolt: AsyncApp,
    client: AsyncWebClient,
    app_token: str,
    stop: asyncio.Event,
    *,
    ready: Callable[[], None] | None = None,
    ping_interval: float = PING_INTERVAL,
    check_delay: float,
) -> None:
    """Let Slack in until `stop` is set; `ready` is called when it is.

    Connections of other processes are warned of where they are still there `check_delay` seconds later.
    SlackError if the token is not good or Slack cannot be reached.
    """
    # The SDK's client would try a wrong token for ever, so the first ticket is fetched here and handed to it.
    ticket = await call_or_raise(client, "apps.connections.open", setting="SLACK_APP_TOKEN", token=app_token)
    handler = _Handler(bolt, app_token, client, ping_interval)
    handler.client.wss_uri = ticket.get("url")
    others = _OtherProcesses(handler.client, check_delay)
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
        others.close()
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


class _OtherProcesses:
    """Warns where other processes are connected as this app, and stay.

    During a restart the old process may still be connected, and Slack may count a closed connection for a
    while. So a second look is taken later: one more connection is opened for a moment, because only a `hello`
    has a fresh number.
    """

    def __init__(self, client: SocketModeClient, delay: float) -> None:
        self._client, self._delay = client, delay
        self._check: asyncio.Task[None] | None = None
        client.message_listeners.append(self._on_message)

    async def _on_message(self, client: object, message: dict[str, Any], raw: str | None = None) -> None:
        """Every message of the connection comes here."""
        is_checking = self._check is not None and not self._check.done()
        if not is_checking and _connections(message) > 1:
            self._check = asyncio.create_task(self._look_again(), name="connection check")

    async def _look_again(self) -> None:
        await asyncio.sleep(self._delay)
        try:
            async with asyncio.timeout(_HELLO_TIMEOUT):
                others = await self._count() - 2  # without this process's connection and the further one
        except (SlackApiError, aiohttp.ClientError, OSError, TimeoutError) as error:
            log.info("how many connections the app has could not be asked: %s", type(error).__name__)
            return
        if others > 0:
            log.warning(
                "another process is connected to Slack as this app (connections besides this one: %d): some"
                " questions are answered twice, by each process with its own store; run one process only",
                others,
            )
        else:
            log.info("no other process is connected to Slack as this app")

    async def _count(self) -> int:
        """How many connections the app has now, with the one opened here.

        Slack may send an event on any connection: what comes on this one is handled as if it had come on the
        other. What is lost in the moment of closing has no acknowledgement, and Slack brings it again.
        """
        client = self._client
        url = await client.issue_new_wss_url()
        ssl = client.web_client.ssl or True
        async with client.aiohttp_client_session.ws_connect(url, proxy=client.proxy, ssl=ssl) as socket:
            async for frame in socket:
                if frame.type is aiohttp.WSMsgType.TEXT:
                    if count := _connections(_read(frame.data)):
                        return count
                    await client.enqueue_message(frame.data)
        raise aiohttp.ClientError("no hello")

    def close(self) -> None:
        """Look no more."""
        if self._check is not None:
            self._check.cancel()


def _connections(message: dict[str, Any]) -> int:
    """The number that a `hello` tells; 0 for every other message."""
    count = message.get("num_connections") if message.get("type") == "hello" else None
    return count if isinstance(count, int) else 0


def _read(text: str) -> dict[str, Any]:
    try:
        message = json.loads(text)
    except ValueError:
        return {}
    return message if isinstance(message, dict) else {}
