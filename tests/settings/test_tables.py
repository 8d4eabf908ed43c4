"""Tables with names: what is wrong in one does not hide what is wrong in another."""

from __future__ import annotations

from slack_bot.settings.schedules import ScheduleEntry
from slack_bot.settings.tables import named_entries

GOOD = {"cron": "0 9 * * *", "channel": "C1", "ask": "What is new?"}


def test_each_wrong_table_is_named_and_the_others_are_there() -> None:
    problems: list[str] = []
    tables = {"good": GOOD, "bad": {**GOOD, "cron": "x", "tz": "y"}, "Bad": GOOD, "worse": {**GOOD, "a": 1}}
    assert [name for name, _ in named_entries("schedules", ScheduleEntry, tables, problems)] == ["good"]
    assert [each.split(" ")[0].rstrip(":") for each in problems] == [
        "schedules.bad.cron",
        "schedules.bad.tz",
        "schedules.Bad",
        "schedules.worse.a",
    ]
