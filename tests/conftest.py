"""How hard Hypothesis looks, and what every worker has in common.

- By default each property has a quarter of its examples, the same each time: a change is judged by what it
  changed.
- `--hypothesis-profile=thorough` gives it all of them, and `.ci/run` does.
- `--hypothesis-profile=long` gives it fifty times as many, new ones each time.

Tests that run a whole bot scale their own number of examples by `examples`.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, settings

from .redis_server import REDIS_SERVER, RedisServer, running_redis

_CALM = (HealthCheck.too_slow, HealthCheck.data_too_large)

settings.register_profile(
    "default", deadline=None, derandomize=True, suppress_health_check=_CALM, max_examples=25
)
settings.register_profile(
    "thorough", deadline=None, derandomize=True, suppress_health_check=_CALM, max_examples=100
)
settings.register_profile("long", deadline=None, suppress_health_check=_CALM, max_examples=5_000)
settings.load_profile("default")

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # a job in the background; what tests start would too
    signal.signal(signal.SIGINT, signal.default_int_handler)
os.environ.pop("COLUMNS", None)  # pytest loads readline, which sets it for the workers: tables would be cut


def pytest_xdist_auto_num_workers() -> int:
    """Half as many again as cores: many tests wait for a browser, a process or a socket."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return cores + (cores + 1) // 2


@pytest.fixture
def redis_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RedisServer]:
    """One for this test alone, empty."""
    if REDIS_SERVER is None:
        pytest.skip("no Redis: apt-get install redis-server")
    with running_redis(tmp_path_factory.mktemp("redis")) as server:
        yield server
