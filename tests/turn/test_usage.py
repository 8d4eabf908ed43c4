"""A turn whose use is not counted."""

from __future__ import annotations

from slack_bot.turn.usage import UsageMeter


def test_a_meter_that_counts_nothing() -> None:
    meter = UsageMeter()
    meter.take({"metadata": {"usage": {"input_tokens": 5}}})
    assert (meter.usage, meter.footer(5.0), meter.wants_events) == (None, "", False)
