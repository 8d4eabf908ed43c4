"""PURE. What an event of the agent is called, what it says, and what of that had not been said before.

A task as it stands says again what came piece by piece; whoever counts characters counts those once. Kept are
sizes and checksums, not texts: a very long stream fills no memory.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any
from zlib import crc32

from ...a2a.wire.decode import decode
from ...a2a.wire.frames import (
    AgentMessage,
    Artifact,
    ArtifactUpdate,
    Frame,
    MessageReply,
    Snapshot,
    StatusUpdate,
)
from ...errors import AgentError


@dataclass(frozen=True, slots=True)
class ChangedText:
    """An event: its name, its whole text, and the part of it that is new."""

    name: str
    text: str = ""
    fresh: str = ""


class StreamText:
    """Takes a turn's events in their order, and knows what has been said."""

    def __init__(self) -> None:
        self._known: dict[str, tuple[int, int]] = {}

    def take(self, kind: str, raw: Mapping[str, Any]) -> ChangedText:
        """One more event; `kind` is its name where it cannot be read."""
        try:
            frame = decode(raw)
        except AgentError:
            return ChangedText(kind)
        text = text_of(frame)
        return ChangedText(name_of(frame), text, self.new_text(frame))

    def new_text(self, frame: Frame) -> str:
        """The part of the event's text that is new."""
        return "".join(self._fresh(frame))

    def _fresh(self, frame: Frame) -> Iterator[str]:
        match frame:
            case ArtifactUpdate(artifact=artifact):
                key = _place(artifact)
                size, sum_ = self._known.get(key, (0, 0)) if frame.append else (0, 0)
                self._known[key] = size + len(artifact.text), _sum(artifact.text, sum_)
                yield artifact.text
            case Snapshot():
                yield from (self._rest(_place(each), each.text) for each in frame.artifacts)
                if frame.message is not None:
                    yield self._rest(_messages(frame.message), frame.message.text)
            case StatusUpdate(message=AgentMessage() as message):
                self._known[_messages(message)] = len(message.text), _sum(message.text)
                yield message.text
            case MessageReply(message=message):
                yield message.text
            case _:
                pass

    def _rest(self, key: str, text: str) -> str:
        """`text` without what is known of it."""
        size, sum_ = self._known.get(key, (0, 0))
        self._known[key] = len(text), _sum(text)
        return text[size:] if _sum(text[:size]) == sum_ else text


def name_of(frame: Frame) -> str:
    """What a person would call `frame`: the artifact's name, the state."""
    match frame:
        case ArtifactUpdate(artifact=artifact):
            return artifact.name or "artifact"
        case StatusUpdate(state=state):
            return f"status {state}"
        case Snapshot(state=state):
            return f"task {state}"
        case MessageReply():
            return "message"
        case _:
            return "unknown"


def text_of(frame: Frame) -> str:
    """The text that `frame` brings."""
    match frame:
        case ArtifactUpdate(artifact=artifact):
            return artifact.text
        case StatusUpdate(message=message) if message is not None:
            return message.text
        case Snapshot(artifacts=artifacts, message=message):
            return "".join(each.text for each in artifacts) + (message.text if message else "")
        case MessageReply(message=message):
            return message.text
        case _:
            return ""


def asked_name(raw: Mapping[str, Any], said: ChangedText) -> str:
    """What the answer to the bot's own asking is called: the state stands where the bot put it."""
    state = raw.get("state")
    return f"task {state}" if isinstance(state, str) else said.name


def _place(artifact: Artifact) -> str:
    return f"artifact {artifact.artifact_id or artifact.name}"


def _messages(message: AgentMessage) -> str:
    return f"message {message.message_id}"


def _sum(text: str, before: int = 0) -> int:
    return crc32(text.encode("utf-8", "surrogatepass"), before)
