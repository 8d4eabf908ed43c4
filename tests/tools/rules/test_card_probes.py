"""Probes of task cards."""

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


def test_what_a_byte_of_details_costs_is_weighed() -> None:
    assert values("card.weight", card__weight=1) == {"card.weight": 1}
    assert values("card.weight", card__weight=3) == {"card.weight": 3}


def test_an_open_card_may_end_in_several_ways() -> None:
    for word in ("in_progress", "complete", "error", "none"):
        assert values("card.open_after_stop", card__open_after_stop=word) == {"card.open_after_stop": word}
