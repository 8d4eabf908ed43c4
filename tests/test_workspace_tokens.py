"""A token that does not work is named and left out; the other workspaces go on."""

from __future__ import annotations

import asyncio
import logging
from pathlib import Path

import pytest

from slack_bot.app import check_slack
from slack_bot.errors import SlackError
from slack_bot.observe.health import HealthCheck
from slack_bot.testing.harness import hand_over
from slack_bot.testing.slack.state import Bot
from slack_bot.testing.slack.teams import token_of
from slack_bot.testing.slack.workspace import Workspace
from slack_bot.testing.virtual_clock import on_virtual_time
from tests.e2e.several_teams import channel_of, new_teams, person_of, run_teams
from tests.test_say import Place, place
from tests.tools.test_terminal import names_in


async def check_others_go_on(teams: list[Workspace], *bad: int, sentence: str) -> None:
    """`bad`: the numbers of those that are left out, named by `sentence`."""
    async with run_teams(teams=teams) as bot:
        good = [number for number in range(1, len(teams) + 1) if number not in bad]
        roots = {number: await bot.ask(number, "hello") for number in range(1, len(teams) + 1)}
        await bot.idle()
        for number, root in roots.items():
            assert bot.read(number, root) == (["Hello."] if number in good else []), number
        checks = bot.app.health.body()["checks"]
        assert isinstance(checks, dict)
        assert sentence in checks["workspaces"]
        assert (checks["token"], bot.app.health.is_ok(HealthCheck.TOKEN)) == ("ok", True)
        assert all(token_of(number) not in checks["workspaces"] for number in roots)


@on_virtual_time
async def test_a_revoked_token(caplog: pytest.LogCaptureFixture) -> None:
    teams = new_teams(3)
    teams[1].revoke_token()
    sentence = "Slack refused token 2 of SLACK_BOT_TOKENS (token_revoked): install the app again"
    await check_others_go_on(teams, 2, sentence=sentence)
    (error,) = [each for each in caplog.records if each.levelno == logging.ERROR]
    assert sentence in error.getMessage()
    assert "Its workspace is left out; the others go on." in error.getMessage()
    left_out = [each.getMessage() for each in caplog.records if "events of the workspace T2" in each.message]
    assert len(left_out) == 1


@on_virtual_time
async def test_two_tokens_of_one_workspace() -> None:
    teams = new_teams(3)
    teams[2].state.team = "T1"
    async with run_teams(teams=teams) as bot:
        checks = bot.app.health.body()["checks"]
        assert isinstance(checks, dict)
        assert (
            "token 3 of SLACK_BOT_TOKENS is of team-3 (T1), as token 1 is, which counts"
            in checks["workspaces"]
        )
        root = await bot.ask(1, "hello")
        await bot.idle()
        assert bot.read(1, root) == ["Hello."]
        assert [call.method for call in teams[2].calls] == ["auth.test", "bots.info"]


@on_virtual_time
async def test_a_token_of_another_app() -> None:
    teams = new_teams(3)
    teams[1].bot = teams[1].state.bot = Bot("U0BOT2", "B0BOT2", app_id="A0OTHER")
    sentence = "but of another app (A0OTHER) than the others (A0APP), whose events do not come here"
    await check_others_go_on(teams, 2, sentence=sentence)


@on_virtual_time
async def test_an_install_of_a_whole_organisation() -> None:
    teams = new_teams(2)
    teams[1].state.is_org_install = True
    await check_others_go_on(teams, 2, sentence="is of an organisation on Enterprise Grid")


@on_virtual_time
async def test_without_the_scope_for_it_nobody_knows_of_which_app_a_token_is() -> None:
    teams = new_teams(2, faults={2: {"bots.info": ["missing_scope"]}})
    async with run_teams(teams=teams) as bot:
        assert len(bot.app.workspaces) == 2


@on_virtual_time
async def test_where_none_works_the_bot_does_not_start() -> None:
    teams = new_teams(2)
    for team in teams:
        team.revoke_token()
    with pytest.raises(SlackError, match=r"token 1 of SLACK_BOT_TOKENS .* None of the 2 tokens works"):
        async with run_teams(teams=teams):
            pass


@on_virtual_time
async def test_who_the_bot_is_is_logged_for_each_workspace(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "slack_bot")
    async with run_teams() as bot:
        await check_slack(bot.app)
    said = [(each.getMessage(), getattr(each, "team", "")) for each in caplog.records]
    assert ("signed in to Slack as slack_bot in team-1", "T1") in said
    assert ("signed in to Slack as slack_bot in team-2", "T2") in said


