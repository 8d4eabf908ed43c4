"""PURE. What a dialect is, how one is recognised, and GENERIC, with which every agent is read at first.

A dialect says how a framework marks narration, tools, plans and answers (facts: A2A 8). Each has a module,
and `table` lists them all. Most agents need none, because the bot learns what they do; a dialect saves the
first attempt.
"""

import re
from collections.abc import Container, Iterable
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache

from ..wire.frames import Artifact, ArtifactUpdate, Frame, MessageReply, Metadata, Snapshot, Unknown

_LONGEST_NAME = 200  # characters of an artifact's name that are looked at
_NEVER = re.compile(r"(?!)")


class ArtifactKind(StrEnum):
    """What an artifact is, before its flags are read. `replay` counts events by these values."""

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
    """How one framework marks its events.

    The first of `patterns` that is found in an artifact's name gives its kind; without one it is `default`.
    The marks of all dialects are read whatever the agent's dialect is, and `scrub` keeps them and `keys`.
    """

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
    answer_marks: tuple[str, ...] = ()  # metadata keys: true where a text is the answer
    narration_marks: tuple[str, ...] = ()  # metadata keys: true where a text is none
    keys: tuple[str, ...] = ()  # beginnings of metadata keys that no other has: it is recognised by them
    is_shown_by_names: bool = False  # it is recognised by names of artifacts; its results come whole

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
    answer_marks=("is_final_answer",),
    narration_marks=("is_narration",),
)


def detect_dialect(dialects: Iterable[Dialect], frame: Frame, taken_keys: Container[str]) -> Dialect | None:
    """The first of `dialects` that the frame certainly shows, or None.

    `taken_keys`: the ids, or else names, of artifacts that were read with GENERIC already. Their names prove
    nothing any more.
    """
    if isinstance(frame, MessageReply | Unknown):
        return None
    update_artifacts = (frame.artifact,) if isinstance(frame, ArtifactUpdate) else ()
    for artifact in frame.artifacts if isinstance(frame, Snapshot) else update_artifacts:
        keys = [*artifact.metadata, *(key for part in artifact.parts for key in part.metadata)]
        for dialect in dialects:
            is_named = dialect.is_shown_by_names and _is_shown_by_name(dialect, frame, artifact)
            if is_named and (artifact.artifact_id or artifact.name) not in taken_keys:
                return dialect
            if dialect.keys and any(key.startswith(dialect.keys) for key in keys):
                return dialect
    frame_keys = frame.metadata or ()
    return next((each for each in dialects if any(key.startswith(each.keys) for key in frame_keys)), None)


def _is_shown_by_name(dialect: Dialect, frame: Frame, artifact: Artifact) -> bool:
    kind = dialect.kind(artifact.name)
    return kind is not dialect.default and not _may_be_chunk(dialect, frame, artifact, kind)


def _may_be_chunk(dialect: Dialect, frame: Frame, artifact: Artifact, kind: ArtifactKind) -> bool:
    """Whether it may be a chunk of another agent's result. Results of `dialect` come in one piece."""
    is_result = kind in (ArtifactKind.FINAL, ArtifactKind.PARTIAL, ArtifactKind.COMPLETE)
    if not is_result or dialect.is_sub_agents(artifact.metadata):
        return False
    is_text = all(part.text is not None for part in artifact.parts)
    if isinstance(frame, ArtifactUpdate):
        return is_text and (frame.append is True or not frame.last_chunk)
    return is_text and isinstance(frame, Snapshot) and not (frame.state.is_terminal or frame.state.is_asking)
