"""What the parts say: text, thoughts, tool calls in every framework's spelling."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from slack_bot.agents.answer.filters import result_text
from slack_bot.agents.content.parts import (
    Content,
    ToolCalls,
    ToolPart,
    extract_content,
    first_text,
    is_thought,
    is_true,
    is_type,
    last_message,
    plan_in,
    tool_failed,
    tool_name,
    tool_part,
    tool_words,
)
from slack_bot.agents.dialects.caipe import CAIPE
from slack_bot.agents.wire.frames import AgentMessage, Artifact, FileRef, Part
from slack_bot.turn.events import Narrated, PlanStep, StepState, ToolEnded, ToolStarted


def text(value: str, **metadata: Any) -> Part:
    return Part(text=value, metadata=metadata)


def texts(value: str) -> tuple[Part, ...]:
    return (text(value),)


def data(value: Any, **metadata: Any) -> Part:
    return Part(data=value, has_data=True, metadata=metadata)


def test_flags() -> None:
    assert is_true({"a": True}, "a")
    assert is_true({"a": "true"}, "a")
    assert not is_true({"a": 1}, "a")
    assert not is_true({}, "a")
    assert first_text({"a": 1, "b": "", "c": "x"}, ("a", "b", "c")) == "x"
    assert first_text({}, ("a",)) == ""


# -- tool calls and thoughts


@pytest.mark.parametrize(
    ("part", "found"),
    [
        (data({"name": "lookup", "id": "c1"}, adk_type="function_call"), ToolPart("lookup", "c1", True)),
        (
            data({"name": "ask", "id": "c"}, adk_type="function_call", adk_is_long_running=True),
            ToolPart("ask", "c", True, waits=True),
        ),
        (data({"name": "lookup", "id": "c1"}, adk_type="function_response"), ToolPart("lookup", "c1", False)),
        (data({"type": "tool-use", "name": "x", "toolUseId": "u"}), ToolPart("x", "u", True)),
        (data({"type": "tool_result", "is_error": True}), ToolPart("tool", "", False, failed=True)),
        (data({"type": "tool_call", "function": {"name": "f"}}), ToolPart("f", "", True)),
        (data({"kind": "toolResult", "status": "Error"}), ToolPart("tool", "", False, failed=True)),
        (data({"agno_event_type": "tool_call_started", "tool_name": "x"}), ToolPart("x", "", True)),
        (data({"agno_event_type": "tool_call_completed", "tool_name": "x"}), ToolPart("x", "", False)),
        (data({"name": "lookup", "id": "c1"}), None),
        (data({"type": "chart"}), None),
        (data(["tool_call"]), None),
        (Part(text="tool_call"), None),
    ],
)
def test_calls_and_results(part: Part, found: ToolPart | None) -> None:
    assert tool_part(part) == found


@pytest.mark.parametrize(
    ("metadata", "thought"),
    [
        ({"adk_thought": True}, True),
        ({"is_thinking": "true"}, True),
        ({"type": "reasoning"}, True),
        ({"thought": False}, False),
        ({"afterthought": True}, False),
        ({}, False),
    ],
)
def test_thoughts(metadata: dict[str, Any], thought: bool) -> None:
    assert is_thought(metadata) is thought


LANE = {"shared": {"stream": {"block_type": "tool_call", "sequence": 3}}}
RUNNING = {"call_id": "c1", "tool": "read_file", "status": "running", "input": {"path": "x"}}


@pytest.mark.parametrize(
    ("part", "holder", "found"),
    [
        (data(RUNNING), LANE, ToolPart("read_file", "c1", True)),
        (data({**RUNNING, "status": "completed"}), LANE, ToolPart("read_file", "c1", False)),
        (data({**RUNNING, "status": "error"}), LANE, ToolPart("read_file", "c1", False, failed=True)),
        (data({"name": "f"}), {"type": "tool_result"}, ToolPart("f", "", False)),
        (Part(text=json.dumps(RUNNING)), LANE, ToolPart("read_file", "c1", True)),
        (Part(text="reading"), LANE, None),
        (Part(text="[1]"), LANE, None),
        (Part(text='{"tool": '), LANE, None),
        (Part(text=json.dumps(RUNNING)), {"a": {"b": {"c": {"type": "tool_call"}}}}, None),
        (data(RUNNING), {}, None),
    ],
)
def test_what_holds_a_part_may_call_it_a_tool_s(
    part: Part, holder: dict[str, Any], found: ToolPart | None
) -> None:
    assert tool_part(part, tool_words(holder)) == found


def test_what_holds_the_parts_may_say_what_they_are_further_down() -> None:
    assert tool_words(LANE)
    assert not tool_words({"shared": {"stream": {"block_type": "text"}}})
    assert is_thought({"shared": {"stream": {"block_type": "reasoning"}}})
    assert not is_thought({"usage": {"reasoning": True, "types": ["reasoning"]}})


@pytest.mark.parametrize(
    ("word", "known"),
    [("function_call", True), ("toolResult", True), ("Thinking", True), ("Maya", False), ("", False)],
)
def test_a_word_that_marks_a_call_a_result_or_a_thought(word: str, known: bool) -> None:
    assert is_type(word) is known


# -- artifacts


@pytest.mark.parametrize(
    ("artifact", "name"),
    [
        (Artifact(metadata={"tool_name": "github"}), "github"),
        (Artifact(description="Tool call started: [RAG] Search docs"), "[RAG] Search docs"),
        (Artifact(description="Tool call failed: x", parts=texts("❌ x failed")), "x"),
        (Artifact(parts=(data({"toolName": "jira"}),)), "jira"),
        (Artifact(parts=(data({"other": 1}),)), "tool"),
        (Artifact(parts=texts("Calling: fetch_document now")), "fetch_document"),
        (Artifact(metadata={"sourceAgent": "search"}), "search"),
        (Artifact(metadata={"tool_name": 7}), "tool"),
    ],
)
def test_the_name_of_a_tool(artifact: Artifact, name: str) -> None:
    assert tool_name(artifact) == name


@pytest.mark.parametrize(
    ("artifact", "failed"),
    [
        (Artifact(parts=texts("no errors found")), False),
        (Artifact(parts=texts("❌ x failed")), True),
        (Artifact(description="Tool call failed: x"), True),
        (Artifact(metadata={"status": "Failed"}), True),
        (Artifact(), False),
    ],
)
def test_a_tool_failed_only_if_the_agent_says_so(artifact: Artifact, failed: bool) -> None:
    assert tool_failed(artifact) is failed


# -- the calls of a turn


def test_the_oldest_of_a_name_ends_first() -> None:
    calls, search = ToolCalls(), Artifact(name="tool_notification_start", metadata={"tool_name": "search"})
    started = [calls.start_of(search, CAIPE), calls.start_of(search, CAIPE)]
    ended = [calls.end_of(search), calls.end_of(search), calls.end_of(search)]
    assert [event.tool_id for event in started if isinstance(event, ToolStarted)] == ["search#1", "search#2"]
    assert [event.tool_id for event in ended if isinstance(event, ToolEnded)] == ["search#1", "search#2"]
    assert isinstance(ended[2], Narrated)


def test_a_list_of_calls_or_results_is_no_text() -> None:
    calls = data({"tool_calls": [{"name": "search", "toolCallId": "c1"}, "?"]})
    results = data({"tool_results": [{"name": "search", "toolCallId": "c1", "status": "error"}]})
    assert extract_content((calls,)).tools == (ToolPart("search", "c1", True),)
    assert extract_content((results,)).tools == (ToolPart("search", "c1", False, failed=True),)
    assert extract_content((calls, results)).text == ""
    for other in ({"tool_results": "none"}, {"tool_results": [], "more": 1}, {"rows": []}):
        assert extract_content((data(other),)).tools == ()


def test_an_announcement_is_no_tool() -> None:
    said = ToolCalls().start_of(Artifact(metadata={"tool_name": "composing_answer"}), CAIPE)
    assert isinstance(said, Narrated) and said.passing


def test_calls_among_the_parts() -> None:
    calls = ToolCalls()
    assert calls.part(ToolPart("a", "1", begins=True)) == ToolStarted(
        "1", "a", reason="a tool call among the parts"
    )
    calls.part(ToolPart("a", "1", begins=True))  # said again
    ended = calls.part(ToolPart("a", "1", begins=False, failed=True))
    assert ended == ToolEnded("1", "a", failed=True, reason="a tool's result among the parts")
    assert isinstance(calls.part(ToolPart("a", "1", begins=False)), Narrated)
    assert isinstance(calls.part(ToolPart("b", "", begins=True, waits=True)), Narrated), "it is asked instead"


def test_an_end_that_names_another_call_is_believed() -> None:
    calls = ToolCalls()
    calls.part(ToolPart("a", "", begins=True))
    ended = calls.part(ToolPart("a", "other", begins=False))
    assert isinstance(ended, ToolEnded) and ended.tool_id == "other"


def test_a_call_has_the_id_and_the_label_that_the_agent_wrote() -> None:
    metadata = {"tool_call_id": "tc1", "tool_title": " Search “cats” "}
    began = ToolCalls().start_of(Artifact(metadata=metadata), CAIPE)
    assert began == ToolStarted("tc1", "tool", label="Search “cats”")
    assert ToolCalls().start_of(Artifact(metadata={"tool_title": 7}), CAIPE) == ToolStarted("tool#1", "tool")


# -- all parts


def test_text_parts_are_chunks_and_data_are_paragraphs() -> None:
    assert extract_content((text("a"),)) == Content("a")
    assert extract_content((text("a"), text("b"), text(""))) == Content("ab")
    assert extract_content((text("a "), data({"x": 1}), text("b"), text("c"))) == Content(
        "a\n\n- **x**: 1\n\nbc"
    )
    assert extract_content((data({"x": 1}), Part(file=FileRef("f", url="https://e.example/f")))) == Content(
        "- **x**: 1\n\n[f](https://e.example/f)", is_block=True
    )
    assert extract_content((text("a "), text(" "), data({"x": 1}))) == Content("a\n\n- **x**: 1")
    assert extract_content(()) == Content()
    assert extract_content((text("3 foxes"), data({"count": 3}))) == Content("3 foxes")


def test_thoughts_and_calls_are_no_text() -> None:
    said = extract_content(
        (text("hm", adk_thought=True), text("Yes"), data({"name": "f"}, adk_type="function_call"))
    )
    assert said == Content("Yes", "hm", (ToolPart("f", "", begins=True),))
    assert said.calls_a_tool
    assert extract_content((text("all of it"),), {"type": "thinking"}) == Content("", "all of it")


def test_what_a_tool_writes_is_no_text_whatever_it_is_written_in() -> None:
    lane = {"shared": {"stream": {"block_type": "tool_call"}}}
    call = ToolPart("read", "c", begins=True)
    assert extract_content((data({"tool": "read", "call_id": "c"}),), lane) == Content(tools=(call,))
    assert extract_content((text('{"tool": "read", "call_id": "c"}'),), lane) == Content(tools=(call,))
    assert extract_content((text("3 files"),), lane) == Content()


def human(value: str) -> AgentMessage:
    return AgentMessage("u", "user", (text(value),))


def agent(value: str) -> AgentMessage:
    return AgentMessage("a", "agent", (text(value),))


@pytest.mark.parametrize(
    ("history", "said"),
    [
        ((), ""),
        ((human("q"), agent("one"), agent("two"), agent(" ")), "two"),
        ((agent("newest first"), human("q")), "newest first"),
        ((human("q"), agent("an earlier answer"), human("another")), ""),
        ((human("q"), agent("Which?"), human("That."), agent("Done.")), "Done."),
    ],
)
def test_the_last_message_belongs_to_the_last_question(history: tuple[AgentMessage, ...], said: str) -> None:
    assert last_message(history) == said


def data(value: Any, **metadata: Any) -> Part:
    return Part(data=value, has_data=True, metadata=metadata)


# -- plans


def test_the_steps_of_a_plan_in_their_order() -> None:
    steps = [
        {"step_id": "s2", "title": "Write", "status": "pending", "order": 1, "agent": "Supervisor"},
        {"step_id": "s1", "title": "Search", "status": "in_progress", "order": 0, "agent": "RAG"},
        {"status": "failed", "order": 2},
        {"id": "s4", "description": "[RAG] x", "status": "new", "order": "third", "agent": "RAG"},
        "no step",
    ]
    assert plan_in((Part(text="a plan"), data({"steps": steps})))[0] == (
        PlanStep("s1", "[RAG] Search", StepState.RUNNING),
        PlanStep("s4", "[RAG] x", StepState.PENDING),
        PlanStep("s2", "Write", StepState.PENDING),
        PlanStep("step-3", "Step 4", StepState.FAILED),
    )
    assert plan_in((data({"steps": "none"}),)) == plan_in(()) == ((), "")
    titled = (data({"title": "A"}), data({"steps": steps, "title": "Searched 2 pages"}))
    assert plan_in(titled)[1] == "Searched 2 pages"
    assert plan_in((data({"steps": steps, "title": 7}),))[1] == ""
    far = [{"id": "last", "order": 10**400}, {"id": "first", "order": 0.5}]
    assert [step.id for step in plan_in((data({"steps": far}),))[0]] == ["first", "last"]


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                ["steps", "fields", "input_fields", "metadata", "content", "title", "user_input", "order"]
            ),
            inner,
            max_size=4,
        )
    ),
    max_leaves=12,
)


@given(JSON)
def test_no_data_whatever_breaks_the_reading(value: object) -> None:
    parts = (data(value),)
    plan_in(parts)
    artifact = Artifact(parts=parts, metadata=value if isinstance(value, dict) else {})
    tool_name(artifact)
    tool_failed(artifact)
    assert isinstance(result_text(artifact), str)
