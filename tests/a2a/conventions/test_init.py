"""A dialect is recognised from the first frame that only it would send."""

from __future__ import annotations

from slack_bot.a2a.conventions import BY_NAME, CAIPE, recognise
from slack_bot.a2a.conventions.adk import ADK
from slack_bot.a2a.frames import Artifact, ArtifactUpdate, Message, Reply, Snapshot, StatusUpdate


def test_recognising() -> None:
    assert recognise(ArtifactUpdate(Artifact(name="streaming_result"))) is CAIPE
    assert recognise(Snapshot(artifacts=(Artifact(name="x"), Artifact(name="final_result")))) is CAIPE
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
