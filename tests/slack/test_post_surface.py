"""Posts are found again before they are repeated."""

from __future__ import annotations

import asyncio
import copy
import dataclasses
from collections.abc import Callable, Coroutine
from typing import Any

import pytest

from slack_bot.slack.blocks import TextForm, context
from slack_bot.slack.cards import CardClosing
from slack_bot.slack.faults import CallFailed, CallOk, Fault, SurfaceKind
from slack_bot.slack.model import Batch, SlackMessage
from slack_bot.slack.surfaces import PostSurface
from slack_bot.slack.turn_calls import DROPPED
from slack_bot.testing import virtual_clock
from slack_bot.testing.slack.workspace import WorkspaceRules
from slack_bot.turn.actions import CardState, TaskCard
from tests.slack.scene import TURN, Scene, run

START, STOP = "chat.startStream", "chat.stopStream"
POST, UPDATE, DELETE = "chat.postMessage", "chat.update", "chat.delete"
CARD = TaskCard("a", "A", CardState.RUNNING, details="one")
Story = Callable[[Scene, PostSurface], Coroutine[Any, Any, None]]


def posted(*texts: str, faults: Any = None, crowd: int = 0) -> tuple[Scene, list[CallOk | CallFailed]]:
    """Post `texts` into a thread where `crowd` others have written; returns what became of each."""

    async def go() -> tuple[Scene, list[CallOk | CallFailed]]:
        scene = Scene(faults)
        for number in range(crowd):
            scene.workspace.say("U2", "C1", str(number), now=virtual_clock.WALL_ZERO, thread_ts=scene.root)
        posts = scene.posts()
        return scene, [await run(posts.post(text, (), [context("under")], "answer")) for text in texts]

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
        await run(scene.posts().tell_asker())
        return scene

    scene = virtual_clock.run(go())
    (message,) = scene.workspace.history(scene.workspace.direct("U1"))
    assert message.text == "I may not write in <#C1>, so I cannot answer you there."


def test_text_alone_has_a_second_form_too() -> None:
    async def go() -> Scene:
        scene = Scene({POST: ["invalid_blocks", None]})
        assert isinstance(await run(scene.posts().post("**One.**", (), (), "answer")), CallOk)
        return scene

    scene = virtual_clock.run(go())
    assert scene.texts() == ["**One.**"]
    assert "markdown_text" in scene.workspace.calls[0].args
    assert "blocks" in scene.workspace.calls[1].args


def insisted(
    kind: str, faults: Any, hush_after: float | None = None
) -> tuple[Scene, CallOk | CallFailed, int]:
    """Post what must stand; returns what became of it, and how often a status was sent."""

    async def go() -> tuple[Scene, CallOk | CallFailed]:
        scene = Scene(faults)
        writer = scene.new_writer()
        posts = scene.posts(writer.calls)
        posts.retry_timeout = 30.0
        posting = asyncio.ensure_future(run(posts.post("One.", (), [context("under")], kind, persist=True)))
        if hush_after is not None:
            await asyncio.sleep(hush_after)
            writer.give_up_writes()
        return scene, await posting

    scene, result = virtual_clock.run(go())
    told = [call for call in scene.workspace.calls if call.method == "assistant.threads.setStatus"]
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
    assert told == 1  # the same words are sent once
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


# -- forms of a text ----------------------------------------------------------------------------------------

ALONE = (TextForm.MARKDOWN_TEXT, TextForm.MARKDOWN_BLOCK, TextForm.TEXT)


def forms_tried(scene: Scene) -> list[tuple[str, TextForm]]:
    """The calls, each with the form of its text."""
    tried = []
    for call in scene.workspace.calls:
        kinds = [block["type"] for block in call.args.get("blocks") or ()]
        form = TextForm.WHOLE if kinds else TextForm.TEXT
        form = TextForm.MARKDOWN_BLOCK if kinds == ["markdown"] else form
        tried.append((call.method, TextForm.MARKDOWN_TEXT if "markdown_text" in call.args else form))
    return tried


