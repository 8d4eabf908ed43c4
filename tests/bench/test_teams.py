"""The bench of many workspaces runs. How many are too many is not a test's to say."""

from __future__ import annotations

import re
import sys

import pytest

from .teams import main


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="what a process uses is read from /proc")
def test_the_quick_run_shows_all_answers_of_each_workspace(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--quick"]) == 0
    printed = capsys.readouterr().out
    shown = re.findall(r"^(T\d) +(\d+) answers, +(\d+) whole,.* refused (\d+)$", printed, re.MULTILINE)
    assert shown == [(f"T{number}", "2", "2", "0") for number in (1, 2, 3)]
