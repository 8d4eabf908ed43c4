"""What was used in a day is about a person only where it is one's own."""

from __future__ import annotations

from slack_bot.features.usage.records import DAY_USAGE, DayKey, DayUsage, UserKind
from slack_bot.turn.usage import Usage


def test_sums() -> None:
    used = DayUsage(5.0).plus(Usage(1, 2, 3, 0.5)).plus(Usage(total=4))
    assert used == DayUsage(5.0, 7, 0.5)


def test_a_person_s_day_is_erased_with_them_and_a_channel_s_is_not() -> None:
    own = DayKey("2026-11-28", UserKind.PERSON, "U1")
    assert DAY_USAGE.is_about(own, DayUsage(5.0), "U1", "T1")
    for other in (DayKey("2026-11-28", UserKind.CHANNEL, "C1"), DayKey("2026-11-28", UserKind.ALL, "")):
        assert not DAY_USAGE.is_about(other, DayUsage(5.0), "U1", "T1")
