"""PURE. The ids that an agent names: of the task, of the context, of the trace."""

from ..turn.events import Event, TaskKnown
from ..turn.json_values import text_of
from .wire import frames


class TaskIds:
    """The ids of one turn; a later frame may name others."""

    def __init__(self) -> None:
        self._ids: tuple[str | None, ...] = (None, None, None)  # task, context, trace

    def learn(self, frame: frames.Frame) -> list[Event]:
        """The ids of `frame` that are new."""
        if isinstance(frame, frames.Unknown):
            return []
        source = frame.message if isinstance(frame, frames.MessageReply) else frame
        trace = source.metadata.get("trace_id")
        if not trace and isinstance(frame, frames.ArtifactUpdate):
            trace = frame.artifact.metadata.get("trace_id")
        task, context, old_trace = self._ids
        ids = source.task_id or task, source.context_id or context, text_of(trace) or old_trace
        if ids == self._ids:
            return []
        task, context, trace = (new if new != old else None for new, old in zip(ids, self._ids, strict=True))
        self._ids = ids
        return [TaskKnown(task, context, trace, reason="named by the agent")]
