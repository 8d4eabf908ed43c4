"""An ASGI application behind httpx, in memory: what it sends is read while it is still being sent.

httpx's own ASGI transport returns the whole response at its end; this one hands on each piece at once, so
a real A2A server runs on virtual time, without sockets and threads.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, MutableMapping
from typing import Any, TypeAlias

import httpx

Message: TypeAlias = MutableMapping[str, Any]
App: TypeAlias = Callable[
    [Message, Callable[[], Awaitable[Message]], Callable[[Message], Awaitable[None]]], Awaitable[None]
]


class AsgiTransport(httpx.AsyncBaseTransport):
    """Calls `app` for each request. An error in the application is raised where its answer is read."""

    def __init__(self, app: App) -> None:
        self._app = app
        self._running = set[_Exchange]()

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """The answer as soon as its head is there."""
        exchange = _Exchange(self._app, request, await request.aread())
        self._running.add(exchange)
        exchange.running.add_done_callback(lambda _: self._running.discard(exchange))
        return await exchange.response()

    async def aclose(self) -> None:
        """End what is still being answered."""
        for exchange in tuple(self._running):
            await exchange.aclose()


class _Exchange(httpx.AsyncByteStream):
    """One request and its answer."""

    def __init__(self, app: App, request: httpx.Request, body: bytes) -> None:
        self._request = request
        self._coming: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]
        self._left = asyncio.Event()
        self._sent = asyncio.Queue[Message | None]()
        self.running = asyncio.ensure_future(self._run(app))

    async def response(self) -> httpx.Response:
        """The head, with the body to come. RuntimeError where the application ends without one."""
        head = await self._sent.get()
        if head is None:
            await self.running
            raise RuntimeError("the application ended without an answer")
        return httpx.Response(head["status"], headers=head["headers"], stream=self, request=self._request)

    async def __aiter__(self) -> AsyncIterator[bytes]:
        while (message := await self._sent.get()) is not None:
            if message.get("body"):
                yield message["body"]
            if not message.get("more_body", False):
                return
        await self.running

    async def aclose(self) -> None:
        """To the application, the client went away."""
        self._left.set()
        self.running.cancel()
        await asyncio.gather(self.running, return_exceptions=True)  # the reader got the error

    async def _run(self, app: App) -> None:
        try:
            await app(self._scope(), self._receive, self._send)
        finally:
            self._sent.put_nowait(None)

    async def _receive(self) -> Message:
        if self._coming:
            return self._coming.pop()
        await self._left.wait()
        return {"type": "http.disconnect"}

    async def _send(self, message: Message) -> None:
        self._sent.put_nowait(message)

    def _scope(self) -> Message:
        url = self._request.url
        return {
            "type": "http",
            "asgi": {"version": "3.0"},
            "http_version": "1.1",
            "method": self._request.method,
            "headers": [(name.lower(), value) for name, value in self._request.headers.raw],
            "scheme": url.scheme,
            "path": url.path,
            "raw_path": url.raw_path.partition(b"?")[0],
            "query_string": url.query,
            "server": (url.host, url.port),
            "client": ("127.0.0.1", 0),
            "root_path": "",
        }
