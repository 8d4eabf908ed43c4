"""`slack-bot doctor` looks for the channels and people that the settings name."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest

from slack_bot.observe.findings import Diagnosis
from slack_bot.testing.slack.teams import new_team

from .operator import OK, UNKNOWN, WARNING, Setup, bad, environment, well

__all__ = ["environment"]

FILE = """
[channels.C1]
respond = "thread"
[channels.C2]
respond = "thread"
[channels.C3]
post_to = ["C404"]
[channels.dm]
post_to = ["C1", "G1"]
[schedules.morning]
cron = "0 7 * * *"
channel = "C9"
ask = "what is new?"
on_failure = "U404"
[schedules.noon]
cron = "0 12 * * *"
user = "U1"
ask = "what is new?"
[keys.program]
hash = "sha256:{hash}"
channels = ["C9", "*"]
""".replace("{hash}", "0" * 64)


def use(setup: Setup, text: str, folder: Path) -> None:
    (folder / "slack_bot.toml").write_text(text)
    setup.env["SLACK_BOT_CONFIG"] = "slack_bot.toml"


def places(found: list[Diagnosis]) -> list[str]:
    return [each.text for each in found if each.check == "places"]


async def test_each_place_that_is_not_there_for_the_bot_is_named(
    environment: dict[str, str], tmp_path: Path
) -> None:
    async with well(environment) as setup:
        setup.workspace.add_channel("C1", "general")
        setup.workspace.add_channel("C2", "elsewhere", with_bot=False)
        setup.workspace.add_channel("C3", "old").archived = True
        setup.workspace.add_channel("G1", "secret", kind="group", with_bot=False)
        use(setup, FILE, tmp_path)
        found = bad(await setup.look())
    assert {(each.check, each.state) for each in found} == {("places", WARNING)}
    assert all(each.remedy for each in found)
    assert places(found) == [
        "channels.C2: the bot is not in the channel C2 (#elsewhere): it hears nothing there, and writes"
        " nothing",
        "channels.C3: the channel C3 (#old) is archived, and nothing can be written there",
        "channels.dm.post_to: there is no channel G1, or it is a private one that the bot is not in",
        "channels.C3.post_to: there is no channel C404, or it is a private one that the bot is not in",
        "schedules.morning.channel, keys.program.channels: there is no channel C9, or it is a private one"
        " that the bot is not in",
        "schedules.morning.on_failure: Slack knows nobody with the id U404",
    ]


async def test_places_that_are_there_are_one_line(environment: dict[str, str], tmp_path: Path) -> None:
    async with well(environment) as setup:
        setup.workspace.add_channel("C1", "general")
        use(setup, '[channels.C1]\nrespond = "thread"\n', tmp_path)
        found = await setup.look()
        assert bad(found) == []
        (line,) = places(found)
        assert line == "the bot sees all channels and people that the settings name (1)"


async def test_without_the_scope_only_the_scope_is_named(environment: dict[str, str], tmp_path: Path) -> None:
    async with well(environment) as setup:
        state = setup.workspace.state
        scopes = state.manifest.scopes - {"channels:read", "groups:read", "im:read", "mpim:read"}
        state.manifest = dataclasses.replace(state.manifest, scopes=scopes)
        use(setup, "[channels.C1]\n[channels.C2]\n", tmp_path)
        found = bad(await setup.look())
        assert {each.check for each in found} == {"scopes"}


@pytest.mark.parametrize("fault", ["ratelimited", "http:503", "cut"])
async def test_where_slack_does_not_say_it_is_not_known(
    environment: dict[str, str], tmp_path: Path, fault: str
) -> None:
    async with well(environment) as setup:
        setup.workspace.faults.set("conversations.info", [fault])
        use(setup, "[channels.C1]\nrespond='thread'\n", tmp_path)
        (found,) = bad(await setup.look())
        assert (found.check, found.state) == ("places", UNKNOWN)


async def test_many_places_are_not_all_asked_for(environment: dict[str, str], tmp_path: Path) -> None:
    async with well(environment) as setup:
        for number in range(50):
            setup.workspace.add_channel(f"C{number}")
        use(setup, "".join(f"[channels.C{number}]\nrespond='thread'\n" for number in range(50)), tmp_path)
        (found,) = bad(await setup.look())
        assert found.text == "only 40 of 50 channels and people that the settings name were looked at"


async def test_of_several_workspaces_the_one_that_is_named_is_asked(
    environment: dict[str, str], tmp_path: Path
) -> None:
    several = [new_team(1), new_team(2)]
    several[0].add_channel("C1", "general")
    several[1].add_channel("C2", "general")
    schedule = '[schedules.{0}]\ncron = "0 7 * * *"\nask = "x"\nchannel = "{1}"\nteam = "{2}"\n'
    async with well(environment, several) as setup:
        text = "".join(
            schedule.format(*each) for each in [("a", "C1", "T1"), ("b", "C1", "T2"), ("c", "C2", "T9")]
        )
        use(setup, text + "[channels.C2]\nrespond='thread'\n", tmp_path)
        found = bad(await setup.look())
    assert places(found) == [
        "schedules.b.channel: there is no channel C1, or it is a private one that the bot is not in",
        "schedules.c.channel: C2 is in the workspace T9, of which no token works",
    ]
    assert OK not in {each.state for each in found}
