"""Probes of how often a method may be called."""

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


def test_rate_and_burst_are_told_apart() -> None:
    found = values("rate.chat.update", "burst.chat.update", rate__chat__update=120, burst__chat__update=30)
    assert found["burst.chat.update"] == 30
    assert found["rate.chat.update"] in range(112, 129)


def test_a_method_without_a_limit_cannot_be_told() -> None:
    rules = WorkspaceRules.real().as_measured({"burst.reactions.add": 1_000})
    (result,) = trial_of_emulator(probes_of(["burst.reactions.add"]), rules)
    assert (result.value, result.reason) == (None, "200 calls at once were all taken")


def test_each_method_is_rested_before_it_is_tried() -> None:
    """A minute's calls were made by others."""
    found = values("read.whole_thread", "burst.conversations.replies")
    assert found == {"read.whole_thread": True, "burst.conversations.replies": 50}
