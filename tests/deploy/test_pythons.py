"""The Pythons of other Debians, each in a root of its own: the README's first command, and the wheel.

The whole suite there is `python -m tests.deploy.pythons`; docs/measured.md says when it ran.
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


@pytest.mark.slow
@pytest.mark.parametrize(("release", "python"), [("trixie", "3.13"), ("forky", "3.14")])
def test_the_playground_and_the_wheel_run_on_the_python_of(release: str, python: str) -> None:
    """Without Redis, Chromium and a compiler. Where no root can be had, this is skipped, and says why."""
    ran = subprocess.run(
        [sys.executable, "-m", "tests.deploy.pythons", "--smoke", release],
        cwd=ROOT, capture_output=True, text=True, timeout=580, check=False,
    )  # fmt: skip
    if ran.returncode == NOT_POSSIBLE:
        pytest.skip(f"beside a machine that lets it nothing is tried. {ran.stderr.strip()[-300:]}")
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert f"\nPython {python}." in ran.stdout
    assert re.search(r"(?m)^\d+ of \d+ checks passed: PASS", ran.stdout)
    assert f"\nslack-bot {__version__}\n" in ran.stdout
    assert "What I can do" in ran.stdout


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
