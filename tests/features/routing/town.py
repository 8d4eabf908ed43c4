"""A bot with several agents, each at a host of its own."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Any

from slack_bot.http_client import AsyncBaseTransport, Request, Response
from slack_bot.manifest import Wants, manifest_of, wanted
from slack_bot.testing.agent.scripted import ScriptedAgent, ScriptedTransport
from slack_bot.testing.harness import CHANNEL, BotHarness, run_bot
from slack_bot.testing.slack.rules import AppManifest
from slack_bot.testing.slack.workspace import SeenMessage
from slack_bot.testing.tape.builders import answer

CUSTOMIZED = AppManifest.from_json(manifest_of(wanted(Wants(has_agents=True))))
"""The manifest for several agents, with all of its scopes."""
FILE = """
[agents.research]
url = "http://research.invalid/"
prefixes = ["r"]
[agents.ops]
url = "http://ops.invalid/"
"""


class ByHost(AsyncBaseTransport):
    """Each agent at its own host; the others go to the bot's default agent."""

    def __init__(self, others: AsyncBaseTransport, agents: Mapping[str, ScriptedAgent]) -> None:
        self._others = others
        self._agents = {host: ScriptedTransport(agent) for host, agent in agents.items()}

    async def handle_async_request(self, request: Request) -> Response:
        transport = self._agents.get(request.url.host, self._others)
        return await transport.handle_async_request(request)


class Skilled(ScriptedAgent):
    """An agent with a name and one skill on its card."""

    def __init__(self, text: str, called: str, name: str, *tags: str) -> None:
        super().__init__(*[answer(text)] * 9)
        self._called = called
        self._skill = {"id": "s", "name": name, "description": "", "tags": list(tags)}

    def card(self, url: str) -> dict[str, Any]:
        return {**super().card(url), "name": self._called, "skills": [self._skill]}


class Town:
    """A bot with three agents: `default`, which answers "D.", `research` ("R.") and `ops` ("O.")."""

    def __init__(self, bot: BotHarness, agents: Mapping[str, ScriptedAgent]) -> None:
        self.bot, self.agents = bot, agents

    def asked(self, name: str) -> list[str]:
        """What this agent was asked, without what was quoted."""
        agent = self.bot.agent if name == "default" else self.agents[f"{name}.invalid"]
        return [call.text for call in agent.questions]


def of_hosts(names: str = "research ops") -> dict[str, ScriptedAgent]:
    tapes = [answer("R."), answer("O.")]
    return {
        f"{name}.invalid": ScriptedAgent(*[tape] * 9) for name, tape in zip(names.split(), tapes, strict=True)
    }


@asynccontextmanager
async def town(
    folder: Path,
    text: str = FILE,
    *,
    agents: dict[str, ScriptedAgent] | None = None,
    after: BotHarness | None = None,
    **overrides: Any,
) -> AsyncIterator[Town]:
    (file := folder / "slack_bot.toml").write_text(text, encoding="utf-8")
    hosts = agents or of_hosts()
    through, tapes = partial(ByHost, agents=hosts), [answer("D.")] * 9
    async with run_bot(*tapes, through=through, config=str(file), after=after, **overrides) as bot:
        yield Town(bot, hosts)


SKILLS = f'{FILE}[routing]\nchoose = "skills"\n'


def skilled() -> dict[str, ScriptedAgent]:
    """Both know reports; papers and deployments are of one each."""
    return {
        "research.invalid": Skilled("R.", "Library", "Find papers", "papers", "report"),
        "ops.invalid": Skilled("O.", "Operations", "Deploy a service", "deploy", "report"),
    }


def choice_in(bot: BotHarness, root: str, channel: str = CHANNEL) -> SeenMessage:
    """The message that asks for an agent."""
    (found,) = [seen for seen in bot.thread(root, channel) if "Which one shall I ask?" in seen.read]
    return found


async def press(
    bot: BotHarness, seen: SeenMessage, number: int, user: str = "U1", channel: str = CHANNEL
) -> None:
    bot.workspace.press(user, channel, seen.ts, f"choose_agent-{number}", now=bot.now)
    await bot.deliver()
    await bot.idle()


async def work_of(bot: BotHarness) -> None:
    """What the feature does by itself. Never returns."""
    run = bot.app.features["routing"].run
    assert run is not None
    await run()
