"""Forms of a text that Slack does not take, or takes and does not show."""

from __future__ import annotations

import dataclasses
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from slack_bot.slack.api import CallFailed, CallOk
from slack_bot.slack.blocks import TextForm, context, fallback
from slack_bot.slack.chunks import CardClosing
from slack_bot.slack.message import SlackMessage
from slack_bot.slack.surfaces.edit import Edits
from slack_bot.slack.surfaces.fallback import StreamingRefusalCache, Surface
from slack_bot.slack.text_formats import NOT_SHOWN, TextForms, shown_or_failed
from slack_bot.slack.turn_client import TurnClient
from slack_bot.testing import virtual_clock
from slack_bot.testing.slack.workspace import WorkspaceRules
from tests.slack.scene import Scene

POST, UPDATE, DELETE = "chat.postMessage", "chat.update", "chat.delete"
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
        await story(scene, Edits(TurnClient(scene.api), scene.place, scene.settings))
        return scene

    return virtual_clock.run(go())


async def grown(scene: Scene, edits: Edits) -> None:
    message = SlackMessage(Surface.EDIT)
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
        message = SlackMessage(Surface.EDIT)
        assert await edits.show(message, "One. ", "") is None
        stands = await edits.lay(message, "*Two.*", (), CardClosing.DONE)
        assert stands[0]

    scene = play(story, {UPDATE}, {UPDATE: [None, *["invalid_blocks"] * (refused - 1), None]})
    assert scene.texts() == ["*Two.*"]
    assert scene.methods() == [POST, *[UPDATE] * (refused + 1)]
