"""Traces are made where the settings want them, and cost nothing elsewhere."""

from __future__ import annotations

import asyncio
import sys

import pytest

from slack_bot.clock import system_clock
from slack_bot.features.traces.observer import FEATURE
from slack_bot.testing.harness import bot_settings


@pytest.mark.parametrize("is_wanted", [False, True])
def test_there_is_an_observer_where_the_settings_want_one(is_wanted: bool) -> None:
    assert FEATURE.observe is not None
    settings = bot_settings({"traces.enabled": is_wanted})
    assert (FEATURE.observe(settings, system_clock()) is not None) is is_wanted


@pytest.mark.slow
async def test_where_it_is_off_the_library_is_not_loaded() -> None:
    program = (
        "import sys, slack_bot.app; sys.exit(any(name.startswith('opentelemetry') for name in sys.modules))"
    )
    process = await asyncio.create_subprocess_exec(sys.executable, "-c", program)
    assert await process.wait() == 0
