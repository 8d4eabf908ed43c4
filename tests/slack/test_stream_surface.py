"""Streamed messages: what is known of them after each call."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Mapping
from typing import Any

from slack_bot.slack.api import SlackApi
from slack_bot.slack.cards import CardClosing
from slack_bot.slack.faults import CallFailed, CallOk, Fault, SurfaceKind
from slack_bot.slack.model import Batch, SlackMessage
from slack_bot.slack.reconcile import Reconciler
from slack_bot.slack.surfaces import StreamSurface
from slack_bot.slack.turn_calls import UNANSWERED
from slack_bot.testing import virtual_clock
from slack_bot.turn.actions import CardState, TaskCard
from tests.slack.scene import Scene, run, unlimited

START, APPEND, STOP, REPLIES = (
    "chat.startStream",
    "chat.appendStream",
    "chat.stopStream",
    "conversations.replies",
)
Story = Callable[[Scene, StreamSurface, SlackMessage], Coroutine[Any, Any, None]]
RUNNING = TaskCard("a", "A", CardState.RUNNING)


def streams_of(scene: Scene) -> StreamSurface:
    return scene.streams()


def play(story: Story, faults: Any = None, **settings: Any) -> Scene:
    async def go() -> Scene:
        scene = Scene(faults, **settings)
        await story(scene, streams_of(scene), SlackMessage(SurfaceKind.STREAM))
        return scene

    return virtual_clock.run(go())


async def send(
    streams: StreamSurface, message: SlackMessage, text: str = "", *cards: TaskCard
) -> CallFailed | None:
    message.cards.want(cards)
    return await run(streams.write(message, Batch(text, message.cards.unsent())))


async def find(streams: StreamSurface, message: SlackMessage, *known: SlackMessage) -> bool:
    return await run(Reconciler(streams._calls, streams, streams._posts, known).find(message))


def test_only_what_slack_said_ok_to_is_confirmed() -> None:
    async def story(scene: Scene, streams: StreamSurface, message: SlackMessage) -> None:
        assert message.ts is None
        assert await send(streams, message, "One. ") is None
        assert (message.ts, message.text, message.is_open) == (scene.only().ts, "One. ", True)
        assert await send(streams, message, "Two. ") == CallFailed(Fault.FULL, "msg_too_long")
        assert (message.text, message.doubt, message.is_open) == ("One. ", None, True)

    play(story, {APPEND: ["msg_too_long"]})


def test_a_call_without_an_answer_leaves_a_doubt_and_its_text_unconfirmed() -> None:
    async def story(scene: Scene, streams: StreamSurface, message: SlackMessage) -> None:
        await send(streams, message, "One. ")
        assert await send(streams, message, "Two. ") == CallFailed(Fault.UNKNOWN, "timeout")
        assert (message.text, message.doubt) == ("One. ", "Two. ")
        assert scene.only().text == "One. Two. "

    play(story, {APPEND: ["timeout!"]})


def test_a_stream_that_slack_ended_is_not_open() -> None:
    async def story(scene: Scene, streams: StreamSurface, message: SlackMessage) -> None:
        await send(streams, message, "One. ")
        assert streams._calls.session == "processing"
        await send(streams, message, "Two. ")
        # after the human's stop the session is the app's to put to rest (facts: Slack 1.9)
        assert (message.is_open, streams._calls.session) == (False, reads)

    reads = "active"
    play(story, {APPEND: ["message_not_in_streaming_state"]})
    reads = "processing"
    play(story, {APPEND: ["stopped_by_user"]})


def test_cards_in_doubt_are_closed_with_the_stop() -> None:
    async def story(scene: Scene, streams: StreamSurface, message: SlackMessage) -> None:
        await send(streams, message, "One. ")
        await send(streams, message, "", RUNNING)
        assert isinstance(await run(streams.stop(message, CardClosing.DONE)), CallOk)

    for entry in ("timeout", "timeout!"):
        assert [task.status for task in play(story, {APPEND: [entry]}).only().tasks] == ["complete"]


def test_a_start_without_an_answer_is_found_in_the_thread() -> None:
    async def story(scene: Scene, streams: StreamSurface, message: SlackMessage) -> None:
        await send(streams, message, "One. ")
        assert (message.ts, message.doubt) == (None, "One. ")
        assert await find(streams, message)
        assert (message.ts, message.is_open) == (scene.only().ts, True)

    play(story, {START: ["timeout!"], REPLIES: ["internal_error", None]})


def test_a_thread_that_cannot_be_read_leaves_it_open_whether_there_is_a_stream() -> None:
    async def story(scene: Scene, streams: StreamSurface, message: SlackMessage) -> None:
        await send(streams, message, "One. ")
        assert not await find(streams, message)

    scene = play(story, {START: ["timeout"], REPLIES: ["missing_scope"]})
    assert scene.methods().count(REPLIES) == 1


def begun(scene: Scene) -> None:
    """Slack's event about the stream that was begun last."""
    assert scene.workspace.open_streams()
    scene.stream_starts.saw("C1", scene.root, scene.workspace.open_streams()[-1])


