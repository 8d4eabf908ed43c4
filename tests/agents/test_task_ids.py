"""The ids that an agent names are told when they are new."""

from __future__ import annotations

from slack_bot.agents.task_ids import TaskIds
from slack_bot.agents.wire.frames import (
    AgentMessage,
    Artifact,
    ArtifactUpdate,
    MessageReply,
    Snapshot,
    TaskState,
    Unknown,
)
from slack_bot.turn.events import TaskKnown


def test_each_id_is_told_once_and_again_where_it_changes() -> None:
    ids = TaskIds()
    task = Snapshot("t", "c", TaskState.WORKING)
    assert ids.learn(task) == [TaskKnown("t", "c", None, reason="named by the agent")]
    assert ids.learn(task) == []
    assert ids.learn(Unknown("odd")) == []
    reply = MessageReply(AgentMessage(context_id="d"))
    assert ids.learn(reply) == [TaskKnown(None, "d", None, reason="named by the agent")]


def test_a_trace_may_be_named_by_an_artifact() -> None:
    update = ArtifactUpdate(Artifact("a", metadata={"trace_id": "x"}), "t")
    assert TaskIds().learn(update) == [TaskKnown("t", None, "x", reason="named by the agent")]
