"""Tool calls among the parts, in every framework's spelling."""

from __future__ import annotations

import json
from typing import Any

import pytest

from slack_bot.a2a.content.tool_parts import ToolPart, is_of_tools, is_thought, is_type, tool_part, tool_words
from slack_bot.a2a.wire.frames import Part


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
    assert is_of_tools(LANE)
    assert not is_of_tools({"shared": {"stream": {"block_type": "text"}}})
    assert is_thought({"shared": {"stream": {"block_type": "reasoning"}}})
    assert not is_thought({"usage": {"reasoning": True, "types": ["reasoning"]}})


@pytest.mark.parametrize(
    ("word", "known"),
    [("function_call", True), ("toolResult", True), ("Thinking", True), ("Maya", False), ("", False)],
)
def test_a_word_that_marks_a_call_a_result_or_a_thought(word: str, known: bool) -> None:
    assert is_type(word) is known
