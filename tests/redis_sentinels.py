"""A primary, its replicas and three Sentinels, as real processes on free ports."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from slack_bot.testing.harness import free_port

from .redis_server import RedisServer, running_redis

NAME = "mymaster"
_PATIENCE = 60.0  # seconds
_DOWN_AFTER = 500  # ms


class SentinelSet:
    """Use `running_sentinels`. `servers`: the primary first, as they began."""

    def __init__(self, servers: Sequence[RedisServer], sentinels: Sequence[RedisServer]) -> None:
        self.servers, self.sentinels = tuple(servers), tuple(sentinels)

    def at(self, *, login: str = "", name: str = NAME, options: str = "", scheme: str = "redis") -> str:
        """The address. `login`: with its @. `options`: with their ?."""
        host = "localhost" if scheme == "rediss" else "127.0.0.1"
        hosts = ",".join(f"{host}:{sentinel.tls_port or sentinel.port}" for sentinel in self.sentinels)
        return f"{scheme}+sentinel://{login}{hosts}/{name}{options}"

    @property
    def url(self) -> str:
        return self.at()

    def state(self) -> dict[str, Any]:
        """What a Sentinel that runs says of the primary."""
        running = next(each for each in self.sentinels if each.is_running)
        with running.client() as client:
            state: dict[str, Any] = client.sentinel_master(NAME)
            return state

    def primary(self) -> RedisServer:
        """The server that the Sentinels name."""
        port = int(self.state()["port"])
        return next(server for server in self.servers if port in (server.port, server.tls_port))

    def wait_for_replicas(self, number: int, *, behind: int = 0) -> None:
        """Until the Sentinels can put one in the place of the primary, and each has heard of the others.

        `behind`: bytes that the replicas may lack, while the primary is written to.
        """
        wait_until(lambda: self._has_replicas(number, behind))

    def _has_replicas(self, number: int, behind: int) -> bool:
        if self.primary().connected_replicas(behind=behind) < number:
            return False
        for sentinel in (each for each in self.sentinels if each.is_running):
            with sentinel.client() as client:
                state = client.sentinel_master(NAME)
                healthy = [each for each in client.sentinel_slaves(NAME) if not each["is_disconnected"]]
                others = int(state["num-other-sentinels"])
            if len([each for each in healthy if each["flags"] == "slave"]) < number:
                return False
            if others < len(self.sentinels) - 1:
                return False
        return True

    def wait_for_another(self, than: RedisServer) -> RedisServer:
        """Until the Sentinels name another primary."""
        wait_until(lambda: self.primary() is not than)
        return self.primary()


def wait_until(condition: Any, within: float = _PATIENCE) -> None:
    """Return when it holds, or fail."""
    end = time.monotonic() + within
    while not condition():
        assert time.monotonic() < end, "it took too long"
        time.sleep(0.02)


@contextmanager
def running_sentinels(folder: Path, *options: str, replicas: int = 2, tls: str = "") -> Iterator[SentinelSet]:
    """Servers with these `options`. `tls`: the certificate of all, which is its own authority; then replicas
    and Sentinels speak TLS with each other too, and call each other `localhost`.
    """
    folder.mkdir(exist_ok=True)
    with ExitStack() as stack:
        primary = stack.enter_context(_server(folder / "primary", *options, tls=tls))
        host, port = ("localhost", primary.tls_port) if tls else ("127.0.0.1", primary.port)
        servers = [primary]
        for number in range(replicas):
            of = ("--replicaof", host, str(port), "--repl-diskless-sync-delay", "0")
            servers.append(stack.enter_context(_server(folder / f"replica{number}", *of, *options, tls=tls)))
        hostnames = ["sentinel resolve-hostnames yes", "sentinel announce-hostnames yes"] if tls else []
        lines = [
            *hostnames,
            f"sentinel monitor {NAME} {host} {port} 2",
            f"sentinel down-after-milliseconds {NAME} {_DOWN_AFTER}",
            f"sentinel failover-timeout {NAME} 3000",
        ]
        sentinels = [
            stack.enter_context(_sentinel(folder / f"sentinel{number}", lines, tls)) for number in range(3)
        ]
        group = SentinelSet(servers, sentinels)
        group.wait_for_replicas(replicas)
        yield group


@contextmanager
def _server(folder: Path, *options: str, tls: str) -> Iterator[RedisServer]:
    port = free_port()
    speaking = [f"--{each}" for each in _tls_lines(tls, port)] if tls else []
    words = [word for each in speaking for word in each.split(" ")]
    announced = ("--replica-announce-ip", "localhost") if tls else ()
    with running_redis(folder, *words, *announced, *options) as server:
        server.tls_port = port if tls else 0
        yield server


@contextmanager
def _sentinel(folder: Path, lines: Sequence[str], tls: str) -> Iterator[RedisServer]:
    folder.mkdir()
    server = RedisServer(folder)
    if tls:
        server.tls_port = free_port()
        lines = [*_tls_lines(tls, server.tls_port), "sentinel announce-ip localhost", *lines]
    configuration = [f"port {server.port}", *lines, ""]
    (folder / "sentinel.conf").write_text("\n".join(configuration), encoding="utf-8")
    server.start_sentinel()
    try:
        yield server
    finally:
        server.kill()


def _tls_lines(own: str, port: int) -> list[str]:
    files = [f"{name} {own}" for name in ("tls-cert-file", "tls-key-file", "tls-ca-cert-file")]
    return [f"tls-port {port}", *files, "tls-auth-clients no", "tls-replication yes"]
