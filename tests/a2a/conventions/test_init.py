"""A dialect is recognised from the first frame that only it would send."""

from __future__ import annotations

from slack_bot.a2a.conventions import BY_NAME, CAIPE, recognise
from slack_bot.a2a.frames import Artifact, ArtifactUpdate, Snapshot, StatusUpdate


def test_recognising() -> None:
    assert recognise(ArtifactUpdate(Artifact(name="streaming_result"))) is CAIPE
    assert recognise(Snapshot(artifacts=(Artifact(name="x"), Artifact(name="final_result")))) is CAIPE
    assert recognise(ArtifactUpdate(Artifact(name="answer"))) is None
    assert recognise(Snapshot()) is None
    assert recognise(StatusUpdate()) is None
    assert set(BY_NAME) == {"generic", "caipe", "caipe-0.2"}
