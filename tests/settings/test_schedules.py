"""`[schedules.NAME]` of the file: what is taken, and one sentence for each mistake."""

from __future__ import annotations

from pathlib import Path

import pytest

from slack_bot.errors import SettingsError
from slack_bot.settings.config_file import read_agents, read_config, read_schedules
from slack_bot.settings.schedules import ScheduleEntry
from slack_bot.testing.harness import bot_settings

GOOD = {"cron": '"0 9 * * mon"', "channel": '"C1"', "ask": '"What is new?"'}


def read(folder: Path, text: str) -> dict[str, ScheduleEntry]:
    (file := folder / "slack_bot.toml").write_text(text, "utf-8")
    settings = bot_settings({"config": str(file)})
    read_config(str(file))
    read_agents(settings)
    return dict(read_schedules(settings))


def table(**more: str) -> str:
    values = {name: value for name, value in {**GOOD, **more}.items() if value}
    return "[schedules.news]\n" + "".join(f"{name} = {value}\n" for name, value in values.items())


def test_one_with_its_defaults(tmp_path: Path) -> None:
    found = read(tmp_path, table())["news"]
    assert (found.tz, found.thread, found.skip_if_silent) == ("UTC", "new", False)
    assert (found.if_running, found.missed, found.headline) == ("skip", "once", "")
    assert found.rule.next_after(0.0) == (4 * 24 + 9) * 3600  # the first Monday of 1970


def test_without_a_file_or_without_any_there_are_none(tmp_path: Path) -> None:
    assert read_schedules(bot_settings({})) == {}
    assert read(tmp_path, "[channel]\n") == {}


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (table(cron=""), "schedules.news.cron is not set"),
        (table(ask='" "'), "schedules.news.ask is ' ': should be the question to the agent"),
        (table(cron='"daily"'), "schedules.news.cron is 'daily': should be five fields of cron"),
        (table(tz='"Berlin"'), "schedules.news.tz is 'Berlin': should be a time zone such as Europe/Berlin"),
        (table(channel=""), "schedules.news: set either channel or user, which is where the answer goes"),
        (table(user='"U1"'), "schedules.news: set either channel or user"),
        (table(channel='"#general"'), "schedules.news.channel is '#general': should be the id of a channel"),
        (table(channel="", user='"anna"'), "schedules.news.user is 'anna': should be the id of a person"),
        (table(headline='"a\\nb"'), "schedules.news.headline is 'a\\nb': should be one line"),
        (table(thread='"once"'), "should be new or one; did you mean 'one'?"),
        (table(mised='"once"'), "schedules.news.mised is not a setting here; did you mean missed?"),
        (table(colour='"red"'), "schedules.news.colour is not a setting here; they are cron, tz"),
        (
            table(agent='"defult"'),
            "schedules.news.agent is 'defult', which is no agent; did you mean default?",
        ),
        (table().replace("news", "News"), "schedules.News: a name has small letters, digits, _ and -"),
        ("schedules = 3\n", "schedules should be tables: write [schedules.NAME], and its settings below"),
        ("[schedules]\nnews = 3\n", "schedules.news should be a table: write [schedules.news]"),
    ],
)
def test_a_mistake_is_one_sentence(tmp_path: Path, text: str, problem: str) -> None:
    with pytest.raises(SettingsError) as refused:
        read(tmp_path, text)
    (line,) = str(refused.value).splitlines()
    assert problem in line


def test_an_agent_that_must_know_who_asks_is_refused(tmp_path: Path) -> None:
    text = '[agents.mine]\nurl = "http://mine.invalid"\nidentity = "oauth"\n' + table(agent='"mine"')
    with pytest.raises(SettingsError, match="acts with the rights of who asks: a schedule is no person"):
        read_schedules(_settings(tmp_path, text))


def _settings(folder: Path, text: str):  # type: ignore[no-untyped-def]
    (file := folder / "slack_bot.toml").write_text(text, "utf-8")
    return bot_settings({"config": str(file)})
