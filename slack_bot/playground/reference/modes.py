"""The reference agent in each of its modes, asked the same, in memory.

With the local model that is on virtual time. A model behind an endpoint takes the time it takes.
"""

import asyncio

from ...clock import system_clock
from ...settings.load import Settings
from ...settings.models import ReferenceSettings
from ...testing import virtual_clock
from ...testing.agent.asgi_transport import AsgiTransport
from ...testing.harness import AGENT_URL, bot_settings
from ...testing.overrides import with_overrides
from ...tools.conform.conform import MemoryTarget
from ...tools.replay.replay import observe
from ...tools.replay.result import Observation
from ...tools.replay.scenario import Scenario
from ...tools.turn_log import TurnLog
from .agent import AgentApp, adjusted


def observe_mode(mode: str, scenario: Scenario, settings: Settings, log: TurnLog) -> Observation:
    """Ask the reference agent of `settings`, in `mode`, what `scenario` asks.

    Of the bot's own settings only those of `scenario` count; it may change the agent's too.
    """
    chosen = with_overrides(settings, {**scenario.settings, "response_mode": mode}).reference
    is_local = chosen.model_url is None

    async def ask() -> Observation:
        served, clock = AgentApp(AGENT_URL, chosen), virtual_clock.new_clock() if is_local else system_clock()
        try:
            bot = bot_settings(scenario.settings)
            return await observe(scenario, bot, clock, AsgiTransport(served.asgi), log=log)
        finally:
            await served.aclose()

    return virtual_clock.run(ask()) if is_local else asyncio.run(ask())


def memory_target(mode: str | None = None) -> MemoryTarget:
    """The playground's agent as it comes, or in the mode that is named, for `conform`."""

    def build(pace: float | None) -> AgentApp:
        return AgentApp(AGENT_URL, adjusted(ReferenceSettings(), pace, mode))

    return MemoryTarget(f"the playground's agent{f', mode {mode}' if mode else ''}, in memory", build)
