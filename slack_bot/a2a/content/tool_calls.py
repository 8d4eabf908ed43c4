"""PURE. The tool calls of a turn as events: as artifacts of their own or among the parts."""

from __future__ import annotations

from collections import Counter, OrderedDict

from ...turn.events import Event, Narrated, ToolEnded, ToolStarted
from ..dialects.dialect import Dialect
from ..wire.frames import Artifact
from .fields import tool_call_id, tool_failed, tool_label, tool_name, words
from .tool_parts import ToolPart


class ToolCalls:
    """Tells a turn's calls apart where the agent gives no ids: the oldest of a name ends first."""

    def __init__(self) -> None:
        self._begun: Counter[str] = Counter()
        self._running: dict[str, OrderedDict[str, None]] = {}

    def announced(self, artifact: Artifact, dialect: Dialect) -> Event:
        """An artifact says that a tool starts."""
        name = tool_name(artifact)
        if dialect.is_announcement(name):
            return Narrated(name, passing=True, reason="an announcement, not a tool")
        step = words(artifact.metadata.get("plan_step_id")) or None
        call = self._begin(name, tool_call_id(artifact))
        return ToolStarted(call, name, step, reason=artifact.name, label=tool_label(artifact))

    def reported(self, artifact: Artifact) -> Event:
        """An artifact says that a tool ended, or is what a tool wrote."""
        name = tool_name(artifact)
        tool_id = self._end(name, tool_call_id(artifact))
        if tool_id is None:
            return Narrated("", reason="a tool's output, or the end of a tool that is not running")
        return ToolEnded(tool_id, name, failed=tool_failed(artifact), reason=artifact.name)

    def part(self, tool: ToolPart) -> Event:
        """A part is a tool call or its result."""
        if tool.begins and tool.waits:
            return Narrated("", reason="a call that waits for somebody: it is asked, not shown as running")
        if tool.begins:
            call = self._begin(tool.name, tool.id or None)
            return ToolStarted(call, tool.name, reason="a tool call among the parts")
        ended = self._end(tool.name, tool.id or None)
        if ended is None:
            return Narrated("", reason="the result of a tool that is not running")
        return ToolEnded(ended, tool.name, tool.failed, reason="a tool's result among the parts")

    def _begin(self, name: str, call_id: str | None) -> str:
        self._begun[name] += 1
        call = call_id or f"{name}#{self._begun[name]}"
        self._running.setdefault(name, OrderedDict()).setdefault(call)
        return call

    def _end(self, name: str, call_id: str | None) -> str | None:
        running = self._running.get(name)
        if not running:
            return None
        call = call_id or next(iter(running))
        running.pop(call, None)
        return call
