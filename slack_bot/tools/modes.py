"""The reference agent in each of its modes, asked the same: what a mode is worth is seen side by side.

In memory and, with the local model, on virtual time: a minute's answer takes a second, and is the same each
time. A model behind an endpoint takes the time it takes.
"""

from __future__ import annotations

import asyncio

from ..clock import loop_clock
from ..observe.facts import Watcher
from ..playground.agent import build_app
from ..playground.asgi import AsgiTransport
from ..playground.reference.model import Mode
from ..settings import Settings, with_overrides
from . import virtual
from .replay import AGENT_URL, Observation, observe, settings_with
from .scenario import Scenario

MODES = tuple(mode.value for mode in Mode)


def observe_mode(mode: str, scenario: Scenario, settings: Settings, watcher: Watcher) -> Observation:
    """Ask the reference agent of `settings`, in `mode`, what `scenario` asks.

    Of the bot's own settings only those of `scenario` count; it may change the agent's too.
    """
    settings = with_overrides(settings, scenario.settings)
    asked = _asked(mode, scenario, settings, watcher)
    return virtual.run(asked) if settings.reference.model_url is None else asyncio.run(asked)


async def _asked(mode: str, scenario: Scenario, settings: Settings, watcher: Watcher) -> Observation:
    is_local = settings.reference.model_url is None
    served = build_app(AGENT_URL, mode=mode, settings=settings.reference)
    try:
        return await observe(
            scenario,
            settings_with(AGENT_URL, scenario.settings),
            virtual.virtual_clock() if is_local else loop_clock(),
            AsgiTransport(served.asgi),
            watcher=watcher,
        )
    finally:
        await served.aclose()