def test_slacks_event_names_the_stream_before_the_thread_is_read() -> None:
    async def story(scene: Scene, streams: StreamSurface, message: SlackMessage) -> None:
        await send(streams, message, "One. ")
        looking = asyncio.ensure_future(find(streams, message))
        await asyncio.sleep(2)
        begun(scene)
        async with asyncio.timeout(0.1):
            assert await looking
        assert (message.ts, message.is_open) == (scene.only().ts, True)

    scene = play(story, {START: ["timeout!"], REPLIES: ["missing_scope"]})
    assert scene.methods().count(REPLIES) == 1


def test_a_start_whose_event_came_is_not_waited_for_much_longer() -> None:
    async def story(scene: Scene, streams: StreamSurface, message: SlackMessage) -> None:
        sending = asyncio.ensure_future(send(streams, message, "One. "))
        await asyncio.sleep(1)
        begun(scene)
        async with asyncio.timeout(2.1):
            assert await sending == CallFailed(Fault.UNKNOWN, UNANSWERED)
        assert message.doubt == "One. "
        assert await find(streams, message)
        assert message.ts == scene.only().ts

    assert REPLIES not in play(story, {START: ["timeout!"]}, start_answer_wait=2.0).methods()


def test_an_answer_that_is_a_little_slow_is_taken() -> None:
    async def story(scene: Scene, streams: StreamSurface, message: SlackMessage) -> None:
        sending = asyncio.ensure_future(send(streams, message, "One. "))
        await asyncio.sleep(0.1)
        begun(scene)
        assert await sending is None
        assert (message.ts, message.text) == (scene.only().ts, "One. ")

    play(story, {START: ["slow:2!"]}, start_answer_wait=3.0)


def test_a_stream_that_another_start_claimed_is_not_found_in_the_thread() -> None:
    """Two starts with the same text had no answer; each has a stream of its own."""

    async def story(scene: Scene, streams: StreamSurface, message: SlackMessage) -> None:
        other = SlackMessage(SurfaceKind.STREAM)
        await send(streams, other, "One. ")
        begun(scene)
        assert await find(streams, other)
        await send(streams, message, "One. ")
        assert await find(streams, message)
        assert message.ts not in (None, other.ts)

    play(story, {START: ["timeout!"]})


def test_what_was_never_asked_for_is_not_looked_for() -> None:
    async def story(scene: Scene, streams: StreamSurface, message: SlackMessage) -> None:
        assert await find(streams, message)
        assert message.ts is None

    assert play(story).methods() == []


def test_what_is_not_a_stream_or_is_signed_or_known_or_older_is_not_taken_for_it() -> None:
    async def story(scene: Scene, streams: StreamSurface, message: SlackMessage) -> None:
        earlier, signed, known = (
            SlackMessage(SurfaceKind.STREAM),
            SlackMessage(SurfaceKind.STREAM),
            SlackMessage(SurfaceKind.STREAM),
        )
        await send(streams, earlier, "One. ")
        await asyncio.sleep(300)
        await send(streams, signed, "One. ")
        await run(streams.stop(signed, CardClosing.DONE))
        await send(streams, known, "One. ")
        await scene.api.call("chat.postMessage", {"channel": "C1", "thread_ts": scene.root, "text": "One. "})
        await send(streams, message, "One. ")
        assert await find(streams, message, known)
        assert message.ts is None

    play(story, {START: [None, None, None, "internal_error"]})


