"""A queue that keeps what the agent says, and looks at it as a reader of the wire does."""

from __future__ import annotations

from typing import Any

from a2a.server.events import EventQueue
from a2a.types import TaskArtifactUpdateEvent, TaskState, TaskStatusUpdateEvent
from google.protobuf.json_format import MessageToDict


class Kept(EventQueue):
    """A queue that keeps what is put in."""

    def __init__(self) -> None:
        self.events: list[object] = []

    async def enqueue_event(self, event: object) -> None:  # type: ignore[override]
        self.events.append(event)

    @property
    def updates(self) -> list[TaskArtifactUpdateEvent]:
        return [each for each in self.events if isinstance(each, TaskArtifactUpdateEvent)]

    def artifacts(self, name: str) -> list[TaskArtifactUpdateEvent]:
        return [each for each in self.updates if each.artifact.name == name]

    def told(self) -> list[tuple[str, str]]:
        """Text by its flag, joined where neighbours share it; other artifacts by name and description."""
        found: list[tuple[str, str]] = []
        for each in self.updates:
            artifact = each.artifact
            if artifact.name != "streaming_result":
                found.append((artifact.name, artifact.description))
                continue
            kind = next((key for key in artifact.metadata if key.startswith("is_")), "")
            if found and found[-1][0] == kind:
                found[-1] = (kind, found[-1][1] + artifact.parts[0].text)
            else:
                found.append((kind, artifact.parts[0].text))
        return found

    @property
    def answer(self) -> str:
        return "".join(text for kind, text in self.told() if kind == "is_final_answer")

    @property
    def final(self) -> Any:
        """The text or the data of the final result."""
        part = self.artifacts("final_result")[-1].artifact.parts[0]
        return part.text or MessageToDict(part.data)

    @property
    def statuses(self) -> list[tuple[TaskState.ValueType, str]]:
        found = [each.status for each in self.events if isinstance(each, TaskStatusUpdateEvent)]
        return [(each.state, each.message.parts[0].text if each.message.parts else "") for each in found]
