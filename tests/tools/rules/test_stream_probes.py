"""Probes of streams, where a workspace is not as others are."""

from __future__ import annotations

from slack_bot.testing.slack.workspace import WorkspaceRules
from slack_bot.tools.rules.rules import probes_of
from slack_bot.tools.rules.trial import trial_of_emulator


def test_without_streams_nothing_of_them_can_be_told_and_the_refusals_are_seen() -> None:
    rules = WorkspaceRules.real().as_measured({"stream.no_thread": "feature_disabled"})
    (result,) = trial_of_emulator(probes_of(["stream.no_thread"]), rules)
    assert (result.verdict, result.value) == ("differs", "feature_disabled")


def test_a_stream_that_ends_in_silence_is_told_from_one_that_ends_by_its_age() -> None:
    rules = WorkspaceRules.real(idle=30)
    idle, life = trial_of_emulator(probes_of(["stream.life", "stream.idle"]), rules)[::-1]
    assert (idle.value, life.value) == (30, 300)
