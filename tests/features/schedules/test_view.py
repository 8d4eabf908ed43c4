"""The schedules on the Home tab, as blocks."""

from __future__ import annotations

from slack_bot.features.schedules.records import LastRun, statuses
from slack_bot.features.schedules.view import schedules_section
from slack_bot.settings.schedules import ScheduleEntry

HOURLY = ScheduleEntry(cron="0 * * * *", channel="C1", ask="What is new?")


def test_many_are_counted_and_each_button_names_its_schedule() -> None:
    shown = statuses({f"s{number:02d}": HOURLY for number in range(20)}, {}, 0.0)
    blocks = schedules_section(shown, can_change=True)
    assert len(blocks) == 1 + 2 * 15 + 1
    assert "5 more" in str(blocks[-1])
    assert [button["value"] for button in blocks[2]["elements"]] == ["s00", "s00"]
    assert schedules_section([], can_change=True) == []


def test_the_time_is_a_date_for_slack_to_write() -> None:
    (_, row) = schedules_section(statuses({"s": HOURLY}, {}, 0.0), can_change=False)
    date = row["elements"][0]["elements"][-1]
    assert (date["type"], date["timestamp"], date["fallback"]) == ("date", 3600, "1970-01-01 01:00 UTC")


def test_a_run_that_failed_is_marked_without_its_reason() -> None:
    last = {"a": LastRun(0.0, "failed", "Slack does not take this for C1."), "b": LastRun(0.0, "sent")}
    shown = statuses({"a": HOURLY, "b": HOURLY}, {}, 0.0, last)
    _, one, two = schedules_section(shown, can_change=False)
    assert one["elements"][0]["elements"][-1]["text"] == " · the last run failed"
    assert two["elements"][0]["elements"][-1]["type"] == "date" and "Slack does not" not in str(one)
