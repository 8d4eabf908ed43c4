"""What one turn teaches about an agent."""

from __future__ import annotations

import pytest

from slack_bot.a2a.profile import ANSWER_FROM, HOLD, MARKER, TurnObservation, profile_updates

LEARNED = {ANSWER_FROM: "status"}


@pytest.mark.parametrize(
    ("known", "seen", "facts"),
    [
        ({}, TurnObservation(), {}),
        ({}, TurnObservation(held=(("status", 3),)), LEARNED),
        ({}, TurnObservation(held=(("status", 1),)), {}),
        ({}, TurnObservation(held=(("status", 1), ("message", 2))), {ANSWER_FROM: "message"}),
        (LEARNED, TurnObservation(live="status"), {}),
        (LEARNED, TurnObservation(live="status", was_answer=False), {ANSWER_FROM: HOLD}),
        ({ANSWER_FROM: HOLD}, TurnObservation(held=(("status", 9),)), {}),
        ({}, TurnObservation(had_marker=True), {MARKER: "yes"}),
        ({MARKER: "yes"}, TurnObservation(had_marker=True), {}),
    ],
)
def test_lessons(known: dict[str, str], seen: TurnObservation, facts: dict[str, str]) -> None:
    assert profile_updates(known, seen) == facts
