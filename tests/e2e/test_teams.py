"""One bot in several workspaces: each is answered with its own token, and by its own settings."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from slack_bot.app import build
from slack_bot.clock import system_clock
from slack_bot.store.outbound import accept_outbound, outbound, unfinished_outbound
from slack_bot.testing.agent.scripted import ScriptedAgent, serve_scripted
from slack_bot.testing.harness import bot_settings, connected, emulated, free_port, wait_until
from slack_bot.testing.memory_store import MemoryStore
from slack_bot.testing.overrides import with_overrides
from slack_bot.testing.slack.server import SlackServer
from slack_bot.testing.slack.workspace import Workspace
from slack_bot.testing.tape.builders import answer, failure
from slack_bot.testing.virtual_clock import on_virtual_time
from slack_bot.turn.outbound import OutboundMessage, OutboundRecord
from tests.e2e.several_teams import TeamsBot, channel_of, new_teams, person_of, run_teams, tokens


@asynccontextmanager
async def speaking(bot: TeamsBot) -> AsyncIterator[None]:
    run = bot.app.features["outbound"].run
    assert run is not None
    task = asyncio.create_task(run())
    try:
        yield
    finally:
        task.cancel()


async def said(bot: TeamsBot, message: OutboundMessage) -> OutboundRecord:
    """What became of a message that the bot was to say by itself."""
    await accept_outbound(bot.app.store, OutboundRecord("k", message, bot.now))
    async with speaking(bot):
        while await unfinished_outbound(bot.app.store):  # noqa: ASYNC110  a store tells nobody
            await asyncio.sleep(0.5)
    record = await outbound(bot.app.store, "k")
    assert record is not None
    return record


@on_virtual_time
async def test_each_workspace_is_answered_in_its_own_thread() -> None:
    async with run_teams() as bot:
        roots = [await bot.ask(number, f"question of {number}") for number in (1, 2)]
        await bot.idle()
        assert [bot.read(number, root) for number, root in zip((1, 2), roots, strict=True)] == [
            ["Hello."]
        ] * 2
        for team in bot.teams:
            assert [call for call in team.calls if not call.ok] == []
        asked = [call.params["message"]["metadata"]["slack"]["team"] for call in bot.agent.questions]
        assert asked == ["T1", "T2"]


@pytest.mark.parametrize("http", [False, True])
async def test_one_way_brings_the_events_of_all(http: bool) -> None:
    """Socket Mode with one app-level token, or HTTP with one signing secret."""
    teams, clock, port = new_teams(3), system_clock(), free_port()
    bot_url = f"http://127.0.0.1:{port}/slack/events" if http else None
    agent = ScriptedAgent(answer("Hello.", seconds=0.2))
    async with serve_scripted(agent) as agent_url, SlackServer(teams, clock, bot_url=bot_url) as server:
        settings = emulated(bot_settings(agent_url=agent_url), server.api_url)
        address = {"http_host": "127.0.0.1", "http_port": port}
        settings = with_overrides(settings, {"bot_token": None, "bot_tokens": tokens(3), **address})
        async with await build(settings, clock=clock) as app, connected(app, http=http):
            roots = [
                team.say(person_of(n), channel_of(n), f"<@{team.bot.user_id}> hi", now=clock.wall())
                for n, team in enumerate(teams, start=1)
            ]
            for number, (team, root) in enumerate(zip(teams, roots, strict=True), start=1):
                place = channel_of(number), root

                def is_answered(team: Workspace = team, place: tuple[str, str] = place) -> bool:
                    return [each.text for each in team.thread(*place) if each.is_bot] == ["Hello."]

                await wait_until(is_answered, team)
            assert server.sockets.connections == (0 if http else 2)


@on_virtual_time
async def test_who_presses_may_be_of_another_workspace_of_the_bot() -> None:
    """The installation that posted the control acts, not the one of the person (Slack Connect)."""
    async with run_teams(failure("It broke.")) as bot:
        bot.team(1).add_user("U9", team="T2")
        root = await bot.ask(1, "why?")
        await bot.idle()
        (shown,) = [each for each in bot.team(1).thread(channel_of(1), root) if each.is_bot]
        bot.team(1).state.channels[channel_of(1)].members.add("U9")
        bot.team(1).press("U9", channel_of(1), shown.ts, "retry", now=bot.now)
        await bot.deliver()
        await bot.idle()
        told = [each for each in bot.team(1).thread(channel_of(1), root) if each.ephemeral_for]
        assert [(each.ephemeral_for, each.text) for each in told] == [("U9", told[0].text)]
        assert [call.method for call in bot.team(2).calls] == ["auth.test", "bots.info"]


@on_virtual_time
async def test_a_workspace_has_settings_of_its_own_in_direct_messages_too(tmp_path: Path) -> None:
    (tmp_path / "slack_bot.toml").write_text(
        '[agents.ops]\nurl = "http://ops.invalid/"\n[teams.T2]\nagent = "ops"\n', encoding="utf-8"
    )
    async with run_teams(config=str(tmp_path / "slack_bot.toml")) as bot:
        roots = [await bot.ask(number, "hi") for number in (1, 2)]
        direct = bot.team(2).direct(person_of(2))
        bot.team(2).say(person_of(2), direct, "hi", now=bot.now)
        await bot.deliver()
        await bot.idle()
        turns = await bot.app.store.accepted_since(0.0)
        agents = {(turn.question.thread.team, turn.question.thread.channel): turn.agent for turn in turns}
        assert agents == {("T1", "C1"): "default", ("T2", "C2"): "ops", ("T2", direct): "ops"}
        assert all(bot.read(number, root) for number, root in zip((1, 2), roots, strict=True))


@on_virtual_time
async def test_the_limit_of_all_questions_is_for_each_workspace() -> None:
    async with run_teams(hourly_total=1) as bot:
        first, second = await bot.ask(1, "one"), await bot.ask(1, "two")
        other = await bot.ask(2, "mine")
        await bot.idle()
        assert (bot.read(1, first), bot.read(1, second), bot.read(2, other)) == (["Hello."], [], ["Hello."])


@on_virtual_time
async def test_what_the_bot_says_by_itself_says_where() -> None:
    async with run_teams() as bot:
        record = await said(bot, OutboundMessage("News.", channel=channel_of(2), team="T2"))
        assert (record.state, record.link.startswith("https://team-2.slack.com/archives/C2/p")) == (
            "sent",
            True,
        )
        assert [each.text for each in bot.team(2).history(channel_of(2))] == ["News."]


@on_virtual_time
async def test_a_channel_of_another_workspace_is_not_found() -> None:
    async with run_teams() as bot:
        record = await said(bot, OutboundMessage("News.", channel=channel_of(1), team="T2"))
        assert record.state == "failed"
        assert "channel_not_found" in str(record.error)
        assert bot.team(1).history(channel_of(1)) == []


@on_virtual_time
async def test_what_was_left_in_a_workspace_without_a_token_waits_for_one() -> None:
    """A process is killed in two answers, and the next one has no token of one workspace that works."""
    teams, store = new_teams(2), MemoryStore(is_durable=True)
    tapes = [answer("A long answer.", seconds=20)] * 2
    async with run_teams(*tapes, teams=teams, store=store) as first:
        roots = [await first.ask(number, "why?") for number in (1, 2)]
        await asyncio.sleep(5.0)
        first.life.end_now()
        teams[1].revoke_token()
        async with run_teams(teams=teams, store=store, after=first) as second:
            await second.idle()
            assert "".join(second.read(1, roots[0])).endswith("long answer.")
            (waiting,) = await store.unfinished()
            assert waiting.question.thread.team == "T2"


@on_virtual_time
async def test_the_home_tab_is_that_of_the_workspace(tmp_path: Path) -> None:
    channels = "".join(f'[channels.{channel_of(number)}]\nguests = "deny"\n' for number in (1, 2))
    (tmp_path / "slack_bot.toml").write_text(channels, encoding="utf-8")
    async with run_teams(
        config=str(tmp_path / "slack_bot.toml"), operators=[person_of(1), person_of(2)]
    ) as bot:
        for number in (1, 2):
            bot.team(number).open_home(person_of(number), now=bot.now)
        await bot.deliver()
        await asyncio.sleep(5.0)
        for number, other in ((1, 2), (2, 1)):
            words = " ".join(bot.team(number).home(person_of(number)))
            assert words
            blocks = str(bot.team(number).state.views[f"home-{person_of(number)}"])
            assert f"C{number}" in blocks
            assert f"C{other}" not in blocks
