"""Probes of what comes again."""

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


def test_by_socket_mode_and_by_http_each_pause_is_measured() -> None:
    found = values("delivery", "http", delivery__second_pause=20, http__retries=2, http__ack=5)
    assert found == {
        "delivery.ack": 3, "delivery.retries": 3, "delivery.second_pause": 20, "delivery.third_pause": 300,
        "delivery.reason": "timeout",
        "http.ack": 5, "http.retries": 2, "http.second_pause": 60, "http.third_pause": None,
        "http.reason": "http_timeout", "http.no_retry": True,
    }  # fmt: skip


@virtual_clock.on_virtual_time
async def test_an_app_in_http_mode_learns_of_http_and_why_nothing_of_socket_mode_can_be_told() -> None:
    """Both are asked for in one trial, as by `--sandbox --http`."""
    async with emulated(WorkspaceRules.real(), is_http=True) as (slack, place):
        results = await make_trial(slack, place, probes_of(["delivery", "http"]), lambda result: None)
    assert {each.rule.id: each.verdict for each in results if each.rule.id.startswith("http")} == {
        rule.rule: "as expected" for rule in probes_of(["http"])
    }
    reasons = {each.reason for each in results if each.rule.id.startswith("delivery")}
    assert reasons == {"events come by HTTP"}
