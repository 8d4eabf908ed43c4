"""Mistakes of agent, store and addresses are found, with their remedies."""

from __future__ import annotations

import sqlite3
import sys
from pathlib import Path

import pytest

from slack_bot.store.contracts import Ages
from slack_bot.store.sqlite import open_store
from slack_bot.testing.harness import free_port

from .guarded_agent import guarded_agent
from .operator import FAILED, UNKNOWN, WARNING, bad, environment, one, well

__all__ = ["environment"]


async def test_6_an_agent_that_is_not_there_and_one_that_refuses_the_key(environment: dict[str, str]) -> None:
    async with well(environment) as setup:
        environment["A2A_AGENT_URL"] = f"http://127.0.0.1:{free_port()}"
        found = await one(setup)
        assert found.check == "agent card" and "cannot be reached" in found.text
        async with guarded_agent("s3cret", is_said=True) as url:
            environment["A2A_AGENT_URL"] = url
            asked, refused = bad(await setup.look())
            assert (asked.state, refused.state) == (WARNING, FAILED)
            assert "the agent card asks for bearer" in asked.text
            assert (refused.check, "HTTP 401" in refused.text) == ("agent login", True)
            for each in (asked, refused):
                assert "SLACK_BOT_AGENT__BEARER_TOKEN" in each.remedy
            environment["SLACK_BOT_AGENT__BEARER_TOKEN"] = "wrong"
            assert (await one(setup)).text == refused.text
            environment["SLACK_BOT_AGENT__BEARER_TOKEN"] = "s3cret"
            assert bad(await setup.look()) == []


async def test_7_a_store_that_cannot_be_written(environment: dict[str, str], tmp_path: Path) -> None:
    async with well(environment) as setup:
        environment["SLACK_BOT_STORE__URL"] = "sqlite:////nowhere/bot.sqlite"
        found = await one(setup)
        assert (found.check, found.text) == ("store", "there is no directory /nowhere")
        environment["SLACK_BOT_STORE__URL"] = (
            "sqlite:////proc/bot.sqlite"  # not even root may, and 0 B are free
        )
        found = await one(setup)
        assert found.text == "nothing can be written into /proc (No such file or directory)"
        assert found.remedy == "let the bot's user write there, or set SLACK_BOT_STORE__URL"
        file = tmp_path / "newer.sqlite"
        with sqlite3.connect(file) as connection:
            connection.execute("PRAGMA user_version = 99")
        file.chmod(0o600)
        environment["SLACK_BOT_STORE__URL"] = f"sqlite:///{file}"
        assert "newer" in (await one(setup)).text
        environment["SLACK_BOT_STORE__URL"] = "memory://"
        assert "is gone when the process ends" in (await one(setup, WARNING)).text


async def test_a_redis_without_its_library_is_told_by_its_setting(
    environment: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    async with well(environment) as setup:
        for name in [each for each in sys.modules if each.startswith("slack_bot.store.redis")]:
            monkeypatch.delitem(sys.modules, name)
        monkeypatch.setitem(sys.modules, "redis", None)
        environment["SLACK_BOT_STORE__URL"] = "redis://127.0.0.1:1"
        settings, store = bad(await setup.look())
        assert "its library is not here" in settings.text
        assert "deploy/run.txt" in f"{settings.text} {settings.remedy}"
        assert (store.check, store.state) == ("store", UNKNOWN)


async def test_a_store_on_which_a_bot_runs_or_that_is_older_is_no_mistake(
    environment: dict[str, str], tmp_path: Path
) -> None:
    async with well(environment) as setup:
        store = await open_store(environment["SLACK_BOT_STORE__URL"], Ages(), 0.0)
        found = await setup.look()
        assert bad(found) == [] and found[-1].text.endswith("a bot runs on it")
        await store.close()
        with sqlite3.connect(tmp_path / "bot.sqlite") as connection:
            connection.execute("PRAGMA user_version = 3")
        assert bad(await setup.look()) == []


async def test_an_audit_that_cannot_be_written(environment: dict[str, str], tmp_path: Path) -> None:
    folder = tmp_path / "audit"
    async with well(environment) as setup:
        environment["SLACK_BOT_AUDIT__PATH"] = str(folder)
        found = await one(setup)
        assert (found.check, found.remedy) == ("audit", "create it for the bot's user")
        folder.mkdir()
        assert bad(await setup.look()) == []