def test_a_stop_is_repeated_until_it_has_an_answer() -> None:
    async def story(scene: Scene, streams: StreamSurface, message: SlackMessage) -> None:
        await send(streams, message, "One. ")
        assert isinstance(await run(streams.stop(message, CardClosing.DONE, session="suspended")), CallOk)
        assert not message.is_open

    for faults in (["timeout", "internal_error", None], ["timeout!", None], ["internal_error!"]):
        scene = play(story, {STOP: faults})
        assert scene.only().state == "sealed"
        assert scene.workspace.session("C1", scene.root) == "suspended"


def test_a_stop_that_may_have_been_slacks_own_leaves_its_cards_to_be_closed() -> None:
    async def story(scene: Scene, streams: StreamSurface, message: SlackMessage) -> None:
        await send(streams, message, "One. ", RUNNING)
        failed = await run(streams.stop(message, CardClosing.DONE))
        assert isinstance(failed, CallFailed)
        assert (failed.fault, message.is_open) == (Fault.SEALED, False)
        assert message.cards.closing(CardClosing.DONE)

    play(story, {STOP: ["timeout", "message_not_in_streaming_state"]})


def test_a_stop_is_not_repeated_for_ever() -> None:
    async def story(scene: Scene, streams: StreamSurface, message: SlackMessage) -> None:
        await send(streams, message, "One. ")
        assert await run(streams.stop(message, CardClosing.DONE)) == CallFailed(
            Fault.UNKNOWN, "internal_error"
        )
        assert message.is_open

    assert play(story, {STOP: ["internal_error"]}).methods() == [START, STOP, STOP, STOP, STOP]


def test_a_full_message_is_stopped_without_what_it_has_no_room_for() -> None:
    async def story(scene: Scene, streams: StreamSurface, message: SlackMessage) -> None:
        await send(streams, message, "One. ", RUNNING)
        assert await send(streams, message, "Two. ") == CallFailed(Fault.FULL, "msg_too_long")
        assert await run(streams.stop(message, CardClosing.CONTINUES)) == CallFailed(
            Fault.FULL, "msg_too_long"
        )
        assert not message.is_open

    assert play(story, {APPEND: ["msg_too_long"]}).only().state == "sealed"


def test_a_stop_that_is_refused_in_every_form_is_reported() -> None:
    async def story(scene: Scene, streams: StreamSurface, message: SlackMessage) -> None:
        await send(streams, message, "One. ", RUNNING)
        result = await run(streams.stop(message, CardClosing.DONE))
        assert result == CallFailed(Fault.WRONG_CALL, "invalid_arguments")

    assert play(story, {STOP: ["invalid_arguments"]}).methods() == [START, STOP, STOP, STOP]


def test_the_session_is_put_to_rest_where_the_last_stop_left_it_at_work() -> None:
    async def story(scene: Scene, streams: StreamSurface, message: SlackMessage) -> None:
        await run(streams.rest_session(""))
        await send(streams, message, "One. ")
        await run(streams.stop(message, CardClosing.CONTINUES, session="processing"))
        await run(streams.rest_session(""))
        await run(streams.rest_session(""))

    for faults in ({}, {"agents.sessions.setStatus": ["feature_disabled"]}):
        scene = play(story, faults)
        assert scene.workspace.session("C1", scene.root) == "active"
        assert scene.methods().count("agents.sessions.setStatus") == 1


def test_in_its_plainest_form_a_stream_takes_no_display_mode() -> None:
    async def story(scene: Scene, streams: StreamSurface, message: SlackMessage) -> None:
        streams.is_plain = True
        await send(streams, message, "One. ")

    assert "task_display_mode" not in play(story).workspace.calls[0].args


class Nameless(SlackApi):
    """A door behind which nothing has a name."""

    async def call(
        self, method: str, args: Mapping[str, object], *, patience: float | None = None
    ) -> CallOk | CallFailed:
        return CallOk({"ok": True})


def test_a_start_that_names_no_message_is_in_doubt() -> None:
    async def go() -> None:
        scene = Scene()
        scene.api = Nameless(scene.client, scene.clock, scene.facts.append, 60, unlimited(scene.clock))
        message = SlackMessage(SurfaceKind.STREAM)
        assert await send(streams_of(scene), message, "One. ") == CallFailed(Fault.UNKNOWN, "unreadable")
        assert message.doubt == "One. "

    virtual_clock.run(go())
