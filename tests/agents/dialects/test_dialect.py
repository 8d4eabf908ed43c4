"""What a dialect says of an artifact, and how one is recognised."""

from __future__ import annotations

import re
from typing import Any

import pytest

from slack_bot.agents.dialects.adk import ADK
from slack_bot.agents.dialects.caipe import CAIPE
from slack_bot.agents.dialects.dialect import GENERIC, ArtifactKind, Dialect, detect_dialect
from slack_bot.agents.dialects.table import RECOGNISED
from slack_bot.agents.wire.frames import (
    AgentMessage,
    Artifact,
    ArtifactUpdate,
    Frame,
    MessageReply,
    Part,
    Snapshot,
    StatusUpdate,
    TaskState,
)

TABLE = Dialect(
    "x",
    ArtifactKind.OTHER,
    ((re.compile("^plan$"), ArtifactKind.FINAL), (re.compile("^pl"), ArtifactKind.PLAN)),
    noise=re.compile("^\\.+$"),
    sub_agent=("by", "other"),
)


def test_the_first_pattern_in_a_name_gives_its_kind() -> None:
    assert [TABLE.kind(name) for name in ("plan", "plans", "else")] == [
        ArtifactKind.FINAL,
        ArtifactKind.PLAN,
        ArtifactKind.OTHER,
    ]


def test_the_other_columns() -> None:
    assert TABLE.noise.search("...")
    assert not TABLE.leak.search("...")
    assert TABLE.is_sub_agents({"by": "other"})
    assert not TABLE.is_sub_agents({})


def test_what_is_looked_at_and_remembered_of_names_has_a_bound() -> None:
    for number in range(1_000):
        assert TABLE.kind(f"plan{number}") is ArtifactKind.PLAN
        assert TABLE.kind(f"a{number}") is ArtifactKind.OTHER
    assert TABLE.kind("pl" + "x" * 1_000_000) is ArtifactKind.PLAN
    assert TABLE.kind("x" * 200 + "pl") is ArtifactKind.OTHER


# -- any agent


def test_every_artifact_is_the_answer() -> None:
    assert GENERIC.kind("anything") is ArtifactKind.ANSWER
    assert not GENERIC.noise.search("🔍 search...")
    assert not GENERIC.leak.search("is_task_complete=True")
    assert not GENERIC.announcements.search("composing_answer")
    assert not GENERIC.is_sub_agents({"agentType": "sub-agent"})


# -- recognising


def found(frame: Frame, *, taken: bool = False) -> Dialect | None:
    return detect_dialect(RECOGNISED, frame, {"final_result"} if taken else ())


def test_recognising() -> None:
    assert found(ArtifactUpdate(Artifact(name="streaming_result"))) is CAIPE
    whole = (Artifact(name="x"), Artifact(name="final_result", parts=(Part(text="x"),)))
    assert found(Snapshot(state=TaskState.COMPLETED, artifacts=whole)) is CAIPE
    assert found(Snapshot(state=TaskState.WORKING, artifacts=whole)) is None
    assert found(Snapshot(state=TaskState.COMPLETED, artifacts=whole), taken=True) is None
    assert found(ArtifactUpdate(Artifact(name="answer"))) is None
    assert found(Snapshot()) is None
    assert found(StatusUpdate()) is None


def test_adk_signs_its_metadata() -> None:
    signed = {"adk_app_name": "x"}
    assert found(StatusUpdate(metadata=signed)) is ADK
    assert found(ArtifactUpdate(Artifact(metadata={"kagent_type": "x"}))) is ADK
    assert found(Snapshot(metadata=signed)) is ADK
    assert found(Snapshot(artifacts=(Artifact("a", parts=(Part(text="x", metadata=signed),)),))) is ADK
    assert found(MessageReply(AgentMessage(metadata=signed))) is None


@pytest.mark.parametrize("name", ["final_result", "partial_result", "complete_result"])
def test_a_result_is_caipe_s_where_it_comes_whole_or_says_so(name: str) -> None:
    def result(*, append: bool | None = None, last: bool = False, **more: Any) -> ArtifactUpdate:
        return ArtifactUpdate(Artifact("a", name, parts=(Part(text="x"),), **more), None, None, append, last)

    assert found(result(append=False, last=True)) is CAIPE
    assert found(result(metadata={"agentType": "sub-agent"})) is CAIPE
    data = Artifact("a", name, parts=(Part(data={"x": 1}, has_data=True),))
    assert found(ArtifactUpdate(data)) is CAIPE
    assert found(result(append=False)) is None
    assert found(result(append=True, last=True)) is None
