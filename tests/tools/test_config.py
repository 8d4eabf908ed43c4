"""`slack-bot config show`: what counts in a channel, where it is from, and what a person may do there."""

from __future__ import annotations

import asyncio
import json
import re
from pathlib import Path

import pytest

from slack_bot.cli import main
from slack_bot.testing.slack.teams import new_team
from tests.tools.doctor.operator import environment, well

__all__ = ["environment"]

FILE = """
[channel]
context = "asker"
[channels.C0123]
respond = "thread"
groups = ["S1"]
agent = "ops"
agents = ["ops", "research"]
[channels.dm]
busy = "collect"
[agents.ops]
url = "http://ops.invalid/"
people = ["U1"]
[agents.research]
url = "http://research.invalid/"
[agents.lab]
url = "http://lab.invalid/"
"""


@pytest.fixture
def file(environment: dict[str, str], tmp_path: Path) -> Path:
    (file := tmp_path / "slack_bot.toml").write_text(FILE, encoding="utf-8")
    environment["SLACK_BOT_CONFIG"] = str(file)
    return file


def shown(capsys: pytest.CaptureFixture[str]) -> dict[str, tuple[str, str]]:
    """Value and source of each setting."""
    rows = [line.split("  ") for line in capsys.readouterr().out.split("\n\n")[0].splitlines()[1:]]
    cells = [[each.strip() for each in row if each.strip()] for row in rows]
    return {name: (value, source) for name, value, source in cells}


