"""PURE. What an agent does on the way to its answer: it thinks, calls tools, hands over to other agents."""

from ..turn.events import Event, Narrated, NarrationConfirmed
from .answer.answer_sources import nothing
from .answer.assembler import AnswerAssembler
from .artifact_reader import ArtifactReader
from .content import parts
from .wire.frames import Artifact, Metadata


class Asides:
    """The thoughts, tools and speakers of a turn. `tools`: its calls."""

    def __init__(self, answer: AnswerAssembler, reader: ArtifactReader) -> None:
        self._answer, self._reader = answer, reader
        self.tools = parts.ToolCalls()
        self._speaker = ""  # of several agents, where they are named
        self._calling: set[str] = set()  # artifacts that call a tool

    def take(self, content: parts.Content, place: str = "") -> list[Event]:
        """The thoughts and tools of an artifact or a message. `place`: the artifact that holds them."""
        thoughts = content.thoughts
        if content.calls_a_tool:
            self._calling.add(place)
        events: list[Event] = [Narrated(thoughts, reason="the model thinks")] if thoughts else []
        if content.tools and self._end_run():
            events.append(NarrationConfirmed(reason="text before a tool call"))
        return [*events, *map(self.tools.part, content.tools)]

    def take_stored(self, artifact: Artifact) -> list[Event]:
        """A task holds a tool call: what it said until then is no answer, as where the call is streamed."""
        place = artifact.artifact_id or artifact.name
        if place in self._calling:
            return []
        self._calling.add(place)
        return [NarrationConfirmed(reason="text before a tool call of the task")] if self._end_run() else []

    def _end_run(self) -> bool:
        return self._answer.end_run(narrates=self._reader.dialect.narrates_before_tools)

    def take_handoff(self, metadata: Metadata) -> list[Event]:
        """A message that says who speaks says nothing else; the first one to speak is the agent itself."""
        if not (agent := parts.handoff_to(metadata)):
            return []
        before, self._speaker = self._speaker, agent
        return [nothing(f"{agent} speaks")] if before in ("", agent) else []
