"""What mixed parts say."""

from __future__ import annotations

from typing import Any

import pytest

from slack_bot.a2a.content.content import Content, extract_content, last_message
from slack_bot.a2a.content.tools import ToolPart
from slack_bot.a2a.wire.frames import AgentMessage, FileRef, Part


def text(value: str, **metadata: Any) -> Part:
    return Part(text=value, metadata=metadata)


def data(value: Any, **metadata: Any) -> Part:
    return Part(data=value, has_data=True, metadata=metadata)


def test_text_parts_are_chunks_and_data_are_paragraphs() -> None:
    assert extract_content((text("a"),)) == Content("a")
    assert extract_content((text("a"), text("b"), text(""))) == Content("ab")
    assert extract_content((text("a "), data({"x": 1}), text("b"), text("c"))) == Content(
        "a\n\n- **x**: 1\n\nbc"
    )
    assert extract_content((data({"x": 1}), Part(file=FileRef("f", url="https://e.example/f")))) == Content(
        "- **x**: 1\n\n[f](https://e.example/f)", is_block=True
    )
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
