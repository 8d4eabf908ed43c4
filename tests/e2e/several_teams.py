"""A bot in several workspaces at once, on virtual time."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any, cast

from slack_bot.app import App
from slack_bot.http_client import AsyncBaseTransport
from slack_bot.observe.facts import Fact
from slack_bot.store.contracts import Store
from slack_bot.testing import virtual_clock
from slack_bot.testing.agent.scripted import ScriptedAgent, ScriptedTransport
from slack_bot.testing.harness import bot_settings, build_in_memory, hand_over
from slack_bot.testing.kill import Life, MortalSession, MortalStore, MortalTransport
from slack_bot.testing.memory_store import MemoryStore
from slack_bot.testing.slack.teams import new_team, token_of
from slack_bot.testing.slack.workspace import Workspace, WorkspaceRules
from slack_bot.testing.tape.builders import answer
from slack_bot.testing.tape.tape import Tape


def channel_of(number: int) -> str:
    """The channel of the `number`th workspace."""
    return f"C{number}"


def person_of(number: int) -> str:
    """The person of the `number`th workspace."""
    return f"U{number}"


def new_teams(
    count: int,
    rules: WorkspaceRules | None = None,
    faults: Mapping[int, Mapping[str, Sequence[str | None]]] | None = None,
) -> list[Workspace]:
    """Workspaces `T1`, `T2`, ... with a channel and a person each."""
    teams = [
        new_team(number, rules or WorkspaceRules.real(), (faults or {}).get(number))
        for number in range(1, count + 1)
    ]
    for number, team in enumerate(teams, start=1):
        team.add_channel(channel_of(number)).members.add(team.add_user(person_of(number)).id)
    return teams


def tokens(count: int) -> str:
    """The list of their tokens."""
    return ",".join(token_of(number) for number in range(1, count + 1))


class TeamsBot:
    """The bot, its workspaces and its agent."""

    def __init__(
        self, app: App, teams: Sequence[Workspace], agent: ScriptedAgent, facts: list[Fact], life: Life
    ) -> None:
        self.app, self.teams, self.agent, self.facts = app, teams, agent, facts
        self.life = life

    def team(self, number: int) -> Workspace:
        return self.teams[number - 1]

    @property
    def now(self) -> float:
        return self.app.clock.wall()

    async def ask(self, number: int, text: str, thread_ts: str | None = None) -> str:
        """The person of a workspace mentions the bot there. Returns the message's ts."""
        team = self.team(number)
        said = f"<@{team.bot.user_id}> {text}"
        ts = team.say(person_of(number), channel_of(number), said, now=self.now, thread_ts=thread_ts)
        await self.deliver()
        return ts

    async def deliver(self) -> list[int]:
        """Hand all to the bot that its workspaces have for it."""
        statuses = [
            await hand_over(self.app, team, envelope) for team in self.teams for envelope in team.take()
        ]
        await asyncio.sleep(0)
        return statuses

    async def idle(self) -> None:
        """Wait until no turn runs and everything is delivered."""
        await asyncio.sleep(0.01)
        await self.app.threads.idle()
        await self.deliver()
        await self.app.threads.idle()

    def read(self, number: int, root: str) -> list[str]:
        """The bot's texts in a thread, as people of the workspace see them."""
        seen = self.team(number).thread(channel_of(number), root)
        return [each.text for each in seen if each.is_bot and not each.ephemeral_for]


@asynccontextmanager
async def run_teams(
    *tapes: Tape,
    count: int = 2,
    teams: Sequence[Workspace] | None = None,
    store: Store | None = None,
    through: Callable[[AsyncBaseTransport], AsyncBaseTransport] = lambda inner: inner,
    after: TeamsBot | None = None,
    **overrides: Any,
) -> AsyncIterator[TeamsBot]:
    """A bot in `count` workspaces. `overrides` are settings by leaf name. `after`: the same bot's process
    before, which is gone: what it left in `store` is taken over.
    """
    clock, facts, life = virtual_clock.new_clock(), list[Fact](), Life()
    teams = teams or new_teams(count)
    settings = bot_settings({"bot_token": None, "bot_tokens": tokens(len(teams)), **overrides})
    agent = after.agent if after else ScriptedAgent(*(tapes or (answer("Hello."),)))
    session = MortalSession(life, teams[0], clock, others=teams[1:], timeout=settings.slack.timeout)
    store = store or MemoryStore()
    app = await build_in_memory(
        teams[0], settings, clock, MortalTransport(life, through(ScriptedTransport(agent))),
        observer=facts.append, store=cast(Store, MortalStore(life, store)), slack_session=session,
    )  # fmt: skip
    async with app:
        if after is not None and isinstance(store, MemoryStore):
            store.handed_on()
            await app.threads.replicas.start()
        yield TeamsBot(app, teams, agent, facts, life)
