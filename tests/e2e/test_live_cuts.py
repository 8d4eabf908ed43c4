"""A real a2a-sdk server behind a network that cuts, on both wires; and one that is killed and begun anew."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any
from urllib.parse import urlsplit

import pytest

from slack_bot.testing.harness import free_port
from slack_bot.tools.replay.scenario import make_scenario
from slack_bot.tools.turn_log import AgentOutput, Entry, LoggedTurn, TurnLog
from tests.live_agent import HELD, live_agent, replay_live
from tests.loaded_program import loaded_python
from tests.processes import child
from tests.proxy import proxy

EVENTS = len(HELD) + 3  # the task, that it works, the chunks, that it is done
QUICK = {
    "use_configured_url": True,
    "poll_intervals": [0.05],
    "first_flush_delay": 0.0,
    "flush_interval": 0.05,
}


async def asked(
    url: str, wire: str, log: TurnLog | None = None, text: str = "held", **settings: Any
) -> dict[str, Any]:
    scenario = make_scenario({"text": text, "settings": {**QUICK, "protocol_version": wire, **settings}})
    return await replay_live(scenario, url, log)


def port_of(url: str) -> int:
    port = urlsplit(url).port
    assert port is not None
    return port


FOLLOWS = {
    ("1.0", "JSONRPC"): "SubscribeToTask",
    ("0.3", "JSONRPC"): "tasks/get",
    ("1.0", "HTTP+JSON"): "POST /tasks:subscribe",
    ("0.3", "HTTP+JSON"): "GET /tasks",
}


@pytest.mark.parametrize(("wire", "binding"), FOLLOWS)
@pytest.mark.parametrize("after", range(EVENTS + 1))
async def test_a_cut_behind_every_event(after: int, wire: str, binding: str) -> None:
    """The agent goes on behind the cut, and is not done before somebody asked for its task."""
    follows = FOLLOWS[wire, binding]
    serving = live_agent(bindings=(binding,))
    async with serving as live, proxy(port_of(live.url), cut_after=after) as between:
        live.hold = max(0, after - 2)
        between.on_answer = lambda method: live.release.set() if method == follows else None
        if after in (0, EVENTS):
            live.release.set()
        async with asyncio.timeout(60):
            result = await asked(between.url, wire)
    assert between.questions == 1
    if after == 0:
        assert (result["outcome"], result["visible"].strip()) == ("lost", "")
        assert "Try again" in str(result["thread"])
        return
    assert result["outcome"] == "answered"
    assert result["visible"] == "".join(HELD)
    if after < EVENTS:
        assert follows in between.methods
    assert all(message["state"] != "streaming" for message in result["thread"])


@asynccontextmanager
async def process(port: int) -> AsyncIterator[asyncio.subprocess.Process]:
    """The live agent as a process of its own, up."""
    command = *loaded_python(), "-m", "tests.live_agent", str(port)
    async with child(*command, stdout=asyncio.subprocess.PIPE) as agent:
        assert agent.stdout is not None
        assert await agent.stdout.readline()
        yield agent


@pytest.mark.parametrize("wire", ["1.0", pytest.param("0.3", marks=pytest.mark.slow)])
async def test_a_server_that_is_killed_and_started_anew_has_lost_the_task(wire: str) -> None:
    port, shown = free_port(), asyncio.Event()

    def follow(turn: LoggedTurn, entry: Entry) -> None:
        if isinstance(entry, AgentOutput) and entry.number == 5:  # task, working, three chunks
            shown.set()

    async with proxy(port) as between, asyncio.timeout(60):
        async with process(port) as first:
            asking = asyncio.create_task(asked(between.url, wire, TurnLog(follow)))
            await shown.wait()
            first.kill()
            await first.wait()
        async with process(port):
            result = await asking
    assert result["outcome"] == "lost"
    assert between.questions == 1
    assert result["visible"].strip() == "".join(HELD[:3]).strip()
    told = str(result["thread"])
    assert "no longer knows this question: it was probably restarted. What was written stays" in told
    assert "Try again" in told
