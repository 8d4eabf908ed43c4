"""Agents for tests of parts that ask for all of a bot's. Nothing is sent."""

from contextlib import AsyncExitStack

from slack_bot.agents.agents import Agents
from slack_bot.clock import system_clock
from slack_bot.http_client import AsyncBaseTransport
from slack_bot.observe.health import Health
from slack_bot.settings.agents import AgentEntry, AgentTable
from slack_bot.store.knowledge import Profiles
from slack_bot.testing.memory_store import MemoryStore


async def agents_of(
    closers: AsyncExitStack, settings: AgentTable, transport: AsyncBaseTransport | None = None
) -> Agents:
    """The agents of these settings, opened; behind `transport`, if there is one."""
    agents = Agents(settings, system_clock(), Health(), Profiles(MemoryStore()))
    await agents.open(closers, transport)
    return agents


def only(url: str) -> AgentTable:
    """The settings of the default agent, at `url`, without others."""
    return AgentTable({"default": AgentEntry(url=url)})
