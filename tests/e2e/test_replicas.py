"""Three replicas on one real Redis, in one workspace with Slack's real limits."""

from __future__ import annotations

from contextlib import AsyncExitStack

import pytest

from slack_bot.app import build
from slack_bot.clock import system_clock
from slack_bot.testing.agent.scripted import ScriptedAgent, serve_scripted
from slack_bot.testing.harness import CHANNEL, bot_settings, connected, emulated, wait_until
from slack_bot.testing.overrides import with_overrides
from slack_bot.testing.slack.server import SlackServer
from slack_bot.testing.slack.workspace import Workspace, WorkspaceRules
from slack_bot.testing.tape.builders import answer
from tests.redis_server import RedisServer

TEXT = " ".join(f"word{number}" for number in range(120))
QUESTIONS = 26  # Slack takes 20 starts in a minute


@pytest.mark.slow
async def test_together_they_keep_slacks_limits(redis_server: RedisServer) -> None:
    """With a store of its own each, 325 calls are refused in 100 s, and 16 questions are asked twice."""
    clock, workspace = system_clock(), Workspace(rules=WorkspaceRules.real())
    workspace.add_channel(CHANNEL).members.add(workspace.add_user("U1").id)
    agent = ScriptedAgent(answer(TEXT, seconds=4.0))
    async with AsyncExitStack() as stack:
        url = await stack.enter_async_context(serve_scripted(agent))
        server = await stack.enter_async_context(SlackServer(workspace, clock))
        settings = emulated(bot_settings({}, url), server.api_url)
        for _ in range(3):
            app = await build(with_overrides(settings, {"store.url": redis_server.url}), clock=clock)
            await stack.enter_async_context(app)
            await app.threads.replicas.start()
            await stack.enter_async_context(connected(app))
        mention, now = f"<@{workspace.bot.user_id}>", clock.wall()
        threads = [
            workspace.say("U1", CHANNEL, f"{mention} {number}", now=now) for number in range(QUESTIONS)
        ]
        await wait_until(lambda: all(is_whole(workspace, root) for root in threads), workspace, within=100)
    assert len(agent.questions) == QUESTIONS
    assert [call.method for call in workspace.calls if call.limited] == []


def is_whole(workspace: Workspace, root: str) -> bool:
    shown = [each for each in workspace.thread(CHANNEL, root) if each.is_bot]
    return bool(shown) and all(each.state != "streaming" for each in shown) and TEXT in shown[-1].text
