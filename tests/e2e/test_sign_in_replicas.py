"""A person who signs in while replicas come and go: whole bots on Redis, their pages behind one address.

The browser comes back to another process than the one that sent the link, and the question goes on by itself,
once.
"""

from __future__ import annotations

import asyncio
import sys
import time
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

import pytest

from slack_bot.clock import system_clock
from slack_bot.testing.harness import free_port
from slack_bot.testing.slack.server import SlackServer
from tests.bench.running import bot_environment
from tests.features.sign_in.town import KEY, Readers, browser, new_workspace, page_words
from tests.live_agent import Live, live_agent
from tests.openid_server import SECRET, OpenIDServer
from tests.processes import child
from tests.proxy import Proxy, proxy
from tests.redis_server import RedisServer
from tests.token_guard import TokenGuard

pytestmark = pytest.mark.slow


class Replica:
    """A process of the bot, and the port of its pages."""

    def __init__(self, process: asyncio.subprocess.Process, port: int) -> None:
        self._process, self.port = process, port

    async def kill(self) -> None:
        """As SIGKILL does: nothing is handed over."""
        self._process.kill()
        await self._process.wait()


class Fleet(Readers):
    """The replicas, and the address that leads to one of them."""

    patience = 60.0

    def __init__(
        self,
        address: Proxy,
        live: Live,
        guard: TokenGuard,
        environment: Mapping[str, str],
        home: Path,
        stack: AsyncExitStack,
    ) -> None:
        super().__init__(new_workspace())
        self.address, self.live, self.guard = address, live, guard
        self.environment = environment
        self._home, self._stack, self._started = home, stack, 0

    async def start(self) -> Replica:
        """One more replica; it is connected."""
        self._started += 1
        port, log = free_port(), self._home / f"log{self._started}"
        words = (sys.executable, "-m", "slack_bot", "run")
        environment = {**self.environment, "SLACK_BOT_SIGN_IN__PORT": str(port)}
        file = self._stack.enter_context(log.open("wb"))
        running = child(*words, env=environment, cwd=self._home, stderr=file)
        process = await self._stack.enter_async_context(running)
        async with asyncio.timeout(60):
            while "connected to Slack" not in log.read_text("utf-8"):
                assert process.returncode is None, log.read_text("utf-8")
                await asyncio.sleep(0.05)
        return Replica(process, port)

    def lead_to(self, replica: Replica) -> None:
        """Browsers reach this one from now on."""
        self.address.upstream = replica.port

    def ask(self, text: str) -> str:
        return self.workspace.say("U1", self.place(), text, now=time.time())

    @property
    def log(self) -> str:
        """Of all replicas."""
        return "".join(each.read_text("utf-8") for each in sorted(self._home.glob("log*")))


@asynccontextmanager
async def fleet(provider: OpenIDServer, redis: RedisServer, home: Path) -> AsyncIterator[Fleet]:
    guard = TokenGuard(provider)
    async with AsyncExitStack() as stack:
        live = await stack.enter_async_context(live_agent(guard=guard))
        address = await stack.enter_async_context(proxy(0))
        settings = {
            "SLACK_BOT_STORE__URL": redis.url,
            "SLACK_BOT_STORE__LEASE": "2",
            "SLACK_BOT_AGENT__IDENTITY": "oauth",
            "SLACK_BOT_AGENT__OAUTH__ISSUER": provider.url,
            "SLACK_BOT_AGENT__OAUTH__ID": "bot",
            "SLACK_BOT_AGENT__OAUTH__SECRET": SECRET,
            "SLACK_BOT_SIGN_IN__KEYS": KEY,
            "SLACK_BOT_SIGN_IN__BASE_URL": address.url.rstrip("/"),
            "SLACK_BOT_SIGN_IN__HOST": "127.0.0.1",
        }
        found = Fleet(address, live, guard, {}, home, stack)
        slack = await stack.enter_async_context(SlackServer(found.workspace, system_clock()))
        found.environment = bot_environment(live.url, slack.api_url, settings)
        yield found


Meanwhile = Callable[[Fleet, Replica], Awaitable[None]]


async def nothing(here: Fleet, first: Replica) -> None:
    """Both go on; the browser is led to the other one."""
    here.lead_to(await here.start())


async def kill(here: Fleet, first: Replica) -> None:
    """The one that waits is killed; another one is there."""
    here.lead_to(await here.start())
    await first.kill()


async def restart(here: Fleet, first: Replica) -> None:
    """For a while there is none."""
    await first.kill()
    here.lead_to(await here.start())


@pytest.mark.parametrize("meanwhile", [nothing, kill, restart])
@pytest.mark.parametrize("is_open", [False, True], ids=["the link", "the way back"])
async def test_a_browser_that_comes_to_another_replica_completes_the_sign_in(
    provider: OpenIDServer, redis_server: RedisServer, tmp_path: Path, meanwhile: Meanwhile, is_open: bool
) -> None:
    """It has the link only, or is at the authorization server already."""
    async with fleet(provider, redis_server, tmp_path) as here, browser("alice") as alice:
        first = await here.start()
        here.lead_to(first)
        root = here.ask("echo one")
        place = await here.link()
        if is_open:
            place = (await alice.open(place, hops=1)).headers["location"]
        await meanwhile(here, first)
        assert page_words(await alice.open(place)).startswith("You are signed in.")
        assert await here.answered(root) == "echo one"
        (token,) = provider.tokens()
        assert set(here.guard.taken) == {token.access} and here.guard.refused == []
        assert await here.answered(here.ask("echo two")) == "echo two"
        asked = [each["parts"][0]["text"] for each in here.live.messages]
        assert asked == ["echo one", "echo two"] and len(here.links()) == 1
        for secret in (token.access, token.refresh, SECRET, KEY, place.rpartition("/")[2]):
            assert secret not in here.log


async def test_tokens_are_renewed_once_while_replicas_are_killed(
    provider: OpenIDServer, redis_server: RedisServer, tmp_path: Path
) -> None:
    provider.change(expires_in=1)
    async with fleet(provider, redis_server, tmp_path) as here, browser("alice") as alice:
        replica = await here.start()
        here.lead_to(replica)
        root = here.ask("echo 0")
        await alice.open(await here.link())
        assert await here.answered(root) == "echo 0"
        for number in range(1, 4):
            following = await here.start()
            root = here.ask(f"echo {number}")
            await here.until(lambda: len(here.live.messages) > number)  # noqa: B023
            await replica.kill()
            await here.until(lambda: here.read(root).split() == ["echo", str(number)])  # noqa: B023
            replica = following
        used = Counter(form["refresh_token"] for form in provider.asked("refresh_token"))
        assert used and set(used.values()) == {1}
        assert len(here.links()) == 1 and len(here.live.messages) == 4
