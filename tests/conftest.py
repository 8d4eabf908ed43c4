"""How hard Hypothesis looks, and what every worker has in common.

- By default each property has a tenth of its examples, the same each time: a change is judged by what it
  changed.
- `--hypothesis-profile=thorough` gives it all of them, and `.ci/run` does.
- `--hypothesis-profile=long` gives it fifty times as many, new ones each time;
  `-o faulthandler_timeout=0` beside it, as some take longer than a test may (600 s).

Tests that run a whole bot scale their own number of examples by `examples`.
"""

from __future__ import annotations

import gc
import importlib
import os
import re
import signal
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from _pytest.runner import runtestprotocol
from hypothesis import HealthCheck, given, settings
from hypothesis.strategies import none

from .authorization_server import TokenServer, authorization_server
from .openid_server import OpenIDServer, openid_server
from .redis_server import RedisServer, running_redis
from .rings import is_of_python, ring_of

_WORTH_TELLING = 0.005  # seconds that a setup or a teardown took: `--durations` shows no shorter ones

_CALM = (HealthCheck.too_slow, HealthCheck.data_too_large)

settings.register_profile(
    "default", deadline=None, derandomize=True, suppress_health_check=_CALM, max_examples=10
)
settings.register_profile(
    "thorough", deadline=None, derandomize=True, suppress_health_check=_CALM, max_examples=100
)
settings.register_profile("long", deadline=None, suppress_health_check=_CALM, max_examples=5_000)
settings.load_profile("default")

gc.set_threshold(20_000, 20, 20)  # with Python's own, it takes a tenth of the tests' time

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # a job in the background; what tests start would too
    signal.signal(signal.SIGINT, signal.default_int_handler)
if sys.dont_write_bytecode and "PYTEST_XDIST_WORKER" not in os.environ:
    # workers, and the processes that tests start, would each compile everything
    os.environ["PYTHONPYCACHEPREFIX"] = str(Path(__file__).parents[1] / ".pytest_cache" / "bytecode")
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
os.environ.pop("COLUMNS", None)  # pytest loads readline, which sets it for the workers: tables would be cut


def pytest_xdist_auto_num_workers() -> int:
    """Twice as many as cores: many tests wait for a browser, a process or a socket."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return 2 * cores


def pytest_collection(session: pytest.Session) -> None:
    """Of the whole suite each worker first imports a part of its own, so that a module is compiled once."""
    worker = getattr(session.config, "workerinput", None)
    if worker is None or session.config.args != session.config.getini("testpaths"):
        return
    here = Path(__file__).parent
    modules = sorted(path.relative_to(here.parent) for path in here.rglob("test_*.py"))
    at = len(modules) * int(worker["workerid"].removeprefix("gw")) // worker["workercount"]
    for path in modules[at:] + modules[:at]:
        with suppress(Exception, pytest.skip.Exception):  # told when it is collected
            importlib.import_module(".".join(path.with_suffix("").parts))


def pytest_itemcollected(item: pytest.Item) -> None:
    """`-m pure` runs one ring, `-m "pure or bot"` two; what is slow is in none of them."""
    if item.get_closest_marker("slow") is None:
        item.add_marker(ring_of(item.path))
        if is_of_python(item.path):
            item.add_marker("python")


def pytest_runtest_protocol(item: pytest.Item, nextitem: pytest.Item | None) -> bool | None:
    """A worker does not report each setup and teardown that went well at once: three reports of each test
    took the processes as long as most of the tests themselves.
    """
    if not hasattr(item.config, "workerinput"):
        return None
    item.ihook.pytest_runtest_logstart(nodeid=item.nodeid, location=item.location)
    for report in runtestprotocol(item, log=False, nextitem=nextitem):
        if report.when == "call" or not report.passed or report.duration >= _WORTH_TELLING:
            item.ihook.pytest_runtest_logreport(report=report)
    item.ihook.pytest_runtest_logfinish(nodeid=item.nodeid, location=item.location)
    return True


@settings(max_examples=1, database=None)
@given(none())
def _first_property(_: None) -> None:
    """With the first one, Hypothesis makes its random numbers.

    From Python 3.14 on it warns where the garbage collector does not see who holds them. It looks for that
    among all objects, so this is done while there are few.
    """


@pytest.hookimpl(trylast=True)
def pytest_sessionstart() -> None:
    _first_property()


def pytest_collection_finish() -> None:
    """What was imported stays: the garbage collector need not look at it again and again."""
    gc.freeze()


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """What was skipped, in one line, with what is to be installed."""
    reports = terminalreporter.getreports("skipped")
    reasons = Counter(str(each.longrepr[2]).removeprefix("Skipped: ") for each in reports)
    if reasons:
        listed = ", ".join(f"{reason} ({count})" for reason, count in reasons.most_common())
        programs = sorted(found[1] for reason in reasons if (found := re.fullmatch("no ([a-z-]+)", reason)))
        remedy = f"; install them with: apt-get install {' '.join(programs)}" if programs else ""
        were = "tests were" if len(reports) > 1 else "test was"
        terminalreporter.write_line(f"{len(reports)} {were} skipped: {listed}{remedy}")


@pytest.fixture(scope="session")
def token_server_process() -> Iterator[TokenServer]:
    """One for all tests of this process."""
    with authorization_server() as server:
        yield server


@pytest.fixture
def server(token_server_process: TokenServer) -> TokenServer:
    """An authorization server, as new."""
    token_server_process.set_up()
    return token_server_process


@pytest.fixture(scope="session")
def openid_process() -> Iterator[OpenIDServer]:
    """One for all tests of this process."""
    with openid_server() as server:
        yield server


@pytest.fixture
def provider(openid_process: OpenIDServer) -> OpenIDServer:
    """An OpenID provider, as new, with two people."""
    openid_process.set_up()
    return openid_process


@pytest.fixture
def redis_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RedisServer]:
    """One for this test alone, empty."""
    with running_redis(tmp_path_factory.mktemp("redis")) as server:
        yield server
