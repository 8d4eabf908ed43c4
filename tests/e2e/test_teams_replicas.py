"""Three replicas on a real Redis in three workspaces, with Slack's real limits; one is killed while it
answers.
"""

from __future__ import annotations

import asyncio
import json
import signal
import sys
from collections.abc import Mapping
from contextlib import AsyncExitStack
from pathlib import Path

import pytest

from slack_bot.clock import system_clock
from slack_bot.testing.agent.scripted import ScriptedAgent, ScriptedAnswer, serve_scripted
from slack_bot.testing.harness import wait_until
from slack_bot.testing.slack.server import SlackServer
from slack_bot.testing.slack.workspace import Workspace
from slack_bot.testing.tape.builders import answer
from tests.bench.running import bot_environment
from tests.e2e.test_teams_model import MARKS, marks_in, new_workspace
from tests.processes import child, end_by
from tests.redis_server import RedisServer

QUESTIONS = 5  # of each workspace


class AgentOfAll(ScriptedAgent):
    """Answers each workspace with what is its own."""

    def __init__(self) -> None:
        super().__init__(answer("nothing"))
        self.inner = {
            mark: ScriptedAgent(
                *(answer(f"answer-{mark}-{n} is long.", ids=f"{mark}{n}", seconds=8.0) for n in range(40))
            )
            for mark in MARKS
        }
        self.mixed: list[str] = []

    async def handle(
        self, method: str, url: str, body: bytes = b"", headers: Mapping[str, str] | None = None
    ) -> ScriptedAnswer:
        if method == "GET":
            return await super().handle(method, url, body, headers)
        found = marks_in(json.dumps(json.loads(body)["params"]))
        if len(found) > 1:
            self.mixed.append(body.decode())
        mark = found.pop() if found else MARKS[0]  # at its start the bot asks for a task of nobody
        return await self.inner[mark].handle(method, url, body, headers)


def is_whole(team: Workspace, channel: str, root: str) -> bool:
    shown = [each for each in team.thread(channel, root) if each.is_bot]
    return bool(shown) and "is long." in "".join(each.text for each in shown) and not team.open_streams()


@pytest.mark.slow
async def test_one_that_is_killed_mixes_nothing_and_loses_nothing(
    redis_server: RedisServer, tmp_path: Path
) -> None:
    clock, agent = system_clock(), AgentOfAll()
    teams = {mark: new_workspace(mark) for mark in MARKS}
    async with AsyncExitStack() as stack:
        url = await stack.enter_async_context(serve_scripted(agent))
        server = await stack.enter_async_context(SlackServer([*teams.values()], clock))
        settings = {
            "SLACK_BOT_TOKENS": ",".join(f"xoxb-{mark}" for mark in MARKS),
            "SLACK_BOT_STORE__URL": redis_server.url,
            "SLACK_BOT_STORE__LEASE": "3",
        }
        environment = bot_environment(url, server.api_url, settings)
        del environment["SLACK_BOT_TOKEN"]
        command = (sys.executable, "-m", "slack_bot", "run")
        running = [
            await stack.enter_async_context(child(*command, env=environment, cwd=tmp_path)) for _ in range(3)
        ]
        first = teams[MARKS[0]]
        async with asyncio.timeout(60):
            while server.sockets.connections < 6:  # noqa: ASYNC110  no event reports it
                await asyncio.sleep(0.05)
        roots = [
            (mark, team.say(f"U{mark}1", f"C{mark}", f"<@U0BOT{mark}> words-{mark}-{n}", now=clock.wall()))
            for n in range(QUESTIONS)
            for mark, team in teams.items()
        ]
        await wait_until(lambda: len(first.open_streams()) == QUESTIONS, first)
        end_by(running[0], signal.SIGKILL)
        for mark, root in roots:
            team = teams[mark]

            def is_answered(team: Workspace = team, place: tuple[str, str] = (f"C{mark}", root)) -> bool:
                return is_whole(team, *place)

            await wait_until(is_answered, team, within=90)
        assert agent.mixed == []
        for mark, team in teams.items():
            assert len(agent.inner[mark].questions) == QUESTIONS
            assert not [call for call in team.calls if call.limited]
            for call in team.calls:
                assert marks_in(dict(call.args)) <= {mark}, call
