"""An update beside an older edition, once."""

from __future__ import annotations

import asyncio
import io
import subprocess
import tarfile
from collections import Counter
from pathlib import Path

import pytest

from tests.redis_server import NO_REDIS, REDIS_SERVER

from .running import ROOT
from .update import run, summary, threads_of

OLDER = "9fe2faa5"
"""The last commit before the core of a thread was rebuilt; the store has the same format."""


def older_edition(folder: Path) -> Path:
    """A folder with the package of that commit. Where the history has no such commit, this edition."""
    command = ["git", "-C", str(ROOT), "archive", OLDER, "slack_bot"]
    archive = subprocess.run(command, capture_output=True, check=False)
    if archive.returncode != 0:
        return ROOT
    with tarfile.open(fileobj=io.BytesIO(archive.stdout)) as tar:
        tar.extractall(folder, filter="data")
    return folder


@pytest.mark.slow
@pytest.mark.skipif(REDIS_SERVER is None, reason=NO_REDIS)
def test_an_update_loses_nothing_that_runs_waits_is_watched_or_is_asked(tmp_path: Path) -> None:
    result, logs = asyncio.run(run(older_edition(tmp_path), "1.0", rounds=1))
    assert result.wrong == [], f"{summary(result)}\n{logs}"
    assert result.counts["at the update: running"] == 6


def test_people_do_all_of_it_beside_and_after() -> None:
    acts = Counter((thread.state, thread.act, thread.phase) for thread in threads_of(1) if thread.act)
    assert {number for number in acts.values()} == {1}
    assert len({(state, act) for state, act, _ in acts}) * 2 == len(acts)
