"""What one turn teaches about an agent."""

from __future__ import annotations

import pytest

from slack_bot.a2a.habits import ANSWER_FROM, HOLD, MARKER, Seen, lesson

LEARNED = {ANSWER_FROM: "status"}


@pytest.mark.parametrize(
    ("known", "seen", "facts"),
    [
        ({}, Seen(), {}),
        ({}, Seen(held=(("status", 3),)), LEARNED),
        ({}, Seen(held=(("status", 1),)), {}),
        ({}, Seen(held=(("status", 1), ("message", 2))), {ANSWER_FROM: "message"}),
        (LEARNED, Seen(live="status"), {}),
        (LEARNED, Seen(live="status", was_answer=False), {ANSWER_FROM: HOLD}),
        ({ANSWER_FROM: HOLD}, Seen(held=(("status", 9),)), {}),
        ({}, Seen(had_marker=True), {MARKER: "yes"}),
        ({MARKER: "yes"}, Seen(had_marker=True), {}),
    ],
)
def test_lessons(known: dict[str, str], seen: Seen, facts: dict[str, str]) -> None:
    assert lesson(known, seen) == facts
