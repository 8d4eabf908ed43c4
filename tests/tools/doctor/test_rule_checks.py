"""What was measured, as the doctor tells it."""

from __future__ import annotations

from pathlib import Path

from slack_bot.settings.load import load
from slack_bot.settings.measured_rules import as_file
from slack_bot.settings.slack_rules import RuleValue
from slack_bot.tools.doctor.rule_checks import check_rules


def findings(folder: Path, values: dict[str, RuleValue], **env: str) -> list[tuple[str, str, str]]:
    file = folder / "rules.json"
    file.write_text(as_file(values, "2026-11-29T01:02:03Z", {}))
    file.chmod(0o600)
    settings = load({"SLACK_BOT_SLACK__RULES": str(file), **env}, None, None)
    return [(each.state, each.text, each.remedy) for each in check_rules(settings)]


def test_each_rule_that_differs_is_named_with_what_follows(tmp_path: Path) -> None:
    found = findings(tmp_path, {"stream.bytes": 5_500, "read.heading": "bold", "call.chars": 12_000})
    assert found == [
        (
            "warning",
            "stream.bytes is 5,500 bytes here, not 11,000 bytes; SLACK_BOT_STREAM__ROTATE_BYTES is 4500",
            "",
        ),
        ("warning", "read.heading is bold here, not plain; no setting follows from it", ""),
    ]


def test_a_looser_number_says_how_it_can_count(tmp_path: Path) -> None:
    ((_, text, remedy),) = findings(tmp_path, {"rate.chat.startStream": 60})
    assert text.endswith("not 20 calls a minute; SLACK_BOT_GOVERNOR__STARTS_PER_MINUTE is 20.0")
    assert remedy.startswith("set SLACK_BOT_SLACK__RULES_ALLOW_LOOSER=true")
    allowed = {"SLACK_BOT_SLACK__RULES_ALLOW_LOOSER": "true"}
    ((_, text, remedy),) = findings(tmp_path, {"rate.chat.startStream": 60}, **allowed)
    assert (text.endswith("STARTS_PER_MINUTE is 60.0"), remedy) == (True, "")


def test_all_as_expected_is_one_line_and_no_file_is_none(tmp_path: Path) -> None:
    ((state, text, _),) = findings(tmp_path, {"stream.life": 301})
    assert (state, text) == ("ok", "all 1 measured at 2026-11-29T01:02:03Z are as expected")
    assert list(check_rules(load({}, None, None))) == []
