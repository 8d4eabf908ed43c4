"""Pieces of one artifact that come under the ids of others."""

from __future__ import annotations

from typing import Any

from slack_bot.agents.answer.partial_artifacts import PartialArtifacts
from slack_bot.agents.wire.frames import Artifact, ArtifactUpdate, Part


def event(key: str, author: str = "fox", *, partial: bool = True) -> ArtifactUpdate:
    metadata: dict[str, Any] = {"adk_author": author} | ({"adk_partial": True} if partial else {})
    return ArtifactUpdate(Artifact(key, parts=(Part(text="x"),)), metadata=metadata)


def ids(artifacts: PartialArtifacts, *updates: ArtifactUpdate) -> list[str]:
    return [artifacts.under_one_id(update).artifact.artifact_id for update in updates]


def test_pieces_and_their_whole_have_the_id_of_the_first_piece() -> None:
    artifacts = PartialArtifacts()
    assert ids(artifacts, event("a"), event("b"), event("c", partial=False)) == ["a", "a", "a"]
    assert ids(artifacts, event("c"), event("d", partial=False), event("e", partial=False)) == ["c", "c", "e"]


def test_each_author_has_pieces_of_its_own() -> None:
    updates = event("a"), event("b", "owl"), event("c", "owl"), event("d"), event("d", partial=False)
    assert ids(PartialArtifacts(), *updates) == ["a", "b", "b", "a", "a"]


def test_other_events_stay_as_they_are() -> None:
    update = ArtifactUpdate(Artifact("a"))
    assert PartialArtifacts().under_one_id(update) is update


def test_a_task_holds_pieces_that_were_seen_and_others() -> None:
    artifacts = PartialArtifacts()
    ids(artifacts, event("a"), event("b"))
    assert artifacts.in_task([("a", "", "Hel"), ("b", "", "lo")]) == [("a", "", "Hello"), ("b", "", "")]
    held = [("a", "", "Hel"), ("b", "", "lo"), ("x", "", " wor"), ("y", "", "Hello world"), ("z", "", "More")]
    whole, more, *blank = artifacts.in_task(held)
    assert (whole, more) == (("a", "", "Hello world"), ("z", "", "More"))
    assert sorted(key for key, _, _ in blank) == ["b", "x", "y"]
    assert all(not text for _, _, text in blank)
