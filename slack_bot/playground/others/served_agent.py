"""An agent of the playground on a2a-sdk: one card, one way to be asked, and perhaps a guard at the door."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import asynccontextmanager
from typing import Any

from a2a.server.agent_execution import AgentExecutor
from a2a.server.request_handlers import DefaultRequestHandler
from a2a.server.routes import create_agent_card_routes, create_jsonrpc_routes
from a2a.server.routes.rest_routes import create_rest_routes
from a2a.server.tasks import InMemoryTaskStore
from a2a.types import AgentCard
from starlette.applications import Starlette
from starlette.middleware import Middleware

from ..hosting import host_app


class ServedAgent:
    """The agent of `card` as an ASGI application. The first interface of the card says how it is asked."""

    def __init__(self, card: AgentCard, executor: AgentExecutor, guards: Iterable[Middleware] = ()) -> None:
        self._handler = DefaultRequestHandler(
            agent_executor=executor, task_store=InMemoryTaskStore(), agent_card=card
        )
        interface = card.supported_interfaces[0]
        is_old = interface.protocol_version == "0.3"
        calls: list[Any]
        if interface.protocol_binding == "JSONRPC":
            calls = create_jsonrpc_routes(self._handler, "/", enable_v0_3_compat=is_old)
        else:
            calls = create_rest_routes(self._handler, enable_v0_3_compat=is_old)
        routes = [*create_agent_card_routes(card), *calls]
        self.asgi = Starlette(routes=routes, middleware=list(guards))

    async def aclose(self) -> None:
        """End all running tasks, and with them their streams."""
        await self._handler.aclose()


@asynccontextmanager
async def serve_agent(
    build: Callable[[str], ServedAgent], host: str = "127.0.0.1", port: int = 0
) -> AsyncIterator[str]:
    """Serve what `build(url)` makes until the context is left; yields its base URL. Raises OSError where the
    port is taken.
    """
    async with host_app(build, host, port) as url:
        yield url
