"""docs/workspaces.md, walked as it is written: from one workspace to two, with the emulated Slack."""

from __future__ import annotations

import asyncio
import re
import shlex
import signal
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path

from slack_bot.clock import system_clock
from slack_bot.settings.config_file import read_config
from slack_bot.testing.agent.scripted import ScriptedAgent, serve_scripted
from slack_bot.testing.harness import wait_until
from slack_bot.testing.slack.server import SlackServer
from slack_bot.testing.slack.teams import token_of
from slack_bot.testing.tape.builders import answer
from tests.bench.running import bot_environment
from tests.e2e.several_teams import channel_of, new_teams, person_of
from tests.loaded_program import loaded_program
from tests.processes import child, end_by

PAGE = Path(__file__).parents[2] / "docs" / "workspaces.md"
BLOCK = re.compile(r"^ *```(\w*)\n(.*?)^ *```$", re.MULTILINE | re.DOTALL)


def blocks(kind: str) -> list[str]:
    """The blocks of code of the page, in order."""
    return [text for found, text in BLOCK.findall(PAGE.read_text("utf-8")) if found == kind]


def command(written: str) -> tuple[str, ...]:
    verb, *rest = shlex.split(written)
    assert verb == "slack-bot"
    return *loaded_program(), *rest


async def output_of(written: str, environment: Mapping[str, str], folder: Path) -> str:
    pipe = asyncio.subprocess.PIPE
    async with child(*command(written), env=environment, cwd=folder, stdout=pipe) as process:
        told, _ = await process.communicate()
        assert process.returncode == 0, told.decode()
        return told.decode()


@asynccontextmanager
async def bot(
    written: str, environment: Mapping[str, str], folder: Path, server: SlackServer
) -> AsyncIterator[None]:
    async with child(*command(written), env=environment, cwd=folder) as process:
        await asyncio.wait_for(server.sockets.connected(), 60)
        yield
        end_by(process, signal.SIGTERM)
        await process.wait()


async def test_from_one_workspace_to_two(tmp_path: Path) -> None:
    teams, clock = new_teams(2), system_clock()
    (written,) = blocks("")
    look, run = blocks("sh")
    tokens = written.replace("xoxb-...", token_of(1), 1).replace("xoxb-...", token_of(2), 1)
    agent = ScriptedAgent(answer("Hello.", seconds=0.2))
    async with serve_scripted(agent) as url, SlackServer(teams, clock) as server:
        store = {"SLACK_BOT_STORE__URL": "sqlite:///slack_bot.sqlite"}
        one = bot_environment(url, server.api_url, {"SLACK_BOT_TOKEN": token_of(1), **store})

        async def ask(number: int, thread_ts: str | None = None) -> str:
            team, place = teams[number - 1], channel_of(number)
            said = f"<@{team.bot.user_id}> hi"
            before = len(team.thread(place, thread_ts)) if thread_ts else 0
            ts = team.say(person_of(number), place, said, now=clock.wall(), thread_ts=thread_ts)
            root = thread_ts or ts

            def is_answered() -> bool:
                shown = team.thread(place, root)
                return len(shown) > before + 1 and shown[-1].text == "Hello." and not team.open_streams()

            await wait_until(is_answered, team)
            return root

        async with bot(run, one, tmp_path, server):
            root = await ask(1)
        both = {name: value for name, value in one.items() if name != "SLACK_BOT_TOKEN"}
        both["SLACK_BOT_TOKENS"] = tokens
        told = await output_of(look, both, tmp_path)
        for number in (1, 2):
            assert f"workspace T{number}: signed in as slack_bot in team-{number} by token {number}" in told
        async with bot(run, both, tmp_path, server):
            await ask(1, root)
            await ask(2)
        contexts = [call.params["message"].get("contextId") for call in agent.questions]
        assert contexts[0] is None and contexts[1] is not None, "the first workspace's thread goes on"
        assert contexts[2] is None


def test_the_table_of_a_workspace_can_be_read(tmp_path: Path) -> None:
    (table,) = blocks("toml")
    (tmp_path / "slack_bot.toml").write_text(table, "utf-8")
    assert read_config(str(tmp_path / "slack_bot.toml"))["T0123456"]["guests"] == "deny"
