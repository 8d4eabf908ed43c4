"""What every surface does, whichever it is."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import Any

import pytest

from slack_bot.slack.blocks import context
from slack_bot.slack.cards import CONTINUES, CardClosing
from slack_bot.slack.faults import Fault
from slack_bot.slack.message import MessageWrite, SlackMessage
from slack_bot.slack.surfaces.edit import Edits, EditSurface, PostSurface
from slack_bot.slack.surfaces.fallback import SurfaceKind
from slack_bot.slack.surfaces.surface import Surface
from slack_bot.testing import virtual_clock
from slack_bot.turn.actions import CardState, TaskCard
from tests.slack.scene import Scene

FOOTER = [context("under")]
LIVE = [SurfaceKind.STREAM, SurfaceKind.EDIT, SurfaceKind.POST]
Story = Callable[[Surface, SlackMessage], Coroutine[Any, Any, None]]


def play(kind: SurfaceKind, story: Story, faults: Any = None) -> Scene:
    async def go() -> Scene:
        scene = Scene(faults)
        client = scene.turn_client()
        edits = Edits(client, scene.settings)
        surfaces: dict[SurfaceKind, Surface] = {
            SurfaceKind.STREAM: scene.streams(client),
            SurfaceKind.EDIT: EditSurface(edits, scene.settings, scene.clock),
            SurfaceKind.POST: PostSurface(edits),
        }
        await story(surfaces[kind], SlackMessage(kind))
        return scene

    return virtual_clock.run(go())


async def write(surface: Surface, message: SlackMessage, text: str, *cards: TaskCard) -> None:
    message.cards.want(cards)
    assert await surface.write(message, MessageWrite(text, message.cards.unsent())) is None


@pytest.mark.parametrize("kind", LIVE)
def test_a_message_that_goes_on_elsewhere_is_ended_with_its_cards_closed(kind: SurfaceKind) -> None:
    async def story(surface: Surface, message: SlackMessage) -> None:
        await write(surface, message, "One. ", TaskCard("a", "Search", CardState.RUNNING))
        await write(surface, message, "Two. ")
        await surface.end(message)
        assert (message.text, message.is_open) == ("One. Two. ", False)
        assert not message.cards.closing(CardClosing.CONTINUES)

    scene = play(kind, story)
    assert (scene.only().text, scene.workspace.open_streams()) == ("One. Two. ", [])
    assert [(task.title, task.status) for task in scene.only().tasks] == [("Search" + CONTINUES, "complete")]


@pytest.mark.parametrize("kind", LIVE)
def test_a_footer_is_written_under_an_ended_message(kind: SurfaceKind) -> None:
    async def story(surface: Surface, message: SlackMessage) -> None:
        await write(surface, message, "One. ")
        await surface.end(message)
        assert await surface.attach_footer(message, FOOTER, CardClosing.DONE) is None
        assert message.is_signed

    scene = play(kind, story)
    assert (scene.only().text, scene.only().extras) == ("One. ", ("under",))


@pytest.mark.parametrize("kind", LIVE)
def test_a_message_begins_with_one_method_and_goes_on_with_another(kind: SurfaceKind) -> None:
    surfaces: list[Surface] = []

    async def story(surface: Surface, message: SlackMessage) -> None:
        surfaces.append(surface)
        await write(surface, message, "One. ")
        await write(surface, message, "Two. ")

    methods = play(kind, story).methods()
    assert methods == [surfaces[0].begin_method, surfaces[0].write_method]


@pytest.mark.parametrize("kind", LIVE)
def test_what_slack_refuses_is_not_counted_as_shown(kind: SurfaceKind) -> None:
    async def story(surface: Surface, message: SlackMessage) -> None:
        failed = await surface.write(message, MessageWrite("One. "))
        assert failed is not None
        assert failed.fault is Fault.NO_WRITING
        assert (message.ts, message.text) == (None, "")

    faults = {method: ["is_archived"] for method in ("chat.startStream", "chat.postMessage")}
    assert play(kind, story, faults).thread() == []


def test_only_edits_keep_a_distance() -> None:
    for kind in LIVE:
        pauses: list[float] = []

        async def story(surface: Surface, message: SlackMessage, pauses: list[float] = pauses) -> None:
            pauses.append(surface.pause(0.0))
            await write(surface, message, "One. ")
            pauses.append(surface.pause(0.0))

        scene = play(kind, story)
        assert pauses[0] == 0.0
        assert (pauses[1] >= scene.settings.edit_interval) == (kind is SurfaceKind.EDIT)
