"""The page over HTTP: its files, and one web socket for updates and orders.

Only the playground's own page may drive it. A request must name the host that we listen on, against DNS
rebinding; a web socket must come from our own origin; the content security policy allows no other server.
"""

import asyncio
import ipaddress
import json
import re
from collections.abc import Awaitable, Callable, Iterable
from importlib import resources
from typing import TypeAlias
from urllib.parse import quote

from aiohttp import WSMsgType, web

from ..testing.slack.workspace import SeenFile
from .feed import PageUpdate
from .visitor import Visitor

_PAGE = "index.html"
_TYPES = {"js": "text/javascript", "css": "text/css", "html": "text/html"}
_PICTURES = {
    b"\x89PNG\r\n\x1a\n": "image/png",
    b"\xff\xd8\xff": "image/jpeg",
    b"GIF8": "image/gif",
    b"RIFF": "image/webp",
}
_LONGEST_ORDER = 64 * 1024 * 1024  # bytes; a dropped file comes as one message
_MOST_WAITING = 20_000  # updates for a page that does not keep up; then it has to connect again
_HEARTBEAT = 120.0  # seconds between pings; a page has half of it to answer
_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; connect-src 'self' ws://{host};"
    " base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
_HOST = re.compile(r"(?:\[(?P<v6>[0-9a-fA-F:.]+)\]|(?P<name>[\w.-]+))(?::\d{1,5})?")

Handler: TypeAlias = Callable[[web.Request], Awaitable[web.StreamResponse]]


def build_site(
    visitor: Visitor, hosts: Iterable[str], others: Iterable[web.RouteDef] = ()
) -> web.Application:
    """The application. `hosts` are names that requests may use besides the loopback ones and addresses;
    `others` are served beside the page."""
    allowed = frozenset({"localhost", *hosts})
    pages: set[_Page] = set()

    @web.middleware
    async def guard(request: web.Request, handler: Handler) -> web.StreamResponse:
        if not _is_ours(request.host, allowed):
            raise web.HTTPForbidden(text=f"The playground does not answer for {request.host}.")
        return await handler(request)

    async def connect(request: web.Request) -> web.StreamResponse:
        if request.headers.get("Origin") != f"http://{request.host}":
            raise web.HTTPForbidden(text="Only the playground's own page may connect.")
        page = _Page()
        await page.prepare(request)
        pages.add(page)
        try:
            await _serve(page, visitor)
        finally:
            pages.discard(page)
        return page

    async def close_pages(_: web.Application) -> None:
        for page in tuple(pages):
            await page.close()

    async def give_file(request: web.Request) -> web.StreamResponse:
        if (file := visitor.feed.file(request.match_info["id"])) is None:
            raise web.HTTPNotFound(text="There is no such file in this workspace.")
        return _as_response(file)

    async def give_no_icon(_: web.Request) -> web.Response:
        return web.Response(status=204)  # a browser that shows a file asks for one

    site = web.Application(middlewares=[guard])
    site.on_response_prepare.append(_add_headers)
    site.on_shutdown.append(close_pages)
    site.add_routes([*others, web.get("/ws", connect), web.get("/file/{id}", give_file)])
    site.add_routes([web.get("/favicon.ico", give_no_icon)])
    site.add_routes([web.get(path, _give_page_file) for path in ("/", "/page/{name}")])
    return site


def _as_response(file: SeenFile) -> web.Response:
    """A picture by its first bytes, else plain text: what an agent wrote is no page of ours."""
    headers = {"Content-Disposition": f"inline; filename*=UTF-8''{quote(file.name, safe='')}"}
    signs = (kind for sign, kind in _PICTURES.items() if file.content.startswith(sign))
    if picture := next(signs, None):
        return web.Response(body=file.content, content_type=picture, headers=headers)
    return web.Response(body=file.content, content_type="text/plain", charset="utf-8", headers=headers)


async def _add_headers(request: web.Request, response: web.StreamResponse) -> None:
    policy = _POLICY.format(host=request.host)
    response.headers.update({"Content-Security-Policy": policy, "X-Content-Type-Options": "nosniff"})
    response.headers.update({"Referrer-Policy": "no-referrer", "Cache-Control": "no-store"})


def _is_ours(host: str, allowed: frozenset[str]) -> bool:
    """The Host header has one of our names or an address: no name server can have rebound it."""
    if not (parts := _HOST.fullmatch(host)):  # with user info, for example: RFC 9110, 7.2 has none
        return False
    name = parts["v6"] or parts["name"]
    if name.lower() in allowed:
        return True
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True


async def _give_page_file(request: web.Request) -> web.StreamResponse:
    files = {each.name: each for each in (resources.files(__package__) / "page").iterdir()}
    name = request.match_info.get("name", _PAGE)
    if name not in files:
        raise web.HTTPNotFound
    text = await asyncio.to_thread(files[name].read_text, encoding="utf-8")
    if name == _PAGE:
        text = text.replace("</head>", f"{_preloads(files)}</head>")
    return web.Response(text=text, content_type=_TYPES[name.rpartition(".")[2]], charset="utf-8")


def _preloads(names: Iterable[str]) -> str:
    """Links for all modules, so that a browser need not read them all to know which ones it wants."""
    modules = sorted(name for name in names if name.endswith(".js"))
    return "".join(f'<link rel="modulepreload" href="/page/{name}">\n' for name in modules)


class _Page(web.WebSocketResponse):
    """The web socket of one page, and the updates on their way to it."""

    def __init__(self) -> None:
        super().__init__(max_msg_size=_LONGEST_ORDER, heartbeat=_HEARTBEAT)
        self._updates: list[PageUpdate] = []
        self._some = asyncio.Event()

    def add(self, update: PageUpdate) -> None:
        if len(self._updates) <= _MOST_WAITING:  # one more than may wait says that it does not keep up
            self._updates.append(update)
        self._some.set()

    async def send_updates(self) -> None:
        """Send all waiting updates as one message, again and again, until the page falls behind."""
        while not self.closed:
            await self._some.wait()
            self._some.clear()
            updates, self._updates = self._updates, []
            if len(updates) > _MOST_WAITING:
                break
            try:
                await self.send_str(json.dumps(updates, separators=(",", ":")))
            except ConnectionError:
                return
        await self.close()


async def _serve(page: _Page, visitor: Visitor) -> None:
    page.add(visitor.feed.snapshot())
    stop = visitor.feed.listen(page.add)
    sender = asyncio.create_task(page.send_updates(), name="playground page")
    for update in visitor.welcome():
        page.add(update)
    try:
        async for message in page:
            if message.type is WSMsgType.TEXT:
                for update in await _obey(visitor, message.data):
                    page.add(update)
    finally:
        stop()
        sender.cancel()
        await asyncio.gather(sender, return_exceptions=True)


async def _obey(visitor: Visitor, data: str) -> list[PageUpdate]:
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
