"""CAIPE's table."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from slack_bot.agents.dialects.caipe import CAIPE, OLD_CAIPE
from slack_bot.agents.dialects.dialect import ArtifactKind
from slack_bot.agents.dialects.table import BY_NAME

ORACLE = Path(__file__).parents[4] / "shared/oracle/cases.json"
THEIRS = {"caipe_form": ArtifactKind.FORM}
DEFECTS = {"terraform_plan", "information", "platform_engineer", "UserInputMetaData"}


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("streaming_result", ArtifactKind.STREAM),
        ("final_streaming_result", ArtifactKind.STREAM),
        ("jira_final_result", ArtifactKind.FINAL),
        ("tool_notification_end_x", ArtifactKind.TOOL_END),
        ("execution_plan_streaming", ArtifactKind.PLAN),
        ("caipe_form", ArtifactKind.FORM),
        ("UserInputMetaData", ArtifactKind.FORM),
        ("terraform_plan", ArtifactKind.OTHER),
        ("information", ArtifactKind.OTHER),
        ("complete_result", ArtifactKind.COMPLETE),
        ("tool_output", ArtifactKind.OTHER),
        ("", ArtifactKind.OTHER),
    ],
)
def test_what_a_name_means(name: str, kind: ArtifactKind) -> None:
    assert CAIPE.kind(name) is kind


@pytest.mark.skipif(
    not ORACLE.exists(), reason="the oracle's cases lie beside the checkout only in development"
)
def test_the_original_is_followed_where_it_is_right() -> None:
    for case in json.loads(ORACLE.read_text("utf-8"))["artifact_name_classification"]:
        if case["artifact_name"] not in DEFECTS:
            ours = CAIPE.kind(case["artifact_name"])
            assert (
                ours == THEIRS.get(case["event_type"], case["event_type"]) or ours is ArtifactKind.COMPLETE
            ), case


def test_the_old_supervisor_differs_in_one_thing() -> None:
    old = BY_NAME["caipe-0.2"]
    assert old is OLD_CAIPE
    assert old.live
    assert not CAIPE.live
    assert old.kind("streaming_result") is ArtifactKind.STREAM
