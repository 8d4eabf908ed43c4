"""Posts are found again before they are repeated."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from slack_bot.slack.api import CallFailed, CallOk
from slack_bot.slack.blocks import TextForm, context
from slack_bot.slack.faults import Fault
from slack_bot.slack.surfaces.post import Posts
from slack_bot.slack.turn_client import DROPPED, TurnClient
from slack_bot.testing import virtual_clock
from tests.slack.scene import TURN, Scene

POST = "chat.postMessage"


def posted(*texts: str, faults: Any = None, crowd: int = 0) -> tuple[Scene, list[CallOk | CallFailed]]:
    """Post `texts` into a thread where `crowd` others have written; returns what became of each."""

    async def go() -> tuple[Scene, list[CallOk | CallFailed]]:
        scene = Scene(faults)
        for number in range(crowd):
            scene.workspace.say("U2", "C1", str(number), now=virtual_clock.WALL_ZERO, thread_ts=scene.root)
        posts = Posts(TurnClient(scene.api), scene.place)
        return scene, [await posts.post(text, (), [context("under")], "answer") for text in texts]

    return virtual_clock.run(go())


def test_a_post_is_markdown_with_blocks_under_it_and_signed() -> None:
    scene, results = posted("**One.**", "Two.")
    first, second = scene.thread()
    assert [result.ts for result in results if isinstance(result, CallOk)] == [first.ts, second.ts]
    assert (first.text, first.extras) == ("**One.**", ("under",))
    assert [message.metadata for message in (first, second)] == [
        {"event_type": "slack_bot_turn", "event_payload": {"turn": TURN, "kind": "answer", "part": part}}
        for part in (1, 2)
    ]
    args = scene.workspace.calls[0].args
    assert (args["text"], args["unfurl_links"], args["unfurl_media"]) == ("**One.**", False, False)


@pytest.mark.parametrize("entry", ["timeout", "timeout!", "internal_error", "internal_error!"])
def test_the_same_text_twice_is_told_apart(entry: str) -> None:
    scene, results = posted("Same.", "Same.", faults={POST: [None, entry, None]})
    assert [result.ts for result in results if isinstance(result, CallOk)] == [
        each.ts for each in scene.thread()
    ]
    assert scene.texts() == ["Same.", "Same."]


def test_it_is_found_in_a_long_thread() -> None:
    scene, _ = posted("One.", faults={POST: ["timeout!", None]}, crowd=450)
    assert scene.texts() == ["One."]
    assert scene.methods() == [POST, *["conversations.replies"] * 3]


def test_one_that_cannot_be_posted_is_reported() -> None:
    scene, (result,) = posted("One.", faults={POST: ["internal_error"]})
    assert result == CallFailed(Fault.UNKNOWN, "internal_error")
    assert scene.methods().count(POST) == 4


def test_blocks_that_are_refused_are_left_out() -> None:
    scene, results = posted("One.", faults={POST: ["invalid_blocks", None]})
    assert [type(result) for result in results] == [CallOk]
    assert (scene.only().text, scene.only().extras) == ("One.", ())


def test_the_asker_is_told_directly() -> None:
    async def go() -> Scene:
        scene = Scene()
        await Posts(TurnClient(scene.api), scene.place).tell_asker()
        return scene

    scene = virtual_clock.run(go())
    (message,) = scene.workspace.history(scene.workspace.direct("U1"))
    assert message.text == "I may not write in <#C1>, so I cannot answer you there."


def test_text_alone_has_a_second_form_too() -> None:
    async def go() -> Scene:
        scene = Scene({POST: ["invalid_blocks", None]})
        assert isinstance(
            await Posts(TurnClient(scene.api), scene.place).post("**One.**", (), (), "answer"), CallOk
        )
        return scene

    scene = virtual_clock.run(go())
    assert scene.texts() == ["**One.**"]
    assert "markdown_text" in scene.workspace.calls[0].args
    assert "blocks" in scene.workspace.calls[1].args


def insisted(
    kind: str, faults: Any, hush_after: float | None = None
) -> tuple[Scene, CallOk | CallFailed, int]:
    """Post what must stand; returns what became of it, and how often the reader was told of a wait."""
    told: list[float] = []

    async def go() -> tuple[Scene, CallOk | CallFailed]:
        scene = Scene(faults)
        line = TurnClient(scene.api, waits=lambda: told.append(scene.clock.monotonic()))
        posts = Posts(line, scene.place, post_retry_timeout=30.0)
        posting = asyncio.ensure_future(posts.post("One.", (), [context("under")], kind, insist=True))
        if hush_after is not None:
            await asyncio.sleep(hush_after)
            line.cancel_writes()
        return scene, await posting

    scene, result = virtual_clock.run(go())
    return scene, result, len(told)


@pytest.mark.parametrize(
    "refused", ["invalid_blocks", "internal_error", "timeout", "error:nobody_knows_this"]
)
def test_what_must_stand_is_posted_again_with_longer_and_longer_pauses(refused: str) -> None:
    scene, result, told = insisted("answer", {POST: [refused] * 7 + [None]})
    assert isinstance(result, CallOk)
    assert scene.texts() == ["One."]
    assert told >= 1
    times = [call.now for call in scene.workspace.calls if call.method == POST]
    assert len(times) == 8


def test_insisting_has_an_end() -> None:
    scene, result, told = insisted("answer", {POST: ["invalid_blocks"]})
    assert isinstance(result, CallFailed)
    assert told == 4  # after 2, 4, 8 and 16 seconds
    assert scene.methods().count(POST) == len(TextForm) * 5
    assert scene.workspace.calls[-1].now - scene.workspace.calls[0].now == pytest.approx(30.0, abs=2.0)


@pytest.mark.parametrize("applied", range(4))
def test_a_post_that_was_applied_after_all_is_found_before_it_is_repeated(applied: int) -> None:
    silent = ["internal_error"] * 4
    silent[applied] = "internal_error!"
    unread = ["internal_error"] * 12
    scene, result, _ = insisted("answer", {POST: silent, "conversations.replies": [*unread, None]})
    assert scene.texts() == ["One."]
    assert isinstance(result, CallOk)


@pytest.mark.parametrize("hopeless", ["missing_scope", "is_archived", "token_revoked", "channel_not_found"])
def test_nobody_insists_on_what_no_time_will_change(hopeless: str) -> None:
    scene, result, told = insisted("answer", {POST: [hopeless]})
    assert isinstance(result, CallFailed)
    assert (scene.methods(), told) == ([POST], 0)


def test_a_stop_ends_the_insisting_on_an_answer_and_not_on_a_note() -> None:
    refused = {POST: ["invalid_blocks"] * 4 + [None]}
    scene, result, _ = insisted("answer", refused, hush_after=1.0)
    assert result == CallFailed(Fault.LATER, DROPPED)
    assert scene.texts() == []
    scene, result, _ = insisted("note", refused, hush_after=1.0)
    assert isinstance(result, CallOk)
