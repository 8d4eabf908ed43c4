"""The image without a container engine: each step of the Dockerfile in a clean root, then the bot in it."""

import json
import subprocess
import sys
import tomllib

import pytest

from slack_bot import __version__
from tests.deploy.container import NOT_POSSIBLE
from tests.deploy.dockerfile import ROOT, declared


@pytest.mark.slow
def test_the_image_is_built_and_runs_read_only_without_rights_and_ends_in_order() -> None:
    """What is not shown by it: that the real base image has what the steps use."""
    ran = subprocess.run(
        [sys.executable, "-m", "tests.deploy.container"],
        cwd=ROOT, capture_output=True, text=True, timeout=540, check=False,
    )  # fmt: skip
    if ran.returncode == NOT_POSSIBLE:
        pytest.skip(f"beside a machine that lets it nothing is built. {ran.stderr.strip()}")
    assert ran.returncode == 0, ran.stdout + ran.stderr
    figures = json.loads(ran.stdout)
    print(figures)
    assert figures["installed_mb"] < 90  # 85.1 with cronsim and the time zones of schedules


def test_what_the_image_says_of_itself_is_so() -> None:
    image = declared()
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    assert image.labels["org.opencontainers.image.version"] == __version__
    assert image.labels["org.opencontainers.image.licenses"] == project["license"]
    assert image.entrypoint[0] in project["scripts"]
    uid, gid = image.user.split(":")
    assert int(uid) >= 10_000, "a number, and no user of the machine"
    assert int(gid) >= 10_000
