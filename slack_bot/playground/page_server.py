"""The page over HTTP: its files, and one web socket for updates and orders.

Only the playground's own page may drive it. A request must name the host that we listen on, against DNS
rebinding; a web socket must come from our own origin; the content security policy allows no other server.
"""

from __future__ import annotations

import asyncio
import ipaddress
import json
from collections.abc import Awaitable, Callable, Iterable, Mapping
from importlib import resources
from typing import Any, Protocol
from urllib.parse import quote

from aiohttp import WSMsgType, web

from .feed import Feed, PageUpdate

_TYPES = {".js": "text/javascript", ".css": "text/css", ".html": "text/html"}
_LONGEST_ORDER = 64 * 1024 * 1024  # bytes; a dropped file comes as one message
_MOST_WAITING = 20_000  # updates for a page that does not keep up; then it has to connect again
_HEARTBEAT = 120.0  # seconds between pings; a page has half of it to answer
_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src data:; connect-src 'self' ws://{host};"
    " base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


class PageVisitor(Protocol):
    """What carries out the orders of the pages."""

    @property
    def feed(self) -> Feed:
        """The source of all updates."""

    async def take(self, order: Mapping[str, Any]) -> PageUpdate | None:
        """Carry out an order. Returns an update for this page only, if there is one."""

    def welcome(self) -> list[PageUpdate]:
        """A page was opened. Returns updates for this page only, besides the snapshot."""


def build_site(visitor: PageVisitor, hosts: Iterable[str]) -> web.Application:
    """The application. `hosts` are names that requests may use besides the loopback ones and addresses."""
    allowed = frozenset({"localhost", *hosts})

    @web.middleware
    async def guard(request: web.Request, handler: Handler) -> web.StreamResponse:
        if not _is_ours(request.host, allowed):
            raise web.HTTPForbidden(text=f"The playground does not answer for {request.host}.")
        return await handler(request)

    async def add_headers(request: web.Request, response: web.StreamResponse) -> None:
        response.headers["Content-Security-Policy"] = _POLICY.format(host=request.host)
        response.headers["X-Content-Type-Options"] = "nosniff"
        response.headers["Referrer-Policy"] = "no-referrer"
        response.headers["Cache-Control"] = "no-store"

    site = web.Application(middlewares=[guard])
    site.on_response_prepare.append(add_headers)
    pages: set[web.WebSocketResponse] = set()

    async def link(request: web.Request) -> web.StreamResponse:
        if request.headers.get("Origin") != f"http://{request.host}":
            raise web.HTTPForbidden(text="Only the playground's own page may connect.")
        return await _serve_page(request, visitor, pages)

    async def close_pages(_: web.Application) -> None:
        for page in tuple(pages):
            await page.close()

    async def give_file(request: web.Request) -> web.StreamResponse:
        return _file_of_a_message(visitor.feed, request.match_info["id"])

    site.on_shutdown.append(close_pages)
    site.router.add_get("/ws", link)
    site.router.add_get("/file/{id}", give_file)
    for path, name in _files():
        site.router.add_get(path, _file_handler(name))
    return site


def _is_ours(host: str, allowed: frozenset[str]) -> bool:
    """The Host header has one of our names or an address: no name server can have rebound it."""
    name = host.rpartition("]")[0].lstrip("[") if host.startswith("[") else host.partition(":")[0]
    if name.lower() in allowed:
        return True
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True


def _files() -> list[tuple[str, str]]:
    names = sorted(each.name for each in _folder().iterdir() if "." in each.name)
    return [("/", "index.html"), *((f"/page/{name}", name) for name in names)]


def _folder() -> Any:
    return resources.files(__package__) / "page"


def _file_handler(name: str) -> Handler:
    kind = _TYPES["." + name.rpartition(".")[2]]

    async def give(request: web.Request) -> web.StreamResponse:
        text = await asyncio.to_thread((_folder() / name).read_text, encoding="utf-8")
        return web.Response(text=text, content_type=kind, charset="utf-8")

    return give


def _file_of_a_message(feed: Feed, file_id: str) -> web.Response:
    """Always plain text, so that no browser takes what an agent wrote for a page of ours."""
    file = feed.file(file_id)
    if file is None:
        raise web.HTTPNotFound(text="There is no such file in this workspace.")
    shown_as = f"inline; filename*=UTF-8''{quote(file.name, safe='')}"
    return web.Response(
        body=file.content,
        content_type="text/plain",
        charset="utf-8",
        headers={"Content-Disposition": shown_as},
    )


async def _serve_page(
    request: web.Request, visitor: PageVisitor, pages: set[web.WebSocketResponse]
) -> web.WebSocketResponse:
    page = web.WebSocketResponse(max_msg_size=_LONGEST_ORDER, heartbeat=_HEARTBEAT)
    await page.prepare(request)
    waiting = _Waiting(visitor.feed.snapshot())
    stop = visitor.feed.listen(waiting.add)
    sender = asyncio.create_task(_send(page, waiting), name="playground page")
    pages.add(page)
    for update in visitor.welcome():
        waiting.add(update)
    try:
        async for message in page:
            if message.type is WSMsgType.TEXT:
                for update in await _obey(visitor, message.data):
                    waiting.add(update)
    finally:
        pages.discard(page)
        stop()
        sender.cancel()
        await asyncio.gather(sender, return_exceptions=True)
    return page


async def _obey(visitor: PageVisitor, data: str) -> list[PageUpdate]:
    """Updates for the page about its order. An order with a number `n` is confirmed."""
    try:
        order = json.loads(data)
    except (ValueError, RecursionError):
        order = None
    if not isinstance(order, dict):
        return [{"type": "refused", "text": "The page sent something that is not an order."}]
    answer = await visitor.take(order)
    updates = [] if answer is None else [answer]
    if not isinstance(number := order.get("n"), int):
        return updates
    if answer is not None and answer["type"] == "refused":
        return [{**answer, "n": number}]
    return [*updates, {"type": "taken", "n": number}]


class _Waiting:
    """Tales on their way to one page. `overrun`: it did not keep up, and some were let go."""

    def __init__(self, snapshot: PageUpdate) -> None:
        self._updates = [snapshot]
        self._some = asyncio.Event()
        self._some.set()
        self.overrun = False

    def add(self, update: PageUpdate) -> None:
        if len(self._updates) >= _MOST_WAITING:
            self.overrun = True
        else:
            self._updates.append(update)
        self._some.set()

    async def take(self) -> list[PageUpdate]:
        await self._some.wait()
        self._some.clear()
        updates, self._updates = self._updates, []
        return updates


async def _send(page: web.WebSocketResponse, waiting: _Waiting) -> None:
    """Send all waiting updates as one message, again and again, until the page falls behind."""
    while not page.closed and not waiting.overrun:
        updates = await waiting.take()
        try:
            await page.send_str(json.dumps(updates, ensure_ascii=False, separators=(",", ":")))
        except ConnectionError:
            return
    await page.close()
