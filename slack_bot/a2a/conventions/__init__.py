"""PURE. How agents mark what is narration, tool, plan and answer: one table a dialect.

The protocol leaves this open, so every framework has its own way. A dialect is data: which artifact name
means what (exact names first, patterns after), what absent `append` means, whether untagged streaming text is
the answer. `recognise` finds the dialect from the first frame that only one of them would send.
"""

from __future__ import annotations

from ..frames import ArtifactUpdate, Frame, Snapshot
from .caipe import CAIPE, CAIPE_02
from .generic import GENERIC
from .table import Convention, Kind

BY_NAME: dict[str, Convention] = {each.name: each for each in (GENERIC, CAIPE, CAIPE_02)}

__all__ = ["BY_NAME", "CAIPE", "CAIPE_02", "GENERIC", "Convention", "Kind", "recognise"]


def recognise(frame: Frame) -> Convention | None:
    """The dialect that `frame` gives away, or None if it could be anybody's."""
    if isinstance(frame, ArtifactUpdate):
        names = [frame.artifact.name]
    elif isinstance(frame, Snapshot):
        names = [artifact.name for artifact in frame.artifacts]
    else:
        return None
    return CAIPE if any(CAIPE.knows(name) for name in names) else None
