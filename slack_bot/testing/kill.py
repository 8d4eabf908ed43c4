"""Kills a bot in the middle of its work, as SIGKILL would, on virtual time and at a named point.

A bot reaches the world by calls to Slack, to its agent and to its store. Each call is two points: before it
happens, and after it happened but before the bot knows. In a bot that was killed no call happens or has an
answer any more.
"""

import asyncio
from collections.abc import Mapping
from functools import partial
from typing import Any

from ..http_client import AsyncBaseTransport, Request, Response
from ..store.collection import Collection
from ..store.contracts import Store
from .slack.in_process import SlackResponse, SlackSession


class Life:
    """A process's life: the points that it passed, until it is `over`."""

    def __init__(self) -> None:
        self._last: int | None = None
        self.points: list[str] = []
        self.over = asyncio.Event()

    def end_after(self, points: int) -> None:
        """End it after so many more points."""
        self.points.clear()
        self._last = points

    def end_now(self) -> None:
        self.over.set()

    async def pass_point(self, name: str) -> None:
        """Never returns in a process that was killed."""
        if not self.over.is_set() and len(self.points) == self._last:
            self.end_now()
        if self.over.is_set():
            await asyncio.Event().wait()
        self.points.append(name)


class MortalSession(SlackSession):
    """A process's calls to Slack."""

    def __init__(self, life: Life, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self._life = life

    async def perform(self, url: str, options: Mapping[str, Any]) -> SlackResponse:
        name = url.rpartition("/")[2].partition("?")[0]
        await self._life.pass_point(f"before {name}")
        response = await super().perform(url, options)
        await self._life.pass_point(f"after {name}")
        return response


class MortalTransport(AsyncBaseTransport):
    """A process's calls to its agent."""

    def __init__(self, life: Life, inner: AsyncBaseTransport) -> None:
        self._life, self._inner = life, inner

    async def handle_async_request(self, request: Request) -> Response:
        await self._life.pass_point("before the agent")
        response = await self._inner.handle_async_request(request)
        await self._life.pass_point("after the agent")
        return response

    async def aclose(self) -> None:
        await self._inner.aclose()


class MortalStore:
    """A process's use of a store that outlives it."""

    def __init__(self, life: Life, inner: Store) -> None:
        self._life, self._inner = life, inner

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._inner, name)
        return partial(self._call, name, found) if callable(found) else found

    async def _call(self, name: str, method: Any, *args: Any, **named: Any) -> Any:
        if args and isinstance(args[0], Collection):
            name = f"{name} {args[0].name}"
        await self._life.pass_point(f"before {name}")
        result = await method(*args, **named)
        await self._life.pass_point(f"after {name}")
        return result
