"""The emulated workspace on the network: Web API, Socket Mode or Events API, uploads and response addresses.

Real Bolt and slack_sdk talk to it with nothing changed but the base URL:

    async with SlackFace(workspace, clock) as face:
        client = AsyncWebClient(token=BOT_TOKEN, base_url=face.api_url)
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Sequence
from typing import Any, Self

from aiohttp import web

from ...clock import Clock
from .events_api import EventsApi
from .expiry import Expiry
from .in_process import PAGE
from .socket_mode import RETRY_DELAYS, SocketMode
from .workspace import CallAnswer, Change, Envelope, Workspace

_BEARER = "Bearer "
_MAX_BODY = 32 * 1024 * 1024


class SlackServer:
    """Serves one workspace on `host` and a free port (or `port`) while it is entered.

    With `bot_url` payloads are posted there, signed; without, they go through Socket Mode. Times: seconds.
    """

    def __init__(
        self,
        workspace: Workspace,
        clock: Clock,
        *,
        host: str = "127.0.0.1",
        port: int = 0,
        bot_url: str | None = None,
        ack_timeout: float = 3.0,
        retry_delays: Sequence[float] = RETRY_DELAYS,
    ) -> None:
        self.workspace = workspace
        self.sockets = SocketMode(workspace, ack_timeout=ack_timeout, retry_delays=retry_delays)
        self.events: EventsApi | None = None
        self._bot_url = bot_url
        self._times = (ack_timeout, retry_delays)
        self._clock = clock
        self._address = (host, port)
        self._closing = asyncio.Event()
        self._expiry = Expiry(workspace, clock)
        self._deliveries: set[asyncio.Task[None]] = set()
        self._base = ""

    @property
    def url(self) -> str:
        """Where it serves, without a slash at the end."""
        return self._base

    @property
    def api_url(self) -> str:
        """The Web API base for slack_sdk."""
        return f"{self._base}/api/"

    @property
    def lost(self) -> list[Envelope]:
        """Payloads that the app never took."""
        return [*self.sockets.lost, *(self.events.lost if self.events else ())]

    async def __aenter__(self) -> Self:
        app = web.Application(client_max_size=_MAX_BODY)
        app.add_routes(
            [
                web.route("*", "/api/{method}", self._web_api),
                web.get("/link/", self.sockets.handle),
                web.post("/upload/{file}", self._upload),
                web.post("/response/{key}", self._respond),
            ]
        )
        self._runner = web.AppRunner(app, handler_cancellation=True, shutdown_timeout=1.0, access_log=None)
        await self._runner.setup()
        await web.TCPSite(self._runner, *self._address).start()
        host, port = self._runner.addresses[0][:2]
        self._base = f"http://{host}:{port}"
        self.workspace.state.link_base = f"ws://{host}:{port}"
        self.workspace.state.file_base = self._base
        if self._bot_url is not None:
            ack_timeout, delays = self._times
            self.events = EventsApi(self._bot_url, self._clock, ack_timeout=ack_timeout, retry_delays=delays)
        self._unlisten = self.workspace.listen(self._on_change)
        self._pump()
        return self

    async def __aexit__(self, *_: object) -> None:
        self._unlisten()
        self._expiry.cancel()
        self._closing.set()
        for delivery in self._deliveries:
            delivery.cancel()
        await asyncio.gather(*self._deliveries, return_exceptions=True)
        await self.sockets.close()
        if self.events is not None:
            await self.events.close()
        await self._runner.cleanup()

    async def settle(self) -> None:
        """Wait until everything sent so far was acknowledged or lost."""
        while self._deliveries:
            await asyncio.wait(self._deliveries)

    async def refresh(self) -> None:
        """Make the app reconnect its web sockets."""
        await self.sockets.refresh()

    def _on_change(self, change: Change) -> None:
        if change.kind == "envelope":
            self._pump()

    def _pump(self) -> None:
        way = self.sockets if self.events is None else self.events
        for envelope in self.workspace.take():
            delivery = asyncio.create_task(way.deliver(envelope), name=f"deliver {envelope.id}")
            self._deliveries.add(delivery)
            delivery.add_done_callback(self._deliveries.discard)

    async def _web_api(self, request: web.Request) -> web.Response:
        method = request.match_info["method"]
        try:
            args, is_json = await _arguments(request)
        except ValueError:
            return web.json_response({"ok": False, "error": "invalid_json"})
        token = _token(request, args)

        def call(arrived: bool) -> CallAnswer:
            now = self._clock.wall()
            return self.workspace.call(method, args, now=now, token=token, is_json=is_json, arrived=arrived)

        answer = await self._carried(request, call)
        self._expiry.arm()
        return _response(answer)

    async def _upload(self, request: web.Request) -> web.Response:
        content, file_id = await request.read(), request.match_info["file"]
        answer = await self._carried(
            request, lambda arrived: self.workspace.receive_file(file_id, content, arrived=arrived)
        )
        return _response(answer) if answer.is_page else _plain(answer, len(content))

    async def _carried(self, request: web.Request, call: Callable[[bool], CallAnswer]) -> CallAnswer:
        """The answer, after everything that a bad line does to it. Over a real socket a connection that never
        comes about looks like one that breaks before anything is applied.
        """
        answer = call(False)
        if answer.postponed:
            await asyncio.sleep(answer.delay)
            answer = call(True)
        if answer.broken and request.transport is not None:
            request.transport.close()
        elif not answer.answered:
            await self._closing.wait()  # ends earlier where the client hangs up: the handler is cancelled
        await asyncio.sleep(answer.delay)
        return answer

    async def _respond(self, request: web.Request) -> web.Response:
        try:
            body = json.loads(await request.text())
        except (ValueError, RecursionError):
            return web.Response(text="invalid_payload", status=400)
        return _response(self.workspace.respond(request.match_info["key"], body, now=self._clock.wall()))


def _plain(answer: CallAnswer, size: int) -> web.Response:
    return web.Response(text=f"OK - {size}" if answer.body["ok"] else "refused", status=answer.status)


def _response(answer: CallAnswer) -> web.Response:
    if answer.is_page:
        return web.Response(text=PAGE, content_type="text/html", status=answer.status)
    return web.json_response(answer.body, status=answer.status, headers=dict(answer.headers))


async def _arguments(request: web.Request) -> tuple[dict[str, Any], bool]:
    """The arguments of a call from query, form or JSON. ValueError for JSON that is none."""
    args: dict[str, Any] = dict(request.query)
    if request.content_type == "application/json":
        try:
            body = json.loads(await request.text() or "{}")
        except RecursionError:
            raise ValueError("nested too deep") from None
        if not isinstance(body, dict):
            raise ValueError("not an object")
        return args | body, True
    form = await request.post()
    return args | {name: value for name, value in form.items() if isinstance(value, str)}, False


def _token(request: web.Request, args: dict[str, Any]) -> str | None:
    given = request.headers.get("Authorization", "")
    if given.startswith(_BEARER):
        return given.removeprefix(_BEARER)
    token = args.get("token")
    return token if isinstance(token, str) else None
