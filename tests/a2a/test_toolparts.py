"""Tool calls among the parts, in every framework's spelling."""

from __future__ import annotations

from typing import Any

import pytest

from slack_bot.a2a.frames import Part
from slack_bot.a2a.toolparts import ToolPart, is_thought, tool_part


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