def test_each_setting_names_the_table_or_variable_that_counts(
    file: Path, environment: dict[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    environment["SLACK_BOT_CHANNEL__IDENTITY"] = "name"
    assert main(["config", "show", "C0123"]) == 0
    found = shown(capsys)
    assert found["respond"] == ("thread", "[channels.C0123]")
    assert found["context"] == ("asker", "[channel]")
    assert found["identity"] == ("name", "SLACK_BOT_CHANNEL__IDENTITY")
    assert found["busy"] == ("queue", "default")
    assert found["agents"] == ("ops, research", "[channels.C0123]")
    assert main(["config", "show", "dm"]) == 0
    assert shown(capsys)["busy"] == ("collect", "[channels.dm]")
    assert main(["config", "show", "D1"]) == 0
    assert shown(capsys)["busy"] == ("collect", "[channels.dm]")


def test_without_a_channel_it_shows_what_counts_in_all_and_what_the_file_has(
    file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = (
        file.read_text("utf-8") + '[schedules.morning]\ncron = "0 7 * * *"\nchannel = "C1"\nask = "news?"\n'
    )
    file.write_text(text, "utf-8")
    assert main(["config", "show"]) == 0
    told = capsys.readouterr().out
    assert re.search(r"^context +asker +\[channel\]$", told, re.MULTILINE)
    assert re.search(r"^respond +auto +default$", told, re.MULTILINE)
    last = told.splitlines()[-1]
    assert last.startswith("the file has tables of: channels dm, C0123; ")
    assert last.endswith("; schedules morning")
    assert main(["config", "show", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["channel"], found["channels"], found["schedules"]) == ("", ["dm", "C0123"], ["morning"])
    assert main(["config", "show", "--user", "U1"]) == 2
    assert "--user needs CHANNEL" in capsys.readouterr().err


def test_another_file_can_be_tried(file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (other := tmp_path / "new.toml").write_text('[channel]\nbusy = "interrupt"\n', encoding="utf-8")
    assert main(["config", "show", "C0123", "--file", str(other)]) == 0
    found = shown(capsys)
    assert (found["busy"], found["context"]) == (("interrupt", "[channel]"), ("thread", "default"))


def test_what_is_wrong_is_said(
    environment: dict[str, str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        main(["config", "show", "general"])
    assert "give its id (C...)" in capsys.readouterr().err
    assert main(["config", "show", "C1", "--file", str(tmp_path / "no.toml")]) == 2
    assert "no such file; check the path" in capsys.readouterr().err
    assert main(["config", "show", "C1", "--user", "U1"]) == 2
    assert "set SLACK_BOT_TOKEN, or leave --user out" in capsys.readouterr().err


async def of(user: str, capsys: pytest.CaptureFixture[str]) -> str:
    assert await asyncio.to_thread(main, ["config", "show", "C0123", "--user", user]) == 0
    return capsys.readouterr().out.partition("asked if no agent is named: ")[2]


async def test_what_a_person_may_do_is_found_by_the_bot_s_own_rules(
    file: Path, environment: dict[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    async with well(environment) as setup:
        for user in ("U2", "U3"):
            setup.workspace.add_user(user)
        setup.workspace.add_user("U9", team="T2")
        setup.workspace.add_group("S1", "U1", "U2", "U9")
        environment["SLACK_BOT_SLACK__OPERATORS"] = "U2"
        assert await of("U1", capsys) == "ops\nU1 may ask here; these agents: ops, research\n"
        said = "ops\nU2 may ask here; these agents: research\nU2 is an operator\n"
        assert await of("U2", capsys) == said
        assert "U3 may not ask here: its asker is not among the people and groups" in await of("U3", capsys)
        assert "U9 may not ask here: it came from another organisation" in await of("U9", capsys)
        assert "U8 may not ask here: Slack did not say" in await of("U8", capsys)
        words = ["config", "show", "C0123", "--user", "U2", "--json"]
        assert await asyncio.to_thread(main, words) == 0
        found = json.loads(capsys.readouterr().out)
        assert found["settings"]["respond"] == {"value": "thread", "source": "[channels.C0123]"}
        assert (found["agent"], found["user"]["agents"]) == ("ops", ["research"])


def test_all_mistakes_of_a_file_are_named_at_once(
    environment: dict[str, str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (file := tmp_path / "slack_bot.toml").write_text(
        """
[channel]
busy = "often"
share = "yes"
match = [""]
[channels.C1]
agent = "trvel"
[agents.travel]
url = "no address"
[schedules.report]
cron = "0 9 * *"
channel = "C1"
ask = "What is new?"
""",
        encoding="utf-8",
    )
    assert main(["config", "check", str(file)]) == 2
    said = capsys.readouterr().err
    for words in (
        "channel.busy is 'often'",
        "channel.share is 'yes': should be true or false",
        "one of them is empty",
        "channels.C1.agent is 'trvel', which is no agent",
        "agents.travel.url",
        "schedules.report.cron",
    ):
        assert words in said
    assert len(said.splitlines()) == len(set(said.splitlines()))


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ('[channels.C1]\nmatch = ["help"]\nask = "what?"\n', "channels.C1: without effect: match, ask;"),
        ('[channel]\nmatch = ["help"]\n', "channel: without effect: match;"),
        ('[channel]\nmatch = ["help"]\n[channels.C1]\nrespond = "channel"\n', ""),
    ],
)
def test_settings_without_effect_are_named(
    environment: dict[str, str], tmp_path: Path, capsys: pytest.CaptureFixture[str], text: str, line: str
) -> None:
    (file := tmp_path / "slack_bot.toml").write_text(text, encoding="utf-8")
    assert main(["config", "check", str(file)]) == 0
    said = capsys.readouterr().out
    assert line in said
    assert ("without effect" in said) == bool(line)


async def test_in_one_of_several_workspaces(
    environment: dict[str, str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "slack_bot.toml").write_text('[teams.T2]\nguests = "deny"\nagent = "default"\n')
    teams = [new_team(1), new_team(2)]
    teams[1].add_user("U7", guest="single")
    async with well(environment, teams):
        environment["SLACK_BOT_CONFIG"] = "slack_bot.toml"
        look = ["config", "show", "C0123", "--user", "U7"]
        assert await asyncio.to_thread(main, [*look, "--team", "T2"]) == 0
        said = capsys.readouterr().out
        assert "[teams.T2]" in said
        assert "U7 may not ask here: it came from a guest" in said
        assert await asyncio.to_thread(main, look) == 2
        assert "--user needs --team, a workspace of which there is a token that works: T1, T2" in (
            capsys.readouterr().err
        )


def wrong(told: str, file: Path) -> list[str]:
    """The mistakes that are told, without what is before each."""
    start = f"slack-bot config: {file}: "
    return [line.removeprefix(start).removeprefix("slack-bot config: ") for line in told.splitlines()]


ALL_AT_ONCE = """
[chanel]
busy = "never"
[schedules.news]
cron = "daily"
tz = "Berlin"
ask = "What is new?"
agnt = "ghost"
[schedule.other]
[agent.ops]
urll = "ops.invalid"
[keyz.ci]
hash = "x"
agents = ["ghost"]
[hooks.git]
verify = "magic"
chanel = "C1"
agent = "ghost"
"""


def test_one_round_names_all_that_is_wrong(
    environment: dict[str, str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (file := tmp_path / "new.toml").write_text(ALL_AT_ONCE, encoding="utf-8")
    environment["SLACK_BOT_STREAM__FLUSH_INTERVAL"] = "soon"
    environment["SLACK_BOT_AGENT__CARD_KEYS"] = str(tmp_path / "gone.json")
    assert main(["config", "check", str(file)]) == 2
    told = wrong(capsys.readouterr().err, file)
    for sentence in (
        "SLACK_BOT_STREAM__FLUSH_INTERVAL is 'soon'",
        "[chanel] is not known here; did you mean [channel]?",
        "channel.busy is 'never'",
        "schedules.news.cron is 'daily'",
        "schedules.news.tz is 'Berlin'",
        "schedules.news: set either channel or user",
        "schedules.news.agnt is not a setting here; did you mean agent?",
        "schedules.news.agent is 'ghost', which is no agent",
        "[schedule] is not known here; did you mean [schedules]?",
        "[agent.ops] is not known here; did you mean [agents.ops]?",
        "agents.ops.urll is not a setting of an agent; did you mean url?",
        "agents.ops.url is 'ops.invalid': should be an address",
        "[keyz] is not known here; did you mean [keys]?",
        "keys.ci.hash is 'x'",
        "keys.ci.agent is 'ghost', which is no agent",
        "hooks.git.verify is 'magic'",
        "hooks.git.chanel is not a setting here; did you mean channel?",
        "hooks.git.agent is 'ghost', which is no agent",
        "hooks.git has no secret",
        "hooks.git: set either ask or text",
        "gone.json",
    ):
        assert any(sentence in line for line in told), (sentence, told)
    assert len(told) == len(set(told))
    assert not any("ops.url is not set" in line for line in told)
    assert not any("set either channel or user, which is where it goes" in line for line in told)
