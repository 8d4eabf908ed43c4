"""A dialect is recognised from the first frame that only it would send."""

from __future__ import annotations

from typing import Any

import pytest

from slack_bot.a2a.dialects import BY_NAME, CAIPE, detect_dialect
from slack_bot.a2a.dialects.adk import ADK
from slack_bot.a2a.wire.frames import (
    AgentMessage,
    Artifact,
    ArtifactUpdate,
    MessageReply,
    Part,
    Snapshot,
    StatusUpdate,
    TaskState,
)


def test_recognising() -> None:
    assert detect_dialect(ArtifactUpdate(Artifact(name="streaming_result"))) is CAIPE
    whole = (Artifact(name="x"), Artifact(name="final_result", parts=(Part(text="x"),)))
    assert detect_dialect(Snapshot(state=TaskState.COMPLETED, artifacts=whole)) is CAIPE
    assert detect_dialect(Snapshot(state=TaskState.WORKING, artifacts=whole)) is None
    assert detect_dialect(Snapshot(state=TaskState.COMPLETED, artifacts=whole), lambda each: True) is None
    assert detect_dialect(ArtifactUpdate(Artifact(name="answer"))) is None
    assert detect_dialect(Snapshot()) is None
    assert detect_dialect(StatusUpdate()) is None
    assert set(BY_NAME) == {
        *("generic", "caipe", "caipe-0.2", "adk", "strands", "langgraph", "agno", "fasta2a")
    }


def test_adk_signs_its_metadata() -> None:
    signed = {"adk_app_name": "x"}
    assert detect_dialect(StatusUpdate(metadata=signed)) is ADK
    assert detect_dialect(ArtifactUpdate(Artifact(metadata={"kagent_type": "x"}))) is ADK
    assert detect_dialect(Snapshot(metadata=signed)) is ADK
    assert detect_dialect(MessageReply(AgentMessage(metadata=signed))) is None


@pytest.mark.parametrize("name", ["final_result", "partial_result", "complete_result"])
def test_a_result_is_caipe_s_where_it_comes_whole_or_says_so(name: str) -> None:
    def result(*, append: bool | None = None, last: bool = False, **more: Any) -> ArtifactUpdate:
        return ArtifactUpdate(Artifact("a", name, parts=(Part(text="x"),), **more), None, None, append, last)

    assert detect_dialect(result(append=False, last=True)) is CAIPE
    assert detect_dialect(result(metadata={"agentType": "sub-agent"})) is CAIPE
    data = Artifact("a", name, parts=(Part(data={"x": 1}, has_data=True),))
    assert detect_dialect(ArtifactUpdate(data)) is CAIPE
    assert detect_dialect(result(append=False)) is None
    assert detect_dialect(result(append=True, last=True)) is None
