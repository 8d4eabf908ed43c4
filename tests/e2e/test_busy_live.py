"""A question that comes while an answer runs, with servers that are not ours: a2a-sdk 1.x on both wires, 0.3.

Only Slack is emulated. The agents that refuse a cancel, or never answer one, are in `test_turn_run.py`.
"""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from slack_bot.app import App
from slack_bot.clock import system_clock
from slack_bot.slack.status import WAITING_REACTION
from slack_bot.testing.harness import CHANNEL, bot_settings, build_in_memory, keep_delivering, wait_until
from slack_bot.testing.slack.workspace import Workspace
from tests.live_agent import HELD, live_agent

OLD_SDK = os.environ.get("A2A_SDK_03", "")
"""Where a2a-sdk 0.3 is installed: see `tests/peers/a2a_sdk_03.py`."""
SERVERS = [
    "1.0",
    "0.3",
    pytest.param(
        "old", marks=pytest.mark.skipif(not OLD_SDK, reason="a2a-sdk 0.3 is not beside this repository")
    ),
]
PATIENCE = 60.0


class Town:
    """A bot in a workspace; `begun` is what its agent has written when it holds still."""

    def __init__(self, app: App, workspace: Workspace, begun: str, whole: str) -> None:
        self.app, self.workspace, self.begun, self.whole = app, workspace, begun, whole
        self.release: Callable[[], Awaitable[None]] | None = None

    def say(self, text: str, thread_ts: str | None = None) -> str:
        return self.workspace.say("U1", CHANNEL, text, now=self.app.clock.wall(), thread_ts=thread_ts)

    def read(self, root: str) -> list[str]:
        seen = self.workspace.thread(CHANNEL, root)
        return [each.text for each in seen if each.is_bot and not each.ephemeral_for]

    def marked(self, root: str) -> int:
        """How many messages are marked as waiting."""
        seen = self.workspace.thread(CHANNEL, root)
        return sum(bool((each.reactions or {}).get(WAITING_REACTION)) for each in seen)

    async def until(self, condition: Callable[[], object]) -> None:
        await wait_until(condition, self.workspace, PATIENCE)

    async def held(self) -> str:
        """A question of which the answer has begun."""
        root = self.say("<@U0BOT> held")
        await self.until(lambda: any(self.begun.strip() in text for text in self.read(root)))
        return root

    async def go_on(self) -> None:
        """Let the agent answer, with this server's own means."""
        if self.release is not None:
            await self.release()
        else:
            self.say("<@U0BOT> release")


@asynccontextmanager
async def old_url() -> AsyncIterator[str]:
    running = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "tests.peers.a2a_sdk_03", "no"),
        stdout=asyncio.subprocess.PIPE,
        env=os.environ | {"PYTHONPATH": OLD_SDK},
        cwd=Path(__file__).parents[2],
    )
    try:
        assert running.stdout is not None
        yield (await running.stdout.readline()).decode().strip()
    finally:
        running.kill()
        await running.communicate()


@asynccontextmanager
async def bot_in(url: str, begun: str, whole: str, **overrides: Any) -> AsyncIterator[Town]:
    workspace = Workspace()
    workspace.add_channel(CHANNEL)
    settings = bot_settings(overrides, url)
    async with await build_in_memory(workspace, settings, system_clock(), None) as app:
        delivering = asyncio.create_task(keep_delivering(app, workspace))
        try:
            yield Town(app, workspace, begun, whole)
        finally:
            delivering.cancel()


@asynccontextmanager
async def town(server: str, **overrides: Any) -> AsyncIterator[Town]:
    if server == "old":
        async with old_url() as url, bot_in(url, "half", "half done", **overrides) as here:
            yield here
        return
    async with live_agent((server,)) as live:
        live.hold = 2
        async with bot_in(live.url, "".join(HELD[:2]), "".join(HELD), **overrides) as here:

            async def release() -> None:
                live.release.set()

            here.release = release
            yield here


@pytest.mark.parametrize("server", SERVERS)
async def test_queue_the_next_question_is_asked_when_the_answer_is_there(server: str) -> None:
    async with town(server) as here:
        root = await here.held()
        here.say("held again", root)
        await here.until(lambda: here.marked(root))
        await here.go_on()
        await here.until(lambda: here.read(root) == [here.whole] * 2)


@pytest.mark.parametrize("server", SERVERS)
async def test_collect_what_waits_is_one_question(server: str) -> None:
    async with town(server, busy="collect", collect_delay=0.1) as here:
        root = await here.held()
        for text in ("held", "and more"):
            here.say(text, root)
        await here.until(lambda: here.marked(root) == 2)
        await here.go_on()
        await here.until(lambda: here.read(root) == [here.whole] * 2)
        await here.app.threads.idle()
        assert here.read(root) == [here.whole] * 2
        assert await here.app.store.unfinished() == []


@pytest.mark.parametrize("server", SERVERS)
async def test_interrupt_the_task_is_cancelled_and_the_next_question_refers_to_it(server: str) -> None:
    async with town(server, busy="interrupt") as here:
        root = await here.held()
        next_text = "release" if server == "old" else "unicode"
        here.say(next_text, root)
        await here.until(lambda: len(here.read(root)) == 2)
        await here.app.threads.idle()
        first, second = here.read(root)
        assert first.strip() == here.begun.strip() and second
        assert "Interrupted by a new message." in str(here.workspace.thread(CHANNEL, root))
        turn = await here.app.store.turn(f"T1:{CHANNEL}:{root}")
        assert turn is not None and turn.outcome == "stopped"
