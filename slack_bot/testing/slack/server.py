"""The emulated workspace on the network: Web API, Socket Mode or Events API, uploads and response addresses.

Real Bolt and slack_sdk talk to it with nothing changed but the base URL:

    async with SlackServer(workspace, clock) as server:
        client = AsyncWebClient(token=BOT_TOKEN, base_url=server.api_url)
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from typing import Any, Self

from aiohttp import web

from ...clock import Clock
from .delivery import RETRY_DELAYS, EventsApi, SocketMode
from .in_process import PAGE, Line, bearer
from .workspace import CallAnswer, Change, Envelope, Workspace

_MAX_BODY = 32 * 1024 * 1024


class SlackServer:
    """Serves one workspace on `host` and a free port (or `port`) while it is entered.

    With `bot_url` payloads are posted there, signed; without, they go through Socket Mode. Times: seconds.
    `url`: where it serves, without a slash at the end; `api_url`: the Web API base for slack_sdk.
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
        self.url = self.api_url = ""
        self._bot_url, self._times = bot_url, (ack_timeout, retry_delays)
        self._clock, self._address = clock, (host, port)
        self._closing = asyncio.Event()
        self._line = Line(workspace, clock)
        self._deliveries: set[asyncio.Task[None]] = set()

    @property
    def lost(self) -> list[Envelope]:
        """Payloads that the app never took."""
        return (self.events or self.sockets).lost

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
        self.url = self.workspace.state.file_base = f"http://{host}:{port}"
        self.api_url = f"{self.url}/api/"
        self.workspace.state.link_base = f"ws://{host}:{port}"
        if self._bot_url is not None:
            ack_timeout, delays = self._times
            self.events = EventsApi(self._bot_url, self._clock, ack_timeout=ack_timeout, retry_delays=delays)
        self._unlisten = self.workspace.listen(self._on_change)
        self._on_change(Change("envelope"))
        return self

    async def __aexit__(self, *_: object) -> None:
        self._unlisten()
        self._line.cancel()
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
        if change.kind != "envelope":
            return
        for envelope in self.workspace.take():
            sending = (self.events or self.sockets).deliver(envelope)
            delivery = asyncio.create_task(sending, name=f"deliver {envelope.id}")
            self._deliveries.add(delivery)
            delivery.add_done_callback(self._deliveries.discard)

    async def _web_api(self, request: web.Request) -> web.Response:
        method = request.match_info["method"]
        is_json = request.content_type == "application/json"
        try:
            args = await _arguments(request, is_json)
        except (ValueError, RecursionError):
            return web.json_response({"ok": False, "error": "invalid_json"})
        token = bearer(request.headers) or args.get("token")
        if not isinstance(token, str):
            token = None
        now = self._clock.wall()
        answer = self.workspace.call(method, args, now=now, token=token, is_json=is_json)
        return _response(await self._carried(request, answer))

    async def _upload(self, request: web.Request) -> web.Response:
        content = await request.read()
        answer = self.workspace.receive_file(request.match_info["file"], content)
        answer = await self._carried(request, answer)
        if answer.is_page:
            return _response(answer)
        text = f"OK - {len(content)}" if answer.body["ok"] else "refused"
        return web.Response(text=text, status=answer.status)

    async def _carried(self, request: web.Request, answer: CallAnswer) -> CallAnswer:
        """The answer, after everything that a bad line does to it. Over a real socket a connection that never
        comes about looks like one that breaks before anything is applied.
        """
        answer = await self._line.carry(answer)
        if answer.silence == "timeout":
            await self._closing.wait()  # ends earlier where the client hangs up: the handler is cancelled
        elif answer.silence and request.transport is not None:
            request.transport.close()
        await asyncio.sleep(answer.delay)
        return answer

    async def _respond(self, request: web.Request) -> web.Response:
        try:
            body = json.loads(await request.text())
        except (ValueError, RecursionError):
            return web.Response(text="invalid_payload", status=400)
        return _response(self.workspace.respond(request.match_info["key"], body, now=self._clock.wall()))


def _response(answer: CallAnswer) -> web.Response:
    if answer.is_page:
        return web.Response(text=PAGE, content_type="text/html", status=answer.status)
    return web.json_response(answer.body, status=answer.status, headers=dict(answer.headers))


async def _arguments(request: web.Request, is_json: bool) -> dict[str, Any]:
    """The arguments of a call from query, form or JSON. ValueError for JSON that is none."""
    if not is_json:
        form = await request.post()
        return {**request.query, **{name: value for name, value in form.items() if isinstance(value, str)}}
    body = json.loads(await request.text() or "{}")
    if not isinstance(body, dict):
        raise ValueError("not an object")
    return {**request.query, **body}
