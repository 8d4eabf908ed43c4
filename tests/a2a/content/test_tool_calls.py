"""The calls of a turn are told apart, with ids and without."""

from __future__ import annotations

from slack_bot.a2a.content.tool_calls import ToolCalls
from slack_bot.a2a.content.tool_parts import ToolPart
from slack_bot.a2a.dialects import CAIPE
from slack_bot.a2a.wire.frames import Artifact
from slack_bot.turn.events import Narrated, ToolEnded, ToolStarted


def test_the_oldest_of_a_name_ends_first() -> None:
    calls, search = ToolCalls(), Artifact(name="tool_notification_start", metadata={"tool_name": "search"})
    started = [calls.announced(search, CAIPE), calls.announced(search, CAIPE)]
    ended = [calls.reported(search), calls.reported(search), calls.reported(search)]
    assert [event.tool_id for event in started if isinstance(event, ToolStarted)] == ["search#1", "search#2"]
    assert [event.tool_id for event in ended if isinstance(event, ToolEnded)] == ["search#1", "search#2"]
    assert isinstance(ended[2], Narrated)


def test_an_announcement_is_no_tool() -> None:
    said = ToolCalls().announced(Artifact(metadata={"tool_name": "composing_answer"}), CAIPE)
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
