"""Any agent: the artifact is the answer."""

from __future__ import annotations

from slack_bot.a2a.dialects import GENERIC, ArtifactKind


def test_every_artifact_is_the_answer() -> None:
    assert GENERIC.kind("anything") is ArtifactKind.ANSWER
    assert not GENERIC.knows("anything")
    assert not GENERIC.is_noise("🔍 search...")
    assert not GENERIC.is_leak("is_task_complete=True")
    assert not GENERIC.is_announcement("composing_answer")
    assert not GENERIC.is_sub_agent({"agentType": "sub-agent"})
