"""What is known of a workspace, and for how long."""

from __future__ import annotations

import pytest

from slack_bot.slack.features import DAY, FeatureFinding, WorkspaceFacts, WorkspaceFeature

NOW = 1_800_000_000.0


@pytest.mark.parametrize(
    "finding",
    [FeatureFinding(True, NOW), FeatureFinding(False, NOW), FeatureFinding(False, NOW, "missing_scope")],
)
def test_what_is_stored_is_read_again(finding: FeatureFinding) -> None:
    assert FeatureFinding.parse(str(finding)) == finding


@pytest.mark.parametrize("text", [None, "", "no", "yes", "perhaps 1", "no soon", "no -1"])
def test_what_has_no_time_is_no_finding(text: str | None) -> None:
    assert FeatureFinding.parse(text) is None


@pytest.mark.parametrize(
    ("error", "is_kept"),
    [
        ("feature_disabled", True),
        ("missing_scope", True),
        ("channel_type_not_supported", False),
        ("ratelimited", False),
    ],
)
def test_a_refusal_of_this_moment_or_conversation_is_not_kept(error: str, is_kept: bool) -> None:
    assert FeatureFinding.refused(error, NOW) == (FeatureFinding(False, NOW, error) if is_kept else None)


def test_what_is_missing_is_tried_again_after_the_days() -> None:
    now = NOW
    facts = WorkspaceFacts(lambda: now, 30)
    assert (facts.known(WorkspaceFeature.FILES), facts.lacks(WorkspaceFeature.FILES)) == (None, None)
    lacking = facts["files"] = f"no {NOW:.0f} missing_scope"
    now = NOW + 30 * DAY - 1
    assert str(facts.lacks(WorkspaceFeature.FILES)) == lacking
    now += 1
    assert (facts.known(WorkspaceFeature.FILES), facts.lacks(WorkspaceFeature.FILES)) == (None, None)
    facts["files"] = f"yes {now:.0f}"
    assert facts.known(WorkspaceFeature.FILES) == FeatureFinding(True, now)
    assert facts.lacks(WorkspaceFeature.FILES) is None


def test_with_no_days_nothing_is_relied_upon() -> None:
    facts = WorkspaceFacts(lambda: NOW, 0)
    facts["streams"] = f"no {NOW:.0f}"
    assert facts.lacks(WorkspaceFeature.STREAMS) is None


def test_only_news_is_learned() -> None:
    now = NOW
    facts = WorkspaceFacts(lambda: now, 30)
    facts.learn(WorkspaceFeature.TABLES, works=False)
    now += DAY
    facts.learn(WorkspaceFeature.TABLES, works=False)
    assert facts == {"tables": f"no {NOW:.0f}"}
    facts.learn(WorkspaceFeature.TABLES, works=True)
    assert facts == {"tables": f"yes {now:.0f}"}
