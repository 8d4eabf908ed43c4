"""Probes of what a thread has besides messages."""

from __future__ import annotations

from slack_bot.settings.slack_rules import RuleValue
from slack_bot.testing.slack.workspace import WorkspaceRules
from slack_bot.tools.rules.rules import probes_of
from slack_bot.tools.rules.trial import trial_of_emulator


def values(*names: str, **measured: RuleValue) -> dict[str, RuleValue | None]:
    """What probes see in a workspace that was measured so; a name has __ for its dot."""
    found = {name.replace("__", "."): value for name, value in measured.items()}
    results = trial_of_emulator(probes_of(names), WorkspaceRules.real().as_measured(found))
    return {each.rule.id: each.value for each in results}


def test_the_time_of_a_status_lies_between_two_looks() -> None:
    assert values("status.timeout", status__timeout=50) == {"status.timeout": 60}
    assert values("status.timeout", status__timeout=1_000) == {"status.timeout": 300}


def test_without_sessions_all_about_them_says_why() -> None:
    found = values("session.available", "session.title_chars", session__available="feature_disabled")
    assert found == {"session.available": "feature_disabled", "session.title_chars": None}


def test_a_press_opens_a_modal_for_longer_elsewhere() -> None:
    found = values("press.trigger_life", "press.responses", press__trigger_life=10, press__responses=2)
    assert found == {"press.trigger_life": 8, "press.responses": 2}
