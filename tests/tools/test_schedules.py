"""`slack-bot schedules`: the list, and one run by a bot that starts later."""

from __future__ import annotations

import asyncio
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
from tests.features.schedules.test_timer import HOURLY


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
