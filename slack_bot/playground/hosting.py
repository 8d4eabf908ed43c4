"""An ASGI application served in the running event loop: its own socket, quiet, without signal handlers.

The socket is bound first, because the application needs its own address.
"""

import asyncio
import errno
import logging
import signal
import socket
import sys
from collections.abc import AsyncIterator, Callable, Generator
from contextlib import AbstractAsyncContextManager, asynccontextmanager, contextmanager
from typing import Any, Protocol, TypeVar

import uvicorn

from ..errors import UnreadableInput
from ..observe import logs

_LAST_PORT = 65_535
_Served = TypeVar("_Served")
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


@asynccontextmanager
async def host_app(build: Callable[[str], Hosted], host: str, port: int) -> AsyncIterator[str]:
    """Serve what `build(url)` makes until the context is left; yields the base URL, with a slash at its end.

    Raises OSError where the address is taken or not ours.
    """
    is_v6 = ":" in host
    bound = socket.create_server((host, port), family=socket.AF_INET6 if is_v6 else socket.AF_INET)
    url = f"http://{f'[{host}]' if is_v6 else host}:{bound.getsockname()[1]}/"
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


async def serve_until_stopped(
    serving: AbstractAsyncContextManager[_Served], announce: Callable[[_Served], str]
) -> None:
    """Serve until this process gets SIGTERM or SIGINT. Prints what `announce` says."""
    stop = asyncio.Event()
    for sign in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(sign, stop.set)
    async with serving as served:
        sys.stdout.write(f"{announce(served)}\nCtrl-C ends it.\n")
        sys.stdout.flush()
        await stop.wait()


def set_up_logs(secrets: tuple[str, ...]) -> None:
    """Warnings as text, without `secrets`."""
    logs.setup("warning", "text", secrets)
    logging.getLogger("a2a").setLevel(logging.ERROR)  # the SDK warns of every task that is ended with it


def check_port(port: int) -> None:
    """Raises UnreadableInput in one sentence for a number that no port has."""
    if not 0 <= port <= _LAST_PORT:
        raise UnreadableInput(
            f"There is no port {port}: give --port a number up to {_LAST_PORT}, or 0 for any that is free."
        )


def no_address(what: str, host: str, port: int, error: OSError, option: str = "--port") -> str:
    """Why `what` cannot be served there, and the remedy."""
    if error.errno == errno.EADDRINUSE:
        return f"Port {port} on {host} is taken: choose another one with {option}, or 0 for any that is free."
    if error.errno == errno.EACCES:
        return f"Port {port} is not ours to use: choose one above 1023 with {option}."
    return f"The {what} cannot be served on {host}: give an address of this machine with --host."
