"""What every surface does, whichever it is."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import Any

import pytest

from slack_bot.slack.cards import CardClosing
from slack_bot.slack.faults import Fault, SurfaceKind
from slack_bot.slack.model import Batch, SlackMessage
from slack_bot.slack.surfaces import PostSurface, StreamSurface
from slack_bot.testing import virtual_clock
from slack_bot.text.words import CARD_CONTINUES
from slack_bot.turn.actions import CardState, TaskCard
from tests.slack.scene import Scene, run

LIVE = [SurfaceKind.STREAM, SurfaceKind.EDIT, SurfaceKind.POST]
Surface = StreamSurface | PostSurface
Story = Callable[[Surface, SlackMessage], Coroutine[Any, Any, None]]


def play(kind: SurfaceKind, story: Story, faults: Any = None) -> Scene:
    async def go() -> Scene:
        scene = Scene(faults)
        client = scene.new_calls()
        surface = scene.streams(client) if kind is SurfaceKind.STREAM else scene.posts(client)
        await story(surface, SlackMessage(kind))
        return scene

    return virtual_clock.run(go())


async def write(surface: Surface, message: SlackMessage, text: str, *cards: TaskCard) -> None:
    message.cards.want(cards)
    assert await run(surface.write(message, Batch(text, message.cards.unsent()))) is None


@pytest.mark.parametrize("kind", LIVE)
def test_a_message_that_goes_on_elsewhere_is_ended_with_its_cards_closed(kind: SurfaceKind) -> None:
    async def story(surface: Surface, message: SlackMessage) -> None:
        await write(surface, message, "One. ", TaskCard("a", "Search", CardState.RUNNING))
        await write(surface, message, "Two. ")
        if isinstance(surface, StreamSurface):
            await run(surface.end(message))
        else:
            await run(surface.write(message, Batch(), close=CardClosing.CONTINUES))
        assert (message.text, message.is_open) == ("One. Two. ", False)
        assert not message.cards.closing(CardClosing.CONTINUES)

    scene = play(kind, story)
    assert (scene.only().text, scene.workspace.open_streams()) == ("One. Two. ", [])
    assert [(task.title, task.status) for task in scene.only().tasks] == [
        ("Search" + CARD_CONTINUES, "complete")
    ]


@pytest.mark.parametrize("kind", LIVE)
def test_what_slack_refuses_is_not_counted_as_shown(kind: SurfaceKind) -> None:
    async def story(surface: Surface, message: SlackMessage) -> None:
        failed = await run(surface.write(message, Batch("One. ")))
        assert failed is not None
        assert failed.fault is Fault.NO_WRITING
        assert (message.ts, message.text) == (None, "")

    faults = {method: ["is_archived"] for method in ("chat.startStream", "chat.postMessage")}
    assert play(kind, story, faults).thread() == []
