"""A timer that rings when a stream's time is over."""

from __future__ import annotations

import asyncio

import pytest

from slack_bot.testing import virtual_clock
from slack_bot.testing.slack.expiry import Expiry
from slack_bot.testing.slack.workspace import WorkspaceRules

from .scene import Scene, text


def test_each_stream_is_sealed_in_its_time() -> None:
    async def story() -> None:
        clock, scene = virtual_clock.new_clock(), Scene(rules=WorkspaceRules.real())
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

    virtual_clock.run(story())


def test_after_the_end_it_looks_no_more() -> None:
    async def story() -> None:
        clock, scene = virtual_clock.new_clock(), Scene(rules=WorkspaceRules.real())
        expiry = Expiry(scene.workspace, clock)
        scene.start(text("a"))
        expiry.arm()
        expiry.cancel()
        await asyncio.sleep(400)
        assert len(scene.workspace.open_streams()) == 1

    virtual_clock.run(story())


def test_it_needs_a_running_loop() -> None:
    scene = Scene(rules=WorkspaceRules.real())
    scene.start(text("a"))
    with pytest.raises(RuntimeError):
        Expiry(scene.workspace, virtual_clock.new_clock()).arm()
