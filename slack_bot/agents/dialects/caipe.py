"""PURE. The dialect of CAIPE's supervisor (facts: CAIPE 1.3, 2).

Text without a tag may be narration: the final result decides.
"""

import re
from dataclasses import replace

from .dialect import ArtifactKind, Dialect

_CAIPES = {
    r"streaming_result": ArtifactKind.STREAM,
    r"final_result": ArtifactKind.FINAL,
    r"partial_result": ArtifactKind.PARTIAL,
    r"^complete_result\Z": ArtifactKind.COMPLETE,
    r"^tool_notification_start": ArtifactKind.TOOL_START,
    r"^tool_notification_end": ArtifactKind.TOOL_END,
    r"^execution_plan": ArtifactKind.PLAN,
    r"^caipe_form|^UserInputMetaData\Z": ArtifactKind.FORM,
}
CAIPE = Dialect(
    "caipe",
    ArtifactKind.OTHER,
    tuple((re.compile(name), kind) for name, kind in _CAIPES.items()),
    append_by_default=True,
    replies_are_fallback=True,
    noise=re.compile(r"^\s*(⏳ Waiting for |🔍 \S+\.\.\.\s*$)"),
    leak=re.compile(
        r"is_task_complete=|[\"']is_task_complete[\"']|^\s*Returning structured response|ResponseFormat\("
    ),
    announcements=re.compile(r"^(composing_answer$|\[[^\]]+\] )"),
    sub_agent=("agentType", "sub-agent"),
    is_shown_by_names=True,
)
OLD_CAIPE = replace(CAIPE, name="caipe-0.2", live=True, is_shown_by_names=False)
"""The old supervisor tagged no text; the names of its artifacts are the same."""
