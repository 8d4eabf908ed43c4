"""What a test in any language asks of `slack-bot workspace`, on the port of its page (docs/testing-kit.md).

    POST /test/do       an order, as the page gives them: somebody writes, presses, stops; calls are to fail
    GET  /test/thread   what a person sees of a thread; with `after`, once it has changed
    GET  /test/calls    the bot's calls to Slack, with what came of them
    GET  /test/sockets  the bot's connections, and what it never acknowledged
    POST /test/sockets  Slack asks for new connections, or lets one fall silent

All of it is JSON. A web page of somebody else's cannot do this: it would send an Origin.
"""

import asyncio
import json
from collections import defaultdict
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from aiohttp import web

from ..clock import Clock
from ..testing.slack.server import SlackServer
from ..testing.slack.workspace import Change, SeenMessage, Workspace
from .feed import plain
from .visitor import Visitor

_LONGEST_WAIT = 60.0  # seconds for a change
_ORDER = '{"type": "say", "user": "U0MAYA", "channel": "C0GENERAL", "text": "hello"}'


class WorkspaceControl:
    """The addresses of one workspace; `close` ends what it hears of it."""

    def __init__(self, workspace: Workspace, visitor: Visitor, server: SlackServer, clock: Clock) -> None:
        self._workspace, self._visitor, self._server, self._clock = workspace, visitor, server, clock
        self._changes: dict[tuple[str, str], int] = defaultdict(int)  # by channel and root
        self._changed = asyncio.Event()
        self.close = workspace.listen(self._on_change)

    def routes(self) -> list[web.RouteDef]:
        """For the site of the page."""
        return [
            web.post("/test/do", self._do),
            web.get("/test/thread", self._thread),
            web.get("/test/calls", self._calls),
            web.get("/test/sockets", self._sockets),
            web.post("/test/sockets", self._move_sockets),
        ]

    def _on_change(self, change: Change) -> None:
        if change.kind == "thread":
            self._changes[change.channel, change.thread_ts] += 1
            self._changed.set()
            self._changed = asyncio.Event()

    async def _do(self, request: web.Request) -> web.Response:
        order = await _body(request, _ORDER)
        answer = await self._visitor.take(order)
        if answer is not None and answer["type"] == "refused":
            raise _problem(str(answer["text"]))
        return web.json_response({"ok": True, **(answer or {})})

    async def _thread(self, request: web.Request) -> web.Response:
        key = _asked(request, "channel"), _asked(request, "ts")
        after, within = _number(request, "after", -1), _number(request, "within", 30)
        with suppress(TimeoutError):  # then the same number again: nothing has changed
            async with asyncio.timeout(min(within, _LONGEST_WAIT)):
                while self._changes[key] <= after:
                    await self._changed.wait()
        now = self._clock.wall()
        self._workspace.pass_time(now)
        try:
            seen = self._workspace.thread(*key, now=now, viewer=request.query.get("viewer"))
        except LookupError:
            seen = []
        if not seen:
            raise _problem(f"There is no message {key[1]} in {key[0]}.", web.HTTPNotFound)
        status = seen[-1].status_line or ""
        shown = [_as_json(message) for message in seen]
        return web.json_response({"number": self._changes[key], "status": status, "messages": shown})

    async def _calls(self, request: web.Request) -> web.Response:
        first, method = _number(request, "from", 0), request.query.get("method")
        calls = [plain(call) for call in self._workspace.calls[int(first) :] if method in (None, call.method)]
        return web.json_response({"number": len(self._workspace.calls), "calls": calls})

    async def _sockets(self, _: web.Request) -> web.Response:
        lost = [envelope.payload for envelope in self._server.lost]
        return web.json_response({"open": self._server.sockets.connections, "lost": lost})

    async def _move_sockets(self, request: web.Request) -> web.Response:
        order = await _body(request, '{"do": "refresh"}')
        sockets = self._server.sockets
        if order.get("do") not in ("refresh", "warning", "freeze"):
            raise _problem("What sockets do is refresh, warning or freeze.")
        if not sockets.connections:
            raise _problem("No bot is connected.")
        if order["do"] == "freeze":
            sockets.freeze()
        else:
            await sockets.refresh("warning" if order["do"] == "warning" else "refresh_requested")
        return web.json_response({"ok": True})


def _as_json(message: SeenMessage) -> dict[str, Any]:
    """A message as a person sees it, and all its words as `read`."""
    shown: dict[str, Any] = plain(message)
    return {**shown, "read": message.read}


async def _body(request: web.Request, example: str) -> Mapping[str, Any]:
    if "Origin" in request.headers:
        raise _problem("A test may ask this, and no web page.", web.HTTPForbidden)
    try:
        body = json.loads(await request.text())
    except (ValueError, RecursionError):
        body = None
    if not isinstance(body, dict):
        raise _problem(f"The body is one JSON object, such as {example}.")
    return body


def _asked(request: web.Request, name: str) -> str:
    if not (value := request.query.get(name, "")):
        raise _problem(f"Say which {name}: /test/thread?channel=C0GENERAL&ts=...")
    return value


def _number(request: web.Request, name: str, default: int) -> float:
    value = request.query.get(name, str(default))
    try:
        return float(int(value))
    except ValueError:
        raise _problem(f"{name} is {value!r}; give a whole number.") from None


def _problem(text: str, kind: type[web.HTTPException] = web.HTTPBadRequest) -> web.HTTPException:
    return kind(text=json.dumps({"ok": False, "error": text}), content_type="application/json")
