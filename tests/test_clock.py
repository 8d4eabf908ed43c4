"""The clock of the running bot."""

from __future__ import annotations

import asyncio

from freezegun import freeze_time

from slack_bot.clock import system_clock


async def test_monotonic_time_is_that_of_event_loops() -> None:
    loop = asyncio.get_running_loop()
    before = loop.time()
    assert before <= system_clock().monotonic() <= loop.time()


def test_wall_time_counts_from_1970() -> None:
    with freeze_time("2026-11-21T00:00:00Z"):
        assert system_clock().wall() == 1795219200.0
