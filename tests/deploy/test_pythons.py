"""The Pythons of other Debians, each in a root of its own: the README's first command, the wheel, and the
tests of the stores, where another Python broke most.

What else it could break (`-- -m python`), and the whole suite, is for `python -m tests.deploy.pythons`, as a
step of a release: here it takes too long. docs/measured.md says when it ran.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib

import pytest

from slack_bot import __version__
from tests.deploy.container import NOT_POSSIBLE
from tests.deploy.dockerfile import ROOT
from tests.deploy.pythons import status_of_all


@pytest.mark.slow
@pytest.mark.parametrize(("release", "python"), [("trixie", "3.13"), ("forky", "3.14")])
def test_the_bot_runs_on_the_python_of(release: str, python: str) -> None:
    """Without Redis, Chromium and a compiler. Where no root can be had, this is skipped, and says why."""
    part = ["-q", "-n", "2", "tests/store"]
    ran = subprocess.run(
        [sys.executable, "-m", "tests.deploy.pythons", release, "--", *part],
        cwd=ROOT, capture_output=True, text=True, timeout=580, check=False,
    )  # fmt: skip
    if ran.returncode == NOT_POSSIBLE:
        pytest.skip(f"beside a machine that lets it nothing is tried. {ran.stderr.strip()[-300:]}")
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert f"\nPython {python}." in ran.stdout
    assert re.search(r"(?m)^\d+ of \d+ checks passed: PASS", ran.stdout)
    assert f"\nslack-bot {__version__}\n" in ran.stdout
    assert "What I can do" in ran.stdout
    tried = re.search(r"(?m)^(?:=+ )?(\d+) passed", ran.stdout)
    assert tried is not None and int(tried[1]) > 300, ran.stdout[-2_000:]


@pytest.mark.parametrize(
    ("statuses", "status"), [([0, 0], 0), ([0, 3], 3), ([1, 3], 1), ([2, 0], 1), ([-9, 0], 1), ([3, 137], 1)]
)
def test_what_failed_is_told_before_what_could_not_be_tried(statuses: list[int], status: int) -> None:
    assert status_of_all(statuses) == status


def test_the_pythons_that_are_claimed_are_those_that_were_tried() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    claimed = [
        each.rpartition(" ")[2] for each in project["classifiers"] if re.search(r"Python :: 3\.", each)
    ]
    measured = (ROOT / "docs" / "measured.md").read_text("utf-8")
    ran = re.findall(r"(?m)^\| (3\.\d+)\.\d+ \|", measured[measured.index("## Other Pythons") :])
    assert claimed == ran
    assert claimed[0] == project["requires-python"].removeprefix(">=")
    image = (ROOT / "Dockerfile").read_text("utf-8")
    assert set(re.findall(r"FROM python:(\S+?)-slim", image)) == {claimed[0]}
