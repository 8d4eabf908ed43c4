"""PURE. How agents mark narration, tools, plans and answers: one table for each framework.

The protocol leaves this open. `detect_dialect` finds the dialect from the first frame that only one of them
would send. Most agents need none: what they do is learned (`profile`), and a dialect saves the first attempt.
"""

from __future__ import annotations

from collections.abc import Callable

from ..wire.frames import Artifact, ArtifactUpdate, Frame, Snapshot, StatusUpdate
from .adk import ADK
from .agno import AGNO
from .caipe import CAIPE, CAIPE_02
from .dialect import ArtifactKind, Dialect
from .fasta2a import FASTA2A
from .generic import GENERIC
from .langgraph import LANGGRAPH
from .strands import STRANDS

_ALL = (GENERIC, CAIPE, CAIPE_02, ADK, STRANDS, LANGGRAPH, AGNO, FASTA2A)
BY_NAME: dict[str, Dialect] = {each.name: each for each in _ALL}

_RESULTS = (ArtifactKind.FINAL, ArtifactKind.PARTIAL, ArtifactKind.COMPLETE)

__all__ = ["BY_NAME", "CAIPE", "CAIPE_02", "GENERIC", "ArtifactKind", "Dialect", "detect_dialect"]


def detect_dialect(frame: Frame, has_taken: Callable[[Artifact], bool] = lambda _: False) -> Dialect | None:
    """The dialect that `frame` gives away, or None if it could be any.

    `has_taken`: an artifact was read already, as any agent's; its name proves nothing any more.
    """
    for artifact in _artifacts(frame):
        if CAIPE.knows(artifact.name) and not has_taken(artifact) and not _may_be_chunk(frame, artifact):
            return CAIPE
        if artifact.metadata and ADK.is_signed(artifact.metadata):
            return ADK
    is_signed = isinstance(frame, ArtifactUpdate | Snapshot | StatusUpdate) and ADK.is_signed(frame.metadata)
    return ADK if is_signed else None


def _may_be_chunk(frame: Frame, artifact: Artifact) -> bool:
    """A result that may come in chunks: CAIPE's comes whole, and other agents use the same names."""
    if CAIPE.kind(artifact.name) not in _RESULTS or CAIPE.is_sub_agent(artifact.metadata):
        return False
    is_text = all(part.text is not None for part in artifact.parts)
    if isinstance(frame, ArtifactUpdate):
        return is_text and (frame.append is True or not frame.last_chunk)
    return is_text and isinstance(frame, Snapshot) and not (frame.state.is_terminal or frame.state.is_asking)


def _artifacts(frame: Frame) -> tuple[Artifact, ...]:
    if isinstance(frame, ArtifactUpdate):
        return (frame.artifact,)
    return frame.artifacts if isinstance(frame, Snapshot) else ()
