"""Tests of `content.beside`: where an event may name something beside the answer."""

from __future__ import annotations

from typing import Any

import pytest

from slack_bot.agents.content.beside import BesideAnswer
from slack_bot.agents.wire.frames import (
    AgentMessage,
    Artifact,
    ArtifactUpdate,
    Frame,
    MessageReply,
    Part,
    StatusUpdate,
    TaskState,
)
from slack_bot.turn.events import NextQuestionsFound
from slack_bot.turn.extras import NextQuestion

ASK = "And then?"
FOUND = [NextQuestionsFound((NextQuestion(ASK),), reason="suggested by the agent")]


def status(metadata: dict[str, Any]) -> Frame:
    return StatusUpdate(state=TaskState.COMPLETED, metadata=metadata)


@pytest.mark.parametrize(
    "key", ["suggestions", "follow_up_questions", "suggested_questions", "followUpQuestions"]
)
@pytest.mark.parametrize("place", ["event", "artifact", "message", "part", "data", "typed data"])
def test_each_place(key: str, place: str) -> None:
    named = {key: [ASK]}
    frames: dict[str, Frame] = {
        "event": status(named),
        "artifact": ArtifactUpdate(Artifact("a", metadata=named)),
        "message": MessageReply(AgentMessage(metadata=named)),
        "part": MessageReply(AgentMessage(parts=(Part(text="x", metadata=named),))),
        "data": MessageReply(AgentMessage(parts=(Part(data=named, has_data=True),))),
        "typed data": MessageReply(AgentMessage(parts=(Part(data={"type": key, **named}, has_data=True),))),
    }
    is_vague = place == "data" and key == "suggestions"  # that may be the answer
    assert BesideAnswer().take(frames[place]) == ([] if is_vague else FOUND)


def test_the_last_list_counts_and_the_same_is_told_once() -> None:
    suggestions = BesideAnswer()
    assert suggestions.take(status({"suggestions": [ASK]})) == FOUND
    assert suggestions.take(status({"suggestions": [ASK]})) == []
    assert suggestions.take(status({})) == []
    assert suggestions.take(status({"suggestions": "none"})) == []
    emptied = NextQuestionsFound((), reason="suggested by the agent")
    assert suggestions.take(status({"suggestions": []})) == [emptied]
