"""The primary of a Redis is killed under its Sentinels, while answers run."""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack
from pathlib import Path

import pytest

from slack_bot.app import build
from slack_bot.clock import system_clock
from slack_bot.testing.agent.scripted import ScriptedAgent, serve_scripted
from slack_bot.testing.harness import CHANNEL, bot_settings, connected, emulated, wait_until
from slack_bot.testing.overrides import with_overrides
from slack_bot.testing.slack.server import SlackServer
from slack_bot.testing.slack.workspace import Workspace, WorkspaceRules
from slack_bot.testing.tape.builders import answer
from tests.redis_sentinels import running_sentinels

TEXT = " ".join(f"word{number}" for number in range(120))
QUESTIONS = 30
BEFORE = 12  # answers that have begun when the primary is killed


@pytest.mark.slow
async def test_thirty_answers_are_whole_and_once_though_the_primary_is_killed(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    clock, workspace = system_clock(), Workspace(rules=WorkspaceRules.real())
    workspace.add_channel(CHANNEL).members.add(workspace.add_user("U1").id)
    agent = ScriptedAgent(answer(TEXT, seconds=8.0))
    with running_sentinels(tmp_path / "redis") as redis:
        async with AsyncExitStack() as stack:
            url = await stack.enter_async_context(serve_scripted(agent))
            server = await stack.enter_async_context(SlackServer(workspace, clock))
            settings = emulated(bot_settings({}, url), server.api_url)
            for _ in range(2):
                app = await build(with_overrides(settings, {"store.url": redis.url}), clock=clock)
                await stack.enter_async_context(app)
                await app.threads.replicas.start()
                await stack.enter_async_context(connected(app))
            mention, now = f"<@{workspace.bot.user_id}>", clock.wall()
            threads = [
                workspace.say("U1", CHANNEL, f"{mention} {number}", now=now) for number in range(QUESTIONS)
            ]
            await wait_until(lambda: sum(has_begun(workspace, root) for root in threads) >= BEFORE, workspace)
            primary = redis.primary()
            primary.kill()
            await wait_until(
                lambda: all(is_whole(workspace, root) for root in threads), workspace, within=120
            )
            assert await asyncio.to_thread(redis.primary) is not primary
            assert len(agent.questions) == QUESTIONS
            assert all(is_once(workspace, root) for root in threads)
            await wait_until(lambda: "written again" in caplog.text, workspace)
    assert "Redis has another primary now (127.0.0.1:" in caplog.text


def shown(workspace: Workspace, root: str) -> list[str]:
    return [each.text for each in workspace.thread(CHANNEL, root) if each.is_bot]


def has_begun(workspace: Workspace, root: str) -> bool:
    return any("word0" in text for text in shown(workspace, root))


def is_whole(workspace: Workspace, root: str) -> bool:
    messages = [each for each in workspace.thread(CHANNEL, root) if each.is_bot]
    is_written = all(each.state != "streaming" for each in messages)
    return is_written and TEXT in " ".join(shown(workspace, root))


def is_once(workspace: Workspace, root: str) -> bool:
    return " ".join(shown(workspace, root)).count("word0 ") == 1
