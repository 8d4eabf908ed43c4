"""`slack-bot doctor`, as a new operator runs it."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Mapping
from pathlib import Path

import pytest

from slack_bot.cli import main
from tests.loaded_program import loaded_program

from .operator import FAILED, UNKNOWN, bad, environment, one, well

ROOT = Path(__file__).parents[3]

__all__ = ["environment"]


async def test_a_right_set_up_is_all_ok(environment: dict[str, str], tmp_path: Path) -> None:
    async with well(environment) as setup:
        found = await setup.look(person="U1")
        assert bad(found) == []
        assert [each.check for each in found] == [
            "settings", "app token", "connections", "bot token", "scopes", "clock", "events", "streams",
            "tables", "agent sessions", "files", "agent card", "agent login", "store",
        ]  # fmt: skip
        assert list(os.scandir(tmp_path)) == [], "it only looks"
        (dm,) = [each for each in setup.workspace.state.channels.values() if each.kind == "im"]
        assert setup.workspace.history(dm.id) == [], "the probes are gone"
        assert setup.workspace.open_streams() == []


async def test_1_a_misspelt_setting(environment: dict[str, str]) -> None:
    async with well(environment) as setup:
        environment["SLACK_BOT_STORE__TURNDAYS"] = "3"
        found = await one(setup)
        assert (found.check, found.remedy) == ("settings", "did you mean SLACK_BOT_STORE__TURN_DAYS?")


async def test_2_a_token_that_is_missing(environment: dict[str, str]) -> None:
    async with well(environment) as setup:
        del environment["SLACK_APP_TOKEN"]
        first, events = bad(await setup.look())
        assert (first.state, first.text) == (FAILED, "SLACK_APP_TOKEN is not set")
        assert "Basic Information" in first.remedy
        assert events.state is UNKNOWN, "without it the app's id is not known"


async def test_tokens_that_are_swapped_are_told_once(environment: dict[str, str]) -> None:
    async with well(environment) as setup:
        bot, app = environment["SLACK_BOT_TOKEN"], environment["SLACK_APP_TOKEN"]
        environment["SLACK_BOT_TOKEN"], environment["SLACK_APP_TOKEN"] = app, bot
        found = [each for each in await setup.look() if each.state is FAILED]
        assert [each.check for each in found] == ["settings", "settings"]
        assert all("swap the two" in each.remedy for each in found)


async def test_a_token_in_quotes_is_told_once(environment: dict[str, str]) -> None:
    async with well(environment) as setup:
        environment["SLACK_BOT_TOKEN"] = f"'{environment['SLACK_BOT_TOKEN']}'"
        found = await one(setup)
        assert found.check == "settings" and "has quotes around it" in found.text


async def test_a_value_that_cannot_be_used_hides_no_other_mistake(environment: dict[str, str]) -> None:
    async with well(environment) as setup:
        environment["SLACK_BOT_SLACK__HTTP_PORT"] = "many"
        environment["SLACK_BOT_STREAM__PLAN"] = "perhaps"
        environment["SLACK_BOT_TOKEN"] = "xoxb-old"
        environment["A2A_AGENT_URL"] = "http://127.0.0.1:1"
        found = [each.check for each in bad(await setup.look()) if each.state is FAILED]
        assert found == ["settings", "settings", "bot token", "agent card"]


async def test_what_hangs_on_a_value_that_cannot_be_used_is_not_looked_at(
    environment: dict[str, str], tmp_path: Path
) -> None:
    async with well(environment) as setup:
        environment["A2A_AGENT_URL"] = "agent:8000"
        (tmp_path / ".env").write_text("this is no setting\n")
        found = bad(await setup.look())
        assert [(each.check, each.state) for each in found if each.check != "settings"] == [
            ("slack", UNKNOWN), ("agent", UNKNOWN), ("health", UNKNOWN),
            ("push", UNKNOWN), ("audit", UNKNOWN), ("identity", UNKNOWN), ("sign_in", UNKNOWN),
        ]  # fmt: skip
        assert any("A2A_AGENT_URL" in each.text for each in found if each.state is FAILED)


async def test_an_env_file_that_is_no_text_is_the_only_finding(
    environment: dict[str, str], tmp_path: Path
) -> None:
    async with well(environment) as setup:
        (tmp_path / ".env").write_bytes(b"\xff\xfe")
        found = await one(setup)
        assert found.check == "settings" and ".env" in found.text


WRONG = """
[channel]
bsuy = "queue"
[channels.C1]
agent = "nope"
[agents.one]
url = "ftp://x"
[routing]
defalt = "one"
[schedules.morning]
cron = "61 * * * *"
channel = "C1"
ask = "x"
[keys.k]
hash = "abc"
[hooks.h]
verify = "hmac"
channel = "C1"
text = "x"
"""


async def test_9_each_mistake_of_the_file_is_told_once_and_as_config_check_tells_it(
    environment: dict[str, str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    async with well(environment) as setup:
        (tmp_path / "slack_bot.toml").write_text(WRONG)
        environment["SLACK_BOT_CONFIG"] = "slack_bot.toml"
        environment["SLACK_BOT_USAGE__PERSON_COST"] = "5"
        whole = await setup.look()
    *found, agents = bad(whole)
    settings = [each.text for each in whole if each.check == "settings" and each not in found]
    assert settings == ["those of the environment are known, and in their limits"]
    assert (agents.check, agents.state) == ("agents", UNKNOWN)
    assert {(each.check, each.state) for each in found} == {("file", FAILED)}
    assert main(["config", "check", "slack_bot.toml"]) == 2
    told = [line.removeprefix("slack-bot config: ") for line in capsys.readouterr().err.splitlines()]
    assert [each.text for each in found] == [line.partition("; ")[0] for line in told]
    assert found[0].remedy == "did you mean busy?"
    assert len(told) == 7


@pytest.mark.parametrize("content", ["[channel", "{}"])
async def test_a_file_that_cannot_be_read_is_told_once(
    environment: dict[str, str], tmp_path: Path, content: str
) -> None:
    async with well(environment) as setup:
        (tmp_path / "slack_bot.toml").write_text(content)
        environment["SLACK_BOT_CONFIG"] = "slack_bot.toml"
        (found, agents) = bad(await setup.look())
    assert found.check == "file" and "cannot be read" in found.text
    assert agents.check == "agents"


async def test_a_file_that_is_not_there_has_its_own_remedy(environment: dict[str, str]) -> None:
    async with well(environment) as setup:
        environment["SLACK_BOT_CONFIG"] = "no.toml"
        (found, _) = bad(await setup.look())
    assert found.text == "SLACK_BOT_CONFIG names no.toml, which does not exist"
    assert found.remedy == "correct the path, or take SLACK_BOT_CONFIG away"


async def test_a_right_file_is_said_to_be_right(environment: dict[str, str], tmp_path: Path) -> None:
    async with well(environment) as setup:
        (tmp_path / "slack_bot.toml").write_text("")
        environment["SLACK_BOT_CONFIG"] = "slack_bot.toml"
        found = await setup.look()
    assert [each.text for each in found if each.check == "file"] == ["slack_bot.toml is right"]


def test_the_verb_prints_each_finding_and_its_exit_status_says_whether_the_bot_can_run(
    environment: Mapping[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    async def outside() -> tuple[int, int]:
        async with well({}) as setup:
            env = setup.env
            return await _run_doctor(env), await _run_doctor({**env, "SLACK_BOT_TOKEN": "xoxb-old"})

    assert asyncio.run(outside()) == (0, 1)
    assert main(["doctor", "--json"]) == 1
    printed = json.loads(capsys.readouterr().out)
    assert printed["ok"] is False
    assert printed["findings"][0] == {
        "check": "settings", "state": "failed", "text": "SLACK_BOT_TOKEN is not set", "page": "",
        "remedy": "copy it from your Slack app's page OAuth & Permissions (xoxb-...)",
    }  # fmt: skip


async def _run_doctor(env: Mapping[str, str]) -> int:
    process = await asyncio.create_subprocess_exec(
        *loaded_program(),
        "doctor",
        env={**os.environ, **env, "PYTHONPATH": str(ROOT)},
        stdout=asyncio.subprocess.DEVNULL,
    )
    return await process.wait()


def test_a_person_who_is_no_id_is_refused_before_anything_is_looked_at(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["doctor", "--probe", "maya"]) == 2
    told = capsys.readouterr()
    assert told.out == "" and "give a person's id (U...)" in told.err


async def test_a_store_of_no_known_kind_is_a_finding(environment: dict[str, str]) -> None:
    async with well(environment) as setup:
        environment["SLACK_BOT_STORE__URL"] = "mysql://x"
        wrong, unseen = bad(await setup.look())
    assert (wrong.check, wrong.state) == ("settings", FAILED)
    assert "is 'mysql://x'" in wrong.text and "write sqlite:///" in wrong.remedy
    assert (unseen.check, unseen.state) == ("store", UNKNOWN)
