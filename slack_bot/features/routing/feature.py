"""What the bot does for several agents. Nothing of it is there where the settings name one agent only."""

import asyncio
from dataclasses import replace

from ...threads.ports import CommonParts, ThreadPorts
from ..feature import BotParts, Feature, FeatureWork
from .another import AnotherAgent
from .choices import AGENT_CHOICES
from .handovers import HANDOVERS, Handovers
from .presses import ChoicePresses
from .router import PERSONAL_AGENTS, Router


def serve_threads(common: CommonParts, ports: ThreadPorts) -> ThreadPorts:
    """Choose among the agents, if the settings name several."""
    return replace(ports, routing=Router(common)) if common.agents.are_several else ports


def start(bot: BotParts) -> FeatureWork:
    """Let people choose by buttons, and ask another agent below an answer."""
    router, common = bot.threads.routing, bot.common
    if not isinstance(router, Router):
        return FeatureWork()
    handovers = Handovers(common, bot.threads)
    presses = ChoicePresses(router, bot.threads, bot.hourly)
    another = AnotherAgent(router, handovers, common.store, common.notices, bot.hourly)

    async def run() -> None:
        await asyncio.gather(router.choices.run(), handovers.run())

    return FeatureWork((*presses.buttons(), *another.buttons()), run=run)


FEATURE = Feature("routing", start, serve_threads, collections=(PERSONAL_AGENTS, AGENT_CHOICES, HANDOVERS))