def test_a_form_that_did_not_work_is_left_out_for_that_workspace_and_method_for_a_while() -> None:
    async def story(scene: Scene, _: PostSurface) -> None:
        client, under, message = scene.new_calls(), [context("x")], SlackMessage(SurfaceKind.EDIT)
        posts = PostSurface(client)
        other = copy.copy(client)
        other.question = dataclasses.replace(client.question, user_team="T2")
        assert await run(posts.write(message, Batch("One."))) is None
        assert await run(posts.write(message, Batch(" Two."), under)) is None
        assert not message.is_signed
        assert await run(posts.write(message, Batch(" Three."))) is None
        assert await run(posts.write(message, Batch(" Four."), under)) is None
        assert message.is_signed
        assert isinstance(await run(posts.post("Five.", (), (), "answer")), CallOk)
        assert await run(PostSurface(other).write(message, Batch(" Six."))) is None
        await asyncio.sleep(scene.settings.streaming_refusal_ttl)
        assert await run(posts.write(message, Batch(" Seven."))) is None

    scene = play(story, set(), {UPDATE: ["invalid_blocks", "invalid_arguments", None]})
    assert forms_tried(scene) == [
        (POST, TextForm.MARKDOWN_TEXT),
        *((UPDATE, form) for form in (TextForm.WHOLE, *ALONE[:2])),
        (UPDATE, TextForm.MARKDOWN_BLOCK),
        (UPDATE, TextForm.WHOLE),
        (POST, TextForm.MARKDOWN_TEXT),
        (UPDATE, TextForm.MARKDOWN_TEXT),
        (UPDATE, TextForm.MARKDOWN_TEXT),
    ]


def play(story: Story, deaf: set[str], faults: Any = None) -> Scene:
    async def go() -> Scene:
        scene = Scene(faults)
        rules = dataclasses.replace(WorkspaceRules(), ignores_markdown_text=frozenset(deaf))
        scene.workspace.state.rules = rules
        await story(scene, scene.posts())
        return scene

    return virtual_clock.run(go())


async def grown(scene: Scene, posts: PostSurface) -> None:
    message = SlackMessage(SurfaceKind.EDIT)
    for text in ("One. ", "Two. ", "Three."):
        assert await run(posts.write(message, Batch(text))) is None
        assert scene.texts() == [message.text]
    assert message.text == "One. Two. Three."


def test_an_edit_that_shows_nothing_is_made_in_another_form_and_the_next_one_at_once() -> None:
    assert play(grown, {UPDATE}).methods() == [POST, UPDATE, UPDATE, UPDATE]


def test_a_post_that_shows_nothing_is_filled_and_the_next_one_is_another_form_at_once() -> None:
    async def story(scene: Scene, posts: PostSurface) -> None:
        await grown(scene, posts)
        assert isinstance(await run(posts.post("Four.", (), (), "answer")), CallOk)
        assert scene.texts()[1:] == ["Four."]

    assert play(story, {POST}).methods() == [POST, UPDATE, UPDATE, UPDATE, POST]
    assert play(story, {POST, UPDATE}).methods() == [POST, UPDATE, UPDATE, UPDATE, UPDATE, POST]


def test_a_post_that_nothing_fills_is_taken_away() -> None:
    async def story(scene: Scene, posts: PostSurface) -> None:
        result = await run(posts.post("One.", (), (), "answer"))
        assert isinstance(result, CallFailed)

    scene = play(story, {POST}, {UPDATE: ["cant_update_message"]})
    assert (scene.thread(), scene.methods()) == ([], [POST, UPDATE, UPDATE, DELETE])


@pytest.mark.parametrize("refused", [1, 2])
def test_the_last_form_is_the_text_itself(refused: int) -> None:
    async def story(scene: Scene, posts: PostSurface) -> None:
        message = SlackMessage(SurfaceKind.EDIT)
        assert await run(posts.write(message, Batch("One. "))) is None
        assert await run(posts.rewrite(message, "*Two.*", (), CardClosing.DONE)) is None

    scene = play(story, {UPDATE}, {UPDATE: [None, *["invalid_blocks"] * (refused - 1), None]})
    assert scene.texts() == ["*Two.*"]
    assert scene.methods() == [POST, *[UPDATE] * (refused + 1)]


# -- messages that are written as a whole --------------------------------------------------------------------


