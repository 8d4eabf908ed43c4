"""A task of a server on a2a-sdk outlives its stream and the bot's process: its end is delivered, once."""

from __future__ import annotations

import asyncio
import io
import itertools
import json
import sys
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import aiohttp
import pytest

from slack_bot.clock import system_clock
from slack_bot.testing.harness import CHANNEL, free_port
from slack_bot.testing.slack.server import SlackServer
from slack_bot.testing.slack.workspace import Workspace
from tests.bench.running import bot_environment
from tests.live_agent import HELD, Live, Push, live_agent

SECRET = "X-A2A-Notification-Token"
WITHIN = 60.0


@dataclass
class Town:
    """A workspace, its agent, and the bot's process."""

    workspace: Workspace
    live: Live
    home: Path
    environment: Mapping[str, str]
    process: asyncio.subprocess.Process | None = None

    async def start(self) -> None:
        with (self.home / "log").open("w") as log:
            self.process = await asyncio.create_subprocess_exec(
                *(sys.executable, "-m", "slack_bot", "run"), env=self.environment, cwd=self.home, stderr=log
            )
        await self.until(lambda: "connected to Slack" in (self.home / "log").read_text("utf-8"))

    async def kill(self) -> None:
        assert self.process is not None
        self.process.kill()
        await self.process.wait()

    async def until(self, condition: Callable[[], object]) -> None:
        async with asyncio.timeout(WITHIN):
            while not condition():  # noqa: ASYNC110  no event reports all of it
                await asyncio.sleep(0.05)

    def ask(self) -> str:
        mention = f"<@{self.workspace.bot.user_id}> held"
        return self.workspace.say("U1", CHANNEL, mention, now=time.time())

    def read(self, root: str) -> str:
        thread = self.workspace.thread(CHANNEL, root)
        return " ".join(message.read for message in thread if message.is_bot)

    def is_whole(self, root: str) -> bool:
        words = "".join(HELD).split()
        mine = [message for message in self.workspace.thread(CHANNEL, root) if message.is_bot]
        shown = " ".join(message.text for message in mine if "goes on now" not in message.text).split()
        return shown == words and not self.workspace.open_streams()


@asynccontextmanager
async def town(home: Path, wire: str, push: Push) -> AsyncIterator[Town]:
    port, workspace = free_port(), Workspace()
    workspace.add_channel(CHANNEL)
    settings = {
        "SLACK_BOT_STORE__URL": "sqlite:///store.sqlite",
        "SLACK_BOT_AGENT__TURN_TIMEOUT": "1.5",
        "SLACK_BOT_AGENT__CONNECT_TIMEOUT": "0.5",
        "SLACK_BOT_AGENT__ACCEPT_TIMEOUT": "0.3",
        "SLACK_BOT_AGENT__IDLE_TIMEOUT": "0.6",
        "SLACK_BOT_AGENT__POLL_TIMEOUT": "0.3",
        # without a post nobody would look for longer than this test takes
        "SLACK_BOT_AGENT__WATCH_INTERVALS": "[3600]" if push == "yes" else "[1]",
        "SLACK_BOT_PUSH__PUBLIC_URL": f"http://127.0.0.1:{port}",
        "SLACK_BOT_PUSH__HOST": "127.0.0.1",
        "SLACK_BOT_PUSH__PORT": str(port),
        "SLACK_BOT_PUSH__HINT_DELAY": "0.05",
    }
    async with live_agent((wire,), push=push) as live, SlackServer(workspace, system_clock()) as slack:
        live.hold = 2
        there = Town(workspace, live, home, bot_environment(live.url, slack.api_url, settings))
        await there.start()
        try:
            yield there
        finally:
            await there.kill()


async def attack(live: Live, posts: int) -> Counter[int]:
    """What anybody may try who knows the address, or even the secret, of the last watch. The statuses."""
    known, found = live.pushes[-1], Counter[int]()
    right = {"kind": "task", "id": known.task_id, "contextId": "c", "status": {"state": "completed"}}
    tries = [
        (known.url, {SECRET: "forged"}, right),
        (known.url + "x", {SECRET: known.token}, right),
        (known.url, {SECRET: known.token}, right | {"id": "another"}),
        (known.url, {SECRET: known.token}, right | {"metadata": "x" * 1_100_000}),
        (known.url, {SECRET: known.token}, right),
    ]
    async with aiohttp.ClientSession() as session:
        for url, headers, body in itertools.islice(itertools.cycle(tries), posts):
            sent, kind = io.BytesIO(json.dumps(body).encode()), {"Content-Type": "application/json"}
            try:
                async with session.post(url, data=sent, headers=headers | kind) as answered:
                    found[answered.status] += 1
            except aiohttp.ClientError:  # refused, and closed, while the body was being sent
                found[0] += 1
    return found


@pytest.mark.slow
@pytest.mark.parametrize("goes_on", ["while it is down", "later"])
@pytest.mark.parametrize(("wire", "push"), [("0.3", "yes"), ("1.0", "yes"), ("1.0", "no"), ("1.0", "card")])
async def test_the_bot_is_killed_while_it_watches(
    wire: str, push: Push, goes_on: Literal["while it is down", "later"], tmp_path: Path
) -> None:
    async with town(tmp_path, wire, push) as there:
        root = there.ask()
        await there.until(lambda: "I write here when it is done" in there.read(root))
        if push == "yes":
            await there.until(lambda: there.live.pushes)
        await there.kill()
        if goes_on == "while it is down":
            there.live.release.set()
            await there.live.done.wait()
        await there.start()
        if push == "yes" and goes_on == "later":
            assert (await attack(there.live, 200)).keys() <= {0, 200, 401, 403, 404, 413}
            assert not there.is_whole(root)
        there.live.release.set()
        await there.until(lambda: there.is_whole(root))
        read = there.read(root)
        if push == "yes":
            assert (await attack(there.live, 200)).keys() <= {0, 401, 404, 413}, "nobody watches any more"
        assert there.read(root) == read
        assert there.workspace.status_rows(CHANNEL, root) == []
        assert len(there.live.messages) == 1


@pytest.mark.slow
@pytest.mark.parametrize("wire", ["0.3", "1.0"])
async def test_a_task_ends_after_its_stream_and_before_the_agent_knows_where_to_post(
    wire: str, tmp_path: Path
) -> None:
    async with town(tmp_path, wire, "yes") as there:

        async def end() -> None:
            there.live.release.set()
            await there.live.done.wait()

        there.live.before_push = end
        root = there.ask()
        await there.until(lambda: there.is_whole(root))
        assert len(there.live.pushes) == 1
        assert len(there.live.messages) == 1
