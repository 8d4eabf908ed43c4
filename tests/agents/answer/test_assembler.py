"""Which text is the answer, what of it is live, and that it is told once."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from slack_bot.agents.answer.assembler import AnswerAssembler
from slack_bot.agents.parser import EventParser
from slack_bot.agents.wire.frames import AgentMessage, Artifact, Frame, Snapshot, StatusUpdate, TaskState
from slack_bot.errors import BadAgentData
from tests.agents.parser_turns import (
    COMPLETED,
    FOX,
    SUBMITTED,
    WORDS,
    artifact,
    data,
    reply,
    tell,
    text,
    twice,
    working,
)

MARKED = ("I think ", "so. [FINAL", " ANSWER]\n", "The quick ", "brown fox")
FLAGGED = {"is_final_answer": True}


def streamed(*chunks: str, name: str = "", **metadata: Any) -> list[Frame]:
    return [artifact(text(chunk), append=True, name=name, **metadata) for chunk in chunks]


def test_a_marker_makes_narration_of_what_came_before_it_and_is_expected_from_then_on() -> None:
    first, second = twice(SUBMITTED, *streamed(*MARKED), COMPLETED)
    assert first.shown == second.shown == FOX
    assert first.learned == {"marker": "yes"}
    assert second.live == FOX
    assert second.learned == {}


def test_a_marker_in_an_unmarked_stream_opens_it() -> None:
    told = tell(*streamed(*MARKED, name="streaming_result"), COMPLETED)
    assert told.live == told.shown == FOX


def test_a_marker_within_marked_text_is_taken_out_over_the_border() -> None:
    told = tell(*streamed("The ", "quick [FINAL", " ANSWER]brown fox", name="streaming_result", **FLAGGED))
    assert told.shown == FOX


def test_gates_can_be_switched_off_or_on() -> None:
    off = tell(SUBMITTED, *streamed(*MARKED), COMPLETED, marker="off")
    assert off.shown == "".join(MARKED)
    on = tell(SUBMITTED, *streamed(*MARKED), COMPLETED, marker="expected")
    assert on.live == FOX
    none = tell(SUBMITTED, *streamed(*WORDS), COMPLETED, marker="expected")
    assert (none.live, none.shown) == ("", FOX), "no marker came: all of it is the answer"


def test_growing_json_is_shown_as_its_content_and_asks_what_it_asks() -> None:
    envelope = {
        "is_task_complete": False,
        "require_user_input": True,
        "content": FOX + "?",
        "metadata": {"user_input": True, "input_fields": [{"field_name": "env", "required": True}]},
    }
    raw = json.dumps(envelope)
    chunks = [raw[at : at + 7] for at in range(0, len(raw), 7)]
    for name in ("", "streaming_result"):
        told = tell(*streamed(*chunks, name=name))
        assert told.live == told.shown == FOX + "?"
        assert told.asked == "- **env**"
        waits = StatusUpdate("t", "c", TaskState.INPUT_REQUIRED)
        told = tell(SUBMITTED, *streamed(*chunks, name=name), waits)
        assert (told.live, told.asked) == (FOX + "?", "- **env**")


def test_growing_json_as_snapshots() -> None:
    raw = json.dumps({"is_task_complete": True, "content": FOX})
    snapshots = [artifact(text(raw[:at]), append=False) for at in range(9, len(raw), 9)]
    told = tell(SUBMITTED, *snapshots, artifact(text(raw), append=False), COMPLETED)
    assert told.live == told.shown == FOX


def test_one_source_is_told_and_the_others_are_measured_against_it() -> None:
    told = tell(
        reply(FOX), artifact(text(FOX)), working(*text(FOX)), StatusUpdate("t", "c", TaskState.COMPLETED)
    )
    assert told.live == told.shown == FOX
    task = Snapshot(
        "t", "c", TaskState.COMPLETED, AgentMessage(parts=text(FOX)), (Artifact("z", parts=text(FOX)),)
    )
    assert tell(SUBMITTED, *streamed(*WORDS), task).shown == FOX


def test_the_whole_appended_behind_its_deltas_is_shown_once() -> None:
    told = tell(SUBMITTED, *streamed(*WORDS, FOX, f"{FOX} ran"), COMPLETED)
    assert told.live == told.shown == f"{FOX} ran"


def test_every_chunk_with_an_id_of_its_own_is_one_text() -> None:
    chunks = [artifact(text(word), word, append=True) for word in WORDS]
    told = tell(SUBMITTED, *chunks, COMPLETED)
    assert told.live == told.shown == FOX
    messages = [reply(word, message_id=word) for word in WORDS]
    assert tell(*messages).shown == FOX


def test_a_task_may_keep_chunks_as_artifacts_of_their_own_or_several_texts() -> None:
    def task(*texts: str) -> Snapshot:
        artifacts = tuple(Artifact(each, parts=text(each)) for each in texts)
        return Snapshot("t", "c", TaskState.COMPLETED, artifacts=artifacts)

    assert tell(task(*WORDS)).shown == FOX
    assert tell(task("One.", "Two.")).shown == "One.\n\nTwo."


def test_messages_of_their_own_are_paragraphs() -> None:
    assert tell(reply("One.", "a"), reply("Two.", "b")).shown == "One.\n\nTwo."


def test_lines_of_progress_do_not_run_into_each_other() -> None:
    lines = [working(*text(line), message_id=line) for line in ("Searching the web.", "Reading it all.")]
    assert tell(SUBMITTED, *lines, COMPLETED).shown == "Searching the web.\n\nReading it all."


def test_the_source_that_the_settings_name_decides() -> None:
    frames = (
        SUBMITTED,
        *[working(*text(word)) for word in WORDS],
        artifact(text("log"), name="log"),
        COMPLETED,
    )
    assert tell(*frames, answer_source="status").shown == FOX
    assert tell(*frames).shown == "log"
    assert tell(*frames, answer_source="status").learned == {}


def test_an_unmarked_stream_that_was_the_answer_is_live_next_time() -> None:
    frames = (
        *streamed(*WORDS, name="streaming_result"),
        artifact(text(FOX), "f", name="final_result"),
        COMPLETED,
    )
    first, second = twice(*frames)
    assert (first.live, first.learned) == (FOX, {"answer_source": "artifact"})
    assert tell(*frames[:4]).live == ""
    assert tell(*frames[:4], profile=first.learned).live == FOX
    other = (*streamed("Thinking ", "aloud"), *frames[4:])
    told = tell(*streamed("I'll ", "search", name="streaming_result"), *other, profile=first.learned)
    assert told.shown == FOX
    assert told.learned == {"answer_source": "hold"}
    assert second.shown == FOX


def test_data_is_read_and_never_json() -> None:
    told = tell(SUBMITTED, artifact(data({"fox": "brown"})), COMPLETED)
    assert told.shown == "- **fox**: brown"
    told = tell(SUBMITTED, *streamed("The fox:"), artifact(data({"speed": "quick"}), append=True), COMPLETED)
    assert told.shown == "The fox:\n\n- **speed**: quick"
    assert tell(
        SUBMITTED, Snapshot(state=TaskState.COMPLETED, artifacts=(Artifact("a", parts=data([1, 2])),))
    ).shown == ("- 1\n- 2")


def test_thoughts_are_none_of_it_unless_there_is_nothing_else() -> None:
    thinking = artifact(text("I wonder."), "t", name="thinking")
    assert tell(SUBMITTED, thinking, *streamed(*WORDS), COMPLETED).shown == FOX
    assert tell(SUBMITTED, thinking, COMPLETED).shown == "I wonder."
    assert tell(SUBMITTED, artifact((*text("hm", adk_thought=True), *text(FOX))), COMPLETED).shown == FOX


def test_tool_parts_are_cards() -> None:
    call, result = (
        data({"type": "tool_call", "name": "search"}),
        data({"type": "tool_result", "name": "search"}),
    )
    told = tell(
        SUBMITTED, artifact(call, name="tool_calls"), reply_with(result), *streamed(*WORDS), COMPLETED
    )
    assert told.cards == {"search": "complete"}
    assert told.shown == FOX


def reply_with(parts: Any) -> Frame:
    return working(*parts)


STYLES = st.sampled_from(["artifact", "replaced", "status", "snapshots", "messages", "own ids"])


@given(
    st.lists(st.text("ab. \n", min_size=1, max_size=6), min_size=1, max_size=8),
    STYLES,
    st.booleans(),
    st.booleans(),
)
def test_whoever_says_it_however_it_is_cut_it_stands_once(
    chunks: list[str], style: str, again: bool, learned: bool
) -> None:
    answer = "The " + "".join(chunks) + " fox"
    pieces = ["The ", *chunks, " fox"]
    so_far = ["".join(pieces[: n + 1]) for n in range(len(pieces))]
    frames: list[Frame] = {
        "artifact": [artifact(text(each), append=True) for each in pieces],
        "replaced": [artifact(text(each), append=False) for each in so_far],
        "status": [working(*text(each)) for each in pieces],
        "snapshots": [working(*text(each), message_id=each) for each in so_far],
        "messages": [reply(each) for each in pieces],
        "own ids": [artifact(text(each), "one", append=None if each == "The " else True) for each in pieces],
    }[style]
    if again or style in ("status", "snapshots"):
        frames.append(artifact(text(answer + "\n"), "final"))
    told = tell(*frames, COMPLETED, profile={"answer_source": "status"} if learned else {})
    assert "".join(told.shown.split()) == "".join(answer.split())


@pytest.mark.parametrize("state", [TaskState.FAILED, TaskState.CANCELED])
def test_what_was_held_of_a_failed_task_is_told_and_teaches_nothing(state: TaskState) -> None:
    told = tell(SUBMITTED, *[working(*text(word)) for word in WORDS], StatusUpdate("t", "c", state))
    assert told.shown == "".join(WORDS)
    assert told.learned == {}


def test_a_delta_of_white_space_keeps_two_words_apart() -> None:
    deltas = [working(*text(each)) for each in ("said", " ", "stands")]
    frames = (SUBMITTED, *deltas, artifact(text("said stands")), COMPLETED)
    first, second = twice(*frames)
    assert first.learned == {"answer_source": "status"}
    assert first.shown == second.shown == "said stands"
    assert tell(*frames[:-2], profile=first.learned).live == "said stands"
    assert tell(SUBMITTED, *deltas, COMPLETED).shown == "said stands"


def test_what_a_gate_holds_back_at_the_end_stays_where_its_text_is() -> None:
    held = tell(*streamed("Half a thought [FIN", name="streaming_result"), COMPLETED)
    assert (held.live, held.shown) == ("", "Half a thought [FIN")
    assert tell(*streamed("{", name="streaming_result"), COMPLETED).shown == "{"
    assert tell(SUBMITTED, *streamed("It ends in ["), COMPLETED).shown == "It ends in ["
    with_marker = [*MARKED, " and ["]
    assert tell(SUBMITTED, *streamed(*with_marker), COMPLETED).shown == f"{FOX} and ["


@pytest.mark.parametrize(
    "said", ["```json\n{} is empty\n```\nfine", "so [FINAL] it is", '{"content": "It ru\\u00e9ns."}']
)
def test_what_a_gate_holds_is_not_said_again_by_the_task_as_it_stands(said: str) -> None:
    whole = tell(SUBMITTED, *streamed(said), COMPLETED).shown
    for at in range(1, len(said)):
        joined = Snapshot("t", "c", TaskState.WORKING, artifacts=(Artifact("a", parts=text(said[:at])),))
        rest = artifact(text(said[at:]), append=True)
        assert tell(SUBMITTED, *streamed(*said[:at]), joined, rest, COMPLETED).shown == whole, at


def test_behind_the_marker_every_artifact_is_the_answer_and_before_it_none() -> None:
    appendix = artifact(text("Appendix."), "b")
    thought = artifact(text("I think so."), "0")
    frames = (SUBMITTED, thought, *streamed("so. [FINAL ANSWER]", FOX), appendix, COMPLETED)
    for profile in ({}, {"marker": "yes"}):
        assert tell(*frames, profile=profile).shown == f"{FOX}\n\nAppendix."
    assert tell(*frames, profile={"marker": "yes"}).live == f"{FOX}\n\nAppendix."


def test_status_text_that_is_the_last_resort_shows_no_marker() -> None:
    assert tell(SUBMITTED, working(*text("hm [FINAL ANSWER] Yes.")), COMPLETED).shown == "Yes."


def test_snapshots_by_the_sentence_are_one_text() -> None:
    sentences = ("One is here.", " Two is here.", " Three is here.", " Four is here.")
    so_far = ["".join(sentences[: n + 1]) for n in range(len(sentences))]
    frames = (SUBMITTED, *[working(*text(each), message_id=each) for each in so_far], COMPLETED)
    assert tell(*frames).shown == so_far[-1]
    assert tell(*frames, profile={"answer_source": "status"}).live == so_far[-1]


def test_words_said_twice_in_a_row_are_said_twice() -> None:
    words = ("no,", " no", " no no", "!")
    assert tell(*[reply(word) for word in words]).shown == "no, no no no!"


def test_data_beside_the_end_is_no_answer_where_there_is_one() -> None:
    usage = data({"tokens": 12})
    end = StatusUpdate("t", "c", TaskState.COMPLETED, AgentMessage(parts=usage))
    assert tell(SUBMITTED, artifact(text(FOX)), end).shown == FOX
    assert tell(SUBMITTED, end).shown == "- **tokens**: 12"


def test_a_question_that_was_told_as_the_answer_is_not_asked_again() -> None:
    asked = AgentMessage(parts=(*text("Which?"), *data({"plan": "drop it"})))
    told = tell(SUBMITTED, artifact(text("Which?")), StatusUpdate("t", "c", TaskState.INPUT_REQUIRED, asked))
    assert told.shown == "Which?"
    assert told.asked == "- **plan**: drop it"


def test_a_new_paragraph_is_due_within_one_artifact_only() -> None:
    tool = {"tool_name": "search"}
    end = artifact((), name="tool_notification_end", **tool)
    one = streamed("One.", name="streaming_result", **FLAGGED)
    two = artifact(text("Two."), "b", name="streaming_result", **FLAGGED)
    told = tell(*one, end, two)
    assert told.shown == "One.\n\nTwo."


def test_more_text_than_may_be_kept_is_an_error() -> None:
    parser = EventParser(max_chars=10)
    parser.feed(artifact(text("1234567890")))
    with pytest.raises(BadAgentData, match="max_turn_chars"):
        parser.feed(artifact(text("x"), append=True))


def test_an_answer_with_markers_switched_off_is_plain() -> None:
    frames = streamed("{", '"is_task_complete": true}', name="streaming_result")
    assert "{" not in tell(*frames, COMPLETED, marker="off").shown, "the dialect knows machinery by itself"
    whole = Artifact("a", parts=text("a [FINAL ANSWER] b"))
    snapshot = Snapshot("t", "c", TaskState.COMPLETED, artifacts=(whole,))
    assert tell(snapshot, marker="off").shown == "a [FINAL ANSWER] b"
    assert tell(snapshot).shown == "b"
    held = streamed("One ", "two", name="streaming_result")
    assert tell(*held, COMPLETED, marker="off").shown == "One two"


def test_what_tools_say_and_data_that_is_one_of_them() -> None:
    output = artifact(text("raw output"), name="tool_output")
    assert tell(SUBMITTED, output, artifact(text(FOX)), COMPLETED).shown == FOX
    call = data({"type": "tool_call", "name": "search"})
    assert tell(SUBMITTED, artifact(call), artifact(text(FOX), "b"), COMPLETED).shown == FOX


def test_envelopes_are_seen_before_they_are_told() -> None:
    answer = AnswerAssembler(1000)
    assert answer.filters.is_in_envelope("artifact", "a", '{"is_task_complete": true')
    answer.artifact("a", '{"is_task_complete": true', "why", append=True)
    assert answer.filters.is_in_envelope("artifact", "a", ', "content": "x"}')
    assert not answer.filters.is_in_envelope("artifact", "b", "plain")
    assert answer.filters.question is None
    assert not AnswerAssembler(1000, marker="off").filters.is_in_envelope("artifact", "a", "{")
    assert not AnswerAssembler(1000).sources.overflow


def test_a_paragraph_begins_behind_a_tool() -> None:
    answer = AnswerAssembler(1000)
    assert not answer.sources.artifacts.has_text
    answer.artifact("a", FOX, "why", append=True)
    assert answer.end_run(narrates=True)
    answer.artifact("b", "Yes.", "why", append=True)
    answer.new_paragraph()
    answer.artifact("b", "No.", "why", append=True)
    assert answer.text("artifact") == "Yes.\n\nNo."


@pytest.mark.parametrize("rest", ["", " And more."])
@pytest.mark.parametrize("key", ["a", "b"])
def test_a_paragraph_that_the_bot_put_between_two_texts_is_known_again(key: str, rest: str) -> None:
    """They stand behind a tool, or in two artifacts; the last status repeats both glued (a2a-adapter)."""
    told = tell(
        artifact(text("First."), append=True),
        working(*data({"name": "search"}, type="tool_call")),
        artifact(text("Second: all of it."), key, append=True),
        StatusUpdate(
            "t", "c", TaskState.COMPLETED, AgentMessage("e", parts=text(f"First.Second: all of it.{rest}"))
        ),
    )
    assert told.live == "First.\n\nSecond: all of it."
    assert told.shown.count("all of it") == 1 and told.shown.endswith(rest or "it.")


def test_what_may_be_a_snapshot_is_not_lost_where_the_task_ends() -> None:
    said = [*(working(*text(each)) for each in ("a ", "b ", "c ", "In", "India")), COMPLETED]
    assert [told.shown for told in twice(*said)] == ["a b c InIndia"] * 2
    assert tell(*(reply(each) for each in ("a ", "b ", "In", "India"))).shown == "a b InIndia"


def test_statuses_that_count_are_no_answer_and_no_habit() -> None:
    steps = [working(*text(f"step {number}")) for number in range(1, 30)]
    first, second = twice(SUBMITTED, *steps, COMPLETED)
    assert (first.live, first.shown, first.learned) == ("", "step 29", {}) and second.live == ""
    with_answer = tell(SUBMITTED, *steps, artifact(text(FOX)), COMPLETED)
    assert with_answer.live == with_answer.shown == FOX
    assert tell(SUBMITTED, *steps, *(working(*text(word)) for word in WORDS), COMPLETED).shown == FOX
    wrongly_learned = tell(
        SUBMITTED, *steps, artifact(text(FOX)), COMPLETED, profile={"answer_source": "status"}
    )
    assert wrongly_learned.shown == FOX


# -- what a turn teaches

LEARNED = {"answer_source": "status"}
TOKENS = {"answer_source": "status", "pace": "tokens"}
NARRATES = {"narrates": "yes"}
HELD = tuple(("status", word) for word in WORDS)


@pytest.mark.parametrize(
    ("known", "texts", "facts"),
    [
        ({}, (), {}),
        ({}, HELD, TOKENS),
        ({}, (("status", "The quick"), ("status", "The quick brown fox")), LEARNED),
        ({}, (("status", "Let me look."), *HELD), TOKENS),
        ({}, (("status", "Let me "), ("status", "look "), ("status", "up. "), *HELD), TOKENS | NARRATES),
        ({}, (("status", FOX),), {}),
        ({}, (("status", FOX), *(("message", word) for word in WORDS)), {"answer_source": "message"}),
        ({}, (("message", FOX),), {}),
        ({}, (*HELD, *(("artifact", word) for word in WORDS)), TOKENS),
        ({}, (*HELD, ("artifact", FOX)), TOKENS),
        (
            {},
            (("status", "so "), ("status", "I "), ("status", "must "), ("artifact", FOX)),
            {"answer_source": "hold"},
        ),
        (TOKENS, HELD, {}),
        (TOKENS, (("status", "Let me look. "), *HELD), NARRATES),
        (TOKENS | NARRATES, (("status", "Let me look. "), *HELD), {}),
        (LEARNED, HELD, {}),
        (LEARNED, (("status", "Let me look."),), {"answer_source": "hold"}),
        ({"answer_source": "hold"}, HELD, {"answer_source": "hold 1"}),
        ({"answer_source": "hold 3"}, HELD, {"answer_source": "hold 4"}),
        ({"answer_source": "hold 4"}, HELD, {"answer_source": ""}),
        ({}, (("artifact", "hm [FINAL ANSWER] "), ("artifact", FOX)), {"marker": "yes"}),
        ({"marker": "yes"}, (("artifact", "hm [FINAL ANSWER] "), ("artifact", FOX)), {}),
    ],
)
def test_what_a_turn_teaches(
    known: dict[str, str], texts: tuple[tuple[str, str], ...], facts: dict[str, str]
) -> None:
    answer = AnswerAssembler(1000, profile=known)
    for source, said in texts:
        match source:
            case "status":
                answer.status(said)
            case "message":
                answer.message("m", said, live=False)
            case _:
                answer.artifact("a", said, "why", append=True)
    assert answer.profile_updates(FOX, "status") == facts


def test_a_source_that_the_settings_name_teaches_nothing() -> None:
    answer = AnswerAssembler(1000, source="status")
    answer.status("Let me look.")
    assert answer.profile_updates(FOX, "status") == {}


def test_the_held_end_of_a_text_that_the_task_repeats_stays_with_it() -> None:
    whole = Artifact("a", parts=text("see [FINAL"))
    joined = Snapshot("t", "c", TaskState.WORKING, artifacts=(whole,))
    assert (
        tell(SUBMITTED, artifact(text("see [FINAL")), joined, COMPLETED, marker="expected").shown
        == "see [FINAL"
    )


def test_an_unmarked_text_is_replaced_with_markers_switched_off_too() -> None:
    for marker in ("auto", "off"):
        stream = [artifact(text(each), append=False, name="streaming_result") for each in ("One", "Two")]
        assert tell(*stream, COMPLETED, marker=marker).shown == "Two"


@pytest.mark.parametrize("fence", ["```", "~~~", "````"])
def test_what_looks_like_a_heading_in_code_is_left_as_it_is(fence: str) -> None:
    code = f"{fence}\nsee the end.## no heading\n{fence}\n"
    assert tell(artifact(text(code)), COMPLETED).shown == code
    pieces = [f"{fence}\nsee the", " end.## no", " heading\n", f"{fence}\nDone.", "## A heading"]
    chunks = [artifact(text(each), append=number > 0) for number, each in enumerate(pieces)]
    assert tell(*chunks, COMPLETED).shown == "".join(pieces[:-1]) + "\n\n## A heading"
