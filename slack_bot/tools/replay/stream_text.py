"""PURE. What an event of the agent is called, what it says, and which part of that is new.

A task snapshot repeats what came piece by piece; who counts characters counts those once. Sizes and checksums
are kept, not texts.
"""

from __future__ import annotations

from collections.abc import Iterator
from zlib import crc32

from ...a2a.wire.frames import (
    AgentMessage,
    Artifact,
    ArtifactUpdate,
    Frame,
    MessageReply,
    Snapshot,
    StatusUpdate,
)


class StreamText:
    """Takes an agent's events in order, and knows what they have said."""

    def __init__(self) -> None:
        self._known: dict[str, tuple[int, int]] = {}

    def new_text(self, frame: Frame) -> str:
        """The part of the event's text that is new."""
        return "".join(self._new_texts(frame))

    def _new_texts(self, frame: Frame) -> Iterator[str]:
        match frame:
            case ArtifactUpdate(artifact=artifact):
                key = _artifact_key(artifact)
                size, checksum = self._known.get(key, (0, 0)) if frame.append else (0, 0)
                self._known[key] = size + len(artifact.text), _checksum(artifact.text, checksum)
                yield artifact.text
            case Snapshot():
                yield from (self._rest(_artifact_key(each), each.text) for each in frame.artifacts)
                if frame.message is not None:
                    yield self._rest(_message_key(frame.message), frame.message.text)
            case StatusUpdate(message=AgentMessage() as message):
                self._known[_message_key(message)] = len(message.text), _checksum(message.text)
                yield message.text
            case MessageReply(message=message):
                yield message.text
            case _:
                pass

    def _rest(self, key: str, text: str) -> str:
        """`text` without what is known of it."""
        size, checksum = self._known.get(key, (0, 0))
        self._known[key] = len(text), _checksum(text)
        return text[size:] if _checksum(text[:size]) == checksum else text


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
    """The text of `frame`."""
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


def _artifact_key(artifact: Artifact) -> str:
    return f"artifact {artifact.artifact_id or artifact.name}"


def _message_key(message: AgentMessage) -> str:
    return f"message {message.message_id}"


def _checksum(text: str, before: int = 0) -> int:
    return crc32(text.encode("utf-8", "surrogatepass"), before)
