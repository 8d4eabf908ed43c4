"""An ASGI application served in the running event loop: its own socket, quiet, without signal handlers.

uvicorn would take over the signals of the process. The socket is bound first, because the application needs
its own address.
"""

from __future__ import annotations

import asyncio
import signal
import socket
from collections.abc import AsyncIterator, Callable, Generator
from contextlib import asynccontextmanager, contextmanager
from typing import Any, Protocol

import uvicorn

_GRACE = 2  # seconds for streams still open when the server is stopped; their tasks have ended by then


class Hosted(Protocol):
    """An application that can be ended."""

    asgi: Any

    async def aclose(self) -> None:
        """End what still runs."""


class _Server(uvicorn.Server):
    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self.up = asyncio.Event()

    @contextmanager
    def capture_signals(self) -> Generator[None, None, None]:
        yield

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self.up.set()


def stop_signal() -> asyncio.Event:
    """Set when this process gets SIGTERM or SIGINT."""
    stop = asyncio.Event()
    for sign in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(sign, stop.set)
    return stop


@asynccontextmanager
async def host_app(build: Callable[[str], Hosted], host: str, port: int) -> AsyncIterator[str]:
    """Serve what `build(url)` makes until the context is left; yields the base URL, with a slash at its end.

    Raises:
        OSError: the address is taken or not ours.
    """
    bound = socket.create_server((host, port), reuse_port=False)
    url = f"http://{host}:{bound.getsockname()[1]}/"
    app = build(url)
    config = uvicorn.Config(
        app.asgi,
        log_config=None,
        log_level="warning",
        access_log=False,
        lifespan="off",
        timeout_graceful_shutdown=_GRACE,
    )
    server = _Server(config)
    running = asyncio.create_task(server.serve([bound]), name="playground-agent")
    try:
        await server.up.wait()
        yield url
    finally:
        await app.aclose()
        server.should_exit = True
        await running
