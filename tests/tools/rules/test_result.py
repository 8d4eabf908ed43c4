"""The verdict about a rule."""

from __future__ import annotations

from slack_bot.settings.slack_rules import CATALOGUE
from slack_bot.tools.rules.result import RuleResult


def test_a_number_may_be_near_and_a_word_may_not() -> None:
    life, mode = CATALOGUE["stream.life"], CATALOGUE["stream.mode"]
    assert RuleResult(life, 306).verdict == "as expected"
    assert RuleResult(life, 40).verdict == "differs"
    assert RuleResult(mode, "ok").verdict == "differs"
    assert RuleResult(mode, reason="no scope").verdict == "cannot be told"
    assert CATALOGUE["stream.mode"].is_documented
    assert not life.is_documented
