"""Slack in by Socket Mode: no public address needed.

Slack sends each event to any one of the app's connections, and a mention is two events: two processes with a
store each answer some questions twice. Slack names the number of connections in `hello`, when one begins
(facts: Slack 3.4): at the start, after a failure, and every few hours.
"""

import asyncio
import json
import logging
from collections.abc import Callable
from typing import Any
from urllib.parse import urlsplit

import aiohttp
from slack_bolt.adapter.socket_mode.aiohttp import AsyncSocketModeHandler
from slack_bolt.async_app import AsyncApp
from slack_sdk.socket_mode.aiohttp import SocketModeClient
from slack_sdk.web.async_client import AsyncWebClient

from ..errors import SettingsError, SlackError
from ..settings.models import SlackSettings
from .authorizer import call_or_raise

log = logging.getLogger(__name__)

PING_INTERVAL = 10.0
"""Seconds between two pings, and the first pause after a failed attempt to connect."""

_LONGEST_PAUSE = 300.0
_HELLO_TIMEOUT = 30.0
_BROKEN = (aiohttp.ClientError, OSError, TimeoutError)


async def serve_socket(
    bolt: AsyncApp,
    slack: SlackSettings,
    client: AsyncWebClient,
    stop: asyncio.Event,
    *,
    ready: Callable[[], None] | None = None,
    ping_interval: float = PING_INTERVAL,
) -> None:
    """Let Slack in until `stop` is set; `ready` is called when it is in.

    SettingsError without an app token, SlackError if it is not good or Slack's API cannot be reached.
    """
    if slack.app_token is None:
        raise SettingsError("SLACK_APP_TOKEN is not set: Socket Mode needs it (xapp-...)")
    token = slack.app_token.get_secret_value()
    handler = AsyncSocketModeHandler(bolt, token, web_client=client, ping_interval=ping_interval)
    connector = _Connector(handler.client, slack.connection_check_delay)
    stopping = asyncio.ensure_future(stop.wait())
    connecting: asyncio.Future[None] | None = None
    try:
        # the SDK's client would try a wrong token for ever
        handler.client.wss_uri = await connector.new_address()
        connecting = asyncio.ensure_future(handler.connect_async())  # type: ignore[no-untyped-call]
        await asyncio.wait({connecting, stopping}, return_when=asyncio.FIRST_COMPLETED)
        if connecting.done():
            await connecting
            log.info("connected to Slack (Socket Mode)")
            if ready is not None:
                ready()
            await stopping
    finally:
        for task in (connecting, stopping, connector.check):
            if task is not None:
                task.cancel()
        await handler.close_async()  # type: ignore[no-untyped-call]  # Bolt leaves these two untyped


class _Connector:
    """Takes the place of the aiohttp session in the SDK's client, and warns of other processes.

    The SDK would repeat an attempt with the same address, whose ticket is good only once, and log a traceback
    each time, sometimes with the ticket.
    """

    def __init__(self, client: SocketModeClient, check_delay: float) -> None:
        self._client, self._check_delay = client, check_delay
        self._session = client.aiohttp_client_session
        self.close = self._session.close
        self.check: asyncio.Task[None] | None = None
        client.aiohttp_client_session = self  # type: ignore[assignment]  # the part that the SDK uses
        client.message_listeners.append(self._on_message)

    @property
    def closed(self) -> bool:
        """No connection can be opened any more."""
        return self._session.closed

    async def new_address(self) -> str:
        """With its ticket. Raises SlackError."""
        client, token = self._client.web_client, self._client.app_token
        answer = await call_or_raise(client, "apps.connections.open", setting="SLACK_APP_TOKEN", token=token)
        return str(answer.get("url"))

    async def ws_connect(self, address: str | None, **options: Any) -> Any:
        """Connect to `address`, and after a failure to a new one, after longer and longer pauses."""
        pause = self._client.ping_interval
        while True:
            try:
                address = address or await self.new_address()
                return await self._session.ws_connect(address, **options)
            except SlackError as error:
                problem = str(error)
            except _BROKEN as error:
                problem = (
                    f"Slack's socket server {urlsplit(address or '').netloc} cannot be reached"
                    f" ({_reason(error)}): check the network, and the proxy if there is one."
                )
            log.warning("%s The next attempt to connect is in %g s.", problem, pause)
            await asyncio.sleep(pause)
            address, pause = None, min(2 * pause, _LONGEST_PAUSE)

    async def _on_message(self, client: object, message: dict[str, Any], raw: str | None = None) -> None:
        if _connections(message) > 1 and (self.check is None or self.check.done()):
            self.check = asyncio.create_task(self._count_again(), name="connection check")

    async def _count_again(self) -> None:
        """During a restart the old process, or a closed connection, may count for a while."""
        await asyncio.sleep(self._check_delay)
        try:
            async with asyncio.timeout(_HELLO_TIMEOUT):
                # less this process's connection and the further one
                others = await self._count() - 2
        except (SlackError, ValueError, *_BROKEN) as error:
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
        """How many connections the app has, with one that is opened here for a moment.

        What comes on this one is handled too. What is lost as it closes is not acknowledged, and comes again.
        """
        client, ssl = self._client, self._client.web_client.ssl or True
        address = await self.new_address()
        async with self._session.ws_connect(address, proxy=client.proxy, ssl=ssl) as socket:
            async for frame in socket:
                if frame.type is aiohttp.WSMsgType.TEXT:
                    message = json.loads(frame.data) if frame.data.startswith("{") else {}  # as the SDK does
                    if count := _connections(message):
                        return count
                    await client.enqueue_message(frame.data)
        raise aiohttp.ClientError("no hello")


def _reason(error: Exception) -> str:
    """Without the text of the error: that may hold the ticket."""
    if isinstance(error, aiohttp.WSServerHandshakeError):
        return f"HTTP {error.status}"
    return getattr(error, "strerror", None) or type(error).__name__


def _connections(message: dict[str, Any]) -> int:
    """What a `hello` names; 0 for every other message."""
    count = message.get("num_connections") if message.get("type") == "hello" else None
    return count if isinstance(count, int) else 0
