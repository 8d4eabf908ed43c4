"""Tool calls among the parts, in every framework's spelling."""

from __future__ import annotations

import json
from typing import Any

import pytest

from slack_bot.a2a.content.tools import (
    ToolCalls,
    ToolPart,
    is_thought,
    is_type,
    tool_failed,
    tool_name,
    tool_part,
    tool_words,
)
from slack_bot.a2a.dialects import CAIPE
from slack_bot.a2a.wire.frames import Artifact, Part
from slack_bot.turn.events import Narrated, ToolEnded, ToolStarted


def text(value: str) -> tuple[Part, ...]:
    return (Part(text=value),)


def data(value: Any, **metadata: Any) -> Part:
    return Part(data=value, has_data=True, metadata=metadata)


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
        (Artifact(description="Tool call failed: x", parts=text("❌ x failed")), "x"),
        (Artifact(parts=(data({"toolName": "jira"}),)), "jira"),
        (Artifact(parts=(data({"other": 1}),)), "tool"),
        (Artifact(parts=text("Calling: fetch_document now")), "fetch_document"),
        (Artifact(metadata={"sourceAgent": "search"}), "search"),
        (Artifact(metadata={"tool_name": 7}), "tool"),
    ],
)
def test_the_name_of_a_tool(artifact: Artifact, name: str) -> None:
    assert tool_name(artifact) == name


@pytest.mark.parametrize(
    ("artifact", "failed"),
    [
        (Artifact(parts=text("no errors found")), False),
        (Artifact(parts=text("❌ x failed")), True),
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
