"""PURE. What an agent's dialect says of an artifact: which dialect it is, what the artifact's name and flags
mean, what of its text is noise."""

from collections.abc import Container
from typing import NamedTuple

from .content import parts
from .dialects.dialect import GENERIC, ArtifactKind, Dialect, detect_dialect
from .dialects.table import ANSWER_MARKS, BY_NAME, NARRATION_MARKS, RECOGNISED
from .wire.frames import Artifact, Frame, Metadata


class ArtifactTraits(NamedTuple):
    """What an artifact's name and metadata say, the same for thousands of chunks.

    `is_marked`: its text is called the answer; `is_answer`: and it is the agent's own. `around`: its
    metadata, if that is about a tool.
    """

    kind: ArtifactKind
    is_marked: bool
    is_answer: bool
    is_aside: bool
    is_sub_agents: bool
    around: Metadata | None
    may_attach: bool
    reason: str


class ArtifactReader:
    """The dialect of one agent; "auto": it is recognised by what the agent sends. `is_open`: not yet.

    `has_leaked`: a framework's own object was in the stream.
    """

    def __init__(self, dialect: str) -> None:
        self.is_open = dialect == "auto"
        self.dialect: Dialect = GENERIC if self.is_open else BY_NAME[dialect]
        self._last: tuple[str, Metadata, ArtifactTraits] | None = None  # the last artifact
        self.has_leaked = False

    def recognise(self, frame: Frame, taken_keys: Container[str]) -> Dialect | None:
        """The dialect, if this frame shows it. `taken_keys`: of the artifacts that were read already."""
        dialect = detect_dialect(RECOGNISED, frame, taken_keys)
        if dialect is None:
            return None
        self.dialect, self.is_open, self._last = dialect, False, None
        return dialect

    def traits(self, artifact: Artifact) -> ArtifactTraits:
        """What the artifact's name and metadata say."""
        last = self._last
        if last is None or last[0] != artifact.name or last[1] != artifact.metadata:
            last = self._last = artifact.name, artifact.metadata, self._read(artifact)
        return last[2]

    def _read(self, artifact: Artifact) -> ArtifactTraits:
        metadata, kind = artifact.metadata, self.dialect.kind(artifact.name)
        is_sub_agents = self.dialect.is_sub_agents(metadata)
        is_marked = parts.is_true(metadata, *ANSWER_MARKS)
        is_answer = is_marked and not is_sub_agents
        reason = "unmarked stream" if kind is ArtifactKind.STREAM else f"artifact {artifact.name!r}"
        is_aside = parts.is_true(metadata, *NARRATION_MARKS) or parts.is_thought(metadata)
        return ArtifactTraits(
            kind=kind,
            is_marked=is_marked,
            is_answer=is_answer,
            is_aside=is_aside,
            is_sub_agents=is_sub_agents,
            around=metadata if parts.tool_words(metadata) else None,
            may_attach=kind is not ArtifactKind.THOUGHT and not (is_aside or is_sub_agents),
            reason=f"is_final_answer on {kind}" if is_answer else reason,
        )

    def note_leak(self) -> None:
        """A framework's own object was in the stream: unmarked text of this turn is not its answer."""
        self.has_leaked = True

    def leaks(self, text: str) -> bool:
        """`text` has a framework's own object in it, or an earlier text had."""
        return self.has_leaked or self.dialect.leak.search(text) is not None
