"""Two replicas on Redis, agents on a2a-sdk that check who asks, and people who ask them at the same time."""

from __future__ import annotations

import asyncio
import sys
import time
from collections import Counter
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from joserfc.errors import JoseError

from slack_bot.clock import system_clock
from slack_bot.testing.harness import CHANNEL, free_port, wait_until
from slack_bot.testing.slack.server import SlackServer
from slack_bot.testing.slack.workspace import Workspace
from tests.authorization_server import TokenServer
from tests.bench.running import bot_environment
from tests.features.sign_in.town import KEY, PEOPLE, Readers, new_workspace, sign_in
from tests.live_agent import HELD, Live, live_agent
from tests.openid_server import SECRET, OpenIDServer
from tests.people_keys import Checker, identity_settings, let_exchange, public_of
from tests.processes import child
from tests.redis_server import RedisServer
from tests.token_guard import TokenGuard

AUDIENCE = "the-agent"


@dataclass
class SignedGuard:
    """Takes what the bot signed for this agent."""

    checker: Checker
    refused: list[str] = field(default_factory=list)

    async def __call__(self, headers: dict[str, str]) -> tuple[int, str] | None:
        try:
            self.person_of(headers)
        except JoseError as error:
            self.refused.append(str(error))
            return 401, "Bearer"
        return None

    def person_of(self, headers: Mapping[str, str]) -> str:
        claims = self.checker.claims_of(headers["authorization"].removeprefix("Bearer "))
        return str(claims["sub"])


@dataclass
class Town:
    """The workspace, and the agents: that gets exchanged tokens, signed ones, and those of who signed in."""

    workspace: Workspace
    exchanging: Live
    signed: Live
    files: Live
    environment: Mapping[str, str]
    home: Path
    asked: dict[str, str] = field(default_factory=dict)  # who asked, by the mark of the question

    @asynccontextmanager
    async def replica(self, name: str, port: int) -> AsyncIterator[asyncio.subprocess.Process]:
        """A process of the bot that is connected. `port`: of its pages."""
        words = (sys.executable, "-m", "slack_bot", "run")
        environment = {**self.environment, "SLACK_BOT_SIGN_IN__PORT": str(port)}
        with (self.home / name).open("wb") as log:
            async with child(*words, env=environment, cwd=self.home, stderr=log) as process:
                async with asyncio.timeout(60):
                    while "connected to Slack" not in (self.home / name).read_text("utf-8"):  # noqa: ASYNC110
                        await asyncio.sleep(0.05)
                yield process

    def ask(self, user: str, agent: str = "", root: str | None = None) -> str:
        mark = f"q{len(self.asked)}"
        self.asked[mark] = user
        text = f"<@{self.workspace.bot.user_id}> {agent}held {mark}"
        return self.workspace.say(user, CHANNEL, text, now=time.time(), thread_ts=root)

    def read(self, root: str) -> list[str]:
        """The words of the bot in a thread."""
        thread = [each for each in self.workspace.thread(CHANNEL, root) if each.is_bot]
        return " ".join(each.text for each in thread if not each.ephemeral_for).split()

    def followed(self) -> set[str]:
        """The tasks that were asked for, or joined, by their id."""
        agents = (self.exchanging, self.signed, self.files)
        calls = [body["params"] for live in agents for _, body in live.calls]
        return {each["id"] for each in calls if "message" not in each}

    def asker_of(self, live: Live, params: Mapping[str, Any]) -> str:
        """The person whose question a call is about."""
        if (message := params.get("message")) is not None:
            words = next(part["text"] for part in message["parts"] if "text" in part)
        else:
            words = live.tasks[params["id"]]
        return self.asked[words.split()[1]]


