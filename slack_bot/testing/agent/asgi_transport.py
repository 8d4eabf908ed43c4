"""An ASGI application behind httpx, in memory, so that a real A2A server runs on virtual time.

httpx's own ASGI transport returns the whole response at its end; this one hands on each piece at once.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, MutableMapping
from typing import Any, TypeAlias

from ...http_client import AsyncBaseTransport, AsyncByteStream, Request, Response

Message: TypeAlias = MutableMapping[str, Any]
App: TypeAlias = Callable[
    [Message, Callable[[], Awaitable[Message]], Callable[[Message], Awaitable[None]]], Awaitable[None]
]


class AsgiTransport(AsyncBaseTransport):
    """Calls `app` for each request. An error in the application is raised where its answer is read."""

    def __init__(self, app: App) -> None:
        self._app = app
        self._running = set[_Exchange]()

    async def handle_async_request(self, request: Request) -> Response:
        exchange = _Exchange(self._app, request, await request.aread())
        self._running.add(exchange)
        exchange.running.add_done_callback(lambda _: self._running.discard(exchange))
        if (head := await exchange.sent.get()) is None:
            await exchange.running
            raise RuntimeError("the application ended without an answer")
        return Response(head["status"], headers=head["headers"], stream=exchange, request=request)

    async def aclose(self) -> None:
        for exchange in tuple(self._running):
            await exchange.aclose()


class _Exchange(AsyncByteStream):
    def __init__(self, app: App, request: Request, body: bytes) -> None:
        self._coming: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]
        self._left = asyncio.Event()
        self.sent = asyncio.Queue[Message | None]()
        self.running = asyncio.ensure_future(self._run(app, _scope(request)))

    async def __aiter__(self) -> AsyncIterator[bytes]:
        while (message := await self.sent.get()) is not None:
            if message.get("body"):
                yield message["body"]
            if not message.get("more_body", False):
                return
        await self.running

    async def aclose(self) -> None:
        self._left.set()
        self.running.cancel()
        await asyncio.gather(self.running, return_exceptions=True)  # the reader got the error

    async def _run(self, app: App, scope: Message) -> None:
        try:
            await app(scope, self._receive, self.sent.put)
        finally:
            self.sent.put_nowait(None)

    async def _receive(self) -> Message:
        if self._coming:
            return self._coming.pop()
        await self._left.wait()
        return {"type": "http.disconnect"}


def _scope(request: Request) -> Message:
    return {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "method": request.method,
        "headers": [(name.lower(), value) for name, value in request.headers.raw],
        "scheme": request.url.scheme,
        "path": request.url.path,
        "raw_path": request.url.raw_path.partition(b"?")[0],
        "query_string": request.url.query,
        "server": (request.url.host, request.url.port),
        "client": ("127.0.0.1", 0),
        "root_path": "",
    }
