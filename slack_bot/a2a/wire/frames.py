"""PURE. What an agent's server sent: one frame for each event, whatever the wire version.

Nothing changes them. What each chunk makes is not frozen: that would take three times as long.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, TypeAlias

Metadata: TypeAlias = Mapping[str, Any]


class TaskState(StrEnum):
    """Task states of 0.3 and 1.0 (facts: A2A 1.5), in the order of a2a.proto, which numbers them."""

    UNKNOWN = "unknown"
    SUBMITTED = "submitted"
    WORKING = "working"
    COMPLETED = "completed"
    FAILED = "failed"
    CANCELED = "canceled"
    INPUT_REQUIRED = "input-required"
    REJECTED = "rejected"
    AUTH_REQUIRED = "auth-required"

    @property
    def is_terminal(self) -> bool:
        """No further work will happen."""
        return self in TERMINAL

    @property
    def is_asking(self) -> bool:
        """The agent waits for a human."""
        return self in (TaskState.INPUT_REQUIRED, TaskState.AUTH_REQUIRED)


TERMINAL = frozenset({TaskState.COMPLETED, TaskState.FAILED, TaskState.CANCELED, TaskState.REJECTED})


@dataclass(frozen=True, slots=True)
class FileRef:
    """A file by value (base64) or by address."""

    name: str = ""
    mime_type: str = ""
    base64: str | None = None
    url: str | None = None


@dataclass(slots=True)
class Part:
    """Exactly one of text, data (any JSON value, also null) and file is set."""

    text: str | None = None
    data: Any = None
    has_data: bool = False
    file: FileRef | None = None
    metadata: Metadata = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class AgentMessage:
    """`role` is "agent" or "user"."""

    message_id: str = ""
    role: str = "agent"
    parts: tuple[Part, ...] = ()
    task_id: str | None = None
    context_id: str | None = None
    metadata: Metadata = field(default_factory=dict)

    @property
    def text(self) -> str:
        """Its text parts, joined."""
        return "".join(part.text for part in self.parts if part.text)


@dataclass(slots=True)
class Artifact:
    """An artifact or one chunk of it."""

    artifact_id: str = ""
    name: str = ""
    description: str = ""
    parts: tuple[Part, ...] = ()
    metadata: Metadata = field(default_factory=dict)

    @property
    def text(self) -> str:
        """Its text parts, joined (facts: A2A 8.1)."""
        return "".join(part.text for part in self.parts if part.text)


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The present task."""

    task_id: str | None = None
    context_id: str | None = None
    state: TaskState = TaskState.UNKNOWN
    message: AgentMessage | None = None
    artifacts: tuple[Artifact, ...] = ()
    history: tuple[AgentMessage, ...] = ()
    metadata: Metadata = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class StatusUpdate:
    """The task's state. `final` is None where the server says nothing (1.0)."""

    task_id: str | None = None
    context_id: str | None = None
    state: TaskState = TaskState.UNKNOWN
    message: AgentMessage | None = None
    final: bool | None = None
    metadata: Metadata = field(default_factory=dict)


@dataclass(slots=True)
class ArtifactUpdate:
    """A chunk of an artifact, or the whole. `append` is None where the server says nothing."""

    artifact: Artifact
    task_id: str | None = None
    context_id: str | None = None
    append: bool | None = None
    last_chunk: bool = False
    metadata: Metadata = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class MessageReply:
    """A message in place of a task."""

    message: AgentMessage


@dataclass(frozen=True, slots=True)
class Unknown:
    """An event of no known shape."""

    kind: str = ""


Frame: TypeAlias = Snapshot | StatusUpdate | ArtifactUpdate | MessageReply | Unknown


@dataclass(slots=True)
class Received:
    """One event: its raw JSON, its frame, and the size of the JSON in characters."""

    raw: Mapping[str, Any]
    frame: Frame
    size: int = 0
