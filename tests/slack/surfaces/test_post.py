"""Posts are found again before they are repeated."""

from __future__ import annotations

import asyncio
import dataclasses
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from slack_bot.slack.blocks import TextForm, context, fallback
from slack_bot.slack.calls import CallFailed, CallOk
from slack_bot.slack.cards import CardClosing
from slack_bot.slack.faults import Fault
from slack_bot.slack.message import SlackMessage
from slack_bot.slack.surfaces.edit import Edits
from slack_bot.slack.surfaces.fallback import StreamingRefusalCache, SurfaceKind
from slack_bot.slack.surfaces.post import NOT_SHOWN, Posts, TextForms, shown_or_failed
from slack_bot.slack.turn_client import DROPPED
from slack_bot.testing import virtual_clock
from slack_bot.testing.slack.workspace import WorkspaceRules
from tests.slack.scene import TURN, Scene

POST = "chat.postMessage"


def posted(*texts: str, faults: Any = None, crowd: int = 0) -> tuple[Scene, list[CallOk | CallFailed]]:
    """Post `texts` into a thread where `crowd` others have written; returns what became of each."""

    async def go() -> tuple[Scene, list[CallOk | CallFailed]]:
        scene = Scene(faults)
        for number in range(crowd):
            scene.workspace.say("U2", "C1", str(number), now=virtual_clock.WALL_ZERO, thread_ts=scene.root)
        posts = Posts(scene.turn_client())
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
        await Posts(scene.turn_client()).tell_asker()
        return scene

    scene = virtual_clock.run(go())
    (message,) = scene.workspace.history(scene.workspace.direct("U1"))
    assert message.text == "I may not write in <#C1>, so I cannot answer you there."


def test_text_alone_has_a_second_form_too() -> None:
    async def go() -> Scene:
        scene = Scene({POST: ["invalid_blocks", None]})
        assert isinstance(await Posts(scene.turn_client()).post("**One.**", (), (), "answer"), CallOk)
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
        line = scene.turn_client(lambda: told.append(scene.clock.monotonic()))
        posts = Posts(line, retry_timeout=30.0)
        posting = asyncio.ensure_future(posts.post("One.", (), [context("under")], kind, persist=True))
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


# -- forms of a text ----------------------------------------------------------------------------------------

UPDATE, DELETE = "chat.update", "chat.delete"
ALONE = (TextForm.MARKDOWN_TEXT, TextForm.MARKDOWN_BLOCK, TextForm.TEXT)
LONG = "A **long** text. " * 40


def named(forms: TextForms, method: str = UPDATE, text: str = "One.", under: Any = ()) -> list[TextForm]:
    return [form for form, _ in forms.of(method, text, (), under)]


def test_a_text_has_three_forms_and_a_fourth_with_blocks_around_it() -> None:
    forms = TextForms()
    assert named(forms) == list(ALONE)
    assert named(forms, under=[context("x")]) == [TextForm.WHOLE, *ALONE]
    assert named(forms, text="", under=[context("x")]) == [TextForm.WHOLE]
    assert forms.of(UPDATE, "", (), ()) == [(TextForm.WHOLE, {"markdown_text": ""})]
    (_, first), (_, second), (_, third) = forms.of(POST, LONG, (), ())
    assert (first, third) == ({"markdown_text": LONG}, {"text": LONG})
    assert second["blocks"] == [{"type": "markdown", "text": LONG}]
    assert len(second["text"]) <= 300


def test_a_form_that_did_not_work_is_left_out_for_that_workspace_and_method_for_a_while() -> None:
    memory, now = StreamingRefusalCache(300.0), [100.0]
    forms = TextForms(memory, "T1", lambda: now[0])
    forms.refused(UPDATE, TextForm.MARKDOWN_TEXT)
    forms.refused(UPDATE, TextForm.WHOLE)
    assert named(forms) == [TextForm.MARKDOWN_BLOCK, TextForm.TEXT]
    assert named(forms, under=[context("x")]) == [TextForm.WHOLE, TextForm.MARKDOWN_BLOCK, TextForm.TEXT]
    assert named(forms, POST) == named(TextForms(memory, "T2", lambda: now[0])) == list(ALONE)
    for form in ALONE:
        forms.refused(UPDATE, form)
    assert named(forms) == list(ALONE)  # something has to be tried
    now[0] = 400.0
    assert named(forms) == list(ALONE)


