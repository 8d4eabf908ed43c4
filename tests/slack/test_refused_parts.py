"""What of a call Slack refused is not sent again."""

from __future__ import annotations

from slack_bot.slack.refused_parts import CallPart, RefusedParts


def test_each_part_is_remembered_by_itself() -> None:
    refused = RefusedParts()
    refused.add(CallPart.NAME)
    assert CallPart.NAME in refused and CallPart.VISIBILITY not in refused
