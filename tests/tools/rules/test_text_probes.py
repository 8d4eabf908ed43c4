"""Probes of what a call may hold."""

from __future__ import annotations

from slack_bot.settings.slack_rules import RuleValue
from slack_bot.testing.slack.workspace import WorkspaceRules
from slack_bot.tools.rules.rules import probes_of
from slack_bot.tools.rules.text_probes import paragraph
from slack_bot.tools.rules.trial import trial_of_emulator


def values(*names: str, **measured: RuleValue) -> dict[str, RuleValue | None]:
    """What probes see in a workspace that was measured so; a name has __ for its dot."""
    found = {name.replace("__", "."): value for name, value in measured.items()}
    results = trial_of_emulator(probes_of(names), WorkspaceRules.real().as_measured(found))
    return {each.rule.id: each.value for each in results}


def test_a_limit_that_is_smaller_or_larger_is_found_exactly() -> None:
    assert values("call.chars", call__chars=7_321) == {"call.chars": 7_321}
    assert values("blocks.count", blocks__count=64) == {"blocks.count": 64}
    assert values("metadata.bytes", metadata__bytes=3_001) == {"metadata.bytes": 3_001}


def test_a_text_has_exactly_the_length_that_is_tried() -> None:
    for size in (1, 79, 80, 81, 159, 160, 161, 12_000):
        words = paragraph(size)
        assert (len(words), words[-1]) == (size, "x")
