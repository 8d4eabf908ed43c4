"""`slack-bot doctor` where the app is in several workspaces: each is looked at by itself."""

from __future__ import annotations

import dataclasses

from slack_bot.testing.slack.teams import new_team
from slack_bot.testing.slack.workspace import Workspace

from .operator import FAILED, OK, WARNING, bad, environment, one, well

__all__ = ["environment"]


def teams(count: int = 3) -> list[Workspace]:
    found = [new_team(number) for number in range(1, count + 1)]
    for number, team in enumerate(found, start=1):
        team.add_user(f"U{number}")
    return found


async def test_each_workspace_has_its_own_line(environment: dict[str, str]) -> None:
    async with well(environment, teams()) as setup:
        found = await setup.look()
        assert bad(found) == []
        said = {each.check: each.text for each in found if each.check.startswith("workspace")}
        assert sorted(said) == ["workspace T1", "workspace T2", "workspace T3"]
        assert said["workspace T2"].startswith("signed in as slack_bot in team-2 by token 2; all ")


async def test_a_token_that_does_not_work_stops_no_other(environment: dict[str, str]) -> None:
    several = teams()
    several[1].revoke_token()
    async with well(environment, several) as setup:
        found = await one(setup, WARNING)
        assert (found.check, found.text) == (
            "token 2",
            "Slack refused token 2 of SLACK_BOT_TOKENS (token_revoked)",
        )
        assert found.remedy == "install the app again and copy the new token"


async def test_where_none_works_the_bot_cannot_run(environment: dict[str, str]) -> None:
    several = teams(2)
    for each in several:
        each.revoke_token()
    async with well(environment, several) as setup:
        assert [each.state for each in bad(await setup.look())] == [FAILED, FAILED]


async def test_a_scope_that_one_workspace_lacks(environment: dict[str, str]) -> None:
    several = teams()
    state = several[2].state
    state.manifest = dataclasses.replace(state.manifest, scopes=state.manifest.scopes - {"files:write"})
    async with well(environment, several) as setup:
        found = await one(setup, WARNING)
        assert (found.check, "files:write is missing" in found.text) == ("workspace T3", True)


async def test_a_probe_goes_where_the_person_is_and_is_remembered_there(environment: dict[str, str]) -> None:
    several = teams()
    async with well(environment, several) as setup:
        probed = await setup.look(person="U2")
        assert bad(probed) == []
        assert [each.check for each in probed if each.check == "streams"] == ["streams"]
        assert any(call.method == "chat.startStream" for call in several[1].calls)
        assert not any(call.method == "chat.startStream" for team in several[::2] for call in team.calls)
        nobody = await one(setup, FAILED, person="U9")
        assert nobody.text == "U9 is in none of the workspaces"
        assert all(each.state is OK for each in await setup.look())
