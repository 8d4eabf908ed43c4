"""What became of a call without an answer."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

import pytest

from slack_bot.slack.blocks import TextForm
from slack_bot.slack.cards import CardClosing
from slack_bot.slack.faults import CallFailed, Fault, SurfaceKind
from slack_bot.slack.model import Batch, SlackMessage
from slack_bot.slack.reconcile import Reconciler
from slack_bot.slack.surfaces import StreamSurface
from slack_bot.testing import virtual_clock
from slack_bot.turn.actions import CardState, TaskCard
from tests.slack.scene import Scene, run

START, APPEND, STOP = "chat.startStream", "chat.appendStream", "chat.stopStream"
UPDATE, DELETE, REPLIES = "chat.update", "chat.delete", "conversations.replies"
Story = Callable[[Scene, StreamSurface, Reconciler, SlackMessage], Coroutine[Any, Any, None]]
SILENT = ["timeout", "timeout!", "internal_error", "internal_error!", "cut", "cut!", "http:500", "http:500!"]


def play(story: Story, faults: Any = None) -> Scene:
    async def go() -> Scene:
        scene = Scene(faults)
        client = scene.new_calls()
        streams, posts = scene.streams(client), scene.posts(client)
        reconciler = Reconciler(client, streams, posts, [])
        await story(scene, streams, reconciler, SlackMessage(SurfaceKind.STREAM))
        return scene

    return virtual_clock.run(go())


@pytest.mark.parametrize("entry", SILENT)
@pytest.mark.parametrize("method", [START, APPEND])
@pytest.mark.parametrize("more", [{}, {STOP: ["timeout!", None]}, {REPLIES: ["timeout", None]}])
def test_what_stands_is_learned_and_the_stream_is_stopped(method: str, entry: str, more: Any) -> None:
    async def story(
        scene: Scene, streams: StreamSurface, reconciler: Reconciler, message: SlackMessage
    ) -> None:
        confirmed = "" if method == START else "One. "
        if confirmed:
            await run(streams.write(message, Batch(confirmed)))
        failed = await run(streams.write(message, Batch("Two. ")))
        assert failed is not None
        assert failed.fault is Fault.UNKNOWN
        applied = entry.endswith("!")
        assert await run(reconciler.reconcile(message)) == (applied, None)
        assert message.text == confirmed + ("Two. " if applied else "")
        assert message.doubt is None
        assert not message.is_open

    scene = play(story, {method: [entry], **more})
    assert scene.workspace.open_streams() == []


def test_what_cannot_be_read_is_made_to_stand() -> None:
    async def story(
        scene: Scene, streams: StreamSurface, reconciler: Reconciler, message: SlackMessage
    ) -> None:
        await run(streams.write(message, Batch("One. ")))
        await run(streams.write(message, Batch("Two. ")))
        assert await run(reconciler.reconcile(message)) == (True, None)
        assert message.text == "One. Two. "

    for entry in ("timeout", "timeout!"):
        faults = {APPEND: [entry], STOP: ["timeout!", None], REPLIES: ["missing_scope"]}
        assert play(story, faults).texts() == ["One. Two. "]


def test_what_can_neither_be_read_nor_rewritten_is_sent_again_and_said_aloud(caplog: Any) -> None:
    async def story(
        scene: Scene, streams: StreamSurface, reconciler: Reconciler, message: SlackMessage
    ) -> None:
        await run(streams.write(message, Batch("One. ")))
        await run(streams.write(message, Batch("Two. ")))
        assert await run(reconciler.reconcile(message)) == (False, None)
        assert message.text == "One. "

    faults = {APPEND: ["timeout"], STOP: ["timeout!", None], REPLIES: ["missing_scope"]}
    play(story, {**faults, UPDATE: ["cant_update_message"]})
    assert "sent again" in caplog.text


def test_a_thread_that_is_gone_is_told() -> None:
    async def story(
        scene: Scene, streams: StreamSurface, reconciler: Reconciler, message: SlackMessage
    ) -> None:
        await run(streams.write(message, Batch("One. ")))
        await run(streams.write(message, Batch("Two. ")))
        assert await run(reconciler.reconcile(message)) == (
            False,
            CallFailed(Fault.GONE, "message_not_found"),
        )

    play(story, {APPEND: ["timeout"], STOP: ["message_not_found"]})


def test_a_stream_that_slack_ended_gets_its_cards_closed() -> None:
    async def story(
        scene: Scene, streams: StreamSurface, reconciler: Reconciler, message: SlackMessage
    ) -> None:
        message.cards.want([TaskCard("a", "A", CardState.RUNNING)])
        await run(streams.write(message, Batch("One. ", message.cards.unsent())))
        await run(streams.write(message, Batch("Two. ")))
        assert await run(reconciler.end(message)) == CallFailed(Fault.SEALED, "not open")

    scene = play(story, {APPEND: ["message_not_in_streaming_state"]})
    assert [(task.title, task.status) for task in scene.only().tasks] == [("A (continues below)", "complete")]
    assert not scene.only().plan_failed
    assert STOP not in scene.methods()


def test_a_card_that_could_not_be_closed_is_closed_at_the_end() -> None:
    async def story(
        scene: Scene, streams: StreamSurface, reconciler: Reconciler, message: SlackMessage
    ) -> None:
        message.cards.want([TaskCard("a", "A", CardState.RUNNING)])
        await run(streams.write(message, Batch("", message.cards.unsent())))
        await run(streams.write(message, Batch("Two. ")))
        await run(reconciler.end(message))
        assert scene.only().plan_failed
        assert message.cards.closing(CardClosing.CONTINUES)
        await run(reconciler.close_open())
        assert not message.cards.closing(CardClosing.CONTINUES)

    faults = {APPEND: ["message_not_in_streaming_state"], UPDATE: ["block_mismatch", "block_mismatch", None]}
    scene = play(story, faults)
    assert not scene.only().plan_failed
    assert [task.status for task in scene.only().tasks] == ["complete"]


REFUSED = "error:nobody_knows_this"


def left_open(text: str, faults: Any) -> Scene:
    """A message of `text` and a card that ran when Slack ended it, at the end of the turn."""

    async def story(
        scene: Scene, streams: StreamSurface, reconciler: Reconciler, message: SlackMessage
    ) -> None:
        message.cards.want([TaskCard("a", "A", CardState.RUNNING)])
        await run(streams.write(message, Batch(text, message.cards.unsent())))
        await run(streams.write(message, Batch("Two. ")))
        await run(reconciler.end(message))
        await run(reconciler.close_open())

    return play(story, {APPEND: ["message_not_in_streaming_state"], **faults})


@pytest.mark.parametrize("text", ["", "One. "])
def test_a_card_is_closed_in_the_end_however_often_that_is_refused(text: str) -> None:
    calls = len(TextForm) if text else 2  # of each attempt
    scene = left_open(text, {UPDATE: [*[REFUSED] * 3 * calls, None]})
    assert scene.texts() == [text]
    assert [task.status for task in scene.only().tasks] == ["complete"]


def test_cards_that_cannot_be_closed_at_all_are_taken_away_where_they_stand_alone() -> None:
    assert left_open("", {UPDATE: ["block_mismatch"]}).thread() == []


@pytest.mark.parametrize("text,faults", [("", {DELETE: ["cant_delete_message"]}), ("One. ", {})])
def test_a_card_that_cannot_be_closed_at_all_is_said_aloud(text: str, faults: Any, caplog: Any) -> None:
    scene = left_open(text, {UPDATE: ["block_mismatch"], **faults})
    assert len(scene.thread()) == 1
    assert "keeps an open card" in caplog.text


def test_the_last_message_gets_its_cards_closed_too() -> None:
    async def story(
        scene: Scene, streams: StreamSurface, reconciler: Reconciler, message: SlackMessage
    ) -> None:
        message.cards.want([TaskCard("a", "A", CardState.RUNNING)])
        await run(scene.posts().write(message, Batch("One. ")))
        reconciler._messages = [message]
        await run(reconciler.close_open(CardClosing.FAILED))

    scene = play(story, {UPDATE: [*[REFUSED] * len(TextForm), None]})
    assert [task.status for task in scene.only().tasks] == ["error"]


def test_what_could_not_be_stopped_is_stopped_at_the_end() -> None:
    async def story(
        scene: Scene, streams: StreamSurface, reconciler: Reconciler, message: SlackMessage
    ) -> None:
        await run(streams.write(message, Batch("One. ")))
        assert isinstance(await run(reconciler.end(message)), CallFailed)
        assert scene.workspace.open_streams() == [message.ts]
        await run(reconciler.close_open())
        await run(reconciler.close_open())

    scene = play(story, {STOP: [*["internal_error"] * 4, None]})
    assert scene.workspace.open_streams() == []
    assert scene.methods().count(STOP) == 5


def test_a_stream_that_nobody_can_stop_is_counted_and_said_aloud(caplog: Any) -> None:
    async def story(
        scene: Scene, streams: StreamSurface, reconciler: Reconciler, message: SlackMessage
    ) -> None:
        await run(streams.write(message, Batch("One. ")))
        await run(reconciler.end(message))
        await run(reconciler.close_open())

    play(story, {STOP: ["internal_error"]})
    assert "streams not stopped: 1" in caplog.text


def test_a_stream_that_appears_late_is_taken_away() -> None:
    async def story(
        scene: Scene, streams: StreamSurface, reconciler: Reconciler, message: SlackMessage
    ) -> None:
        await run(streams.write(message, Batch("One. ")))
        assert await run(reconciler.reconcile(message)) == (False, None)
        await run(reconciler.close_open())

    scene = play(story, {START: ["timeout!"], REPLIES: [*["internal_error"] * 4, None]})
    assert scene.thread() == []
    assert scene.workspace.open_streams() == []


@pytest.mark.parametrize("over", [False, True])
def test_a_stream_that_slack_tells_of_late_is_taken_away_at_once(over: bool) -> None:
    async def story(
        scene: Scene, streams: StreamSurface, reconciler: Reconciler, message: SlackMessage
    ) -> None:
        await run(streams.write(message, Batch("One. ")))
        assert await run(reconciler.reconcile(message)) == (False, None)
        if over:
            await run(reconciler.close_open())
        (ts,) = scene.workspace.open_streams()
        assert scene.stream_starts.saw("C1", scene.root, ts)
        if not over:
            await run(reconciler.close_open())
        await asyncio.sleep(0.1)
        assert scene.thread() == []
        assert scene.workspace.open_streams() == []

    scene = play(story, {START: ["timeout!"], REPLIES: ["missing_scope"]})
    assert scene.methods().count(REPLIES) == 1


def test_what_is_found_while_the_turn_ends_is_taken_away() -> None:
    async def story(
        scene: Scene, streams: StreamSurface, reconciler: Reconciler, message: SlackMessage
    ) -> None:
        await run(streams.write(message, Batch("One. ")))
        await run(reconciler.reconcile(message))
        sweeping = asyncio.ensure_future(run(reconciler.close_open()))
        await asyncio.sleep(2)
        assert scene.stream_starts.saw("C1", scene.root, scene.workspace.open_streams()[0])
        async with asyncio.timeout(0.1):
            await sweeping
        assert scene.thread() == []

    play(story, {START: ["timeout!"], REPLIES: ["missing_scope"]})


def test_a_late_stream_that_nobody_can_stop_is_counted(caplog: Any) -> None:
    async def story(
        scene: Scene, streams: StreamSurface, reconciler: Reconciler, message: SlackMessage
    ) -> None:
        await run(streams.write(message, Batch("One. ")))
        await run(reconciler.reconcile(message))
        scene.stream_starts.saw("C1", scene.root, scene.workspace.open_streams()[0])
        await run(reconciler.close_open())

    play(story, {START: ["timeout!"], REPLIES: ["missing_scope"], STOP: ["internal_error"]})
    assert "streams not stopped: 1" in caplog.text


def test_an_edit_is_looked_at() -> None:
    async def story(
        scene: Scene, streams: StreamSurface, reconciler: Reconciler, message: SlackMessage
    ) -> None:
        message.surface, message.text = SurfaceKind.EDIT, "One. "
        sent = await scene.api.call(
            "chat.postMessage", {"channel": "C1", "thread_ts": scene.root, "markdown_text": "One. **Two.**"}
        )
        message.ts = getattr(sent, "ts", None)
        assert not await run(reconciler.is_shown(message, "Three."))
        assert await run(reconciler.is_shown(message, "**Two.**"))
        assert message.text == "One. **Two.**"
        assert not await run(reconciler.is_shown(message, "Three."))

    play(story, {REPLIES: [None, None, "missing_scope"]})


def test_a_message_that_is_written_anew_to_close_its_cards_loses_the_text_in_doubt() -> None:
    async def story(
        scene: Scene, streams: StreamSurface, reconciler: Reconciler, message: SlackMessage
    ) -> None:
        message.cards.want([TaskCard("a", "A", CardState.RUNNING)])
        await run(streams.write(message, Batch("One. ", message.cards.unsent())))
        await run(streams.write(message, Batch("Two. ")))
        stands, failed = await run(reconciler.reconcile(message))
        assert (stands, failed, scene.only().text) == (False, None, "One. ")

    for entry in ("internal_error", "internal_error!"):
        play(story, {APPEND: [entry], STOP: ["message_not_in_streaming_state"]})


@pytest.mark.parametrize("refusals", [1, 3, 5, 7])
@pytest.mark.parametrize("name", ["internal_error", "error:nobody_knows_this", "invalid_blocks"])
def test_a_stream_that_cannot_be_stopped_yet_is_stopped_later(name: str, refusals: int) -> None:
    async def story(
        scene: Scene, streams: StreamSurface, reconciler: Reconciler, message: SlackMessage
    ) -> None:
        await run(streams.write(message, Batch("One. ")))
        reconciler._messages = [message]
        await run(reconciler.close_open())
        assert not message.is_open

    scene = play(story, {STOP: [name] * refusals + [None]})
    assert scene.workspace.open_streams() == []


@pytest.mark.parametrize(
    ("name", "left"), [("message_not_found", 0), ("is_archived", 1), ("token_revoked", 1)]
)
def test_what_is_gone_is_not_open_and_what_may_not_be_stopped_is_not_tried_again(
    name: str, left: int, caplog: Any
) -> None:
    async def story(
        scene: Scene, streams: StreamSurface, reconciler: Reconciler, message: SlackMessage
    ) -> None:
        await run(streams.write(message, Batch("One. ")))
        reconciler._messages = [message]
        await run(reconciler.close_open())

    assert play(story, {STOP: [name]}).methods() == [START, STOP]
    assert ("streams not stopped: 1" in caplog.text) == bool(left)


def test_a_message_that_could_not_be_stopped_and_was_then_ended_by_slack_gets_its_cards_closed() -> None:
    async def story(
        scene: Scene, streams: StreamSurface, reconciler: Reconciler, message: SlackMessage
    ) -> None:
        message.cards.want([TaskCard("a", "A", CardState.RUNNING)])
        await run(streams.write(message, Batch("One. ", message.cards.unsent())))
        await run(reconciler.end(message))
        assert message.is_open
        await run(reconciler.close_open())

    ended = "message_not_in_streaming_state"
    scene = play(story, {STOP: [*["internal_error"] * 4, ended]})
    assert [task.status for task in scene.only().tasks] == ["complete"]
