"""PURE. The ids of a turn: task, context and trace are learned from any event, since any may come first."""

from __future__ import annotations

from ..turn.events import TaskKnown
from .content.fields import words
from .wire.frames import ArtifactUpdate, Frame, MessageReply, Metadata, Unknown


class Ids:
    """What is known by now."""

    def __init__(self) -> None:
        self._known: tuple[str | None, str | None, str | None] = (None, None, None)

    def learn(self, frame: Frame) -> list[TaskKnown]:
        """The ids that `frame` names and that are news."""
        if isinstance(frame, Unknown):
            return []
        source = frame.message if isinstance(frame, MessageReply) else frame
        metadata: list[Metadata] = [source.metadata]
        if isinstance(frame, ArtifactUpdate):
            metadata.append(frame.artifact.metadata)
        trace = next((words(each["trace_id"]) for each in metadata if each.get("trace_id")), None)
        task, context, trace_id = self._known
        found = (source.task_id or task, source.context_id or context, trace or trace_id)
        if found == self._known:
            return []
        self._known = found
        return [
            TaskKnown(
                found[0] if found[0] != task else None,
                found[1] if found[1] != context else None,
                found[2] if found[2] != trace_id else None,
                reason="named by the agent",
            )
        ]
