"""Where an agent posts news of a task. That it does is in `tests/threads/test_watch.py`."""

from __future__ import annotations

from dataclasses import replace

from slack_bot.agents.agent import Agent
from slack_bot.agents.agents import Agents
from slack_bot.agents.wire.transport import new_http
from slack_bot.clock import system_clock
from slack_bot.features.push.offers import PushOffers
from slack_bot.settings.agents import AgentEntry, AgentTable
from slack_bot.settings.models import AgentSettings
from slack_bot.turn.progress import TurnRecord
from slack_bot.turn.record import Question, ThreadKey
from tests.live_agent import live_agent

URL = "https://bot.example"


def alone(agent: Agent) -> Agents:
    return Agents([agent], AgentTable({agent.name: AgentEntry()}))


TURN = TurnRecord(Question(ThreadKey("T1", "C1", "1.0"), "1.0", "U1", "T1", "hi"), 1.0, task_id="t")


async def test_an_address_is_made_once_for_a_task_that_is_known() -> None:
    async with live_agent(("1.0",), push="no") as live:
        settings = AgentSettings(url=live.url)
        async with new_http(settings) as http:
            offers = PushOffers(alone(Agent(http, settings, system_clock())), URL)
            assert offers.new_target(replace(TURN, task_id=None)) is None
            target = offers.new_target(TURN)
            assert target is not None
            assert target.url.startswith(f"{URL}/a2a/push/")
            assert offers.new_target(replace(TURN, push_id=target.push_id)) is None
            assert await offers.offer(TURN, target) is False, "the card offers no push"
            assert live.pushes == []


async def test_an_agent_that_is_away_is_none_that_posts() -> None:
    settings = AgentSettings(url="http://127.0.0.1:9")
    async with new_http(settings) as http:
        offers = PushOffers(alone(Agent(http, settings, system_clock())), URL)
        target = offers.new_target(TURN)
        assert target is not None
        assert await offers.offer(TURN, target) is False
