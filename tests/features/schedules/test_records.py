"""What a schedule does when its time has come, as values."""

from __future__ import annotations

from dataclasses import replace

import pytest

from slack_bot.features.schedules.records import (
    TELL_AGAIN,
    ScheduleState,
    WatchedRun,
    due_run,
    failed,
    message_of,
    passed,
    paused,
    resumed,
    rule_of,
    run_key,
    seen,
    statuses,
    worked,
)
from slack_bot.settings.schedules import ScheduleEntry
from slack_bot.turn.record import QuestionOrigin

HOURLY = ScheduleEntry(cron="0 * * * *", channel="C1", ask="What is new?")
HOUR = 3600.0
STATE = ScheduleState(rule_of(HOURLY), 10 * HOUR)


@pytest.mark.parametrize(
    ("state", "now", "expected"),
    [
        (STATE, 10.5 * HOUR, None),
        (STATE, 11 * HOUR, (run_key("n", 11 * HOUR), False)),
        (STATE, 11 * HOUR + 61, (run_key("n", 11 * HOUR), True)),
        (STATE, 20.5 * HOUR, (run_key("n", 20 * HOUR), True)),
        (paused(STATE, "U1"), 20.5 * HOUR, None),
    ],
)
def test_the_last_run_that_is_due(
    state: ScheduleState, now: float, expected: tuple[str, bool] | None
) -> None:
    run = due_run("n", HOURLY, state, now)
    assert expected == (None if run is None else (run.key, run.was_missed))


def test_a_state_only_goes_on() -> None:
    later = passed(STATE, 12 * HOUR, "k")
    assert later is not None and (later.since, later.last) == (12 * HOUR, "k")
    assert passed(later, 11 * HOUR, "older") is None
    assert passed(None, 11 * HOUR) is None
    left_out = passed(later, 13 * HOUR)
    assert left_out is not None and left_out.last == "k"


def test_what_is_new_or_has_new_times_has_missed_nothing() -> None:
    assert seen(None, HOURLY, 5.0) == ScheduleState(rule_of(HOURLY), 5.0)
    assert seen(STATE, HOURLY, 99 * HOUR) == STATE
    other = HOURLY.model_copy(update={"tz": "Europe/Berlin"})
    assert seen(STATE, other, 99 * HOUR).since == 99 * HOUR


def test_who_stops_one_first_is_kept_and_what_was_due_meanwhile_is_left_out() -> None:
    stopped = paused(STATE, "U1")
    assert stopped is not None and paused(stopped, "U2") is None
    on = resumed(stopped, 20 * HOUR)
    assert on is not None and (on.paused_by, on.since) == ("", 20 * HOUR)
    assert resumed(on, 30 * HOUR) is None


def test_one_that_is_stopped_is_listed_last() -> None:
    stopped = paused(STATE, "U1")
    assert stopped is not None
    listed = statuses({"a": HOURLY, "b": HOURLY}, {"a": stopped}, 10 * HOUR)
    assert [(each.name, each.next_at, each.paused_by) for each in listed] == [
        ("b", 11 * HOUR, ""),
        ("a", 11 * HOUR, "U1"),
    ]


def test_the_message_of_a_run() -> None:
    silent = HOURLY.model_copy(update={"skip_if_silent": True, "thread": "one"})
    message = message_of("n", silent)
    assert (message.origin, message.is_question) == (QuestionOrigin.SCHEDULE, True)
    assert (message.is_addressed, message.series) == (False, "sched:n")
    assert (message_of("n", HOURLY).is_addressed, message_of("n", HOURLY).series) == (True, "")


# -- failures


RUN = WatchedRun("k1", "n", "C8", 11 * HOUR)


def test_of_failures_in_a_row_the_first_is_told_and_one_in_a_day() -> None:
    first = failed(STATE, RUN)
    assert first is not None and first.told == "k1"
    assert failed(first, RUN) is None, "the same again"
    assert failed(first, replace(RUN, key="k2", at=12 * HOUR)) is None
    later = failed(first, replace(RUN, key="k3", at=RUN.at + TELL_AGAIN))
    assert later is not None and later.told == "k3"


def test_that_it_works_is_told_once_after_a_failure() -> None:
    assert worked(STATE, RUN) is None
    state = failed(STATE, RUN)
    assert worked(state, replace(RUN, key="k0", at=10 * HOUR)) is None, "it began before"
    works = worked(state, replace(RUN, key="k2", at=12 * HOUR))
    assert works is not None and (works.told, works.works) == ("", "k2")
    assert worked(works, replace(RUN, key="k3", at=13 * HOUR)) is None
