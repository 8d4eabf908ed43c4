"""Checks of time, and that a failure says who was late."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from slack_bot.tools.conform.measures import Measures
from tests.tools.conform.measured import measured, verdict

SEEN = measured()


def timed(**figures: Any) -> Measures:
    return replace(SEEN, summary=replace(SEEN.summary, **figures))


def resulted(**figures: Any) -> Measures:
    return replace(SEEN, result={**SEEN.result, **figures})


def test_the_first_text_is_seen_soon_after_the_question() -> None:
    assert verdict("first_visible_text", SEEN).detail == "after 1.30 s"
    late = verdict("first_visible_text", timed(first_visible=17.8, first_answer=17.6))
    assert (late.ok, late.detail.endswith("the agent's wait")) == (False, True)
    bots = verdict("first_visible_text", timed(first_visible=17.8, first_answer=2.0))
    assert bots.detail == "after 17.80 s instead of 8 s; the agent began to write it after 2.00 s"
    assert verdict("first_visible_text", timed(first_visible=9.0, first_answer=None)).ok is False
    assert verdict("first_visible_text", timed(first_visible=None)).ok is False


def test_the_first_text_is_seen_soon_after_it_was_written() -> None:
    assert verdict("shown_soon", SEEN).detail == "0.30 s after the agent's first word"
    assert verdict("shown_soon", timed(first_visible=2.5)).ok is False
    assert verdict("shown_soon", timed(first_visible=None)).ok is False
    assert verdict("shown_soon", replace(SEEN, written=())).ok is None


def test_no_text_waits_for_long() -> None:
    assert verdict("never_lags", SEEN, within=0.5, but=0).ok
    assert verdict("never_lags", SEEN, within=0.1, but=0).ok is False
    assert verdict("never_lags", replace(SEEN, written=())).ok is None


def test_a_burst_says_whether_the_agent_burst() -> None:
    assert verdict("burst_share", SEEN, most=0.9).ok
    burst = verdict("burst_share", timed(burst_share=0.94, agent_burst_share=0.95))
    assert (burst.ok, burst.detail) == (
        False,
        "94% within half a second; the agent itself wrote 95% within half a second",
    )
    assert verdict("burst_share", timed(burst_share=None)).ok is None


def test_most_stands_there_before_the_result_and_nothing_stands_still() -> None:
    assert verdict("ends_in_time", SEEN).ok
    assert verdict("ends_in_time", SEEN, within=1).detail == "after 3.20 s"
    assert verdict("live_share", SEEN).ok
    assert verdict("live_share", resulted(live_share=0.2)).ok is False
    assert verdict("live_share", resulted(live_share=None)).ok is None
    assert verdict("no_long_gap", SEEN).ok
    assert verdict("no_long_gap", resulted(longest_gap=9.0)).ok is False
    assert verdict("no_long_gap", resulted(longest_gap=None)).ok is None