def edited(story: Story, faults: Any = None, **settings: Any) -> Scene:
    async def go() -> Scene:
        scene = Scene(faults, **settings)
        await story(scene, scene.posts())
        return scene

    return virtual_clock.run(go())


async def streamed(scene: Scene, text: str, *cards: TaskCard, stop: bool = True) -> SlackMessage:
    message, streams = (
        SlackMessage(SurfaceKind.STREAM),
        scene.streams(),
    )
    message.cards.want(cards)
    await run(streams.write(message, Batch(text, message.cards.unsent())))
    if stop:
        await run(streams.stop(message, CardClosing.DONE))
    return message


def test_a_message_is_posted_first_and_then_edited() -> None:
    async def story(scene: Scene, posts: PostSurface) -> None:
        message = SlackMessage(SurfaceKind.EDIT)
        assert await run(posts.write(message, Batch("One. "))) is None
        assert (message.ts, message.text, message.is_signed) == (scene.only().ts, "One. ", False)
        message.cards.want([CARD])
        assert await run(posts.write(message, Batch("Two.", plan_title="Plan"))) is None
        assert [task.status for task in scene.only().tasks] == ["in_progress"]
        assert message.cards.unsent() == ()
        under = [context("under")]
        assert await run(posts.write(message, Batch(), under, CardClosing.FAILED)) is None
        assert message.is_signed

    for mode in ("plan", "timeline"):
        scene = edited(story, task_display_mode=mode)
        assert scene.methods() == [POST, UPDATE, UPDATE]
        assert (scene.only().text, scene.only().extras) == ("One. Two.", ("under",))
        assert [(task.status, task.details) for task in scene.only().tasks] == [("error", "one")]


def test_blocks_that_are_refused_do_not_keep_the_text_back() -> None:
    async def story(scene: Scene, posts: PostSurface) -> None:
        message = SlackMessage(SurfaceKind.EDIT)
        await run(posts.write(message, Batch("One. ")))
        assert await run(posts.write(message, Batch("Two."), [context("under")])) is None
        assert (message.text, message.is_signed) == ("One. Two.", False)

    assert edited(story, {UPDATE: ["invalid_blocks", None]}).texts() == ["One. Two."]


def test_what_is_refused_changes_nothing_of_what_is_known() -> None:
    async def story(scene: Scene, posts: PostSurface) -> None:
        message = SlackMessage(SurfaceKind.EDIT)
        assert await run(posts.write(message, Batch("One. "))) == CallFailed(
            Fault.NO_WRITING, "no_permission"
        )
        assert (message.ts, message.text) == (None, "")

    edited(story, {POST: ["no_permission"]})


def test_a_sealed_stream_is_written_anew_with_its_cards() -> None:
    async def story(scene: Scene, posts: PostSurface) -> None:
        message = await streamed(scene, "One. ", CARD)
        assert await run(posts.rewrite(message, "Two.", [context("under")], CardClosing.DONE)) is None
        assert (message.text, message.is_signed) == ("Two.", True)

    message = edited(story).only()
    assert (message.text, message.extras) == ("Two.", ("under",))
    assert [task.status for task in message.tasks] == ["complete"]


def test_a_message_of_cards_only_is_written_anew_with_them() -> None:
    async def story(scene: Scene, posts: PostSurface) -> None:
        message = await streamed(scene, "", CARD)
        assert await run(posts.rewrite(message, "", (), CardClosing.FAILED)) is None

    message = edited(story).only()
    assert (message.text, [task.status for task in message.tasks]) == ("", ["error"])


def test_a_message_of_cards_only_keeps_them_where_its_full_form_is_refused() -> None:
    async def story(scene: Scene, posts: PostSurface) -> None:
        message = await streamed(scene, "", CARD)
        assert await run(posts.rewrite(message, "", (), CardClosing.FAILED)) is None
        assert not message.cards.closing(CardClosing.FAILED)

    scene = edited(story, {UPDATE: ["block_mismatch", None]})
    assert [task.status for task in scene.only().tasks] == ["error"]


