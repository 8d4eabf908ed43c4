"""Messages that are written as a whole."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import Any

import pytest

from slack_bot.slack.blocks import context
from slack_bot.slack.calls import CallFailed
from slack_bot.slack.cards import CardClosing
from slack_bot.slack.faults import Fault
from slack_bot.slack.message import MessageWrite, SlackMessage
from slack_bot.slack.surfaces.edit import Edits
from slack_bot.slack.surfaces.fallback import SurfaceKind
from slack_bot.testing import virtual_clock
from slack_bot.turn.actions import CardState, TaskCard
from tests.slack.scene import Scene

START, STOP = "chat.startStream", "chat.stopStream"
POST, UPDATE, DELETE = "chat.postMessage", "chat.update", "chat.delete"
CARD = TaskCard("a", "A", CardState.RUNNING, details="one")
Story = Callable[[Scene, Edits], Coroutine[Any, Any, None]]


def play(story: Story, faults: Any = None, **settings: Any) -> Scene:
    async def go() -> Scene:
        scene = Scene(faults, **settings)
        await story(scene, Edits(scene.turn_client(), scene.settings))
        return scene

    return virtual_clock.run(go())


async def streamed(scene: Scene, text: str, *cards: TaskCard, stop: bool = True) -> SlackMessage:
    message, streams = (
        SlackMessage(SurfaceKind.STREAM),
        scene.streams(),
    )
    message.cards.want(cards)
    await streams.write(message, MessageWrite(text, message.cards.unsent()))
    if stop:
        await streams.stop(message, CardClosing.DONE)
    return message


def test_a_message_is_posted_first_and_then_edited() -> None:
    async def story(scene: Scene, edits: Edits) -> None:
        message = SlackMessage(SurfaceKind.EDIT)
        assert await edits.show(message, "One. ", "") is None
        assert (message.ts, message.text, message.is_signed) == (scene.only().ts, "One. ", False)
        message.cards.want([CARD])
        assert await edits.show(message, "One. Two.", "Plan") is None
        assert [task.status for task in scene.only().tasks] == ["in_progress"]
        assert message.cards.unsent() == ()
        under = [context("under")]
        assert await edits.show(message, "One. Two.", "Plan", footer=under, close=CardClosing.FAILED) is None
        assert message.is_signed

    for mode in ("plan", "timeline"):
        scene = play(story, task_display_mode=mode)
        assert scene.methods() == [POST, UPDATE, UPDATE]
        assert (scene.only().text, scene.only().extras) == ("One. Two.", ("under",))
        assert [(task.status, task.details) for task in scene.only().tasks] == [("error", "one")]


def test_blocks_that_are_refused_do_not_keep_the_text_back() -> None:
    async def story(scene: Scene, edits: Edits) -> None:
        message = SlackMessage(SurfaceKind.EDIT)
        await edits.show(message, "One. ", "")
        assert await edits.show(message, "One. Two.", "", footer=[context("under")]) is None
        assert (message.text, message.is_signed) == ("One. Two.", False)

    assert play(story, {UPDATE: ["invalid_blocks", None]}).texts() == ["One. Two."]


def test_what_is_refused_changes_nothing_of_what_is_known() -> None:
    async def story(scene: Scene, edits: Edits) -> None:
        message = SlackMessage(SurfaceKind.EDIT)
        assert await edits.show(message, "One. ", "") == CallFailed(Fault.NO_WRITING, "no_permission")
        assert (message.ts, message.text) == (None, "")

    play(story, {POST: ["no_permission"]})


def test_a_sealed_stream_is_written_anew_with_its_cards() -> None:
    async def story(scene: Scene, edits: Edits) -> None:
        message = await streamed(scene, "One. ", CARD)
        assert await edits.rewrite(message, "Two.", [context("under")], CardClosing.DONE) is None
        assert (message.text, message.is_signed) == ("Two.", True)

    message = play(story).only()
    assert (message.text, message.extras) == ("Two.", ("under",))
    assert [task.status for task in message.tasks] == ["complete"]


def test_a_message_of_cards_only_is_written_anew_with_them() -> None:
    async def story(scene: Scene, edits: Edits) -> None:
        message = await streamed(scene, "", CARD)
        assert await edits.rewrite(message, "", (), CardClosing.FAILED) is None

    message = play(story).only()
    assert (message.text, [task.status for task in message.tasks]) == ("", ["error"])


def test_a_message_of_cards_only_keeps_them_where_its_full_form_is_refused() -> None:
    async def story(scene: Scene, edits: Edits) -> None:
        message = await streamed(scene, "", CARD)
        assert await edits.rewrite(message, "", (), CardClosing.FAILED) is None
        assert not message.cards.closing(CardClosing.FAILED)

    scene = play(story, {UPDATE: ["block_mismatch", None]})
    assert [task.status for task in scene.only().tasks] == ["error"]


def test_an_open_stream_is_stopped_before_it_is_written_anew() -> None:
    async def story(scene: Scene, edits: Edits) -> None:
        message = await streamed(scene, "One. ", stop=False)
        assert await edits.rewrite(message, "Two.", (), CardClosing.DONE) is None

    scene = play(story)
    assert (scene.only().text, scene.only().state) == ("Two.", "sealed")
    assert scene.methods() == [START, UPDATE, STOP, UPDATE]


def test_what_is_refused_with_and_without_blocks_does_not_stand() -> None:
    async def story(scene: Scene, edits: Edits) -> None:
        message = await streamed(scene, "One. ", CARD)
        failed = CallFailed(Fault.WRONG_CALL, "cant_update_message")
        assert await edits.rewrite(message, "Two.", (), CardClosing.DONE) == failed
        assert message.text == "One. "

    assert play(story, {UPDATE: ["cant_update_message"]}).texts() == ["One. "]


def test_the_text_stands_though_its_blocks_do_not() -> None:
    async def story(scene: Scene, edits: Edits) -> None:
        message = await streamed(scene, "One. ")
        assert await edits.rewrite(message, "Two.", [context("x")], CardClosing.DONE) is None
        assert (message.text, message.is_signed) == ("Two.", False)

    assert play(story, {UPDATE: ["block_mismatch", None]}).texts() == ["Two."]


def test_an_edit_that_may_have_been_made_stays_in_doubt_when_its_text_alone_is_refused() -> None:
    async def story(scene: Scene, edits: Edits) -> None:
        message = SlackMessage(SurfaceKind.EDIT)
        await edits.show(message, "One. ", "")
        refused = await edits.show(message, "One. Two.", "")
        assert refused is not None
        assert refused.in_doubt

    for first in ("internal_error!", "timeout!"):
        scene = play(story, {UPDATE: [first, *["block_mismatch"] * 3, None]})
        assert scene.texts() == ["One. Two."]


def test_a_message_is_taken_away_once() -> None:
    async def story(scene: Scene, edits: Edits) -> None:
        message = await streamed(scene, "One. ")
        assert await edits.delete(message)

    for entry in ("timeout", "timeout!", None):
        assert play(story, {DELETE: [entry, None]}).thread() == []


def test_a_message_that_is_still_open_is_stopped_and_taken_away() -> None:
    async def story(scene: Scene, edits: Edits) -> None:
        assert await edits.delete(await streamed(scene, "One. ", stop=False))

    assert play(story).thread() == []


def test_what_slack_takes_for_open_for_a_while_is_taken_away_all_the_same() -> None:
    async def story(scene: Scene, edits: Edits) -> None:
        assert await edits.delete(await streamed(scene, "One. "))

    assert (
        play(story, {DELETE: ["cant_delete_message", "cant_delete_message", "timeout!", None]}).thread() == []
    )


def test_one_that_cannot_be_taken_away_stands() -> None:
    async def story(scene: Scene, edits: Edits) -> None:
        assert not await edits.delete(await streamed(scene, "One. ", stop=False))

    assert play(story, {DELETE: ["cant_delete_message"]}).texts() == ["One. "]


@pytest.mark.parametrize("kind", [SurfaceKind.EDIT, SurfaceKind.POST])
def test_a_message_whose_end_shows_its_cards_closed_has_none_left_to_close(kind: SurfaceKind) -> None:
    async def story(scene: Scene, edits: Edits) -> None:
        message = SlackMessage(kind)
        message.cards.want([CARD])
        await edits.show(message, "One. ", "", close=CardClosing.CONTINUES)
        assert message.cards.closing(CardClosing.CONTINUES) == ()

    assert play(story).methods() == [POST]


def test_cards_that_went_with_a_refused_form_are_still_to_be_closed() -> None:
    async def story(scene: Scene, edits: Edits) -> None:
        message = SlackMessage(SurfaceKind.EDIT)
        message.cards.want([CARD])
        await edits.show(message, "One. ", "")
        await edits.show(message, "One. ", "", close=CardClosing.CONTINUES)
        assert message.cards.closing(CardClosing.CONTINUES) != ()

    play(story, {UPDATE: ["invalid_blocks", None]})