@pytest.mark.parametrize(
    ("answer", "is_shown"),
    [
        ({}, True),
        ({"message": {"text": "One. Two."}}, True),
        ({"text": "One. ", "message": {"text": "One."}}, False),
        ({"text": "", "message": {"text": "", "blocks": []}}, False),
        ({"text": "One.", "message": {"blocks": [{"type": "markdown", "text": "One."}]}}, False),
        ({"text": "", "message": {"blocks": [{"type": "markdown", "text": "One. Two."}]}}, True),
        ({"text": "", "message": {"blocks": [{"type": "table", "rows": []}]}}, True),  # not to be read
        ({"text": "Something else", "message": "?"}, True),
    ],
    ids=str,
)
def test_only_an_answer_that_reads_as_before_or_empty_shows_that_a_text_is_missing(
    answer: dict[str, Any], is_shown: bool
) -> None:
    result = shown_or_failed(CallOk(answer), "One. **Two.**", "One.")
    assert isinstance(result, CallOk) is is_shown
    assert isinstance(result, CallOk) or result.error == NOT_SHOWN
    assert isinstance(shown_or_failed(CallOk(answer), "One!", "One."), CallOk)  # nothing that could be missed
    assert isinstance(shown_or_failed(CallOk(answer), ":tada:", "One."), CallOk)


def test_a_notification_that_reads_as_before_tells_nothing_new() -> None:
    more = f"{LONG} And more."
    assert fallback(LONG) == fallback(more) != LONG
    for blocks, is_shown in ((LONG, False), (more, True)):
        shown = {"text": fallback(LONG), "blocks": [{"type": "markdown", "text": blocks}]}
        result = shown_or_failed(CallOk({"text": shown["text"], "message": shown}), more, LONG)
        assert isinstance(result, CallOk) is is_shown


def test_the_titles_of_cards_are_no_news() -> None:
    cards = [{"type": "task_card", "title": "Search"}]
    for text, is_shown in (("Search\nOne.", False), ("Search", False), ("Search\nTwo.", True)):
        result = shown_or_failed(CallOk({"message": {"text": text, "blocks": cards}}), "Two.", "One.")
        assert isinstance(result, CallOk) is is_shown


def play(story: Callable[[Scene, Edits], Awaitable[None]], deaf: set[str], faults: Any = None) -> Scene:
    async def go() -> Scene:
        scene = Scene(faults)
        rules = dataclasses.replace(WorkspaceRules(), ignores_markdown_text=frozenset(deaf))
        scene.workspace.state.rules = rules
        await story(scene, Edits(scene.turn_client(), scene.settings))
        return scene

    return virtual_clock.run(go())


async def grown(scene: Scene, edits: Edits) -> None:
    message = SlackMessage(SurfaceKind.EDIT)
    for text in ("One. ", "One. Two. ", "One. Two. Three."):
        assert await edits.show(message, text, "") is None
        assert scene.texts() == [text]


def test_an_edit_that_shows_nothing_is_made_in_another_form_and_the_next_one_at_once() -> None:
    assert play(grown, {UPDATE}).methods() == [POST, UPDATE, UPDATE, UPDATE]


def test_a_post_that_shows_nothing_is_filled_and_the_next_one_is_another_form_at_once() -> None:
    async def story(scene: Scene, edits: Edits) -> None:
        await grown(scene, edits)
        assert isinstance(await edits.posts.post("Four.", (), (), "answer"), CallOk)
        assert scene.texts()[1:] == ["Four."]

    assert play(story, {POST}).methods() == [POST, UPDATE, UPDATE, UPDATE, POST]
    assert play(story, {POST, UPDATE}).methods() == [POST, UPDATE, UPDATE, UPDATE, UPDATE, POST]


def test_a_post_that_nothing_fills_is_taken_away() -> None:
    async def story(scene: Scene, edits: Edits) -> None:
        result = await edits.posts.post("One.", (), (), "answer")
        assert isinstance(result, CallFailed)

    scene = play(story, {POST}, {UPDATE: ["cant_update_message"]})
    assert (scene.thread(), scene.methods()) == ([], [POST, UPDATE, UPDATE, DELETE])


@pytest.mark.parametrize("refused", [1, 2])
def test_the_last_form_is_the_text_itself(refused: int) -> None:
    async def story(scene: Scene, edits: Edits) -> None:
        message = SlackMessage(SurfaceKind.EDIT)
        assert await edits.show(message, "One. ", "") is None
        assert await edits.rewrite(message, "*Two.*", (), CardClosing.DONE) is None

    scene = play(story, {UPDATE}, {UPDATE: [None, *["invalid_blocks"] * (refused - 1), None]})
    assert scene.texts() == ["*Two.*"]
    assert scene.methods() == [POST, *[UPDATE] * (refused + 1)]
