"""What a person sees of a turn: live, whole and once, whatever Slack answers."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from slack_bot.errors import SlackError
from slack_bot.slack.blocks import TextForm
from slack_bot.slack.faults import StreamingRefusalCache
from slack_bot.slack.model import Batch, Ending, WriteResult
from slack_bot.testing import virtual_clock
from slack_bot.testing.slack import streams
from slack_bot.testing.slack.workspace import SeenMessage, WorkspaceRules
from slack_bot.text.words import STILL_WORKING
from slack_bot.turn.actions import CardState, TaskCard
from slack_bot.turn.extras import DataTable
from slack_bot.turn.form import Choice, Field, Form
from slack_bot.turn.record import Outcome
from tests.bench.reading import reads_as
from tests.examples import Scripts, examples, lose_blocks, scripts, texts, unheard
from tests.slack.scene import TURN, Scene, run

START, APPEND, STOP = "chat.startStream", "chat.appendStream", "chat.stopStream"
POST, UPDATE, STATUS = "chat.postMessage", "chat.update", "assistant.threads.setStatus"
REPLIES = "conversations.replies"
FEEDBACK = ("Helpful Not helpful", "Mention me in this thread to go on.")
ANSWERED = Ending(Outcome.ANSWERED)
NO_FILES = {"files.getUploadURLExternal": ["missing_scope"]}
RUNNING, DONE, ERROR = CardState.RUNNING, CardState.DONE, CardState.ERROR
SEARCH = TaskCard("t1", "Search", RUNNING)


def play(story: Callable[[Scene], Coroutine[Any, Any, None]], *args: Any, **kwargs: Any) -> Scene:
    """Run `story` in a fresh scene. No story may show a status beside an answer."""

    async def go() -> Scene:
        scene = Scene(*args, **kwargs)
        await story(scene)
        return scene

    scene = virtual_clock.run(go())
    assert scene.workspace.status_rows(scene.channel, scene.root) == []
    return scene


def answer(*texts: str, ending: Ending = ANSWERED) -> Callable[[Scene], Coroutine[Any, Any, None]]:
    """A story: write these texts, one a second, as the runner would, then finish."""

    async def story(scene: Scene) -> None:
        for text in texts:
            await run(scene.answer.show(Batch(text)))
            await asyncio.sleep(1)
        await run(scene.answer.ending.finish(ending))

    return story


def stops(scene: Scene) -> list[str | None]:
    """The session status that each stop left."""
    return [call.args.get("session_status") for call in scene.workspace.calls if call.method == STOP]


def sealed(scene: Scene) -> SeenMessage:
    """The one message: a streamed one, stopped."""
    message = scene.only()
    assert message.state == "sealed"
    assert not message.plan_failed
    assert scene.workspace.open_streams() == []
    return message


# -- live ----------------------------------------------------------------------------------------------------


def test_an_answer_is_streamed_and_signed() -> None:
    scene = play(answer("One.\n", "Two.\n"))
    message = sealed(scene)
    assert message.text == "One.\nTwo.\n"
    assert message.extras == FEEDBACK
    assert message.metadata == {
        "event_type": "slack_bot_turn",
        "event_payload": {"turn": TURN, "kind": "answer"},
    }
    assert scene.methods() == [START, APPEND, STOP]
    start = scene.workspace.calls[0].args
    assert (start["recipient_user_id"], start["recipient_team_id"]) == ("U1", "T1")
    assert start["chunks"] == [{"type": "markdown_text", "text": "One.\n"}]
    assert start["task_display_mode"] == "plan"
    assert "chunks" not in scene.workspace.calls[-1].args
    assert [fact.turn for fact in scene.told()] == [TURN] * 3


def test_text_stands_while_it_is_written() -> None:
    async def story(scene: Scene) -> None:
        assert scene.answer.state.is_live
        assert not scene.answer.state.messages
        assert await run(scene.answer.show(Batch("One.\n"))) is WriteResult.SHOWN
        assert scene.answer.state.messages
        assert (scene.only().text, scene.only().state) == ("One.\n", "streaming")
        assert await run(scene.answer.show(Batch("Two.\n"))) is WriteResult.SHOWN
        assert scene.only().text == "One.\nTwo.\n"
        await run(scene.answer.ending.finish(ANSWERED))

    play(story)


def test_the_rest_is_appended_before_the_stop() -> None:
    scene = play(answer("One.\n", ending=Ending(Outcome.ANSWERED, rest="Two.")))
    assert sealed(scene).text == "One.\nTwo."
    assert scene.methods() == [START, APPEND, STOP]


def test_an_answer_that_comes_at_the_very_end_is_streamed_all_the_same() -> None:
    scene = play(answer(ending=Ending(Outcome.ANSWERED, rest="42.")))
    assert sealed(scene).text == "42."
    assert scene.methods() == [START, STOP]


def test_a_long_rest_takes_several_messages() -> None:
    text = "".join(f"Line {number}.\n" for number in range(20))
    scene = play(answer(ending=Ending(Outcome.ANSWERED, rest=text)), rotate_bytes=100)
    assert "".join(scene.texts()) == text
    assert [message.extras for message in scene.thread()] == [(), FEEDBACK]
    assert scene.methods() == [START, STOP, START, STOP]
    assert stops(scene) == ["processing", None]
    assert scene.workspace.open_streams() == []


def test_in_a_direct_message_that_goes_on_nobody_is_told_how() -> None:
    scene = play(answer("Hello."), channel="D")
    assert sealed(scene).extras == ("Helpful Not helpful",)


def test_an_empty_batch_is_no_call() -> None:
    async def story(scene: Scene) -> None:
        assert await run(scene.answer.show(Batch())) is WriteResult.SHOWN

    assert play(story).methods() == []


def test_silence_is_a_mistake_of_the_caller() -> None:
    with pytest.raises(AssertionError, match="no note"):
        play(answer())


# -- cards ---------------------------------------------------------------------------------------------------


def test_cards_are_shown_and_their_details_add_up() -> None:
    async def story(scene: Scene) -> None:
        await run(
            scene.answer.show(Batch("", (TaskCard("t1", "Search", RUNNING, details="first "),), "Looking"))
        )
        await run(scene.answer.show(Batch("", (TaskCard("t1", "Searched", DONE, details="second"),))))
        await run(scene.answer.ending.finish(Ending(Outcome.ANSWERED, rest="Found.")))

    message = sealed(play(story))
    assert message.plan_title == "Looking"
    (task,) = message.tasks
    assert (task.title, task.status, task.details) == ("Searched", "complete", "first second")
    assert message.text == "Found."


@pytest.mark.parametrize(
    ("ending", "status", "words"),
    [
        (Ending(Outcome.ANSWERED, rest="x"), "complete", ""),
        (Ending(Outcome.ASKED, form=Form("Which?")), "complete", ""),
        (Ending(Outcome.STOPPED, note="Stopped."), "complete", " (stopped)"),
        (Ending(Outcome.FAILED, note="It broke."), "error", ""),
        (Ending(Outcome.LOST, note="It was lost."), "error", ""),
    ],
)
def test_a_card_that_still_runs_is_closed_as_the_turn_ended(ending: Ending, status: str, words: str) -> None:
    async def story(scene: Scene) -> None:
        await run(scene.answer.show(Batch("", (SEARCH,))))
        await run(scene.answer.ending.finish(ending))

    tasks = sealed(play(story)).tasks
    assert [(task.status, task.title) for task in tasks] == [(status, SEARCH.title + words)]


def test_a_failed_card_stays_failed() -> None:
    async def story(scene: Scene) -> None:
        await run(
            scene.answer.show(Batch("", (TaskCard("t1", "Search", ERROR), TaskCard("t2", "Read", RUNNING))))
        )
        await run(scene.answer.ending.finish(Ending(Outcome.ANSWERED, rest="x")))

    assert [task.status for task in sealed(play(story)).tasks] == ["error", "complete"]


def test_a_card_that_still_runs_goes_on_in_the_next_message() -> None:
    async def story(scene: Scene) -> None:
        await run(scene.answer.show(Batch("One. ", (SEARCH,))))
        await run(scene.answer.show(Batch("Two.")))
        await run(scene.answer.show(Batch("", (TaskCard("t1", "Search", ERROR),))))
        await run(scene.answer.ending.finish(ANSWERED))

    for error in ("msg_too_long", "message_not_in_streaming_state"):
        first, second = play(story, {APPEND: [error, None]}).thread()
        assert [(task.title, task.status) for task in first.tasks] == [
            ("Search (continues below)", "complete")
        ]
        assert [(task.title, task.status) for task in second.tasks] == [("Search", "error")]
        assert {task.id for task in first.tasks}.isdisjoint(task.id for task in second.tasks)
        assert (first.text, second.text) == ("One. ", "Two.")
        assert (first.extras, second.extras) == ((), FEEDBACK)
        assert not first.plan_failed


def test_hostile_titles_do_not_break_the_stream() -> None:
    async def story(scene: Scene) -> None:
        cards = (
            TaskCard("t1", "## " + "x" * 400, DONE, details="y" * 400),
            TaskCard("t2", "", DONE, details="  ## z"),
        )
        assert await run(scene.answer.show(Batch("", cards, "p" * 400))) is WriteResult.SHOWN
        await run(scene.answer.ending.finish(Ending(Outcome.ANSWERED, rest="x")))

    first, second = sealed(play(story)).tasks
    assert (first.title[:5], len(first.title), len(first.details)) == ("\u200b## x", 256, 256)
    assert (second.title, second.details) == ("t2", "\u200b## z")


# -- notes and questions -------------------------------------------------------------------------------------


def test_a_failure_with_nothing_shown_is_a_note_with_a_way_to_try_again() -> None:
    scene = play(answer(ending=Ending(Outcome.FAILED, note="It broke.", offer_retry=True)))
    note = scene.only()
    assert (note.text, note.extras, note.state) == ("", ("It broke.", "Try again"), "posted")
    assert note.metadata is not None
    assert note.metadata["event_payload"]["kind"] == "note"
    assert scene.methods() == [POST]


def test_a_failure_after_some_text_stands_below_it() -> None:
    scene = play(answer("Half. ", ending=Ending(Outcome.FAILED, note="It broke.", offer_retry=True)))
    assert sealed(scene).text == "Half. "
    assert sealed(scene).extras == ("It broke.", "Try again")


def test_a_question_is_streamed_and_the_thread_waits() -> None:
    form = Form("Which repository?", (Field("repo", choices=(Choice("a"), Choice("b")), required=True),))
    scene = play(answer("I can do that.", ending=Ending(Outcome.ASKED, form=form)))
    assert sealed(scene).text == f"I can do that.\n\n{form.as_markdown()}"
    assert sealed(scene).extras == ("Reply in this thread to answer.",)
    assert scene.workspace.session("C1", scene.root) == "suspended"


def test_nobody_is_called_by_the_names_of_fields() -> None:
    form = Form("Which?", (Field("<!here>", choices=(Choice("<@U2>"),)),))
    text = sealed(play(answer(ending=Ending(Outcome.ASKED, form=form)))).text
    assert "<!" not in text
    assert "<@" not in text


def test_a_question_with_nothing_before_it() -> None:
    scene = play(answer(ending=Ending(Outcome.ASKED, form=Form("Which?"))))
    assert sealed(scene).text == "Which?"


def test_a_question_where_streaming_is_refused_is_asked_all_the_same() -> None:
    ending = Ending(Outcome.ASKED, rest="I can.", form=Form("Which?"))
    scene = play(answer(ending=ending), can_stream=False)
    assert (scene.only().text, scene.only().extras) == (
        "I can.\n\nWhich?",
        ("Reply in this thread to answer.",),
    )
    assert scene.methods() == [POST]


def test_without_agent_sessions_the_question_stands_all_the_same() -> None:
    scene = play(
        answer("Hm. ", ending=Ending(Outcome.ASKED, form=Form("Which?"))),
        {STOP: ["invalid_arguments", None]},
    )
    assert sealed(scene).text == "Hm. \n\nWhich?"
    assert sealed(scene).extras == ("Reply in this thread to answer.",)


# -- rewriting -----------------------------------------------------------------------------------------------


def test_a_different_final_answer_replaces_what_was_streamed() -> None:
    async def story(scene: Scene) -> None:
        await run(scene.answer.show(Batch("Wrong. ", (SEARCH,), "Looking")))
        await run(scene.answer.ending.finish(Ending(Outcome.ANSWERED, rewrite="**Right.**")))

    scene = play(story)
    message = sealed(scene)
    assert (message.plan_title, [task.status for task in message.tasks]) == ("Looking", ["complete"])
    assert message.text == "**Right.**"
    assert message.extras == FEEDBACK
    assert "Wrong" not in message.read
    assert scene.methods() == [START, STOP, UPDATE]


def test_a_rewrite_where_nothing_was_streamed_is_just_the_answer() -> None:
    scene = play(answer(ending=Ending(Outcome.ANSWERED, rewrite="Right.")))
    assert sealed(scene).text == "Right."
    assert scene.methods() == [START, STOP]


def test_a_long_rewrite_goes_on_in_posts() -> None:
    text = "".join(f"Line {number}.\n" for number in range(28))
    scene = play(answer("Wrong.", ending=Ending(Outcome.ANSWERED, rewrite=text)), max_call_chars=100)
    assert "".join(scene.texts()) == text
    assert [message.extras for message in scene.thread()][-1] == FEEDBACK
    assert [message.extras for message in scene.thread()].count(FEEDBACK) == 1
    assert {message.state for message in scene.thread()} == {"sealed", "posted"}


def test_a_rewrite_is_laid_over_the_messages_that_stand() -> None:
    lines = [f"Wrong line {number}.\n" for number in range(20)]
    for text, messages in (("".join(f"Right line {n}.\n" for n in range(20)), 3), ("Right.", 1)):
        scene = play(answer(*lines, ending=Ending(Outcome.ANSWERED, rewrite=text)), rotate_bytes=120)
        assert "".join(scene.texts()) == text
        assert "Wrong" not in "".join(message.read for message in scene.thread())
        assert len(scene.thread()) == messages
        assert [message.extras for message in scene.thread()].count(FEEDBACK) == 1
        assert scene.thread()[-1].extras == FEEDBACK
        assert POST not in scene.methods()


def test_a_rewrite_that_is_refused_is_posted_instead() -> None:
    scene = play(
        answer("Wrong.", ending=Ending(Outcome.ANSWERED, rewrite="Right.")),
        {UPDATE: ["cant_update_message"]},
    )
    assert scene.texts() == ["Right."]
    assert scene.only().extras == FEEDBACK


def test_what_can_neither_be_rewritten_nor_taken_away_stands_above_the_answer() -> None:
    faults = {UPDATE: ["cant_update_message"], "chat.delete": ["cant_delete_message"]}
    scene = play(answer("Wrong.", ending=Ending(Outcome.ANSWERED, rewrite="Right.")), faults)
    assert scene.texts() == ["Wrong.", "Right."]


def test_a_rewrite_whose_blocks_are_refused_is_made_plain() -> None:
    ending = Ending(Outcome.FAILED, rewrite="Right.", note="But.")
    scene = play(answer("Wrong.", ending=ending), {UPDATE: ["block_mismatch", None]})
    assert scene.texts() == ["Right.", ""]
    assert scene.thread()[1].extras == ("But.",)


# -- no streaming --------------------------------------------------------------------------------------------


def test_an_asker_who_cannot_be_streamed_to_gets_a_post() -> None:
    scene = play(answer("One. ", "Two."), can_stream=False)
    message = scene.only()
    assert (message.text, message.extras, message.state) == ("One. Two.", FEEDBACK, "posted")
    assert scene.methods() == [POST, UPDATE]
    assert scene.workspace.calls[0].args["unfurl_links"] is False


def test_a_long_post_takes_several_messages_and_is_signed_once() -> None:
    text = "".join(f"Line {number}.\n" for number in range(28))
    scene = play(answer(ending=Ending(Outcome.ANSWERED, rest=text)), can_stream=False, max_call_chars=100)
    assert "".join(scene.texts()) == text
    assert [message.extras for message in scene.thread()] == [(), (), FEEDBACK]


@pytest.mark.parametrize(
    "error",
    [
        "method_not_supported_for_channel_type",
        "user_not_found",
        "unknown_method",
        "missing_recipient_team_id",
    ],
)
def test_where_streaming_is_refused_the_answer_is_posted_and_edited(error: str) -> None:
    scene = play(answer("One. ", "Two."), {START: [error]})
    assert (scene.only().text, scene.only().extras) == ("One. Two.", FEEDBACK)
    assert scene.methods() == [START, POST, UPDATE]


def test_a_refusal_for_this_kind_of_channel_is_remembered_but_not_one_for_this_asker() -> None:
    memory = StreamingRefusalCache()
    play(answer("x"), {START: ["user_not_found"]}, memory=memory)
    refused = play(answer("x"), {START: ["feature_disabled"]}, memory=memory)
    assert refused.methods() == [START, POST, UPDATE]
    assert play(answer("x"), memory=memory).methods() == [POST, UPDATE]
    assert play(answer("x"), memory=memory, channel="D").methods() == [START, STOP]


def test_the_wrong_team_of_a_guest_costs_no_text() -> None:
    async def story(scene: Scene) -> None:
        scene.workspace.add_user("U1", team="T9")
        await answer("One.")(scene)

    assert play(story).texts() == ["One."]


# -- calls that are wrong ------------------------------------------------------------------------------------


def test_cards_that_are_refused_do_not_cost_the_text() -> None:
    async def story(scene: Scene) -> None:
        assert await run(scene.answer.show(Batch("One. ", (SEARCH,), "Plan"))) is WriteResult.SHOWN
        assert await run(scene.answer.show(Batch("Two.", (SEARCH,), "Plan"))) is WriteResult.SHOWN
        await run(scene.answer.ending.finish(ANSWERED))

    scene = play(story, {START: ["invalid_chunks", None]})
    assert (sealed(scene).text, sealed(scene).tasks) == ("One. Two.", ())
    assert scene.methods() == [START, START, APPEND, STOP]


def test_cards_alone_that_are_refused_are_given_up() -> None:
    async def story(scene: Scene) -> None:
        assert await run(scene.answer.show(Batch("", (SEARCH,)))) is WriteResult.SHOWN
        assert await run(scene.answer.show(Batch("", (SEARCH,)))) is WriteResult.SHOWN
        await run(scene.answer.ending.finish(Ending(Outcome.ANSWERED, rest="One.")))

    scene = play(story, {START: ["invalid_chunks", None]})
    assert (sealed(scene).text, sealed(scene).tasks) == ("One.", ())


def test_blocks_that_are_refused_do_not_keep_a_stream_open() -> None:
    scene = play(answer("One."), {STOP: ["invalid_blocks", None]})
    assert sealed(scene).text == "One."
    assert sealed(scene).extras == FEEDBACK  # written anew, with what the stop could not carry
    assert scene.methods() == [START, STOP, STOP, UPDATE]


def test_a_stop_that_takes_nothing_at_all() -> None:
    async def story(scene: Scene) -> None:
        await run(scene.answer.show(Batch("One.", (SEARCH,))))
        await run(scene.answer.ending.finish(ANSWERED))

    scene = play(story, {STOP: ["invalid_blocks", "invalid_chunks", None]})
    message = sealed(scene)
    assert message.extras == FEEDBACK
    assert [task.status for task in message.tasks] == ["complete"]


def test_a_post_whose_blocks_are_refused_is_made_plain() -> None:
    scene = play(answer("**One.**"), {POST: ["invalid_blocks", None]}, can_stream=False)
    assert scene.texts() == ["**One.**"]


# -- calls that must wait ------------------------------------------------------------------------------------


def test_a_limit_is_waited_for_and_nothing_is_doubled() -> None:
    scene = play(
        answer("One. ", "Two."),
        {APPEND: ["ratelimited:5", "rate_limited", None], STOP: ["ratelimited:3", None]},
    )
    assert sealed(scene).text == "One. Two."


def test_a_limit_that_does_not_pass_ends_the_live_text_and_not_the_answer() -> None:
    scene = play(answer("One. ", "Two. ", "Three."), {APPEND: ["ratelimited:30"]})
    assert scene.texts() == ["One. ", "Two. Three."]
    assert [message.extras for message in scene.thread()] == [(), FEEDBACK]


# -- sealed, full --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("error", ["msg_too_long", "message_not_in_streaming_state"])
def test_what_stands_stays_and_the_rest_goes_on_below(error: str) -> None:
    scene = play(answer("One. ", "Two. ", "Three."), {APPEND: [error, None]})
    assert scene.texts() == ["One. ", "Two. Three."]
    assert [message.state for message in scene.thread()] == ["sealed", "sealed"]
    assert [message.extras for message in scene.thread()] == [(), FEEDBACK]


def test_a_stream_of_another_mode_goes_on_as_a_post() -> None:
    scene = play(answer("One. ", "Two. ", "Three."), {APPEND: ["streaming_mode_mismatch"]})
    assert scene.texts() == ["One. ", "Two. Three."]
    assert [message.state for message in scene.thread()] == ["sealed", "posted"]
    assert [message.extras for message in scene.thread()] == [(), FEEDBACK]


def test_a_stream_that_takes_nothing_at_all_is_given_up() -> None:
    for error in ("msg_too_long", "message_not_in_streaming_state"):
        scene = play(answer("One. ", "Two."), {START: [error]})
        assert scene.texts() == ["One. Two."]


def test_a_stream_that_slack_sealed_with_an_open_card_is_put_right() -> None:
    async def story(scene: Scene) -> None:
        await run(scene.answer.show(Batch("One. ", (SEARCH,))))
        expire(scene)
        assert await run(scene.answer.show(Batch("Two."))) is WriteResult.SHOWN
        await run(scene.answer.ending.finish(ANSWERED))

    first, second = play(story).thread()
    assert not first.plan_failed
    assert [(task.title, task.status) for task in first.tasks] == [("Search (continues below)", "complete")]
    assert first.text == "One. "
    assert [task.status for task in second.tasks] == ["complete"]
    assert (second.text, second.extras) == ("Two.", FEEDBACK)


def test_a_stream_that_was_sealed_before_its_stop_gets_its_buttons_all_the_same() -> None:
    async def story(scene: Scene) -> None:
        await run(scene.answer.show(Batch("One.")))
        expire(scene)
        await run(scene.answer.ending.finish(ANSWERED))

    scene = play(story)
    assert (sealed(scene).text, sealed(scene).extras) == ("One.", FEEDBACK)
    assert scene.methods() == [START, STOP, UPDATE]


def expire(scene: Scene) -> None:
    """Slack ends the stream by itself."""
    for ts in scene.workspace.open_streams():
        message = scene.workspace.state.open_streams[ts]
        message.plan_failed = bool(message.tasks)
        streams.seal(scene.workspace.state, message)


# -- calls without an answer ---------------------------------------------------------------------------------


@pytest.mark.parametrize("entry", ["timeout", "timeout!", "internal_error", "internal_error!"])
@pytest.mark.parametrize("method", [START, APPEND, STOP, UPDATE])
def test_a_call_without_an_answer_neither_loses_nor_doubles(method: str, entry: str) -> None:
    ending = Ending(Outcome.ANSWERED, rewrite="One. Two. Three. Four." if method == UPDATE else None)
    scene = play(answer("One. ", "Two. ", "Three. ", "Four.", ending=ending), {method: [entry, None]})
    assert "".join(scene.texts()) == "One. Two. Three. Four."
    assert scene.thread()[-1].extras == FEEDBACK
    assert scene.workspace.open_streams() == []


@pytest.mark.parametrize("entry", ["messaging_processing_failed!", "timeout!"])
def test_what_an_edit_without_an_answer_shows_is_not_repeated_below(entry: str) -> None:
    texts = [f"Line {number}.\n" for number in range(20)]
    faults = {UPDATE: [entry, "msg_too_long", "msg_too_long", None]}
    scene = play(answer(*texts), faults, can_stream=False)
    assert "".join(message.text for message in scene.thread()) == "".join(texts)


@pytest.mark.parametrize("entry", ["timeout", "timeout!", "internal_error", "fatal_error!"])
def test_a_post_without_an_answer_is_looked_for_before_it_is_repeated(entry: str) -> None:
    scene = play(answer("One."), {POST: [entry, None]}, can_stream=False)
    assert scene.texts() == ["One."]


def test_a_thread_that_cannot_be_read_gets_the_post_again_rather_than_none() -> None:
    faults = {POST: ["internal_error!", None], "conversations.replies": ["missing_scope"]}
    assert play(answer("One."), faults, can_stream=False).texts() == ["One.", "One."]


@pytest.mark.parametrize("tells", [True, False])
@pytest.mark.parametrize("entry", ["timeout!", "internal_error", "cut!"])
@pytest.mark.parametrize("method", [START, APPEND])
def test_cards_headings_and_lists_are_known_as_slack_gives_them_back(
    method: str, entry: str, tells: bool
) -> None:
    async def story(scene: Scene) -> None:
        scene.workspace.state.rules = replace(WorkspaceRules(), stop_tells_message=tells)
        await run(scene.answer.show(Batch("## 1. Findings\n\n- **one**\n", (SEARCH,), "Plan")))
        await run(scene.answer.show(Batch("- two\n", (replace(SEARCH, title="Summarise", id="t2"),))))
        await run(scene.answer.ending.finish(ANSWERED))

    scene = play(story, {method: [entry, None]})
    assert "".join(scene.texts()) == "## 1. Findings\n\n- **one**\n- two\n"
    is_stopped = method == APPEND and entry.endswith("!")  # then what stands under the answer is an edit
    assert scene.methods().count(UPDATE) == is_stopped  # nothing had to be written anew
    assert ("conversations.replies" in scene.methods()) is (method == START or not tells)


def test_a_start_without_an_answer_in_a_thread_that_cannot_be_read() -> None:
    scene = play(answer("One."), {START: ["internal_error"], "conversations.replies": ["missing_scope"]})
    assert scene.texts() == ["One."]


def test_a_start_in_doubt_does_not_take_a_message_that_is_not_its_own() -> None:
    async def story(scene: Scene) -> None:
        await scene.api.call(
            "chat.postMessage", {"channel": "C1", "thread_ts": scene.root, "text": "earlier"}
        )
        await answer("One.")(scene)

    assert play(story, {START: ["internal_error"]}).texts() == ["earlier", "One."]


def test_a_write_that_was_cancelled_is_in_doubt() -> None:
    async def story(scene: Scene) -> None:
        await run(scene.answer.show(Batch("One. ")))
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(1):
                await run(scene.answer.show(Batch("Two. ")))
        await run(scene.answer.ending.finish(Ending(Outcome.ANSWERED, rest="Three.")))

    for entry in ("timeout", "timeout!"):
        scene = play(story, {APPEND: [entry, None]})
        assert "".join(scene.texts()) == "One. Two. Three."
        assert scene.thread()[-1].extras == FEEDBACK
        assert scene.workspace.open_streams() == []


def test_a_long_answer_in_doubt_is_written_anew_in_pieces() -> None:
    lines = [f"Line {number}.\n" for number in range(20)]
    scene = play(answer(*lines), {APPEND: [None, None, "timeout!", None]}, max_call_chars=100)
    assert "".join(scene.texts()) == "".join(lines)


@examples(1_000)
@given(
    chunks=st.lists(texts(6), max_size=8),
    faults=scripts(3),
    size=st.sampled_from((60, 300, 9_000)),
    anew=st.booleans(),
    streams=st.booleans(),
)
def test_whatever_fails_for_a_while_the_reader_has_the_answer_whole_and_once(
    *,
    chunks: list[str],
    faults: Scripts,
    size: int,
    anew: bool,
    streams: bool,
) -> None:
    rewritten = "Another answer,\nin two lines.\n"
    whole = rewritten if anew else "".join((*chunks, "End."))

    async def story(scene: Scene) -> None:
        await run(scene.answer.show(Batch("", (SEARCH,))))
        ending = Ending(Outcome.ANSWERED, rest="" if anew else "End.", rewrite=rewritten if anew else None)
        await answer(*chunks, ending=ending)(scene)

    with unheard():
        scene = play(story, faults, rotate_bytes=size, max_segments=1_000, can_stream=streams)
    assert "".join(scene.answer_text().split()) == "".join(whole.split())
    assert scene.workspace.open_streams() == []
    assert not any(message.plan_failed for message in scene.thread())
    assert not any(task.status == "in_progress" for message in scene.thread() for task in message.tasks)
    feedback = [message.extras[-2:] == FEEDBACK for message in scene.thread()]
    assert feedback == [False] * (len(feedback) - 1) + [feedback[-1]]
    assert feedback[-1] or lose_blocks(faults)


def test_nothing_works_any_more() -> None:
    with pytest.raises(SlackError, match="internal_error"):
        play(answer("One."), {POST: ["internal_error"], **NO_FILES}, can_stream=False)


# -- stop, gone, dead ----------------------------------------------------------------------------------------


def test_after_slacks_own_stop_nothing_more_appears_but_the_truth() -> None:
    async def story(scene: Scene) -> None:
        await run(scene.answer.show(Batch("One. ", (SEARCH,))))
        scene.workspace.stop("U1", "C1", scene.root, now=scene.clock.wall())
        assert await run(scene.answer.show(Batch("Two. "))) is WriteResult.STOPPED
        assert not scene.answer.state.is_live
        assert await run(scene.answer.show(Batch("Three. "))) is WriteResult.STOPPED
        note = "Stopped here. The agent could not be stopped."
        await run(scene.answer.ending.finish(Ending(Outcome.STOPPED, rest="Two. Three.", note=note)))

    message = play(story).only()
    assert (message.text, message.plan_failed) == ("One. ", False)
    assert [task.status for task in message.tasks] == ["complete"]
    assert message.extras == ("Stopped here. The agent could not be stopped.",)
    assert "Two" not in message.read


@pytest.mark.parametrize("writes", [True, False])
def test_after_slacks_own_stop_the_session_is_put_to_rest(writes: bool) -> None:
    async def story(scene: Scene) -> None:
        await run(scene.answer.show(Batch("One. ", (SEARCH,))))
        scene.workspace.stop("U1", "C1", scene.root, now=scene.clock.wall())
        if writes:
            await run(scene.answer.show(Batch("Two. ")))
        scene.writer.give_up_writes()
        await run(scene.answer.ending.finish(Ending(Outcome.STOPPED, note="Stopped.")))

    scene = play(story)
    assert scene.workspace.session(scene.channel, scene.root) == "active"


def test_a_stop_that_comes_while_the_rest_is_written() -> None:
    async def story(scene: Scene) -> None:
        await run(scene.answer.show(Batch("One. ")))
        scene.workspace.stop("U1", "C1", scene.root, now=scene.clock.wall())
        await run(scene.answer.ending.finish(Ending(Outcome.ANSWERED, rest="Two.")))

    message = play(story).only()
    assert (message.text, message.extras) == ("One. ", ("Stopped.",))


def test_a_stop_before_anything_was_shown_is_a_note() -> None:
    scene = play(answer(ending=Ending(Outcome.STOPPED, rest="Two.", note="Stopped.")))
    assert (scene.only().text, scene.only().extras) == ("", ("Stopped.",))


def test_a_stop_by_word_ends_the_stream_without_the_rest() -> None:
    scene = play(answer("One. ", ending=Ending(Outcome.STOPPED, rest="Two.", note="Stopped.")))
    assert (sealed(scene).text, sealed(scene).extras) == ("One. ", ("Stopped.",))


def test_the_truth_about_a_stop_is_posted_where_it_is_refused_below_cards() -> None:
    async def story(scene: Scene) -> None:
        await run(scene.answer.show(Batch("", (SEARCH,))))
        scene.writer.give_up_writes()
        await run(scene.answer.ending.finish(Ending(Outcome.STOPPED)))

    scene = play(story, faults={START: ["request_timeout!"], UPDATE: ["block_mismatch", None]})
    cards, note = scene.thread()
    assert [task.title for task in cards.tasks] == ["Search (stopped)"]
    assert note.extras == ("Stopped.",)


def test_the_truth_about_a_stop_is_posted_where_it_cannot_be_written_in() -> None:
    async def story(scene: Scene) -> None:
        await run(scene.answer.show(Batch("One. ")))
        scene.workspace.stop("U1", "C1", scene.root, now=scene.clock.wall())
        await run(scene.answer.show(Batch("Two. ")))
        await run(scene.answer.ending.finish(Ending(Outcome.STOPPED, note="Stopped.")))

    first, second = play(story, {UPDATE: ["cant_update_message"]}).thread()
    assert (first.text, second.extras) == ("One. ", ("Stopped.",))


def test_a_stop_that_comes_with_the_last_call_keeps_the_rest_back() -> None:
    async def story(scene: Scene) -> None:
        await run(scene.answer.show(Batch("One. ")))
        assert await run(scene.answer.show(Batch("Two. "))) is WriteResult.STOPPED
        await run(scene.answer.ending.finish(Ending(Outcome.ANSWERED, rest="Three. ")))

    scene = play(story, {APPEND: ["msg_too_long"], STOP: ["stopped_by_user"]})
    assert scene.texts() == ["One. "]
    assert scene.only().extras == ("Stopped.",)


def test_a_message_that_goes_while_it_is_written_anew_ends_quietly() -> None:
    async def story(scene: Scene) -> None:
        await run(scene.answer.show(Batch("Wrong.")))
        await run(scene.answer.ending.finish(Ending(Outcome.ANSWERED, rewrite="Right.")))

    assert play(story, {UPDATE: ["message_not_found"]}).methods() == [START, STOP, UPDATE]


BROKE = Ending(Outcome.FAILED, note="Something broke.", offer_retry=True)


def test_below_a_whole_answer_nothing_is_said_about_what_broke_afterwards() -> None:
    async def story(scene: Scene) -> None:
        await run(scene.answer.show(Batch("Wrong.")))
        await run(scene.answer.ending.finish(Ending(Outcome.ANSWERED, rewrite="Right.")))
        await run(scene.answer.ending.finish(BROKE))

    message = play(story).only()
    assert (message.text, message.extras) == ("Right.", FEEDBACK)


@pytest.mark.parametrize("streamed", ["", "One. "])
@pytest.mark.parametrize("rewrite", [None, "Right."])
def test_an_answer_that_is_whole_at_the_second_attempt_reads_as_if_nothing_had_broken(
    streamed: str, rewrite: str | None
) -> None:
    async def story(scene: Scene) -> None:
        await run(scene.answer.show(Batch(streamed, (SEARCH,) if streamed else ())))
        with pytest.raises(SlackError):
            await run(scene.answer.ending.finish(Ending(Outcome.ANSWERED, rest="Two.", rewrite=rewrite)))
        await run(scene.answer.ending.finish(BROKE))

    refused = ["feature_disabled"] * (1 if rewrite and streamed else 2)
    updates = [*["cant_update_message"] * len(TextForm), None]
    faults = {START: [None if streamed else "user_not_found"], APPEND: ["invalid_chunks"], UPDATE: updates}
    scene = play(story, {**faults, POST: [*refused, None], **NO_FILES})
    assert reads_as(scene.texts(), rewrite or f"{streamed}Two.")
    assert scene.thread()[-1].extras[-2:] == FEEDBACK
    assert "Something broke." not in str([message.extras for message in scene.thread()])


def test_where_the_rest_stays_missing_the_reader_is_told_so() -> None:
    async def story(scene: Scene) -> None:
        await run(scene.answer.show(Batch("One. ")))
        with pytest.raises(SlackError):
            await run(scene.answer.ending.finish(Ending(Outcome.ANSWERED, rest="Two.")))
        await run(scene.answer.ending.finish(BROKE))

    faults = {APPEND: ["invalid_chunks"], POST: [*["feature_disabled"] * 3, None], **NO_FILES}
    first, second = play(story, faults).thread()
    assert (first.text, first.extras) == ("One. ", ())
    assert (second.text, second.extras) == ("", ("Something broke.", "Try again"))


def test_a_turn_that_broke_before_its_end_was_known_is_closed_with_a_note() -> None:
    async def story(scene: Scene) -> None:
        await run(scene.answer.show(Batch("One. ", (SEARCH,))))
        await run(scene.answer.ending.finish(BROKE))

    message = play(story).only()
    assert (message.text, message.extras) == ("One. ", ("Something broke.", "Try again"))


@pytest.mark.parametrize("rewrite", [None, "Right."])
def test_what_slack_takes_in_no_message_comes_as_a_file(rewrite: str | None) -> None:
    async def story(scene: Scene) -> None:
        await run(scene.answer.show(Batch("One. ")))
        await run(scene.answer.ending.finish(Ending(Outcome.ANSWERED, rest="Two.", rewrite=rewrite)))

    updates = [*["cant_update_message"] * (len(TextForm) if rewrite else 0), None]
    scene = play(story, {APPEND: ["invalid_chunks"], POST: ["invalid_blocks"] * 40, UPDATE: updates})
    (file,) = [file for message in scene.thread() for file in message.files]
    assert file.content == (rewrite or "One. Two.").encode()
    told = "Slack did not take all of this answer as a message. All of it is in answer.md."
    assert any(told in message.extras for message in scene.thread()) or rewrite
    assert scene.workspace.open_streams() == []


@pytest.mark.parametrize("texts", [(), ("One. ",)])
def test_a_deleted_thread_is_left_alone(texts: tuple[str, ...]) -> None:
    async def story(scene: Scene) -> None:
        for text in texts:
            await run(scene.answer.show(Batch(text)))
        scene.workspace.delete_root("C1", scene.root, now=scene.clock.wall(), with_replies=True)
        assert await run(scene.answer.show(Batch("Two."))) is WriteResult.GONE
        assert await run(scene.answer.show(Batch("Three."))) is WriteResult.GONE
        await run(scene.answer.ending.finish(Ending(Outcome.ANSWERED, rest="Two.")))

    scene = play(story)
    assert scene.thread() == []
    assert scene.workspace.history("C1") == []


def test_a_thread_that_is_deleted_at_the_end_is_left_alone() -> None:
    async def story(scene: Scene) -> None:
        scene.workspace.delete_root("C1", scene.root, now=scene.clock.wall())
        await run(scene.answer.ending.finish(Ending(Outcome.ANSWERED, rest="x" * 500)))

    for can_stream in (True, False):
        assert play(story, can_stream=can_stream, max_call_chars=100).workspace.history("C1") == []


def test_a_stream_that_somebody_deleted_ends_quietly() -> None:
    async def story(scene: Scene) -> None:
        await run(scene.answer.show(Batch("One. ")))
        scene.workspace.delete_root("C1", scene.root, now=scene.clock.wall(), with_replies=True)
        await run(scene.answer.ending.finish(ANSWERED))

    assert play(story).thread() == []


@pytest.mark.parametrize(
    "refused", [["internal_error"] * 5, ["error:nobody_knows_this"] * 4, ["service_unavailable"]]
)
def test_no_stream_goes_on_in_a_deleted_thread(refused: list[str | None]) -> None:
    async def story(scene: Scene) -> None:
        await run(scene.answer.show(Batch("One. ")))
        scene.workspace.delete_root("C1", scene.root, now=scene.clock.wall())
        await asyncio.sleep(300)
        assert await run(scene.answer.show(Batch("Two. "))) is WriteResult.GONE
        await run(scene.answer.hand_over.abandon())

    scene = play(story, {STOP: [*refused, None]})
    assert scene.workspace.open_streams() == []
    assert scene.workspace.history("C1") == []


def test_where_the_bot_may_not_write_the_asker_is_told_once() -> None:
    async def story(scene: Scene) -> None:
        scene.workspace.state.channels["C1"].archived = True
        assert await run(scene.answer.show(Batch("One."))) is WriteResult.GONE
        await run(scene.answer.ending.finish(Ending(Outcome.ANSWERED, rest="One.")))

    scene = play(story)
    assert scene.thread() == []
    direct = scene.workspace.history(scene.workspace.direct("U1"))
    assert [message.text for message in direct] == ["I may not write in <#C1>, so I cannot answer you there."]


def test_an_asker_who_cannot_be_told_either() -> None:
    async def story(scene: Scene) -> None:
        scene.workspace.state.channels["C1"].archived = True
        await run(scene.answer.ending.finish(Ending(Outcome.FAILED, note="x")))

    assert play(story, {"conversations.open": ["missing_scope"]}).methods() == [POST, "conversations.open"]


def test_a_dead_token_is_an_error() -> None:
    with pytest.raises(SlackError, match="token") as caught:
        play(answer("One."), token="xoxb-revoked")
    assert caught.value.error == "invalid_auth"


# -- too long, stopped while it waits ------------------------------------------------------------------------

LONG = "".join(f"Line {number}, Grüße.\n" for number in range(60))


@pytest.mark.parametrize("rewrites", [False, True])
def test_an_answer_with_more_than_its_messages_is_a_file_too(rewrites: bool) -> None:
    ending = Ending(Outcome.ANSWERED, rewrite=LONG) if rewrites else Ending(Outcome.ANSWERED, rest=LONG)
    scene = play(answer("Wrong. " if rewrites else "", ending=ending), rotate_bytes=300, max_segments=2)
    *messages, last = scene.thread()
    assert [file.content for file in last.files] == [LONG.encode()]
    assert len(messages) == 2
    assert LONG.startswith("".join(message.text for message in messages)[:400])
    assert (messages[0].extras, messages[1].extras) == (
        (),
        ("This answer is too long for the thread. All of it is in answer.md.", *FEEDBACK),
    )


@pytest.mark.parametrize("rewrites", [False, True])
def test_without_a_file_it_takes_all_the_messages_it_needs(rewrites: bool) -> None:
    ending = Ending(Outcome.ANSWERED, rewrite=LONG) if rewrites else Ending(Outcome.ANSWERED, rest=LONG)
    faults = {"files.completeUploadExternal": ["missing_scope"]}
    story = answer("Wrong. " if rewrites else "", ending=ending)
    scene = play(story, faults, rotate_bytes=300, max_segments=2)
    assert reads_as(scene.texts(), LONG)
    assert scene.thread()[-1].extras == FEEDBACK


def test_after_a_stop_a_write_that_waits_is_dropped_and_nothing_more_is_shown() -> None:
    async def story(scene: Scene) -> None:
        await run(scene.answer.show(Batch("One. ", (SEARCH,))))
        waiting = asyncio.ensure_future(run(scene.answer.show(Batch("Two. "))))
        await asyncio.sleep(1)
        scene.writer.give_up_writes()
        async with asyncio.timeout(0.1):
            assert await waiting is WriteResult.HELD
        assert not scene.answer.state.is_live
        assert await run(scene.answer.show(Batch("Three. "))) is WriteResult.HELD
        await run(scene.answer.ending.finish(Ending(Outcome.ANSWERED, rest="Four.")))
        await asyncio.sleep(100)

    scene = play(story, {APPEND: ["ratelimited:30"]})
    assert (sealed(scene).text, sealed(scene).extras) == ("One. ", ("Stopped.",))
    assert [task.status for task in sealed(scene).tasks] == ["complete"]


def stopped_while_finishing(rest: str, after: float, faults: Any = None, **ending: Any) -> Scene:
    """The human presses Stop so many seconds after the answer began to put the turn to rest."""

    async def story(scene: Scene) -> None:
        await run(scene.answer.show(Batch("One. ")))
        end = Ending(Outcome.ANSWERED, rest=rest, **ending)
        finishing = asyncio.ensure_future(run(scene.answer.ending.finish(end)))
        await asyncio.sleep(after)
        scene.writer.give_up_writes()
        await finishing
        assert scene.answer.is_stopped == any("Stopped." in str(each.extras) for each in scene.thread())

    return play(story, faults, rotate_bytes=300, max_segments=2)


def test_a_stop_while_the_last_of_it_is_written_is_told() -> None:
    scene = stopped_while_finishing("Two.", 1.0, {APPEND: ["ratelimited:30"]})
    assert (sealed(scene).text, sealed(scene).extras) == ("One. ", ("Stopped.",))


def test_a_stop_before_the_file_is_sent_keeps_it_back() -> None:
    scene = stopped_while_finishing("Two. " * 200, 1.0, {APPEND: ["ratelimited:30"], START: [None, "slow:5"]})
    assert not any(message.files for message in scene.thread())
    assert scene.thread()[-1].extras == ("Stopped.",)


def test_a_stop_while_the_file_is_sent_is_told_with_it() -> None:
    scene = stopped_while_finishing("Two. " * 200, 3.0, {"files.completeUploadExternal": ["slow:9"]})
    assert [file.content for file in scene.thread()[-1].files] == [f"One. {'Two. ' * 200}".encode()]
    assert scene.thread()[-2].extras == (
        "Stopped. This answer is too long for the thread. All of it is in answer.md.",
    )


def test_a_stop_when_all_of_it_stands_changes_nothing() -> None:
    scene = stopped_while_finishing("Two.", 1.0, {STOP: ["slow:5!"]})
    assert (sealed(scene).text, sealed(scene).extras) == ("One. Two.", FEEDBACK)


def test_a_stop_between_the_text_and_what_stands_below_it_is_told() -> None:
    table = DataTable(("Name",), (("a",), ("b",)))
    scene = stopped_while_finishing("Two.", 1.0, {STOP: ["slow:5!"]}, extras=(table,))
    assert (sealed(scene).text, sealed(scene).extras) == ("One. Two.", ("Stopped.",))


def test_a_stop_when_all_of_it_is_posted_changes_nothing() -> None:
    async def story(scene: Scene) -> None:
        await run(scene.answer.show(Batch("One. ")))
        finishing = asyncio.ensure_future(
            run(scene.answer.ending.finish(Ending(Outcome.ANSWERED, rest="Two.")))
        )
        await asyncio.sleep(1)
        scene.writer.give_up_writes()
        await finishing
        assert not scene.answer.is_stopped

    scene = play(story, {UPDATE: ["slow:5!"]}, can_stream=False)
    assert (scene.only().text, scene.only().extras) == ("One. Two.", FEEDBACK)


@pytest.mark.parametrize("outcome,reads", [(Outcome.ANSWERED, "active"), (Outcome.ASKED, "suspended")])
@pytest.mark.parametrize("shown", [None, "timeout!"])
def test_a_status_leaves_no_session_at_work_where_nothing_is_streamed(
    outcome: Outcome, reads: str, shown: str | None
) -> None:
    async def story(scene: Scene) -> None:
        await run(scene.answer.show_status("is thinking..."))
        await asyncio.sleep(1)
        form = Form("Which?") if outcome is Outcome.ASKED else None
        await run(scene.answer.ending.finish(Ending(outcome, rest="One.", form=form)))

    scene = play(story, {START: ["user_not_found"], STATUS: [shown, None]})
    assert scene.workspace.session(scene.channel, scene.root) == reads


def test_no_stream_in_time_is_a_post_that_is_edited() -> None:
    async def story(scene: Scene) -> None:
        assert scene.answer.state.needs_new_message
        await run(scene.answer.delivery.downgrade_surface())
        await answer("One. ", "Two.")(scene)
        assert scene.answer.state.surface.pause(scene.clock.monotonic()) >= 0.0

    scene = play(story)
    assert (scene.texts(), scene.methods()) == (["One. Two."], [POST, UPDATE])


# -- status --------------------------------------------------------------------------------------------------


def test_a_status_stands_until_the_answer_begins_and_never_beside_it() -> None:
    async def story(scene: Scene) -> None:
        await run(scene.answer.show_status("is thinking..."))
        await asyncio.sleep(0.5)
        assert line(scene) == "is thinking..."
        await run(scene.answer.show_status("is responding..."))
        await run(scene.answer.show(Batch("One.")))
        await run(scene.answer.show_status("is late..."))
        await asyncio.sleep(2)
        assert line(scene) is None
        await run(scene.answer.ending.finish(ANSWERED))

    scene = play(story)
    assert scene.methods() == [STATUS, START, STOP]


def test_where_a_message_ended_by_its_age_a_status_tells_that_work_goes_on() -> None:
    async def story(scene: Scene) -> None:
        await run(scene.answer.show(Batch("", (SEARCH,))))
        now = scene.clock.monotonic()
        due = scene.answer.pace.due(now)
        assert due is not None
        await asyncio.sleep(due - now)
        await run(scene.answer.show(Batch()))
        await asyncio.sleep(0.5)
        assert (line(scene), len(scene.thread())) == (STILL_WORKING, 1)
        for _ in range(4):
            await asyncio.sleep(90)
            await asyncio.sleep(0.5)
            assert line(scene) == STILL_WORKING
        await run(scene.answer.show_status("is waiting..."))
        await asyncio.sleep(1.5)
        assert line(scene) == "is waiting..."
        if more:
            await run(scene.answer.show(Batch("Found.")))
            assert line(scene) is None
            await run(scene.answer.show_status("is late..."))
            await asyncio.sleep(1.5)
            assert line(scene) is None
        await run(scene.answer.ending.finish(ANSWERED))
        assert line(scene) is None

    for more in (True, False):
        scene = play(story)
        assert scene.thread()[-1].extras == FEEDBACK
        assert scene.workspace.session("C1", scene.root) == "active"
        assert len(scene.thread()) == (2 if more else 1)


def test_a_status_is_kept_over_a_long_silence() -> None:
    async def story(scene: Scene) -> None:
        await run(scene.answer.show_status("is thinking..."))
        for _ in range(4):
            await asyncio.sleep(90)
            assert line(scene) == "is thinking..."
        await run(scene.answer.ending.finish(Ending(Outcome.FAILED, note="It broke.")))
        assert line(scene) is None

    play(story)


def test_a_status_is_taken_away_where_nothing_was_written() -> None:
    async def story(scene: Scene) -> None:
        await run(scene.answer.show_status("is thinking..."))
        await asyncio.sleep(0.5)
        with pytest.raises(SlackError):
            await run(scene.answer.ending.finish(Ending(Outcome.FAILED, note="It broke.")))
        assert line(scene) is None

    play(story, {POST: ["missing_scope"]})


def test_failing_statuses_fail_nothing() -> None:
    async def story(scene: Scene) -> None:
        await run(scene.answer.show_status("is thinking..."))
        await asyncio.sleep(0.5)
        await answer("One.")(scene)

    for entry in ("timeout", "internal_error", "method_not_supported_for_channel_type", "ratelimited:9"):
        assert sealed(play(story, {STATUS: [entry]})).text == "One."


def line(scene: Scene) -> str | None:
    return scene.workspace.status_line(scene.channel, scene.root, now=scene.clock.wall())


# -- another process goes on ---------------------------------------------------------------------------------


def test_a_finished_answer_is_not_said_to_go_on() -> None:
    async def story(scene: Scene) -> None:
        await answer("All of it.\n")(scene)
        before = len(scene.workspace.calls)
        await run(scene.answer.hand_over.stop_for_next_process(is_sure=True))
        assert scene.methods()[before:] == []

    assert "being restarted" not in str(sealed(play(story)))


def test_an_unfinished_answer_is_said_to_go_on() -> None:
    async def story(scene: Scene) -> None:
        await run(scene.answer.show(Batch("Some of it.\n")))
        await run(scene.answer.hand_over.stop_for_next_process(is_sure=True))

    line = sealed(play(story)).status_line
    assert line is not None
    assert "being restarted" in line
    assert line.endswith("..."), "all of it is in the characters that a status may have"
    short = sealed(play(story, status_chars=20)).status_line
    assert short is not None
    assert len(short) <= 20
