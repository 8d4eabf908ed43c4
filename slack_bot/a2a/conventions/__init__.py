"""PURE. How agents mark what is narration, tool, plan and answer: one table a dialect.

The protocol leaves this open, so every framework has its own way. A dialect is data: which artifact name
means what (exact names first, patterns after), what absent `append` means, whether untagged streaming text is
the answer. `recognise` finds the dialect from the first frame that only one of them would send. Most agents
need none: what they do is learned (`habits`), and a dialect only saves the first attempt.
"""

from __future__ import annotations

from ..frames import Artifact, ArtifactUpdate, Frame, Snapshot, StatusUpdate
from .adk import ADK
from .agno import AGNO
from .caipe import CAIPE, CAIPE_02
from .fasta2a import FASTA2A
from .generic import GENERIC
from .langgraph import LANGGRAPH
from .strands import STRANDS
from .table import Convention, Kind

_ALL = (GENERIC, CAIPE, CAIPE_02, ADK, STRANDS, LANGGRAPH, AGNO, FASTA2A)
BY_NAME: dict[str, Convention] = {each.name: each for each in _ALL}

_RESULTS = (Kind.FINAL, Kind.PARTIAL, Kind.COMPLETE)

__all__ = ["BY_NAME", "CAIPE", "CAIPE_02", "GENERIC", "Convention", "Kind", "recognise"]


def recognise(frame: Frame) -> Convention | None:
    """The dialect that `frame` gives away, or None if it could be anybody's."""
    for artifact in _artifacts(frame):
        if CAIPE.knows(artifact.name) and not _is_chunk_of_result(frame):
            return CAIPE
        if ADK.signed(artifact.metadata):
            return ADK
    if isinstance(frame, ArtifactUpdate | Snapshot | StatusUpdate) and ADK.signed(frame.metadata):
        return ADK
    return None


def _is_chunk_of_result(frame: Frame) -> bool:
    """A result that comes in chunks, or may: CAIPE's comes whole, and others use the same plain words."""
    if not isinstance(frame, ArtifactUpdate) or CAIPE.kind(frame.artifact.name) not in _RESULTS:
        return False
    artifact = frame.artifact
    is_text = all(part.text is not None for part in artifact.parts)
    is_whole = frame.last_chunk and frame.append is not True
    return is_text and not is_whole and not CAIPE.is_sub_agent(artifact.metadata)


def _artifacts(frame: Frame) -> tuple[Artifact, ...]:
    if isinstance(frame, ArtifactUpdate):
        return (frame.artifact,)
    return frame.artifacts if isinstance(frame, Snapshot) else ()
