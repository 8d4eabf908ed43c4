"""A dialect is recognised from the first frame that only it would send."""

from __future__ import annotations

from typing import Any

import pytest

from slack_bot.a2a.conventions import BY_NAME, CAIPE, recognise
from slack_bot.a2a.conventions.adk import ADK
from slack_bot.a2a.frames import (
    Artifact,
    ArtifactUpdate,
    Message,
    Part,
    Reply,
    Snapshot,
    StatusUpdate,
    TaskState,
)


def test_recognising() -> None:
    assert recognise(ArtifactUpdate(Artifact(name="streaming_result"))) is CAIPE
    whole = (Artifact(name="x"), Artifact(name="final_result", parts=(Part(text="x"),)))
    assert recognise(Snapshot(state=TaskState.COMPLETED, artifacts=whole)) is CAIPE
    assert recognise(Snapshot(state=TaskState.WORKING, artifacts=whole)) is None
    assert recognise(Snapshot(state=TaskState.COMPLETED, artifacts=whole), lambda each: True) is None
    assert recognise(ArtifactUpdate(Artifact(name="answer"))) is None
    assert recognise(Snapshot()) is None
    assert recognise(StatusUpdate()) is None
    assert set(BY_NAME) == {
        *("generic", "caipe", "caipe-0.2", "adk", "strands", "langgraph", "agno", "fasta2a")
    }


def test_adk_signs_its_metadata() -> None:
    signed = {"adk_app_name": "x"}
    assert recognise(StatusUpdate(metadata=signed)) is ADK
    assert recognise(ArtifactUpdate(Artifact(metadata={"kagent_type": "x"}))) is ADK
    assert recognise(Snapshot(metadata=signed)) is ADK
    assert recognise(Reply(Message(metadata=signed))) is None


@pytest.mark.parametrize("name", ["final_result", "partial_result", "complete_result"])
def test_a_result_is_caipe_s_where_it_comes_whole_or_says_so(name: str) -> None:
    def result(*, append: bool | None = None, last: bool = False, **more: Any) -> ArtifactUpdate:
        return ArtifactUpdate(Artifact("a", name, parts=(Part(text="x"),), **more), None, None, append, last)

    assert recognise(result(append=False, last=True)) is CAIPE
    assert recognise(result(metadata={"agentType": "sub-agent"})) is CAIPE
    data = Artifact("a", name, parts=(Part(data={"x": 1}, has_data=True),))
    assert recognise(ArtifactUpdate(data)) is CAIPE
    assert recognise(result(append=False)) is None
    assert recognise(result(append=True, last=True)) is None
