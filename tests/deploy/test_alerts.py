"""The alerts, by Prometheus' own tool: each fault of one bot is told of that one alone."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

PROMTOOL = shutil.which("promtool")
ALERTS = Path(__file__).parents[2] / "deploy" / "alerts.yml"
CASES = Path(__file__).parent / "alerts_test.yml"


@pytest.mark.skipif(PROMTOOL is None, reason="no promtool: apt-get install prometheus")
def test_each_alert_is_of_one_bot_and_one_that_is_gone_is_missed(tmp_path: Path) -> None:
    assert PROMTOOL is not None
    cases = tmp_path / "cases.yml"
    cases.write_text(CASES.read_text("utf-8").replace("[ALERTS]", f"[{ALERTS}]"), encoding="utf-8")
    for verb, file in (("check", ALERTS), ("test", cases)):
        ran = subprocess.run(
            [PROMTOOL, verb, "rules", file], capture_output=True, text=True, check=False, timeout=60
        )
        assert ran.returncode == 0, ran.stdout + ran.stderr
