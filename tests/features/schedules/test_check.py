"""What `doctor` says of schedules."""

from __future__ import annotations

import asyncio
from pathlib import Path

from slack_bot.features.schedules.check import check
from slack_bot.observe.findings import Diagnosis
from slack_bot.testing.harness import bot_settings
from tests.features.schedules.test_timer import HOURLY


def findings(folder: Path, text: str) -> list[Diagnosis]:
    (file := folder / "slack_bot.toml").write_text(text, "utf-8")

    async def run() -> list[Diagnosis]:
        return [each async for each in check(bot_settings({"config": str(file)}))]

    return asyncio.run(run())


def test_each_is_named_with_its_agent_and_next_time(tmp_path: Path) -> None:
    (found,) = findings(tmp_path, HOURLY)
    assert found.text.startswith("news: asks default next at 20")
    assert found.text.endswith(":00 UTC")


def test_without_schedules_nothing_is_said(tmp_path: Path) -> None:
    assert findings(tmp_path, "[channel]\n") == []


def test_of_a_wrong_one_the_check_of_the_file_speaks(tmp_path: Path) -> None:
    assert findings(tmp_path, HOURLY.replace("0 * * * *", "every hour")) == []


def test_an_agent_of_the_channel_that_must_know_who_asks_is_a_warning(tmp_path: Path) -> None:
    agent = '[agents.mine]\nurl = "http://mine.invalid"\nidentity = "signed"\n[channel]\nagent = "mine"\n'
    found = findings(tmp_path, agent + HOURLY)
    if found:  # where the key of the bot is not set, the check of agents says so
        assert "a schedule is no person" in found[0].text
