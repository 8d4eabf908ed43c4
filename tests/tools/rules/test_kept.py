"""The file of what was seen."""

from __future__ import annotations

import json
import stat
from pathlib import Path

import pytest

from slack_bot.errors import UnreadableInput
from slack_bot.settings.measured_rules import read_measured
from slack_bot.settings.slack_rules import CATALOGUE
from slack_bot.tools.rules.kept import check_place, keep
from slack_bot.tools.rules.result import RuleResult

NOON = 1_700_000_000.0
LIFE, MODE = RuleResult(CATALOGUE["stream.life"], 120), RuleResult(CATALOGUE["stream.mode"], "ok")


def test_a_later_run_adds_to_an_earlier_one(tmp_path: Path) -> None:
    file = tmp_path / "rules.json"
    keep(str(file), [LIFE, RuleResult(CATALOGUE["stream.idle"], reason="no time")], NOON)
    keep(str(file), [MODE], NOON + 60)
    measured = read_measured(file)
    assert (measured.values, measured.at) == (
        {"stream.mode": "ok", "stream.life": 120},
        "2023-11-14T22:14:20Z",
    )
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert json.loads(file.read_text())["versions"].keys() == {"slack_sdk", "aiohttp"}
    assert [each.name for each in tmp_path.iterdir()] == ["rules.json"]


def test_what_is_no_such_file_is_not_written_over(tmp_path: Path) -> None:
    file = tmp_path / "rules.json"
    file.write_text("[]")
    file.chmod(0o600)
    with pytest.raises(UnreadableInput, match=r"no file of slack-bot rules.*another file with -o"):
        check_place(str(file))
    with pytest.raises(UnreadableInput, match="there is no folder"):
        check_place(str(tmp_path / "none" / "rules.json"))
    assert file.read_text() == "[]"


def test_a_folder_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "rules.json").mkdir()
    with pytest.raises(UnreadableInput, match=r"rules\.json"):
        keep(str(tmp_path / "rules.json"), [LIFE], NOON)
