"""One clock: monotonic time is the loop's, wall time is given."""

from __future__ import annotations

import asyncio

from freezegun import freeze_time

from slack_bot.clock import loop_clock


async def test_monotonic_time_is_the_loops() -> None:
    clock = loop_clock(wall=lambda: 42.0)
    before = asyncio.get_running_loop().time()
    assert before <= clock.monotonic() <= asyncio.get_running_loop().time()
    assert clock.wall() == 42.0


def test_wall_time_is_the_worlds_unless_told_otherwise() -> None:
    with freeze_time("2026-11-21T00:00:00Z"):
        assert loop_clock(wall=__import__("time").time).wall() == 1795219200.0