def test_an_open_stream_is_stopped_before_it_is_written_anew() -> None:
    async def story(scene: Scene, posts: PostSurface) -> None:
        message = await streamed(scene, "One. ", stop=False)
        assert await run(posts.rewrite(message, "Two.", (), CardClosing.DONE)) is None

    scene = edited(story)
    assert (scene.only().text, scene.only().state) == ("Two.", "sealed")
    assert scene.methods() == [START, UPDATE, STOP, UPDATE]


def test_what_is_refused_with_and_without_blocks_does_not_stand() -> None:
    async def story(scene: Scene, posts: PostSurface) -> None:
        message = await streamed(scene, "One. ", CARD)
        failed = CallFailed(Fault.WRONG_CALL, "cant_update_message")
        assert await run(posts.rewrite(message, "Two.", (), CardClosing.DONE)) == failed
        assert message.text == "One. "

    assert edited(story, {UPDATE: ["cant_update_message"]}).texts() == ["One. "]


def test_the_text_stands_though_its_blocks_do_not() -> None:
    async def story(scene: Scene, posts: PostSurface) -> None:
        message = await streamed(scene, "One. ")
        assert await run(posts.rewrite(message, "Two.", [context("x")], CardClosing.DONE)) is None
        assert (message.text, message.is_signed) == ("Two.", False)

    assert edited(story, {UPDATE: ["block_mismatch", None]}).texts() == ["Two."]


def test_an_edit_that_may_have_been_made_stays_in_doubt_when_its_text_alone_is_refused() -> None:
    async def story(scene: Scene, posts: PostSurface) -> None:
        message = SlackMessage(SurfaceKind.EDIT)
        await run(posts.write(message, Batch("One. ")))
        refused = await run(posts.write(message, Batch("Two.")))
        assert refused is not None
        assert refused.in_doubt

    for first in ("internal_error!", "timeout!"):
        scene = edited(story, {UPDATE: [first, *["block_mismatch"] * 3, None]})
        assert scene.texts() == ["One. Two."]


def test_a_message_is_taken_away_once() -> None:
    async def story(scene: Scene, posts: PostSurface) -> None:
        message = await streamed(scene, "One. ")
        assert await run(posts.delete(message))

    for entry in ("timeout", "timeout!", None):
        assert edited(story, {DELETE: [entry, None]}).thread() == []


def test_a_message_that_is_still_open_is_stopped_and_taken_away() -> None:
    async def story(scene: Scene, posts: PostSurface) -> None:
        assert await run(posts.delete(await streamed(scene, "One. ", stop=False)))

    assert edited(story).thread() == []


def test_what_slack_takes_for_open_for_a_while_is_taken_away_all_the_same() -> None:
    async def story(scene: Scene, posts: PostSurface) -> None:
        assert await run(posts.delete(await streamed(scene, "One. ")))

    assert (
        edited(story, {DELETE: ["cant_delete_message", "cant_delete_message", "timeout!", None]}).thread()
        == []
    )


def test_one_that_cannot_be_taken_away_stands() -> None:
    async def story(scene: Scene, posts: PostSurface) -> None:
        assert not await run(posts.delete(await streamed(scene, "One. ", stop=False)))

    assert edited(story, {DELETE: ["cant_delete_message"]}).texts() == ["One. "]


@pytest.mark.parametrize("kind", [SurfaceKind.EDIT, SurfaceKind.POST])
def test_a_message_whose_end_shows_its_cards_closed_has_none_left_to_close(kind: SurfaceKind) -> None:
    async def story(scene: Scene, posts: PostSurface) -> None:
        message = SlackMessage(kind)
        message.cards.want([CARD])
        await run(posts.write(message, Batch("One. "), close=CardClosing.CONTINUES))
        assert message.cards.closing(CardClosing.CONTINUES) == ()

    assert edited(story).methods() == [POST]


def test_cards_that_went_with_a_refused_form_are_still_to_be_closed() -> None:
    async def story(scene: Scene, posts: PostSurface) -> None:
        message = SlackMessage(SurfaceKind.EDIT)
        message.cards.want([CARD])
        await run(posts.write(message, Batch("One. ")))
        await run(posts.write(message, Batch("One. "), close=CardClosing.CONTINUES))
        assert message.cards.closing(CardClosing.CONTINUES) != ()

    edited(story, {UPDATE: ["invalid_blocks", None]})
