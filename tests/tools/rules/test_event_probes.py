"""Probes of events and connections, where a workspace is not as others are."""

from __future__ import annotations

from slack_bot.testing.slack.workspace import WorkspaceRules
from slack_bot.tools.rules.rules import probes_of
from slack_bot.tools.rules.trial import trial_of_emulator


def test_a_mention_that_is_told_once_has_no_order() -> None:
    rules = WorkspaceRules.real().as_measured({"event.twins": 1})
    twins, first = trial_of_emulator(probes_of(["event.twins", "event.first"]), rules)
    assert (twins.value, twins.verdict) == (1, "differs")
    assert (first.value, first.reason) == (None, "a mention was not told twice")


def test_connections_are_counted_up_to_the_refusal() -> None:
    rules = WorkspaceRules.real().as_measured({"socket.count": 3})
    count, refusal, _ = trial_of_emulator(probes_of(["socket"]), rules)
    assert (count.value, refusal.value) == (3, "too_many_websockets")
