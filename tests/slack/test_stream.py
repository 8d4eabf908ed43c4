"""One streamed message: what is known of it, and its repair."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Mapping
from typing import Any

from slack_bot.slack.api import Done, Failed, SlackApi
from slack_bot.slack.faults import Fault
from slack_bot.slack.orders import Batch
from slack_bot.slack.stream import LiveMessage
from slack_bot.tools import virtual
from slack_bot.turn.actions import Card, CardState
from tests.slack.scene import Scene

START, APPEND, STOP, UPDATE = "chat.startStream", "chat.appendStream", "chat.stopStream", "chat.update"
Story = Callable[[Scene, LiveMessage], Coroutine[Any, Any, None]]


def play(story: Story, faults: Any = None, **settings: Any) -> Scene:
    async def go() -> Scene:
        scene = Scene(faults, **settings)
        await story(scene, LiveMessage(scene.api, scene.place, scene.settings, scene.clock))
        return scene

    return virtual.run(go())


def test_only_what_slack_said_ok_to_is_confirmed() -> None:
    async def story(scene: Scene, live: LiveMessage) -> None:
        assert (live.ts, live.confirmed, live.is_visible) == (None, "", False)
        assert await live.send(Batch("One. ")) is None
        assert (live.ts, live.confirmed, live.is_visible) == (scene.only().ts, "One. ", True)
        assert await live.send(Batch("Two. ")) == Failed(Fault.FULL, "msg_too_long")
        assert (live.confirmed, live.doubt, live.sealed) == ("One. ", False, False)

    play(story, {APPEND: ["msg_too_long"]})


def test_a_call_without_an_answer_leaves_a_doubt_and_its_text_unconfirmed() -> None:
    async def story(scene: Scene, live: LiveMessage) -> None:
        await live.send(Batch("One. "))
        assert await live.send(Batch("Two. ")) == Failed(Fault.UNKNOWN, "timeout")
        assert (live.confirmed, live.doubt) == ("One. ", True)
        assert scene.only().text == "One. Two. "

    play(story, {APPEND: ["timeout!"]})


def test_cards_make_it_visible_too() -> None:
    async def story(scene: Scene, live: LiveMessage) -> None:
        await live.send(Batch("", (Card("a", "A", CardState.RUNNING),)))
        assert (live.is_visible, live.confirmed) == (True, "")
        assert live.has_open_cards(failed=False)
        assert await live.stop((), failed=False, asked=False) is None

    assert play(story).only().tasks[0].status == "complete"


def test_a_start_without_an_answer_is_found_in_the_thread() -> None:
    async def story(scene: Scene, live: LiveMessage) -> None:
        await live.send(Batch("One. "))
        assert (live.ts, live.doubt) == (None, True)
        await live.find()
        assert live.ts == scene.only().ts

    play(story, {START: ["timeout!"]})


def test_what_is_not_a_stream_or_is_signed_or_older_is_not_taken_for_it() -> None:
    async def story(scene: Scene, live: LiveMessage) -> None:
        earlier = LiveMessage(scene.api, scene.place, scene.settings, scene.clock)
        await earlier.send(Batch("Earlier, never stopped."))
        await asyncio.sleep(300)
        signed = LiveMessage(scene.api, scene.place, scene.settings, scene.clock)
        await signed.send(Batch("Signed."))
        await signed.stop((), failed=False, asked=False)
        await scene.api.call(
            "chat.postMessage", {"channel": "C1", "thread_ts": scene.root, "text": "A post."}
        )
        await live.send(Batch("One. "))
        await live.find()
        assert live.ts is None

    play(story, {START: [None, None, "internal_error"]})


def test_a_stop_is_repeated_until_it_has_an_answer() -> None:
    async def story(scene: Scene, live: LiveMessage) -> None:
        await live.send(Batch("One. "))
        assert await live.stop((), failed=False, asked=True) is None

    for faults in (["timeout", "internal_error", None], ["timeout!", None], ["internal_error!"]):
        scene = play(story, {STOP: faults})
        assert scene.only().state == "sealed"
        assert scene.workspace.session("C1", scene.root) == "suspended"


def test_a_stop_is_not_repeated_for_ever() -> None:
    async def story(scene: Scene, live: LiveMessage) -> None:
        await live.send(Batch("One. "))
        assert await live.stop((), failed=False, asked=False) == Failed(Fault.UNKNOWN, "internal_error")

    assert play(story, {STOP: ["internal_error"]}).methods() == [START, STOP, STOP, STOP, STOP]


def test_an_open_message_is_stopped_before_it_is_written_anew() -> None:
    async def story(scene: Scene, live: LiveMessage) -> None:
        await live.send(Batch("One. "))
        assert await live.lay("Two.", (), failed=False) == (True, None)

    scene = play(story)
    assert (scene.only().text, scene.only().state) == ("Two.", "sealed")
    assert scene.methods() == [START, UPDATE, STOP, UPDATE]


def test_a_message_of_cards_only_is_written_anew_with_them() -> None:
    async def story(scene: Scene, live: LiveMessage) -> None:
        await live.send(Batch("", (Card("a", "A", CardState.RUNNING),)))
        await live.stop((), failed=True, asked=False)
        assert await live.lay("", (), failed=True) == (True, None)

    for mode in ("plan", "timeline"):
        scene = play(story, task_display_mode=mode)
        assert [task.status for task in scene.only().tasks] == ["error"]


def test_what_is_refused_with_and_without_blocks_does_not_stand() -> None:
    async def story(scene: Scene, live: LiveMessage) -> None:
        await live.send(Batch("One. "))
        await live.stop((), failed=False, asked=False)
        assert await live.lay("Two.", (), failed=False) == (
            False,
            Failed(Fault.WRONG_CALL, "cant_update_message"),
        )

    assert play(story, {UPDATE: ["cant_update_message"]}).texts() == ["One. "]


def test_a_stop_that_is_refused_in_every_form_is_reported() -> None:
    async def story(scene: Scene, live: LiveMessage) -> None:
        await live.send(Batch("One. ", (Card("a", "A", CardState.RUNNING),)))
        result = await live.stop((), failed=False, asked=False)
        assert result == Failed(Fault.WRONG_CALL, "invalid_arguments")

    assert play(story, {STOP: ["invalid_arguments"]}).methods() == [START, STOP, STOP, STOP]


def test_a_message_that_is_gone_is_not_written_anew() -> None:
    async def story(scene: Scene, live: LiveMessage) -> None:
        await live.send(Batch("One. "))
        scene.workspace.delete_root("C1", scene.root, now=scene.clock.wall(), with_replies=True)
        assert await live.lay("Two.", (), failed=False) == (False, Failed(Fault.GONE, "message_not_found"))
        assert live.confirmed == "One. "

    play(story)


def test_what_was_written_anew_is_what_is_confirmed() -> None:
    async def story(scene: Scene, live: LiveMessage) -> None:
        await live.send(Batch("One. "))
        await live.send(Batch("Two. "))
        await live.stop((), failed=False, asked=False)
        assert await live.lay("New.", (), failed=False) == (True, Failed(Fault.WRONG_CALL, "block_mismatch"))
        assert (live.confirmed, live.doubt) == ("New.", False)

    assert play(story, {APPEND: ["timeout!"], UPDATE: ["block_mismatch", None]}).texts() == ["New."]


class Nameless(SlackApi):
    """A door behind which nothing has a name."""

    async def call(
        self, method: str, args: Mapping[str, object], *, patience: float | None = None
    ) -> Done | Failed:
        return Done({"ok": True})


def test_a_start_that_names_no_message_is_in_doubt() -> None:
    async def go() -> None:
        scene = Scene()
        nameless = Nameless(scene.client, scene.clock, scene.facts.append, 60)
        live = LiveMessage(nameless, scene.place, scene.settings, scene.clock)
        assert await live.send(Batch("One. ")) == Failed(Fault.UNKNOWN, "unreadable")
        assert live.doubt

    virtual.run(go())
