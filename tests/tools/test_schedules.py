"""`slack-bot schedules`: the list, and one run by a bot that starts later."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path

import pytest

from slack_bot.app import store_options
from slack_bot.cli import main
from slack_bot.clock import system_clock
from slack_bot.features.schedules.timer import ScheduleTimer
from slack_bot.settings.config_file import read_schedules
from slack_bot.settings.load import load
from slack_bot.store.outbound import unfinished_outbound
from slack_bot.store.stores import join_store
from slack_bot.testing.harness import CHANNEL
from tests.features.schedules.test_timer import HOURLY
from tests.features.usage.test_limits import costs
from tests.test_say import place as say_place


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "slack_bot.toml").write_text(HOURLY, "utf-8")
    monkeypatch.setenv("SLACK_BOT_CONFIG", "slack_bot.toml")
    monkeypatch.setenv("SLACK_BOT_STORE__URL", "sqlite:///bot.sqlite")
    return tmp_path


def test_the_list_makes_no_store(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["schedules"]) == 0
    assert capsys.readouterr().out.endswith(":00 UTC  0 * * * *  C1\n")
    assert not (place / "bot.sqlite").exists()


def test_a_run_waits_in_the_store_for_a_bot(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["schedules", "run", "news"]) == 0
    told = capsys.readouterr()
    assert told.out.startswith("sched:news:") and "no bot runs" in told.err

    async def waiting() -> list[str]:
        joined = await join_store(store_options(load().store))
        try:
            timer = ScheduleTimer(read_schedules(load()), joined.store, system_clock())
            running = asyncio.create_task(timer.run())
            await asyncio.sleep(0)
            while not await timer.statuses():  # noqa: ASYNC110  a store tells nobody
                await asyncio.sleep(0.01)
            await timer.pause("news", "U1")
            running.cancel()
            return [each.key for each in await unfinished_outbound(joined.store)]
        finally:
            await joined.store.close()

    assert asyncio.run(waiting()) == [told.out.strip()]
    assert main(["schedules"]) == 0
    assert "stopped by U1" in capsys.readouterr().out


def test_what_is_no_schedule_is_named(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["schedules", "run", "nws"]) == 1
    assert "there is no schedule 'nws'; the schedules are: news" in capsys.readouterr().err
    (place / "slack_bot.toml").write_text("", "utf-8")
    assert main(["schedules"]) == 0
    assert "there are no schedules" in capsys.readouterr().out


async def test_a_run_says_what_became_of_it_and_the_list_too(tmp_path: Path) -> None:
    (tmp_path / "slack_bot.toml").write_text(HOURLY, "utf-8")
    limits = {"SLACK_BOT_CONFIG": "slack_bot.toml", "SLACK_BOT_USAGE__PERSON_TOKENS": "50"}
    async with say_place(tmp_path, costs(60)) as plain:
        at = replace(plain, env={**plain.env, **limits})
        async with at.running():
            status, key, said = await at.told("schedules", "run", "news")
            (root,) = at.workspace.history(CHANNEL)
            assert (status, key.startswith("sched:news:")) == (0, True)
            assert said.startswith("done: https://") and said.endswith(root.ts.replace(".", ""))
            assert "the last run, " in (listed := (await at.told("schedules"))[1])
            assert listed.endswith(" UTC: sent")

            status, key, said = await at.told("schedules", "run", "news")
            refused = "The limit of a day is reached: 50 tokens for the schedule news, until "
            assert (status, key.startswith("sched:news:")) == (1, True)
            assert said.startswith(f"slack-bot schedules: {refused}")
        _, listed, _ = await at.told("schedules")
        assert f": failed: {refused}" in listed.splitlines()[-1]
        assert len(at.agent.questions) == len(at.workspace.history(CHANNEL)) == 1
