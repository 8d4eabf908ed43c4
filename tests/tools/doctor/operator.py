"""An operator's set-up in which everything is right, before a mistake is planted."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from slack_bot.clock import Clock, system_clock
from slack_bot.observe.findings import Diagnosis, DiagnosisState
from slack_bot.testing.agent.scripted import ScriptedAgent, serve_scripted
from slack_bot.testing.slack.server import SlackServer
from slack_bot.testing.slack.teams import token_of
from slack_bot.testing.slack.workspace import APP_TOKEN, BOT_TOKEN, CONFIG_TOKEN, Workspace
from slack_bot.testing.tape.builders import answer
from slack_bot.tools.doctor import doctor

OK, WARNING, FAILED, UNKNOWN = DiagnosisState


class Setup:
    """An operator's set-up in which everything is right, as environment variables, and what is around it."""

    def __init__(self, workspace: Workspace, server: SlackServer, env: dict[str, str]) -> None:
        self.workspace, self.server, self.env = workspace, server, env

    async def look(
        self, *, http: bool = False, person: str | None = None, ahead: float = 0.0
    ) -> list[Diagnosis]:
        """What the doctor says. `ahead`: seconds that this machine's clock is wrong by."""
        usual = system_clock()
        clock = Clock(usual.monotonic, lambda: usual.wall() + ahead)
        return [each async for each in doctor.findings(http=http, person=person, clock=clock)]


class Environment(dict[str, str]):
    """What is put in, is in the process's environment."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        super().__init__()
        self._monkeypatch = monkeypatch

    def __setitem__(self, name: str, value: str) -> None:
        self._monkeypatch.setenv(name, value)
        super().__setitem__(name, value)

    def __delitem__(self, name: str) -> None:
        self._monkeypatch.delenv(name)
        super().__delitem__(name)


@pytest.fixture
def environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> dict[str, str]:
    monkeypatch.chdir(tmp_path)
    return Environment(monkeypatch)


@asynccontextmanager
async def well(environment: dict[str, str], teams: Sequence[Workspace] = ()) -> AsyncIterator[Setup]:
    """`teams`: several workspaces, in place of one."""
    workspace = teams[0] if teams else Workspace()
    workspace.add_user("U1")
    agent = ScriptedAgent(answer("Hello."))
    slack = SlackServer(teams or workspace, system_clock())
    async with slack as server, serve_scripted(agent) as agent_url:
        for name, value in {
            "SLACK_BOT_TOKEN": BOT_TOKEN,
            "SLACK_APP_TOKEN": APP_TOKEN,
            "SLACK_BOT_SLACK__CONFIG_TOKEN": CONFIG_TOKEN,
            "SLACK_API_URL": server.api_url,
            "A2A_AGENT_URL": agent_url,
            "SLACK_BOT_STORE__URL": "sqlite:///bot.sqlite",
        }.items():
            environment[name] = value
        if teams:
            del environment["SLACK_BOT_TOKEN"]
            environment["SLACK_BOT_TOKENS"] = ",".join(token_of(n) for n in range(1, len(teams) + 1))
        yield Setup(workspace, server, environment)


def bad(found: list[Diagnosis]) -> list[Diagnosis]:
    return [each for each in found if each.state is not OK]


async def one(setup: Setup, state: DiagnosisState = FAILED, **given: Any) -> Diagnosis:
    """The one thing that is wrong."""
    (found,) = bad(await setup.look(**given))
    assert found.state is state, found
    assert found.remedy, "each has a remedy"
    return found
