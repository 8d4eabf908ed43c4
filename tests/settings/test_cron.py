"""When a schedule is due: both sides of a change of the clocks, and what is no cron expression."""

from __future__ import annotations

from datetime import UTC, datetime
from itertools import pairwise
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from slack_bot.settings.cron import CronRule, zone_of

ZONES = ("Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Asia/Kolkata", "UTC")
START = datetime(2026, 1, 1, tzinfo=UTC).timestamp()
YEAR = 366 * 86_400


def dues(rule: CronRule, year: int, month: int, day: int, count: int, zone: str) -> list[str]:
    """The first times from the beginning of a day on, in local time."""
    at = datetime(year, month, day, tzinfo=ZoneInfo(zone)).timestamp() - 1
    found: list[str] = []
    for _ in range(count):
        at = rule.next_after(at)
        found.append(datetime.fromtimestamp(at, ZoneInfo(zone)).strftime("%d %H:%M%z"))
    return found


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("30 2 * * *", ["29 03:00+0200", "30 02:30+0200"]),
        ("*/30 2 * * *", ["29 03:00+0200", "30 02:00+0200"]),  # both became one
        ("15 2,3 * * *", ["29 03:00+0200", "29 03:15+0200"]),
        ("0 * * * *", ["29 00:00+0100", "29 01:00+0100"]),
    ],
)
def test_what_falls_into_the_hour_that_is_left_out_runs_right_after_it(
    expression: str, expected: list[str]
) -> None:
    assert dues(CronRule(expression, "Europe/Berlin"), 2026, 3, 29, 2, "Europe/Berlin") == expected


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("30 2 * * *", ["25 02:30+0200", "26 02:30+0100"]),
        ("*/30 2 * * *", ["25 02:00+0200", "25 02:30+0200", "26 02:00+0100"]),
        ("0 * * * *", ["25 00:00+0200", "25 01:00+0200", "25 02:00+0200", "25 02:00+0100"]),
    ],
)
def test_what_falls_into_the_hour_that_comes_twice_runs_once(expression: str, expected: list[str]) -> None:
    rule = CronRule(expression, "Europe/Berlin")
    assert dues(rule, 2026, 10, 25, len(expected), "Europe/Berlin") == expected


@given(
    minute=st.integers(0, 59),
    hour=st.integers(0, 23),
    zone=st.sampled_from(ZONES),
    start=st.floats(START, START + YEAR),
)
def test_a_daily_time_runs_once_on_each_day(minute: int, hour: int, zone: str, start: float) -> None:
    rule, found = CronRule(f"{minute} {hour} * * *", zone), [start]
    while len(found) < 400:
        found.append(rule.next_after(found[-1]))
    days = [datetime.fromtimestamp(at, zone_of(zone)).date() for at in found[1:]]
    assert all((later - day).days == 1 for day, later in pairwise(days))


@given(
    minute=st.sampled_from(["*", "*/7", "0", "5,50"]),
    hour=st.sampled_from(["*", "*/3", "2", "0-4"]),
    zone=st.sampled_from(ZONES),
    since=st.floats(START, START + YEAR),
    seconds=st.floats(0, 3 * 86_400),
)
def test_the_latest_time_is_the_last_of_all_that_are_due(
    minute: str, hour: str, zone: str, since: float, seconds: float
) -> None:
    rule, at, last = CronRule(f"{minute} {hour} * * *", zone), since, None
    while (at := rule.next_after(at)) <= since + seconds:
        last = at
    assert rule.latest(since, since + seconds) == last


def test_a_year_of_minutes_is_not_looked_through_one_by_one() -> None:
    rule = CronRule("* * * * *")
    assert rule.latest(START, START + YEAR) == START + YEAR


@pytest.mark.parametrize(
    ("expression", "problem"),
    [
        ("", "should be five fields of cron: minute, hour"),
        ("0 9 * *", "should be five fields of cron: minute, hour"),
        ("0 0 9 * * *", "should be five fields of cron: minute, hour"),
        ("@daily", "should be five fields of cron: minute, hour"),
        ("61 9 * * *", "the field minute cannot be read"),
        ("0 9 * * fun", "the field day-of-week cannot be read"),
        ("0 9 30 2 *", "the field day-of-month cannot be read"),
    ],
)
def test_what_is_no_expression_is_named(expression: str, problem: str) -> None:
    with pytest.raises(ValueError, match=problem):
        CronRule(expression)


@pytest.mark.parametrize("name", ["", "Berlin", "../etc/passwd", "/etc/passwd", "CEST+2x"])
def test_what_is_no_zone_is_named(name: str) -> None:
    with pytest.raises(ValueError, match="should be a time zone such as"):
        zone_of(name)
