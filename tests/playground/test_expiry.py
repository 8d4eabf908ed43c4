"""A timer that rings when a stream's time is over."""

from __future__ import annotations

import asyncio

import pytest

from slack_bot.playground.expiry import Expiry
from slack_bot.playground.workspace import Rules
from slack_bot.tools import virtual

from .emulated.scene import Scene, text


def test_each_stream_is_sealed_in_its_time() -> None:
    async def story() -> None:
        clock, scene = virtual.virtual_clock(), Scene(rules=Rules.real())
        expiry = Expiry(scene.workspace, clock)
        expiry.arm()
        for _ in range(2):
            scene.now = clock.wall()
            scene.start(text("a"))
            expiry.arm()
            await asyncio.sleep(100)
        for seconds, left in ((99, 2), (2, 1), (98, 1), (2, 0)):
            await asyncio.sleep(seconds)
            assert len(scene.workspace.open_streams()) == left

    virtual.run(story())


def test_after_the_end_it_looks_no_more() -> None:
    async def story() -> None:
        clock, scene = virtual.virtual_clock(), Scene(rules=Rules.real())
        expiry = Expiry(scene.workspace, clock)
        scene.start(text("a"))
        expiry.arm()
        expiry.cancel()
        await asyncio.sleep(400)
        assert len(scene.workspace.open_streams()) == 1

    virtual.run(story())


def test_it_needs_a_running_loop() -> None:
    scene = Scene(rules=Rules.real())
    scene.start(text("a"))
    with pytest.raises(RuntimeError):
        Expiry(scene.workspace, virtual.virtual_clock()).arm()
