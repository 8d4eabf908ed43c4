"""The last message of an answer is put to rest."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

import pytest

from slack_bot.slack.blocks import context
from slack_bot.slack.chunks import CardClosing
from slack_bot.slack.delivery import Delivery
from slack_bot.slack.finalize import discard_pending, finish
from slack_bot.slack.orders import Batch
from slack_bot.slack.surfaces.fallback import StreamingRefusalCache
from slack_bot.slack.turn_client import TurnClient
from slack_bot.testing import virtual_clock
from slack_bot.turn.actions import CardState, TaskCard
from tests.slack.scene import Scene

START, APPEND, STOP, UPDATE = "chat.startStream", "chat.appendStream", "chat.stopStream", "chat.update"
UNDER = [context("under")]
CARD = TaskCard("a", "Search", CardState.RUNNING)
Story = Callable[[Scene, Delivery], Coroutine[Any, Any, None]]


def play(story: Story, faults: Any = None, **settings: Any) -> Scene:
    async def go() -> Scene:
        scene = Scene(faults, **settings)
        await story(
            scene,
            Delivery(
                TurnClient(scene.api), scene.place, scene.settings, scene.clock, StreamingRefusalCache()
            ),
        )
        return scene

    return virtual_clock.run(go())


async def write(delivery: Delivery, text: str, *cards: TaskCard) -> None:
    delivery.add(Batch(text, cards))
    await delivery.advance()


def test_what_belongs_under_it_goes_with_the_stop() -> None:
    async def story(scene: Scene, delivery: Delivery) -> None:
        await write(delivery, "One. ", CARD)
        assert await finish(delivery, UNDER, CardClosing.FAILED, "suspended")
        assert await finish(delivery, UNDER, CardClosing.FAILED)

    scene = play(story)
    assert scene.methods() == [START, STOP]
    assert (scene.only().extras, scene.only().tasks[0].status) == (("under",), "error")
    assert scene.workspace.session("C1", scene.root) == "suspended"


def test_there_is_nothing_to_put_to_rest() -> None:
    async def story(scene: Scene, delivery: Delivery) -> None:
        assert not await finish(delivery, UNDER, CardClosing.DONE)

    assert play(story).methods() == []


def test_a_stream_that_is_over_is_written_anew() -> None:
    async def story(scene: Scene, delivery: Delivery) -> None:
        await write(delivery, "One. ", CARD)
        assert await finish(delivery, UNDER, CardClosing.DONE)

    for error in ("message_not_in_streaming_state", "invalid_blocks"):
        scene = play(story, {STOP: [error, None]})
        assert (scene.only().text, scene.only().extras) == ("One. ", ("under",))
        assert scene.only().tasks[0].status == "complete"


def test_refused_everywhere_it_stands_nowhere() -> None:
    async def story(scene: Scene, delivery: Delivery) -> None:
        await write(delivery, "One. ")
        assert not await finish(delivery, UNDER, CardClosing.DONE)

    assert play(story, {STOP: ["invalid_blocks", None], UPDATE: ["cant_update_message"]}).texts() == ["One. "]


def test_a_message_that_is_gone_is_left_alone() -> None:
    async def story(scene: Scene, delivery: Delivery) -> None:
        await write(delivery, "One. ")
        assert not await finish(delivery, UNDER, CardClosing.DONE)
        assert delivery.is_gone
        assert not await finish(delivery, UNDER, CardClosing.DONE)

    assert play(story, {STOP: ["message_not_found"]}).methods() == [START, STOP]


def test_a_start_in_doubt_is_settled_first() -> None:
    async def story(scene: Scene, delivery: Delivery) -> None:
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(1):
                await write(delivery, "One. ")
        assert await finish(delivery, UNDER, CardClosing.DONE) == bool(scene.thread())

    assert play(story, {START: ["timeout"]}).thread() == []
    assert play(story, {START: ["timeout!"]}).only().extras == ("under",)


def test_text_in_doubt_is_settled_before_it_is_written_anew() -> None:
    async def story(scene: Scene, delivery: Delivery) -> None:
        await write(delivery, "One. ")
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(1):
                await write(delivery, "Two.")
        assert await finish(delivery, UNDER, CardClosing.DONE)

    faults = {APPEND: ["timeout!"], STOP: ["message_not_in_streaming_state", None]}
    scene = play(story, faults)
    assert (scene.only().text, scene.only().extras) == ("One. Two.", ("under",))


def test_an_edited_message_is_edited_once_more() -> None:
    async def story(scene: Scene, delivery: Delivery) -> None:
        await write(delivery, "One. ", CARD)
        assert await finish(delivery, UNDER, CardClosing.DONE)

    message = play(story, can_stream=False).only()
    assert (message.text, message.extras[-1], message.tasks[0].status) == ("One. ", "under", "complete")


def test_at_rest_nothing_that_waits_is_shown() -> None:
    async def story(scene: Scene, delivery: Delivery) -> None:
        await write(delivery, "One. ")
        await write(delivery, "Two. ")
        delivery.add(Batch("Three."))
        await discard_pending(delivery, CardClosing.DONE)
        await discard_pending(delivery, CardClosing.DONE)
        assert not delivery.ledger.released

    for faults in ({}, {APPEND: ["timeout!"]}, {STOP: ["internal_error!", None]}):
        scene = play(story, faults)
        assert scene.texts() == ["One. Two. "]
        assert scene.workspace.open_streams() == []
