"""The HTTP API where the bot is in several workspaces: each message says in which."""

from __future__ import annotations

from pathlib import Path

import pytest

from slack_bot.errors import SettingsError
from slack_bot.testing.harness import CHANNEL
from tests.e2e.several_teams import channel_of, new_teams
from tests.features.api.place import FILE, place

HOOKS = FILE.replace(f'channel = "{CHANNEL}"', f'channel = "{CHANNEL}"\nteam = "T1"')
BOTH = HOOKS.replace(f'channels = ["{CHANNEL}"]\nmay_dm', 'channels = ["*"]\nmay_dm')
TEXT = {"text": "Built."}


async def test_a_message_goes_into_the_workspace_that_it_names(tmp_path: Path) -> None:
    teams = new_teams(2)
    async with place(tmp_path, text=BOTH, teams=teams) as here:
        sent = await here.post({**TEXT, "channel": channel_of(2), "team": "T2"})
        assert sent.status == 202
        state = await here.until_ended(sent.body["id"])
        assert state["permalink"].startswith("https://team-2.slack.com/archives/C2/p")
        assert [each.text for each in teams[1].history(channel_of(2))] == ["Built."]
        assert here.roots() == []


async def test_a_message_that_names_none_or_a_wrong_one_is_refused(tmp_path: Path) -> None:
    only = BOTH.replace("may_dm = true", 'may_dm = true\nteams = ["T1"]')
    async with place(tmp_path, text=only, teams=new_teams(2)) as here:
        for wanted, status, sentence in (
            ({"channel": CHANNEL}, 400, "The bot is in several workspaces: name the one"),
            ({"channel": CHANNEL, "team": "T9"}, 403, "The bot is not in the workspace T9."),
            ({"channel": channel_of(2), "team": "T2"}, 403, "This key may not write in the workspace T2"),
            ({"channel": CHANNEL, "team": "T1", "context_id": "c"}, 400, "no conversation is of two"),
        ):
            refused = await here.post({**TEXT, **wanted})
            assert (refused.status, sentence in refused.sentence) == (status, True), refused
        assert (await here.post({**TEXT, "channel": CHANNEL, "team": "T1"})).status == 202


async def test_a_webhook_has_its_workspace_in_the_file(tmp_path: Path) -> None:
    teams = new_teams(2)
    async with place(tmp_path, text=HOOKS, teams=teams) as here:
        fields = {"groupKey": "g", "status": "firing", "commonLabels": {"alertname": "DiskFull"}}
        assert (await here.hook("alerts", fields)).status == 202
        await here.until(lambda: here.roots())
        assert "DiskFull" in here.read(here.roots()[0])[0]


async def test_a_webhook_without_one_stops_the_start(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match=r"hooks\.github\.team is not set: SLACK_BOT_TOKENS"):
        async with place(tmp_path, teams=new_teams(2)):
            pass
