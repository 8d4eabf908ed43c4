"""PURE. CAIPE's supervisor: artifact names carry the meaning, metadata flags tell narration from answer.

Names are exact first, and the patterns are anchored: `terraform_plan` is no form (facts: CAIPE 1.3, 2).
Untagged streaming text is held: it may be narration, and then the final result decides. `caipe-0.2` is the
old supervisor, which tagged nothing and whose stream was its answer.
"""

from __future__ import annotations

import re
from dataclasses import replace

from .dialect import ArtifactKind, Dialect

CAIPE = Dialect(
    name="caipe",
    default=ArtifactKind.OTHER,
    exact={
        "streaming_result": ArtifactKind.STREAM,
        "final_streaming_result": ArtifactKind.STREAM,
        "final_result": ArtifactKind.FINAL,
        "partial_result": ArtifactKind.PARTIAL,
        "complete_result": ArtifactKind.COMPLETE,
        "tool_notification_start": ArtifactKind.TOOL_START,
        "tool_notification_end": ArtifactKind.TOOL_END,
        "caipe_form": ArtifactKind.FORM,
        "UserInputMetaData": ArtifactKind.FORM,
    },
    patterns=(
        (re.compile(r"streaming_result"), ArtifactKind.STREAM),
        (re.compile(r"final_result"), ArtifactKind.FINAL),
        (re.compile(r"partial_result"), ArtifactKind.PARTIAL),
        (re.compile(r"^tool_notification_start"), ArtifactKind.TOOL_START),
        (re.compile(r"^tool_notification_end"), ArtifactKind.TOOL_END),
        (re.compile(r"^execution_plan_?"), ArtifactKind.PLAN),
        (re.compile(r"^caipe_form"), ArtifactKind.FORM),
    ),
    append_by_default=True,
    paragraph_after_tools=True,
    replies_are_fallback=True,
    noise=re.compile(r"^\s*(⏳ Waiting for |🔍 \S+\.\.\.\s*$)"),
    leak=re.compile(
        r"is_task_complete=|[\"']is_task_complete[\"']|^\s*Returning structured response|ResponseFormat\("
    ),
    announcements=re.compile(r"^(composing_answer$|\[[^\]]+\] )"),
    sub_agent_key="agentType",
    sub_agent_value="sub-agent",
)

CAIPE_02 = replace(CAIPE, name="caipe-0.2", live=True)
