"""The alerts, by Prometheus' own tool: each fault of one bot is told of that one alone."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

PROMTOOL = shutil.which("promtool")
ALERTS = Path(__file__).parents[2] / "deploy" / "alerts.yml"
CASES = Path(__file__).parent / "alerts_test.yml"


pytestmark = pytest.mark.skipif(PROMTOOL is None, reason="no promtool: apt-get install prometheus")


def run_cases(alerts: Path, folder: Path) -> subprocess.CompletedProcess[str]:
    """What promtool says of these alerts and our cases."""
    cases = folder / "cases.yml"
    cases.write_text(CASES.read_text("utf-8").replace("[ALERTS]", f"[{alerts}]"), encoding="utf-8")
    return promtool("test", cases)


def promtool(verb: str, file: Path) -> subprocess.CompletedProcess[str]:
    assert PROMTOOL is not None
    return subprocess.run(
        [PROMTOOL, verb, "rules", file], capture_output=True, text=True, check=False, timeout=60
    )


def test_each_alert_is_of_one_bot_and_one_that_is_gone_is_missed(tmp_path: Path) -> None:
    for ran in (promtool("check", ALERTS), run_cases(ALERTS, tmp_path)):
        assert ran.returncode == 0, ran.stdout + ran.stderr


RULE = re.compile(r"(?m)^ +- alert: (\w+)\n +expr: ((?:.|\n)*?)\n +for: (\w+)$")


@pytest.mark.parametrize(
    ("part", "wrong"),
    [
        (3, "1h"),
        pytest.param(2, "absent(vector(1))", marks=pytest.mark.slow),
        pytest.param(2, "up >= 0", marks=pytest.mark.slow),
    ],
    ids=["waits for an hour", "never comes", "always comes"],
)
@pytest.mark.parametrize("alert", [found[1] for found in RULE.finditer(ALERTS.read_text("utf-8"))])
def test_the_cases_notice_when_an_alert_waits_for_an_hour_never_comes_or_always_comes(
    alert: str, part: int, wrong: str, tmp_path: Path
) -> None:
    text, copy = ALERTS.read_text("utf-8"), tmp_path / "alerts.yml"
    (rule,) = (found for found in RULE.finditer(text) if found[1] == alert)
    copy.write_text(text[: rule.start(part)] + wrong + text[rule.end(part) :], encoding="utf-8")
    assert promtool("check", copy).returncode == 0
    assert run_cases(copy, tmp_path).returncode != 0
