"""Ports for servers that a test starts."""

from __future__ import annotations

import itertools
import os
import socket
from contextlib import suppress

_WORKER = int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw"))
_PORTS = itertools.count(20_000 + 1_000 * (_WORKER % 10))


def free_port() -> int:
    """A free port below those that the system gives out, and never one of another worker."""
    while True:
        port = next(_PORTS)
        with socket.socket() as probe, suppress(OSError):
            probe.bind(("127.0.0.1", port))
            return port
