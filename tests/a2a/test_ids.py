"""Ids are learned from any event and told once."""

from __future__ import annotations

from slack_bot.a2a.ids import Ids
from slack_bot.a2a.wire.frames import (
    AgentMessage,
    Artifact,
    ArtifactUpdate,
    MessageReply,
    StatusUpdate,
    Unknown,
)
from slack_bot.turn.events import TaskKnown

WHY = "named by the agent"


def test_news_only() -> None:
    ids = Ids()
    assert ids.learn(StatusUpdate("t", None, metadata={"trace_id": "x"})) == [TaskKnown("t", None, "x", WHY)]
    assert ids.learn(StatusUpdate("t")) == []
    artifact = Artifact(metadata={"trace_id": "y"})
    assert ids.learn(ArtifactUpdate(artifact, "t", "c")) == [TaskKnown(None, "c", "y", WHY)]
    assert ids.learn(MessageReply(AgentMessage(task_id="t2"))) == [TaskKnown("t2", None, None, WHY)]
    assert ids.learn(Unknown("x")) == []
    assert ids.learn(StatusUpdate("", "")) == []
