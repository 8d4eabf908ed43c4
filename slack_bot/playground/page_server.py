"""The page's HTTP face: its files, and one web socket for everything it is told and asks for.

The playground can be driven by whoever reaches it, so it makes sure that this is its own page. A request
must name the host that we listen on, which defeats DNS rebinding; a web socket must come from our own origin,
which keeps other pages out; and the content security policy lets the page talk to nobody else.
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

from .feed import Feed, Tale

_TYPES = {".js": "text/javascript", ".css": "text/css", ".html": "text/html"}
_LONGEST_ORDER = 64 * 1024 * 1024  # bytes; a dropped file comes as one message
_MOST_WAITING = 20_000  # tales for a page that does not keep up; then it starts afresh
_HEARTBEAT = 120.0  # seconds between pings, and half of it for the answer: a busy page is not a lost one
_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src data:; connect-src 'self' ws://{host};"
    " base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


class PageVisitor(Protocol):
    """What the page plays on."""

    @property
    def feed(self) -> Feed:
        """What the page is told."""

    async def take(self, order: Mapping[str, Any]) -> Tale | None:
        """Do what the visitor asks; what to tell this one page about it, if anything."""

    def welcome(self) -> list[Tale]:
        """A page was opened; what to tell this one page besides the snapshot."""


def build_site(stage: PageVisitor, hosts: Iterable[str]) -> web.Application:
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
        return await _serve_page(request, stage, pages)

    async def close_pages(_: web.Application) -> None:
        for page in tuple(pages):
            await page.close()

    async def give_file(request: web.Request) -> web.StreamResponse:
        return _file_of_a_message(stage.feed, request.match_info["id"])

    site.on_shutdown.append(close_pages)
    site.router.add_get("/ws", link)
    site.router.add_get("/file/{id}", give_file)
    for path, name in _files():
        site.router.add_get(path, _file_handler(name))
    return site


def _is_ours(host: str, allowed: frozenset[str]) -> bool:
    """A name in the Host header must be ours; no foreign name server can have rebound an address."""
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
    """Always plain text: whatever an agent wrote, no browser takes it for a page of ours."""
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
    request: web.Request, stage: PageVisitor, pages: set[web.WebSocketResponse]
) -> web.WebSocketResponse:
    page = web.WebSocketResponse(max_msg_size=_LONGEST_ORDER, heartbeat=_HEARTBEAT)
    await page.prepare(request)
    waiting = _Waiting(stage.feed.snapshot())
    stop = stage.feed.listen(waiting.add)
    sender = asyncio.create_task(_send(page, waiting), name="playground page")
    pages.add(page)
    for tale in stage.welcome():
        waiting.add(tale)
    try:
        async for message in page:
            if message.type is WSMsgType.TEXT:
                for tale in await _obey(stage, message.data):
                    waiting.add(tale)
    finally:
        pages.discard(page)
        stop()
        sender.cancel()
        await asyncio.gather(sender, return_exceptions=True)
    return page


async def _obey(stage: PageVisitor, data: str) -> list[Tale]:
    """What to tell the page about its order. One with a number `n` is confirmed; the page waits for it."""
    try:
        order = json.loads(data)
    except (ValueError, RecursionError):
        order = None
    if not isinstance(order, dict):
        return [{"type": "refused", "text": "The page sent something that is not an order."}]
    answer = await stage.take(order)
    told = [] if answer is None else [answer]
    if not isinstance(number := order.get("n"), int):
        return told
    if answer is not None and answer["type"] == "refused":
        return [{**answer, "n": number}]
    return [*told, {"type": "taken", "n": number}]


class _Waiting:
    """Tales on their way to one page. `overrun`: it did not keep up, and some were let go."""

    def __init__(self, snapshot: Tale) -> None:
        self._tales = [snapshot]
        self._some = asyncio.Event()
        self._some.set()
        self.overrun = False

    def add(self, tale: Tale) -> None:
        if len(self._tales) >= _MOST_WAITING:
            self.overrun = True
        else:
            self._tales.append(tale)
        self._some.set()

    async def take(self) -> list[Tale]:
        await self._some.wait()
        self._some.clear()
        tales, self._tales = self._tales, []
        return tales


async def _send(page: web.WebSocketResponse, waiting: _Waiting) -> None:
    """All that waits as one message, again and again; the page connects anew if it fell behind."""
    while not page.closed and not waiting.overrun:
        tales = await waiting.take()
        try:
            await page.send_str(json.dumps(tales, ensure_ascii=False, separators=(",", ":")))
        except ConnectionError:
            return
    await page.close()
