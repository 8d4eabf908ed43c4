"""Probes of what becomes of Markdown."""

from __future__ import annotations

from slack_bot.settings.slack_rules import RuleValue
from slack_bot.testing import virtual_clock
from slack_bot.testing.slack.workspace import WorkspaceRules
from slack_bot.tools.rules.rules import probes_of
from slack_bot.tools.rules.trial import emulated, make_trial, trial_of_emulator


def values(*names: str, **measured: RuleValue) -> dict[str, RuleValue | None]:
    """What probes see in a workspace that was measured so; a name has __ for its dot."""
    found = {name.replace("__", "."): value for name, value in measured.items()}
    results = trial_of_emulator(probes_of(names), WorkspaceRules.real().as_measured(found))
    return {each.rule.id: each.value for each in results}


def test_each_way_in_which_markdown_may_read_back_is_told_apart() -> None:
    usual = values("read")
    bold = values("read", read__heading="bold", read__bullet="dash", read__nested="flat", read__table=False)
    changed = {name: value for name, value in bold.items() if value != usual[name]}
    assert changed == {
        "read.heading": "bold", "read.bullet": "dash", "read.nested": "flat", "read.table": False,
    }  # fmt: skip


def test_one_message_is_written_for_all_that_it_shows() -> None:
    async def count() -> int:
        async with emulated(WorkspaceRules.real()) as (slack, place):
            before = slack.calls
            probes = probes_of(["read.heading", "read.bold", "read.fence", "read.mention", "read.table"])
            await make_trial(slack, place, probes, lambda result: None)
            return slack.calls - before

    assert virtual_clock.run(count()) == 3
