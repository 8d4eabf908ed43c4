"""The emulated workspace keeps its own catalogue, and a wrong one is caught."""

from __future__ import annotations

import pytest

from slack_bot.settings.slack_rules import CATALOGUE, OK, RuleValue, SlackRule
from slack_bot.testing.slack.workspace import WorkspaceRules
from slack_bot.tools.rules.result import RuleResult
from slack_bot.tools.rules.rules import probes_of
from slack_bot.tools.rules.trial import trial_of_emulator

CANNOT_VARY: dict[str, str] = {}
"""Rules that nothing in the emulated workspace can change, each with the reason."""


def another(rule: SlackRule) -> RuleValue:
    """What a wrong workspace would do."""
    if rule.kind == "number":
        return type(rule.expected)(float(rule.expected) / 2) or 3
    if rule.kind == "flag":
        return not rule.expected
    if rule.kind == "answer":
        return OK if rule.expected != OK else "restricted_action"
    return next(word for word in rule.words if word != rule.expected)


def trial(rule: str, seen: RuleValue | None = None) -> RuleResult:
    """What comes of one rule in a workspace that was found to do `seen`."""
    rules = WorkspaceRules.real() if seen is None else WorkspaceRules.real().as_measured({rule: seen})
    (result,) = trial_of_emulator(probes_of([rule]), rules)
    return result


def test_each_rule_has_a_probe() -> None:
    assert [each.rule for each in probes_of([])] == list(CATALOGUE)


def test_the_emulated_workspace_keeps_each_rule_as_it_is_written_down() -> None:
    told: list[str] = []
    results = trial_of_emulator(probes_of([]), tell=lambda result: told.append(result.rule.id))
    assert {
        each.rule.id: (each.value, each.reason) for each in results if each.verdict != "as expected"
    } == {}
    assert [each.rule.id for each in results] == list(CATALOGUE)
    assert sorted(told) == sorted(CATALOGUE)


@pytest.mark.parametrize("rule", [each for each in CATALOGUE if each not in CANNOT_VARY])
def test_a_workspace_that_breaks_one_rule_is_caught(rule: str) -> None:
    wrong = another(CATALOGUE[rule])
    result = trial(rule, wrong)
    assert result.verdict == "differs", result


def test_what_was_seen_can_be_emulated_and_is_seen_again() -> None:
    """Numbers are found exactly where the experiment has the resolution for it."""
    for rule, seen in {
        "stream.life": 120, "stream.direct": "missing_recipient_user_id", "card.title_chars": 100,
        "read.bold": "markdown", "socket.count": 4, "delivery.second_pause": 10,
    }.items():  # fmt: skip
        assert trial(rule, seen).value == seen
