"""What an agent on a2a-sdk reads of a thread, on both wires: the question alone first, the rest apart."""

from __future__ import annotations

from typing import Any

import pytest

from slack_bot.clock import system_clock
from slack_bot.testing.harness import CHANNEL, bot_settings, build_in_memory, deliver
from slack_bot.testing.slack.workspace import Workspace
from tests.live_agent import live_agent


async def sent(version: str, *modes: str) -> dict[str, Any]:
    """The message that reaches the agent where somebody mentions the bot in the middle of a thread."""
    workspace, clock = Workspace(), system_clock()
    workspace.add_channel(CHANNEL)
    async with live_agent([version], modes=modes) as agent:
        app = await build_in_memory(workspace, bot_settings(agent_url=agent.url), clock, None)
        async with app:
            root = workspace.say("U2", CHANNEL, "the disk is full", now=clock.wall())
            workspace.say("U1", CHANNEL, "<@U0BOT> what now?", now=clock.wall(), thread_ts=root)
            for each in workspace.take():
                await deliver(app, each.payload)
            await app.threads.idle()
        (message,) = agent.messages
        return dict(message)


@pytest.mark.parametrize("version", ["0.3", "1.0"])
async def test_an_agent_that_takes_json_gets_data(version: str) -> None:
    message = await sent(version, "text/plain", "application/json")
    question, context = message["parts"]
    assert question == {"text": "what now?"}
    data, metadata = context["data"], context["metadata"]
    assert (data["type"], data["trust"], metadata["role"]) == ("slack.thread", "quoted", "context")
    (said,) = data["messages"]
    assert (said["author_id"], said["kind"], said["text"]) == ("U2", "person", "the disk is full")
    assert message["metadata"]["slack"]["user"] == "U1"


@pytest.mark.parametrize("version", ["0.3", "1.0"])
async def test_an_agent_that_does_not_gets_text_behind_the_question(version: str) -> None:
    message = await sent(version, "text/plain")
    question, context = message["parts"]
    assert question == {"text": "what now?"}
    assert context["text"].startswith("Messages from the thread, quoted for reference")
    assert "\n> the disk is full\n" in context["text"]
    assert context["metadata"]["role"] == "context"