@on_virtual_time
async def test_a_token_for_which_slack_had_no_answer_is_tried_again() -> None:
    teams = new_teams(2, faults={2: {"auth.test": ["http:503", "internal_error", None]}})
    async with run_teams(teams=teams) as bot:
        joined = []

        async def note(identity: object) -> None:
            joined.append(bot.app.workspaces.has("T2"))

        trying = asyncio.create_task(bot.app.tokens.keep_trying(note))
        said = f"<@{teams[1].bot.user_id}> hello"
        root = teams[1].say(person_of(2), channel_of(2), said, now=bot.now)
        events = teams[1].take()
        assert [await hand_over(bot.app, teams[1], each) for each in events] == [503, 503]  # it comes again
        await trying  # the second attempt fails too
        assert joined == [True]
        assert bot.app.health.body()["checks"]["workspaces"] == "ok"  # type: ignore[index]
        for each in events:
            assert await hand_over(bot.app, teams[1], each, retry=1) == 200
        await bot.idle()
        assert bot.read(2, root) == ["Hello."]


@on_virtual_time
async def test_a_token_that_dies_later_is_named_to_probes() -> None:
    async with run_teams() as bot:
        bot.team(2).revoke_token()
        await bot.ask(2, "hello")
        await bot.idle()
        checks = bot.app.health.body()["checks"]
        assert isinstance(checks, dict)
        assert checks["workspaces"] == "T2: Slack refuses the bot's token (token_revoked)."
        assert checks["token"] == "ok"
        root = await bot.ask(1, "hello")
        await bot.idle()
        assert bot.read(1, root) == ["Hello."]
        bot.team(1).revoke_token()
        await bot.ask(1, "hello")
        await bot.idle()
        assert not bot.app.health.is_ok(HealthCheck.TOKEN)


# -- at the start of a process, before anything is opened

BOT = "slack-bot run: Slack refused SLACK_BOT_TOKEN (invalid_auth): copy the token again"
APP = "slack-bot run: Slack refused SLACK_APP_TOKEN (invalid_auth): copy the token again"


async def run_with(at: Place, **env: str) -> tuple[int | None, str]:
    """The exit status of `run`, and what it says."""
    status, _, told = await Place(at.workspace, at.agent, {**at.env, **env}, at.folder).told("run")
    return status, told


@pytest.mark.parametrize(
    ("tokens", "sentences"),
    [
        ({"SLACK_BOT_TOKEN": "xoxb-wrong"}, [BOT]),
        ({"SLACK_APP_TOKEN": "xapp-wrong"}, [APP]),
        ({"SLACK_BOT_TOKEN": "xoxb-wrong", "SLACK_APP_TOKEN": "xapp-wrong"}, [APP, BOT]),
    ],
)
async def test_wrong_tokens_end_the_start_as_wrong_settings_do(
    tokens: dict[str, str], sentences: list[str], tmp_path: Path
) -> None:
    async with place(tmp_path) as at:
        status, told = await run_with(at, **tokens)
    assert status == 2
    lines = told.splitlines()
    assert [any(line.startswith(each) for line in lines) for each in sentences] == [True] * len(sentences)
    assert len(lines) == len(sentences), "nothing else was begun"
    assert names_in(tmp_path) == []


@pytest.mark.parametrize("error", ["internal_error", "ratelimited", "http:503", "error:something_new"])
@pytest.mark.parametrize("method", ["auth.test", "apps.connections.open"])
async def test_an_outage_is_no_wrong_token_and_is_tried_again(
    error: str, method: str, tmp_path: Path
) -> None:
    async with place(tmp_path, faults={method: [error]}) as at:
        status, told = await run_with(at)
    assert status == 1, told


async def test_of_several_tokens_of_which_none_is_good_a_person_must_mend_one(tmp_path: Path) -> None:
    wrong = {"SLACK_BOT_TOKEN": "", "SLACK_BOT_TOKENS": "xoxb-one,xoxb-two"}
    async with place(tmp_path) as at:
        status, told = await run_with(at, **wrong)
        assert (status, "None of the 2 tokens works." in told) == (2, True)
    async with place(tmp_path, faults={"auth.test": [None, "internal_error"]}) as at:
        status, told = await run_with(at, **wrong)
        assert (status, "None of the 2 tokens works." in told) == (1, True)


async def test_a_file_that_is_not_there_is_told_before_anything_is_opened(tmp_path: Path) -> None:
    async with place(tmp_path) as at:
        status, told = await run_with(at, SLACK_BOT_CONFIG="gone.toml")
    assert (status, names_in(tmp_path)) == (2, [])
    assert told == (
        "slack-bot run: SLACK_BOT_CONFIG names gone.toml, which does not exist; correct the path, or take"
        " SLACK_BOT_CONFIG away"
    )


async def test_a_file_that_is_no_store_ends_the_start_so_too(tmp_path: Path) -> None:
    (file := tmp_path / "notes.txt").write_text("no store at all " * 100)
    async with place(tmp_path) as at:
        status, told = await run_with(at, SLACK_BOT_STORE__URL=f"sqlite:///{file}")
    assert (status, "is damaged or is not a SQLite file" in told) == (2, True)
