"""Probes of the sizes of blocks."""

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


def test_each_size_is_found_exactly_where_it_is_another_one() -> None:
    found = values(
        "data_table.rows", "table.chars", "chart.points", "header.chars",
        data_table__rows=150, table__chars=9_999, chart__points=31, header__chars=60,
    )  # fmt: skip
    assert found == {
        "data_table.rows": 150, "table.chars": 9_999, "chart.points": 31, "header.chars": 60,
    }  # fmt: skip
