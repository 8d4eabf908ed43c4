"""PURE. What can be compared of two streams: what was sent, how it was marked, when, and what came of it."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, assert_never

from ..a2a.wire.decode import decode
from ..a2a.wire.frames import (
    Artifact,
    ArtifactUpdate,
    MessageReply,
    Metadata,
    Part,
    Snapshot,
    StatusUpdate,
    Unknown,
)
from ..errors import AgentError
from ..testing.tape.json_file import Json
from ..testing.tape.tape import Tape
from .trace.figures import Timeline

_SHOWN_VALUE = 24  # a value that is no longer than this, or true or false, is part of a flag's name
_MOST_VALUES = 6  # of a key; more are ids or texts, and only the key is worth a line


@dataclass(slots=True)
class Sent:
    """Artifacts of one name: how often, how much text, from when to when (seconds)."""

    count: int = 0
    chars: int = 0
    first: float = 0.0
    last: float = 0.0
    ids: set[str] = field(default_factory=set)


@dataclass(slots=True)
class Values:
    """What one key said: how often, and each value's count, None once they are too many or too long.

    A key whose value is another one with every event would fill the memory with them.
    """

    count: int = 0
    each: Counter[str] | None = field(default_factory=Counter)

    def add(self, value: str) -> None:
        """Once more, with this value."""
        self.count += 1
        if self.each is not None:
            self.each[value] += 1
            if len(self.each) > _MOST_VALUES or len(value) > _SHOWN_VALUE:
                self.each = None


@dataclass(frozen=True, slots=True)
class Profile:
    """One stream. `flags` are metadata and the update's own marks, `texts` the final visible messages."""

    name: str
    question: str
    wire: str
    artifacts: Mapping[str, Sent]
    flags: Mapping[str, int]
    parts: Mapping[str, int]
    states: tuple[tuple[str, float], ...]
    odd: Mapping[str, int]
    timeline: Timeline
    visible: str
    messages: tuple[Json, ...]


def profile(tape: Tape, timeline: Timeline, result: Json) -> Profile:
    """The profile of `tape`, whose turn was `timeline` and gave `result` (the object of `replay --json`)."""
    seen = _Seen()
    for moment in tape.moments:
        seen.take(moment.t, moment.event)
        for kind in ("comment", "error", "raw"):
            seen.odd[kind] += getattr(moment, kind) is not None
        if moment.end is not None:
            seen.odd[f"end: {moment.end}"] += 1
    return Profile(
        name=timeline.name,
        question=timeline.question,
        wire=str(tape.head.get("wire") or "not known"),
        artifacts=seen.artifacts,
        flags=_few(seen.flags),
        parts=seen.parts,
        states=tuple(seen.states),
        odd={kind: count for kind, count in seen.odd.items() if count},
        timeline=timeline,
        visible=str(result["visible"]),
        messages=tuple(result["thread"]),
    )


class _Seen:
    def __init__(self) -> None:
        self.artifacts: dict[str, Sent] = {}
        self.flags: dict[str, Values] = {}
        self.parts: Counter[str] = Counter()
        self.states: list[tuple[str, float]] = []
        self.odd: Counter[str] = Counter()

    def take(self, t: float, event: Json | None) -> None:
        if event is None:
            return
        try:
            frame = decode(event)
        except AgentError:
            self.odd["unreadable"] += 1
            return
        match frame:
            case ArtifactUpdate():
                self._artifact(t, frame.artifact, frame.metadata)
                self._flag("append", frame.append)
                self._flag("lastChunk", frame.last_chunk or None)
            case Snapshot():
                self._state(str(frame.state), t)
                for artifact in frame.artifacts:
                    self._artifact(t, artifact, {})
            case StatusUpdate():
                self._state(str(frame.state), t)
                self._flag("final", frame.final)
                self._metadata(frame.metadata)
            case MessageReply() | Unknown():
                pass  # a message is told by the text it becomes
            case _:
                assert_never(frame)

    def _artifact(self, t: float, artifact: Artifact, metadata: Metadata) -> None:
        sent = self.artifacts.setdefault(artifact.name or "(no name)", Sent(first=t))
        sent.count, sent.last, sent.chars = sent.count + 1, t, sent.chars + len(artifact.text)
        sent.ids.add(artifact.artifact_id)
        self.parts.update(map(_kind_of, artifact.parts))
        self._metadata(artifact.metadata)
        self._metadata(metadata)

    def _metadata(self, metadata: Metadata) -> None:
        for key, value in metadata.items():
            self._flag(key, value)

    def _flag(self, key: str, value: Any) -> None:
        if value is not None:
            shown = value if isinstance(value, str) else json.dumps(value, default=str)
            self.flags.setdefault(key, Values()).add(shown)

    def _state(self, state: str, t: float) -> None:
        if not self.states or self.states[-1][0] != state:
            self.states.append((state, t))


def _kind_of(part: Part) -> str:
    return "data" if part.has_data else "file" if part.file is not None else "text"


def _few(flags: Mapping[str, Values]) -> dict[str, int]:
    """Key and value where there are few short values, else the key alone."""
    found: dict[str, int] = {}
    for key, values in sorted(flags.items()):
        if values.each is None:
            found[key] = values.count
        else:
            found |= {f"{key} = {value}": count for value, count in sorted(values.each.items())}
    return found


def moments_to_look_at(end: float) -> Iterator[float]:
    """Times, in seconds, at which it is worth asking what could be read: closer together at the beginning."""
    for t in (1, 2, 3, 5, 10, 15, 20, 30, 45, 60, 90, 120, 180, 300, 600, 1200, 1800):
        if t < end:
            yield float(t)
    yield end
