"""Each framework's table, how it is recognised, and what a reader sees of its streams."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import replace
from itertools import accumulate
from pathlib import Path
from typing import Any

import pytest

from slack_bot.agents.dialects import ADK, BY_NAME, CAIPE, GENERIC, ArtifactKind, Dialect, detect_dialect
from slack_bot.agents.wire.frames import (
    AgentMessage,
    Artifact,
    ArtifactUpdate,
    Frame,
    MessageReply,
    Part,
    Snapshot,
    StatusUpdate,
    TaskState,
)

from .parser_turns import COMPLETED, FOX, SUBMITTED, WORDS, artifact, data, reply, tell, text, twice, working

# -- tables


TABLE = Dialect(
    "x",
    ArtifactKind.OTHER,
    ((re.compile("^plan$"), ArtifactKind.FINAL), (re.compile("^pl"), ArtifactKind.PLAN)),
    noise=re.compile("^\\.+$"),
    sub_agent=("by", "other"),
)


def test_the_first_pattern_in_a_name_gives_its_kind() -> None:
    assert [TABLE.kind(name) for name in ("plan", "plans", "else")] == [
        ArtifactKind.FINAL,
        ArtifactKind.PLAN,
        ArtifactKind.OTHER,
    ]


def test_the_other_columns() -> None:
    assert TABLE.noise.search("...")
    assert not TABLE.leak.search("...")
    assert TABLE.is_sub_agents({"by": "other"})
    assert not TABLE.is_sub_agents({})


def test_what_is_looked_at_and_remembered_of_names_has_a_bound() -> None:
    for number in range(1_000):
        assert TABLE.kind(f"plan{number}") is ArtifactKind.PLAN
        assert TABLE.kind(f"a{number}") is ArtifactKind.OTHER
    assert TABLE.kind("pl" + "x" * 1_000_000) is ArtifactKind.PLAN
    assert TABLE.kind("x" * 200 + "pl") is ArtifactKind.OTHER


# -- CAIPE


ORACLE = Path(__file__).parents[3] / "shared/oracle/cases.json"
THEIRS = {"caipe_form": ArtifactKind.FORM}
DEFECTS = {"terraform_plan", "information", "platform_engineer", "UserInputMetaData"}


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("streaming_result", ArtifactKind.STREAM),
        ("final_streaming_result", ArtifactKind.STREAM),
        ("jira_final_result", ArtifactKind.FINAL),
        ("tool_notification_end_x", ArtifactKind.TOOL_END),
        ("execution_plan_streaming", ArtifactKind.PLAN),
        ("caipe_form", ArtifactKind.FORM),
        ("UserInputMetaData", ArtifactKind.FORM),
        ("terraform_plan", ArtifactKind.OTHER),
        ("information", ArtifactKind.OTHER),
        ("complete_result", ArtifactKind.COMPLETE),
        ("tool_output", ArtifactKind.OTHER),
        ("", ArtifactKind.OTHER),
    ],
)
def test_what_a_name_means(name: str, kind: ArtifactKind) -> None:
    assert CAIPE.kind(name) is kind


@pytest.mark.skipif(
    not ORACLE.exists(), reason="the oracle's cases lie beside the checkout only in development"
)
def test_the_original_is_followed_where_it_is_right() -> None:
    for case in json.loads(ORACLE.read_text("utf-8"))["artifact_name_classification"]:
        if case["artifact_name"] not in DEFECTS:
            ours = CAIPE.kind(case["artifact_name"])
            assert (
                ours == THEIRS.get(case["event_type"], case["event_type"]) or ours is ArtifactKind.COMPLETE
            ), case


def test_the_old_supervisor_differs_in_one_thing() -> None:
    old = BY_NAME["caipe-0.2"]
    assert old.live
    assert not CAIPE.live
    assert old.kind("streaming_result") is ArtifactKind.STREAM


# -- any agent


def test_every_artifact_is_the_answer() -> None:
    assert GENERIC.kind("anything") is ArtifactKind.ANSWER
    assert not GENERIC.noise.search("🔍 search...")
    assert not GENERIC.leak.search("is_task_complete=True")
    assert not GENERIC.announcements.search("composing_answer")
    assert not GENERIC.is_sub_agents({"agentType": "sub-agent"})


# -- recognising


def found(frame: Frame, *, taken: bool = False) -> Dialect | None:
    return detect_dialect(frame, lambda each: taken)


def test_recognising() -> None:
    assert found(ArtifactUpdate(Artifact(name="streaming_result"))) is CAIPE
    whole = (Artifact(name="x"), Artifact(name="final_result", parts=(Part(text="x"),)))
    assert found(Snapshot(state=TaskState.COMPLETED, artifacts=whole)) is CAIPE
    assert found(Snapshot(state=TaskState.WORKING, artifacts=whole)) is None
    assert found(Snapshot(state=TaskState.COMPLETED, artifacts=whole), taken=True) is None
    assert found(ArtifactUpdate(Artifact(name="answer"))) is None
    assert found(Snapshot()) is None
    assert found(StatusUpdate()) is None
    assert set(BY_NAME) == {
        *("generic", "caipe", "caipe-0.2", "adk", "strands", "langgraph", "agno", "fasta2a")
    }


def test_adk_signs_its_metadata() -> None:
    signed = {"adk_app_name": "x"}
    assert found(StatusUpdate(metadata=signed)) is ADK
    assert found(ArtifactUpdate(Artifact(metadata={"kagent_type": "x"}))) is ADK
    assert found(Snapshot(metadata=signed)) is ADK
    assert found(Snapshot(artifacts=(Artifact("a", parts=(Part(text="x", metadata=signed),)),))) is ADK
    assert found(MessageReply(AgentMessage(metadata=signed))) is None


@pytest.mark.parametrize("name", ["final_result", "partial_result", "complete_result"])
def test_a_result_is_caipe_s_where_it_comes_whole_or_says_so(name: str) -> None:
    def result(*, append: bool | None = None, last: bool = False, **more: Any) -> ArtifactUpdate:
        return ArtifactUpdate(Artifact("a", name, parts=(Part(text="x"),), **more), None, None, append, last)

    assert found(result(append=False, last=True)) is CAIPE
    assert found(result(metadata={"agentType": "sub-agent"})) is CAIPE
    data = Artifact("a", name, parts=(Part(data={"x": 1}, has_data=True),))
    assert found(ArtifactUpdate(data)) is CAIPE
    assert found(result(append=False)) is None
    assert found(result(append=True, last=True)) is None


# -- ADK (facts: A2A 8; the recordings `adk213_*`)


ABOUT = {"adk_app_name": "agent"}
CALL = data({"name": "lookup", "id": "f1", "args": {"q": "x"}}, adk_type="function_call")
CALL_RESULT = data({"name": "lookup", "id": "f1", "response": {"found": "x"}}, adk_type="function_response")
LOOK = "Let me look that up."
TOOL_TURN = (
    SUBMITTED,
    working(**ABOUT),
    working(*text(LOOK), *CALL, **ABOUT),
    working(*CALL_RESULT, **ABOUT),
    working(*text(FOX), **ABOUT),
    artifact(text(FOX), **ABOUT),
    COMPLETED,
)


def test_by_default_the_text_comes_twice() -> None:
    told = tell(SUBMITTED, working(*text(FOX), **ABOUT), artifact(text(FOX), **ABOUT), COMPLETED)
    assert told.shown == FOX


def test_text_before_a_tool_call_is_narration_and_the_call_a_card() -> None:
    told = tell(*TOOL_TURN)
    assert told.shown == FOX
    assert told.cards == {"lookup": "complete"}


def test_with_streaming_the_text_comes_three_times_and_is_live_from_its_first_token() -> None:
    deltas = [working(*text(word), message_id=word, **ABOUT) for word in WORDS]
    frames = (SUBMITTED, *deltas, working(*text(FOX), **ABOUT), artifact(text(FOX), **ABOUT), COMPLETED)
    first, second = twice(*frames)
    assert first.shown == second.shown == FOX
    assert first.learned == {"answer_source": "status", "pace": "tokens"}
    assert second.learned == {}
    assert tell(*frames[:2]).live == "The "
    assert tell(*frames[:-2], profile=first.learned).live == FOX


def handoff(agent: str) -> StatusUpdate:
    call = data({"name": f"{agent}__NS__agent", "id": agent, "args": {}}, kagent_type="function_call")
    about = {"kagent_event_type": "agent_handoff", "kagent_new_agent_name": agent}
    return StatusUpdate("t", "c", TaskState.WORKING, AgentMessage(agent, parts=call, metadata=about))


def test_an_agent_that_names_itself_calls_no_tool() -> None:
    """kagent-openai tells with each answer which agent begins (facts: A2A 14)."""
    told = tell(SUBMITTED, handoff("fox"), artifact(text(FOX)), handoff("fox"), COMPLETED)
    assert (told.shown, told.cards) == (FOX, {})
    told = tell(SUBMITTED, handoff("fox"), handoff("owl"), artifact(text(FOX)), COMPLETED)
    assert list(told.cards) == ["owl__NS__agent"]


def piece(value: str, key: str) -> ArtifactUpdate:
    return replace(artifact(text(value), key, append=True), metadata={**BY_FOX, "adk_partial": True})


BY_FOX = ABOUT | {"adk_author": "fox"}
PIECES = (piece("The ", "x"), piece("quick ", "x"), piece("brown ", "y"), piece("fox", "z"))
WHOLE = replace(artifact(text(FOX), "z"), metadata=BY_FOX)


def test_pieces_under_ids_of_other_tasks_are_one_text_and_the_whole_replaces_them() -> None:
    """ADK for JavaScript (facts: A2A 14): an id is that of any task of the author that runs at once."""
    again = piece("Next.", "y"), replace(artifact(text("Next."), "y"), metadata=BY_FOX)
    assert tell(SUBMITTED, *PIECES).live == FOX
    assert tell(SUBMITTED, *PIECES, WHOLE, COMPLETED).shown == FOX
    assert tell(SUBMITTED, *PIECES, WHOLE, *again, COMPLETED).shown == f"{FOX}\n\nNext."


def stored(*texts: tuple[str, str], state: TaskState = TaskState.WORKING) -> Snapshot:
    artifacts = tuple(Artifact(key, parts=(Part(text=value),)) for key, value in texts)
    return Snapshot("t", "c", state, artifacts=artifacts)


@pytest.mark.parametrize("seen", [0, 1, 3, 4])
def test_a_task_that_keeps_pieces_beside_the_whole_is_read_once(seen: int) -> None:
    now = stored(("x", "The quick "), ("y", "brown "), ("z", "fox"))
    end = stored(("x", "The quick "), ("y", "brown "), ("z", FOX), state=TaskState.COMPLETED)
    assert tell(SUBMITTED, working(**ABOUT), *PIECES[:seen], end).shown.split() == FOX.split()
    assert tell(SUBMITTED, working(**ABOUT), *PIECES[:seen], now, end).shown.split() == FOX.split()


def test_a_task_s_text_before_its_tool_call_is_narration() -> None:
    calling = Artifact("a", parts=(*text(LOOK), *CALL))
    end = Snapshot(
        "t",
        "c",
        TaskState.COMPLETED,
        artifacts=(calling, Artifact("b", parts=CALL_RESULT), Artifact("c", parts=text(FOX))),
    )
    assert tell(SUBMITTED, end).shown == FOX
    assert tell(SUBMITTED, working(**ABOUT), stored(("a", "Let ")), end).shown == FOX
    assert tell(SUBMITTED, artifact((*text(LOOK), *CALL), **ABOUT), end).shown == FOX


def test_narration_before_a_tool_costs_no_habit() -> None:
    told = tell(
        *TOOL_TURN[:2], working(*text(LOOK), **ABOUT), *TOOL_TURN[2:], profile={"answer_source": "status"}
    )
    assert told.shown == FOX
    assert told.learned == {"narrates": "yes"}


def test_a_question_that_was_written_live_is_not_asked_again_by_the_call_that_asks() -> None:
    asked = "Shall I delete it?"
    call = data({"name": "ask_human", "id": "1", "args": {"question": asked}}, adk_type="function_call")
    deltas = [working(*text(word), message_id=word, **ABOUT) for word in ("Shall ", "I ", "delete ", "it?")]
    needs = StatusUpdate("t", "c", TaskState.INPUT_REQUIRED, AgentMessage("m", parts=call), metadata=ABOUT)
    told = tell(SUBMITTED, *deltas, needs)
    assert (told.shown, told.asked) == (asked, "")
    assert tell(SUBMITTED, needs).asked == asked
    sent = Snapshot("t", "c", needs.state, needs.message, history=(AgentMessage("last", parts=text(asked)),))
    assert (tell(sent).shown, tell(sent).asked) == ("", asked)


def test_with_the_extension_each_model_turn_is_an_artifact_that_replaces_itself() -> None:
    streamed = [artifact(text(word), "a2", None if word == "The " else True, **ABOUT) for word in WORDS]
    told = tell(
        SUBMITTED,
        artifact(text(LOOK), "a1", **ABOUT),
        artifact(CALL, "a1c", **ABOUT),
        artifact(CALL_RESULT, "a1r", **ABOUT),
        *streamed,
        artifact(text(FOX), "a2", **ABOUT),
        COMPLETED,
    )
    assert told.live == f"{LOOK}\n\n{FOX}"
    assert told.shown == FOX
    assert told.cards == {"lookup": "complete"}


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
