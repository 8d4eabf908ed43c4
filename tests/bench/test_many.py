"""The bench of many answers runs, for each of its bots. How many are too many is not a test's to say."""

from __future__ import annotations

import re
import sys

import pytest

from .many import OURS, limits_of, main
from .rivals import KINDS


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="what a process uses is read from /proc")
def test_the_quick_run_shows_all_answers(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--quick"]) == 0
    printed = capsys.readouterr().out
    shown = re.findall(r"^(\S+) +(\d+) turns at 20 tokens/s: +(\d+) whole", printed, re.MULTILINE)
    assert shown == [(bot, "3", "3") for bot in (OURS, *KINDS)]


def test_the_limits_of_several_workspaces_add_up() -> None:
    limits = limits_of(50)
    assert limits["SLACK_BOT_GOVERNOR__APPENDS_PER_MINUTE"] == "5000.0"
    assert limits["SLACK_BOT_GOVERNOR__POSTS_PER_SECOND"] == "50.0"
