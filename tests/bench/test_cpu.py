"""The benchmark of processor time runs. How much is too much is not a test's to say."""

from __future__ import annotations

import re
import sys

import pytest

from .cpu import main, prose


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="processor time is read from /proc")
def test_the_quick_run_compares_the_bot_with_the_bare_loop(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--quick"]) == 0
    printed = capsys.readouterr().out
    answers, events, ratio = re.findall(r"(\d+) answers, +(\d+) events.* ratio ([\d.]+)", printed)[0]
    assert (answers, events) == ("2", "82")
    assert float(ratio) > 0


def test_the_prose_has_as_many_tokens_as_asked_for_and_ends_lines() -> None:
    tokens = prose(600)
    assert len(tokens) == 600
    assert "".join(tokens).count("\n") == 10
