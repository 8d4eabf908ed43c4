"""Times as people say them."""

import pytest

from slack_bot.turn.durations import in_words


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (0, "1 minute"),
        (89, "1 minute"),
        (91, "2 minutes"),
        (99 * 60, "99 minutes"),
        (100 * 60, "2 hours"),
        (24 * 3600, "24 hours"),
    ],
)
def test_minutes_up_to_a_hundred_then_hours(seconds: float, words: str) -> None:
    assert in_words(seconds) == words
