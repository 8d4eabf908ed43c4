"""An agent whose connection is cut and that is not what it was then: away, forgetful, silent, cut again."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from random import Random
from typing import Any

import httpx

LOSES = ("forgets", "refuses", "busy", "a page", "cannot", "hangs", "stuck")
"""Ways in which what became of the task cannot be learned."""
KEEPS = ("back", "silent", "again")
"""Ways in which it can, in the end."""
_REACHED = ("", "stuck", "silent", "again")
_PING = b": ping\n\n"
_PING_EVERY = 15.0
_ERRORS = {"forgets": (-32001, "Task not found"), "cannot": (-32601, "Method not found")}


class Away(httpx.AsyncBaseTransport):
    """Between the bot and its agent. Everything passes until the question's stream is cut.

    `way` is what happens then. `back`: away for a while. `silent`: no cut is seen, the stream says nothing
    but pings. `again`: a stream that is joined is cut, too. `stuck`: nothing here, the task stands still.
    """

    def __init__(self, inner: httpx.AsyncBaseTransport, way: str, random: Random) -> None:
        self._inner, self._way = inner, way
        self._away_for = random.uniform(1.0, 40.0)
        self._cut_after = random.randint(1, 6)
        self._since: float | None = None

    def cut(self) -> None:
        """The question's stream is cut, now."""
        if self._since is None:
            self._since = asyncio.get_running_loop().time()

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """As the agent, or whatever stands in its place now."""
        if self._since is not None and self._way not in _REACHED:
            gone = asyncio.get_running_loop().time() - self._since
            if self._way != "back" or gone < self._away_for:
                return await self._instead(request)
        is_joined = self._since is not None
        response = await self._inner.handle_async_request(request)
        if "event-stream" not in response.headers.get("content-type", ""):
            return response
        assert isinstance(response.stream, httpx.AsyncByteStream)
        body = _Body(self, request, response.stream)
        if self._way == "again" and is_joined:
            body.most = self._cut_after
        body.goes_silent = self._way == "silent" and not is_joined
        return httpx.Response(response.status_code, headers=response.headers, stream=body, request=request)

    async def _instead(self, request: httpx.Request) -> httpx.Response:
        if self._way == "hangs":
            await asyncio.sleep(float((request.extensions.get("timeout") or {}).get("read") or 60.0))
            raise httpx.ReadTimeout("the read operation timed out", request=request)
        if self._way in ("refuses", "back"):
            raise httpx.ConnectError("All connection attempts failed", request=request)
        if self._way == "busy":
            return httpx.Response(503, headers={"retry-after": "7"}, text="busy", request=request)
        if self._way == "a page":
            return httpx.Response(200, html="<!DOCTYPE html><title>Welcome</title>", request=request)
        asked: Any = json.loads(await request.aread() or b"{}")
        code, said = _ERRORS[self._way]
        error = {"jsonrpc": "2.0", "id": asked.get("id"), "error": {"code": code, "message": said}}
        return httpx.Response(200, json=error, request=request)


class _Body(httpx.AsyncByteStream):
    def __init__(self, away: Away, request: httpx.Request, inner: httpx.AsyncByteStream) -> None:
        self._away, self._request, self._inner = away, request, inner
        self.most: int | None = None
        self.goes_silent = False

    async def __aiter__(self) -> AsyncIterator[bytes]:
        count, is_cut = 0, False
        try:
            async for chunk in self._inner:
                if self.most is not None and count >= self.most:
                    raise httpx.RemoteProtocolError("peer closed connection", request=self._request)
                count += 1
                yield chunk
        except httpx.RemoteProtocolError:
            self._away.cut()
            is_cut = True
            if not self.goes_silent:
                raise
        while is_cut:
            await asyncio.sleep(_PING_EVERY)
            yield _PING

    async def aclose(self) -> None:
        await self._inner.aclose()
