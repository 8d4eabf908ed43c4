"""The verb."""

from __future__ import annotations

import json

import pytest

from slack_bot.cli import main


def test_a_group_of_rules_is_tried_on_the_emulated_workspace(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["rules", "--only", "stop", "--only", "stream.mode", "--json"]) == 0
    read = json.loads(capsys.readouterr().out)
    assert read["ok"]
    assert {each["rule"].partition(".")[0] for each in read["rules"]} == {"stop", "stream"}
    assert main(["rules", "--only", "stream.mode"]) == 0
    assert "1 rules: 1 as expected" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("name", "told"), [("stream.lif", "did you mean stream.life?"), ("7", "the groups are")]
)
def test_an_unknown_rule_is_named(name: str, told: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["rules", "--only", name]) == 2
    assert told in capsys.readouterr().err
