"""PURE. How agents mark narration, tools, plans and answers: one table for each framework (facts: A2A 8).

Most agents need none: what they do is learned, and a dialect saves the first attempt.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import lru_cache

from .wire.frames import Artifact, ArtifactUpdate, Frame, MessageReply, Metadata, Snapshot, Unknown

_LONGEST_NAME = 200  # characters of an artifact's name that are looked at
_NEVER = re.compile(r"(?!)")


class ArtifactKind(StrEnum):
    """What an artifact is, before its flags are read. `replay` counts events by the values."""

    ANSWER = "artifact"  # its text is the answer
    STREAM = "streaming_result"  # flags decide: answer, narration or untagged
    FINAL = "final_result"
    PARTIAL = "partial_result"
    COMPLETE = "complete_result"  # a sub-agent's result
    TOOL_START = "tool_notification_start"
    TOOL_END = "tool_notification_end"
    PLAN = "execution_plan"
    FORM = "form"
    THOUGHT = "thought"
    TOOL = "tool"  # calls and results, in its data parts
    OTHER = "other_artifact"


@dataclass(frozen=True, slots=True, eq=False)
class Dialect:
    """One table. The first of `patterns` in an artifact's name gives its kind, else `default`."""

    name: str
    default: ArtifactKind
    patterns: tuple[tuple[re.Pattern[str], ArtifactKind], ...]
    append_by_default: bool = False  # what an absent `append` means
    live: bool = False  # untagged streaming text is the answer
    replies_are_fallback: bool = False
    mixes_ids: bool = False  # the pieces of an artifact may come under ids of other tasks
    narrates_before_tools: bool = False  # text before a tool call is no part of the answer
    noise: re.Pattern[str] = _NEVER  # untagged text that is not worth keeping
    leak: re.Pattern[str] = _NEVER  # raw machine text that must never be shown
    announcements: re.Pattern[str] = _NEVER  # names that are no tools but say what comes next
    sub_agent: tuple[str, str] | None = None  # key and value of what another agent made
    errors: tuple[str, ...] = ()  # metadata keys of a message with the text of an exception
    answer_source: str = ""  # where its answer is; what was learned counts more

    def kind(self, name: str) -> ArtifactKind:
        return _kind(self, name[:_LONGEST_NAME])

    def is_sub_agents(self, metadata: Metadata) -> bool:
        return self.sub_agent is not None and metadata.get(self.sub_agent[0]) == self.sub_agent[1]


@lru_cache(maxsize=512)
def _kind(dialect: Dialect, name: str) -> ArtifactKind:
    return next((kind for pattern, kind in dialect.patterns if pattern.search(name)), dialect.default)


# only names that cannot mean an answer
_ANY_AGENTS = {
    r"(agent[ _-])?(thoughts?|thinking|reasoning|scratchpad|chain[ _-]of[ _-]thought)": ArtifactKind.THOUGHT,
    r"(tool|function)[ _-]?(call|use|result|output|response|invocation)s?": ArtifactKind.TOOL,
    r"interrupt": ArtifactKind.FORM,
}
GENERIC = Dialect(
    "generic",
    ArtifactKind.ANSWER,
    tuple((re.compile(f"^({name})$", re.I), kind) for name, kind in _ANY_AGENTS.items()),
)

# CAIPE's supervisor (facts: CAIPE 1.3, 2). Untagged text may be narration: the final result decides.
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
)

KAGENT_KEY = "kagent_"
ADK_KEYS = ("adk_", KAGENT_KEY)
"""Beginnings of metadata keys that no other dialect uses."""
# ADK, and kagent, which is built on it. An exception's text comes in a working status too, with a code.
ADK = replace(
    GENERIC,
    name="adk",
    mixes_ids=True,
    narrates_before_tools=True,
    answer_source="status",  # where it streams; else an artifact
    errors=("adk_error_code", "kagent_error_code"),
)

_ALL = (
    GENERIC,
    CAIPE,
    replace(CAIPE, name="caipe-0.2", live=True),  # the old supervisor tagged nothing
    ADK,
    replace(GENERIC, name="strands", answer_source="status"),  # deltas, then all of it as an artifact
    replace(GENERIC, name="langgraph", answer_source="status"),  # growing snapshots, then an artifact
    replace(GENERIC, name="agno", answer_source="message"),  # deltas with one id, then a task with all of it
    replace(GENERIC, name="fasta2a", answer_source="artifact"),  # appended, the first chunk too
)
BY_NAME = {each.name: each for each in _ALL}


def detect_dialect(frame: Frame, has_taken: Callable[[Artifact], bool]) -> Dialect | None:
    """The dialect that only `frame` shows, if any.

    `has_taken`: an artifact was read already, as any agent's; its name proves nothing any more.
    """
    if isinstance(frame, MessageReply | Unknown):
        return None
    updated = (frame.artifact,) if isinstance(frame, ArtifactUpdate) else ()
    for artifact in frame.artifacts if isinstance(frame, Snapshot) else updated:
        kind = CAIPE.kind(artifact.name)
        if kind is not CAIPE.default and not has_taken(artifact) and not _may_be_chunk(frame, artifact, kind):
            return CAIPE
        keys = [*artifact.metadata, *(key for part in artifact.parts for key in part.metadata)]
        if any(key.startswith(ADK_KEYS) for key in keys):
            return ADK
    return ADK if frame.metadata and any(key.startswith(ADK_KEYS) for key in frame.metadata) else None


def _may_be_chunk(frame: Frame, artifact: Artifact, kind: ArtifactKind) -> bool:
    """It may be a chunk of another agent's result: CAIPE's come whole."""
    is_result = kind in (ArtifactKind.FINAL, ArtifactKind.PARTIAL, ArtifactKind.COMPLETE)
    if not is_result or CAIPE.is_sub_agents(artifact.metadata):
        return False
    is_text = all(part.text is not None for part in artifact.parts)
    if isinstance(frame, ArtifactUpdate):
        return is_text and (frame.append is True or not frame.last_chunk)
    return is_text and isinstance(frame, Snapshot) and not (frame.state.is_terminal or frame.state.is_asking)
