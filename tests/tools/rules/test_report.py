"""What is printed of the rules."""

from __future__ import annotations

import json

from slack_bot.settings.slack_rules import CATALOGUE
from slack_bot.tools.rules.report import as_json, as_text, in_words, summary
from slack_bot.tools.rules.result import RuleResult

RESULTS = [
    RuleResult(CATALOGUE["stream.mode"], "streaming_mode_mismatch"),
    RuleResult(CATALOGUE["stream.name"], reason="the token lacks the scope chat:write.customize"),
    RuleResult(CATALOGUE["stream.life"], 30, detail="or longer\x1b[2J"),
]


def test_what_differs_comes_first_then_reasons_and_nothing_moves_the_cursor() -> None:
    lines = "".join(as_text(RESULTS)).splitlines()
    _, differs, _, unknown, _, _, well, _ = lines
    assert differs.split() == ["differs", "stream.life", "300", "s", "30", "s", "or", "longer", "[2J"]
    assert unknown == "unknown  the token lacks the scope chat:write.customize: stream.name"
    assert well.split() == ["ok", "stream.mode", "streaming_mode_mismatch"]
    assert summary(RESULTS).strip() == "3 rules: 1 as expected, 1 differs, 1 cannot be told"


def test_a_reason_is_said_once_for_all_its_rules() -> None:
    many = [RuleResult(rule, reason="only with --sandbox") for rule in CATALOGUE.values()]
    lines = "".join(as_text(many)).splitlines()
    assert "".join(lines).count("--sandbox") == 1
    assert max(map(len, lines)) <= 110
    assert all(rule in " ".join(lines) for rule in CATALOGUE)


def test_values_are_written_as_people_write_them() -> None:
    assert in_words(True, CATALOGUE["stream.name"]) == "yes"
    assert in_words(11_000, CATALOGUE["stream.bytes"]) == "11,000 bytes"


def test_json_says_whether_all_is_as_expected() -> None:
    read = json.loads(as_json(RESULTS))
    assert not read["ok"]
    assert [each["verdict"] for each in read["rules"]] == ["as expected", "cannot be told", "differs"]
    assert read["rules"][2]["seen"] == 30
