"""What a reader sees of the other frameworks, and that every dialect can be named in the settings."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import accumulate
from typing import get_args

import pytest

from slack_bot.agents.dialects.table import ANSWER_MARKS, BY_NAME, KEYS, NARRATION_MARKS
from slack_bot.agents.wire.frames import (
    AgentMessage,
    Artifact,
    ArtifactUpdate,
    Snapshot,
    StatusUpdate,
    TaskState,
)
from slack_bot.settings.models import AgentSettings
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


def test_every_dialect_can_be_named_in_the_settings() -> None:
    assert get_args(AgentSettings.model_fields["dialect"].annotation) == ("auto", *BY_NAME)


def test_what_is_read_of_every_agent() -> None:
    assert (ANSWER_MARKS[0], NARRATION_MARKS[0]) == ("is_final_answer", "is_narration")
    assert set(KEYS) >= {"adk_", "kagent_"}


# -- agno: deltas with one id, a final status, then a task with all of it


AGNO_DELTAS = [reply(word) for word in WORDS]
AGNO_TASK = Snapshot("t", "c", TaskState.COMPLETED, history=(AgentMessage("m", parts=text(FOX)),))


def test_the_deltas_are_live_and_the_task_adds_nothing() -> None:
    for dialect in ("auto", "agno"):
        started = StatusUpdate("t", "c", TaskState.WORKING)
        told = tell(started, *AGNO_DELTAS, COMPLETED, AGNO_TASK, dialect=dialect)
        assert told.live == told.shown == FOX


def test_a_task_that_has_it_as_an_artifact_too_does_not_double_it() -> None:
    task = Snapshot("t", "c", TaskState.COMPLETED, artifacts=(Artifact("a", parts=text(FOX)),))
    told = tell(*AGNO_DELTAS, COMPLETED, task)
    assert told.live == told.shown == FOX


def test_a_task_first_makes_it_hold_unless_the_dialect_is_named() -> None:
    first = Snapshot("t", "c", TaskState.WORKING)
    told = tell(first, *AGNO_DELTAS, COMPLETED)
    assert (told.live, told.shown) == ("", FOX)
    assert told.learned == {"answer_source": "message"}
    assert tell(first, *AGNO_DELTAS, COMPLETED, profile=told.learned).live == FOX
    assert tell(first, *AGNO_DELTAS, COMPLETED, dialect="agno").live == FOX


def test_a_tool_in_the_metadata_is_a_card_and_what_follows_a_paragraph() -> None:
    def event(kind: str) -> StatusUpdate:
        return working(agno_event_type=kind, tool_name="search", tool_call_id="c1")

    look = [reply(word) for word in ("Let ", "me ", "look.")]
    glued = AgentMessage("m", parts=text(f"Let me look.{FOX}"))
    task = Snapshot("t", "c", TaskState.COMPLETED, history=(glued,))
    tool = (event("tool_call_started"), event("tool_call_completed"))
    told = tell(working(), *look, *tool, *AGNO_DELTAS, COMPLETED, task)
    assert told.live == told.shown == f"Let me look.\n\n{FOX}"
    assert told.cards == {"search": "complete"}


# -- trpc-agent: deltas of one artifact, and nothing says that they append


def test_deltas_that_do_not_say_so_are_added_up() -> None:
    for about in ({}, {"object_type": "chat.completion.chunk"}, {"partial": "True"}):
        chunks = [replace(artifact(text(word)), metadata=about) for word in WORDS]
        told = tell(SUBMITTED, *chunks)
        assert told.live == told.shown == FOX
        again = tell(SUBMITTED, *chunks, artifact(text(f"{FOX}.")), COMPLETED)
        assert again.shown == f"{FOX}."


@pytest.mark.parametrize("words", [WORDS, ["Run:\n", "```", "make\n", "```"], ["One ", "says ", "<"]])
def test_a_server_that_kept_the_last_delta_takes_nothing_back_and_adds_nothing(words: Sequence[str]) -> None:
    kept = Snapshot("t", "c", TaskState.COMPLETED, artifacts=(Artifact("a", parts=text(words[-1])),))
    about = {"partial": "True"}
    told = tell(SUBMITTED, *[replace(artifact(text(word)), metadata=about) for word in words], kept)
    assert told.shown == "".join(words)


def test_a_text_that_replaces_another_still_does() -> None:
    for first, second in (("A draft.", FOX), ("Working\n", FOX), ("a draft of " * 9, FOX)):
        assert tell(SUBMITTED, artifact(text(first)), artifact(text(second)), COMPLETED).shown == FOX


# -- a heading glued to the sentence before it (Mastra, agent-framework, AG2, Strands compliant)


@pytest.mark.parametrize("final", [(), (artifact(text("Let me look first.## Found\n\nIt is here.")),)])
def test_a_heading_right_behind_a_sentence_begins_a_paragraph(final: tuple[ArtifactUpdate, ...]) -> None:
    tokens = ("Let ", "me ", "look ", "first.", "## ", "Found\n\n", "It ", "is ", "here.")
    lines = ("Let me look first.## Found\n\n", "It is here.")
    for words in (tokens, lines, ("Let me look ", "first.## Found\n\nIt is here.")):
        chunks = [artifact(text(word), append=at > 0) for at, word in enumerate(words)]
        told = tell(SUBMITTED, *chunks, *final, COMPLETED)
        assert told.live == told.shown == "Let me look first.\n\n## Found\n\nIt is here."


@pytest.mark.parametrize(
    "words",
    [
        ("See ", "```\n", "a.", "## ", "no heading\n", "```"),
        ("Write ", "`first.## Found`", " there"),
        ("Issue ", "no.", "#1 ", "is ", "open"),
        ("C", "## ", "is ", "a ", "language"),
    ],
)
def test_signs_that_are_no_heading_stay_where_they_are(words: tuple[str, ...]) -> None:
    chunks = [artifact(text(word), append=at > 0) for at, word in enumerate(words)]
    assert tell(SUBMITTED, *chunks, COMPLETED).shown == "".join(words)


# -- two artifacts without names, whose chunks alternate


def test_chunks_of_two_artifacts_that_alternate_are_two_texts() -> None:
    pairs = [("Hello ", "World "), ("there, ", "goes "), ("friend.", "on.")]
    chunks = [
        artifact(text(each), key, append=True) for pair in pairs for each, key in zip(pair, "ab", strict=True)
    ]
    assert tell(SUBMITTED, *chunks, COMPLETED).shown == "Hello there, friend.\n\nWorld goes on."


# -- status text that was shown, and an artifact that says otherwise


def test_status_tokens_that_are_marked_as_narration_are_never_shown() -> None:
    def said(word: str) -> StatusUpdate:
        message = AgentMessage(word, parts=text(word), metadata={"is_narration": True})
        return StatusUpdate("t", "c", TaskState.WORKING, message)

    told = tell(SUBMITTED, *map(said, ("I ", "have ", "to ", "think.")), artifact(text(FOX)), COMPLETED)
    assert told.live == told.shown == FOX


def test_a_streamed_artifact_proves_status_tokens_to_be_thoughts() -> None:
    thoughts = [working(*text(word), message_id=word) for word in ("I ", "have ", "to ", "think.")]
    chunks = [artifact(text(word), append=word != "The ") for word in WORDS]
    frames = (SUBMITTED, *thoughts, *chunks, COMPLETED)
    first, second = twice(*frames)
    assert first.live == f"I have to think.\n\n{FOX}"
    assert first.shown == second.shown == second.live == FOX
    assert first.learned == {"answer_source": "artifact"}


# -- fasta2a: every chunk appends; the result replaces them, without what preceded a tool


FASTA2A_CHUNKS = [artifact(text(word), append=True) for word in WORDS]
FASTA2A_RESULT = artifact(text(FOX), append=False, name="result")


def test_the_replacement_says_the_same_again() -> None:
    for dialect in ("auto", "fasta2a"):
        told = tell(SUBMITTED, *FASTA2A_CHUNKS, FASTA2A_RESULT, COMPLETED, dialect=dialect)
        assert told.live == told.shown == FOX


def test_what_vanishes_in_the_replacement_vanishes_for_the_reader() -> None:
    before = artifact(text("Let me look that up. "), append=True)
    told = tell(SUBMITTED, before, *FASTA2A_CHUNKS, FASTA2A_RESULT, COMPLETED)
    assert told.live == f"Let me look that up. {FOX}"
    assert told.shown == FOX


# -- LangGraph: growing snapshots in the status, then the artifact; its question is an artifact


SNAPSHOTS = [working(*text(so_far), message_id=so_far) for so_far in accumulate(WORDS)]
LANGGRAPH_FRAMES = (SUBMITTED, *SNAPSHOTS, artifact(text(FOX), append=False), COMPLETED)


def test_snapshots_that_begin_again_behind_a_tool_are_the_answer() -> None:
    look = [working(*text(so_far)) for so_far in accumulate(["Let ", "me ", "look ", "that ", "up."])]
    call = data({"tool_calls": [{"toolCallId": "c1", "name": "search"}]})
    result = data({"tool_results": [{"toolCallId": "c1", "name": "search", "content": "id 7f3a"}]})
    for between in ([working(*call), working(*result)], [working(*result)], []):
        frames = (SUBMITTED, *look, *between, *LANGGRAPH_FRAMES[1:])
        for told in twice(*frames):
            assert told.shown == FOX
            assert told.live == f"Let me look that up.\n\n{FOX}"  # a runner takes back what nobody saw
            assert told.cards == ({"search": "complete"} if len(between) == 2 else {})
        assert tell(*frames).learned == {"answer_source": "status", "pace": "tokens", "narrates": "yes"}


def test_snapshots_are_one_text_and_live_from_the_third_on() -> None:
    first, second = twice(*LANGGRAPH_FRAMES)
    assert first.shown == second.shown == FOX
    assert first.learned == {"answer_source": "status", "pace": "tokens"}
    assert tell(*LANGGRAPH_FRAMES[:3]).live == ""
    assert tell(*LANGGRAPH_FRAMES[:4]).live == "The quick brown "
    assert tell(*LANGGRAPH_FRAMES[:-2], profile=first.learned).live == FOX
    assert tell(*LANGGRAPH_FRAMES[:-2], dialect="langgraph").live == FOX


def test_its_interrupt_is_the_question() -> None:
    told = tell(
        SUBMITTED,
        artifact(data({"id": "1", "value": {"question": "Deploy?", "env": "prod"}}), name="Interrupt"),
        StatusUpdate("t", "c", TaskState.INPUT_REQUIRED),
    )
    assert told.asked == "Deploy?\n\n- **env**: prod"
    assert told.shown == ""


# -- Strands: status deltas and one artifact; compliant: a streamed artifact


STRANDS_DELTAS = [working(*text(word), message_id=word) for word in WORDS]
STRANDS_FRAMES = (SUBMITTED, *STRANDS_DELTAS, artifact(text(FOX + "\n"), name="agent_response"), COMPLETED)


def test_the_answer_stands_once_and_is_live_from_the_third_token_on() -> None:
    first, second = twice(*STRANDS_FRAMES)
    assert first.shown.strip() == second.shown.strip() == FOX
    assert first.learned == {"answer_source": "status", "pace": "tokens"}
    assert tell(*STRANDS_FRAMES[:3]).live == ""
    assert tell(*STRANDS_FRAMES[:-2]).live == FOX
    assert tell(*STRANDS_FRAMES[:2], profile=first.learned).live == "The "


def test_the_answer_is_the_tail_of_what_was_told_and_the_habit_stays() -> None:
    narration = [working(*text(word), message_id=word) for word in ("Let ", "me ", "look.")]
    frames = (SUBMITTED, *narration, *STRANDS_FRAMES[1:])
    first, second = twice(*frames)
    assert first.shown.strip() == second.shown.strip() == FOX
    assert first.learned == {"answer_source": "status", "pace": "tokens", "narrates": "yes"}
    assert second.learned == {}


def test_told_by_name_it_is_live_from_the_first_turn() -> None:
    assert tell(*STRANDS_FRAMES[:-2], dialect="strands").live == FOX
    assert tell(*STRANDS_FRAMES, dialect="strands").shown == FOX


def test_compliant_streaming() -> None:
    chunks = [artifact(text(word), append=word != "The ") for word in (*WORDS, "")]
    told = tell(SUBMITTED, *chunks, COMPLETED)
    assert told.live == told.shown == FOX
    assert told.learned == {}