@pytest.mark.slow
async def test_a_replica_is_killed_and_each_call_still_carries_its_asker_s_own_token(
    server: TokenServer, provider: OpenIDServer, redis_server: RedisServer, tmp_path: Path
) -> None:
    identity, workspace = identity_settings(tmp_path), new_workspace()
    workspace.add_channel(CHANNEL)
    provider.change(expires_in=3)  # so that tokens are renewed meanwhile, by any of the processes
    exchange = let_exchange(server, identity, "U1", "U2")
    by_server, by_keys = TokenGuard(server, AUDIENCE), SignedGuard(Checker(public_of(identity), ""))
    by_provider = TokenGuard(provider)
    async with AsyncExitStack() as stack:
        exchanging = await stack.enter_async_context(live_agent(guard=by_server))
        signed = await stack.enter_async_context(live_agent(guard=by_keys))
        files = await stack.enter_async_context(live_agent(guard=by_provider))
        slack = await stack.enter_async_context(SlackServer(workspace, system_clock()))
        by_keys.checker.audience = signed.url
        exchanging.hold = signed.hold = files.hold = 2
        tables = (
            f'[agents.research]\nurl = "{signed.url}"\nidentity = "signed"\n'
            f'[agents.files]\nurl = "{files.url}"\nidentity = "oauth"\n'
            f'[agents.files.oauth]\nissuer = "{provider.url}"\nid = "bot"\n'
        )
        (tmp_path / "slack_bot.toml").write_text(tables, encoding="utf-8")
        port = free_port()
        settings = {
            "SLACK_BOT_CONFIG": str(tmp_path / "slack_bot.toml"),
            "SLACK_BOT_STORE__URL": redis_server.url,
            "SLACK_BOT_STORE__LEASE": "2",
            "SLACK_BOT_IDENTITY__ISSUER": identity.issuer or "",
            "SLACK_BOT_IDENTITY__KEYS": identity.keys[0],
            "SLACK_BOT_CHANNEL__PERSONAL": "true",
            "SLACK_BOT_AGENTS__FILES__OAUTH__SECRET": SECRET,
            "SLACK_BOT_SIGN_IN__KEYS": KEY,
            "SLACK_BOT_SIGN_IN__BASE_URL": f"http://127.0.0.1:{port}",
            "SLACK_BOT_SIGN_IN__HOST": "127.0.0.1",
            "SLACK_BOT_AGENT__IDENTITY": "exchange",
            **{f"SLACK_BOT_AGENT__EXCHANGE__{name.upper()}": value for name, value in exchange.items()},
        }
        environment = bot_environment(exchanging.url, slack.api_url, settings)
        town = Town(workspace, exchanging, signed, files, environment, tmp_path)
        first = await stack.enter_async_context(town.replica("first", port))
        agents = ("", "research: ", "files: ")
        roots = [town.ask(user, agent) for agent in agents for user in PEOPLE]
        for user, account in PEOPLE.items():
            await sign_in(Readers(workspace), account, user)
        await wait_until(lambda: all(town.read(root)[:2] == ["The", "first."] for root in roots), workspace)
        for root in (roots[3], roots[5]):  # in threads of U2, who is being answered
            town.ask("U1", root=root)
        await stack.enter_async_context(town.replica("second", free_port()))
        first.kill()
        async with asyncio.timeout(60):
            while len(town.followed()) < len(roots):  # noqa: ASYNC110  the second process took all over
                await asyncio.sleep(0.05)
        for live in (exchanging, signed, files):
            live.release.set()
        whole = "".join(HELD).split()
        wanted = [whole, whole, whole, whole * 2, whole, whole * 2]
        await wait_until(lambda: [town.read(root) for root in roots] == wanted, workspace)
        await wait_until(lambda: not workspace.open_streams(), workspace)
    assert (len(exchanging.messages), len(signed.messages), len(files.messages)) == (2, 3, 3)
    assert by_server.refused == [] and by_keys.refused == []
    for headers, body in exchanging.calls:
        about = await server.about(headers["authorization"].removeprefix("Bearer "))
        assert about["sub"] == f"slack:T1:{town.asker_of(exchanging, body['params'])}"
    for headers, body in signed.calls:
        assert by_keys.person_of(headers) == f"slack:T1:{town.asker_of(signed, body['params'])}"
    owners = {each.access: each.account for each in provider.tokens()}
    for headers, body in files.calls:
        token = headers["authorization"].removeprefix("Bearer ")
        assert owners[token] == PEOPLE[town.asker_of(files, body["params"])]
    renewed = Counter(form["refresh_token"] for form in provider.asked("refresh_token"))
    assert renewed and set(renewed.values()) == {1}, "one renewal for each token, over both processes"
    assert len(provider.asked("authorization_code")) == len(PEOPLE), "everybody signed in once"
    forms = [each["form"] for each in server.asked()]
    assert len(forms) == 2 * 2, "one token for each person in each process"
