"""PURE. Finds what `frames` cannot read in an event: an unknown kind or key, or a value of a wrong type.

The bot ignores these, because agents may send more than A2A defines. So what is merely new is not reported.
Reported are a kind of no known event, a text, artifact or status in a place where the bot does not look, and
a key that is nearly one that is missing.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from ...errors import AgentError
from ...settings.names import nearest
from ...turn.json_values import Object, list_of
from ..dialects.table import ANSWER_MARKS, NARRATION_MARKS
from . import frames


@dataclass(frozen=True, slots=True)
class Unread:
    """One thing in an event that the bot does not understand.

    `kind`: the kind that the event names, or that its keys show. `what`: a sentence without a full stop.
    `meant`: the name that was probably meant, or None.
    """

    kind: str
    what: str
    meant: str | None = None

    def __str__(self) -> str:
        guess = f"; did you mean {self.meant!r}?" if self.meant else ""
        return f"{self.kind or 'an event without a kind'}: {self.what}{guess}"


_NAMES: Mapping[type[frames.Frame], str] = {
    frames.Snapshot: "task",
    frames.MessageReply: "message",
    frames.StatusUpdate: "status-update",
    frames.ArtifactUpdate: "artifact-update",
}
_KINDS = tuple(_NAMES.values())
_WRAPPERS = ("task", "message", "statusUpdate", "artifactUpdate")
_AROUND = ("result", "event")
"""What may contain an event: a JSON-RPC envelope, a line of a tape."""
_KEEP_ALIVE = frozenset({"ping", "heartbeat", "keepalive"})
_CARRY_NOTHING = frozenset({"kind", "type", "metadata", "role"})
_STATES = tuple(state.value for state in frames.TaskState)
_QUOTED = 60

# Groups of names for one thing: one of them is enough.
_IDS = (("taskId", "task_id", "id"), ("contextId", "context_id"))
_METADATA = ("metadata",)
_PARTS = ("parts", "content")
_TASK = (*_IDS, ("status",), ("artifacts",), ("history",), _METADATA)
_STATUS_UPDATE = (*_IDS, ("status",), ("final",), _METADATA)
_ARTIFACT_UPDATE = (*_IDS, ("artifact",), ("append",), ("lastChunk", "last_chunk"), _METADATA)
_STATUS = (("state",), ("message", "update"), ("timestamp",))
_ARTIFACT = (("artifactId", "artifact_id"), ("name",), ("description",), _PARTS, _METADATA, ("append",))
_MESSAGE = (
    ("messageId", "message_id"),
    ("role",),
    _PARTS,
    *_IDS,
    ("referenceTaskIds", "reference_task_ids"),
    ("extensions",),
    _METADATA,
)
_PART = (("text",), ("data",), ("file", "url", "uri", "raw", "bytes"), ("kind", "type"), _METADATA)
_FLAGS = tuple((mark,) for mark in (*ANSWER_MARKS, *NARRATION_MARKS))
_OTHERS = frozenset(
    {"kind", "jsonrpc", "extensions", "filename", "name", "mediaType", "mimeType", "media_type", "mime_type"}
)
"""Other keys of A2A, and keys that only files have."""


def unread_in(event: Object) -> list[Unread]:
    """What the bot does not understand in an event without its envelope.

    For nearly all events the list is empty.
    """
    return list(_Reader(event).look())


class _Reader:
    def __init__(self, event: Object) -> None:
        self._event = event
        kind = event.get("kind")
        self._kind = kind[:_QUOTED] if isinstance(kind, str) else ""

    def look(self) -> Iterator[Unread]:
        try:
            frame = frames.decode(self._event)
        except AgentError:
            return  # an error is understood
        body, wrapper = frames.opened(self._event)
        self._kind = self._kind or wrapper or _NAMES.get(type(frame), "")
        match frame:
            case frames.Unknown():
                yield from self._unknown()
            case frames.Snapshot():
                yield from self._task(body)
            case frames.StatusUpdate():
                yield from self._missing(body, "", "status")
                yield from self._keys(body, "", _STATUS_UPDATE)
                yield from self._status(body.get("status"))
            case frames.ArtifactUpdate():
                yield from self._artifact_update(body)
            case frames.MessageReply():
                yield from self._message(body, "")

    def _report(self, what: str, meant: str | None = None) -> Unread:
        return Unread(self._kind, what, meant)

    def _unknown(self) -> Iterator[Unread]:
        plain = self._kind.lower().replace("-", "").replace("_", "")
        if not any(self._event.values()) or plain in _KEEP_ALIVE:
            return
        if self._kind:
            yield self._report("there is no such kind of event", nearest(self._kind.lower(), _KINDS, 0.6))
            return
        names = (*_WRAPPERS, "status", "artifact", "artifacts", "parts", *_AROUND, "kind")
        meant = next((near for key in self._event if (near := _nearest(key, tuple(names)))), None)
        yield self._report(f"nothing in it says what it is (its keys: {_listed(self._event)})", meant)

    def _task(self, body: Object) -> Iterator[Unread]:
        yield from self._keys(body, "", _TASK)
        yield from self._status(body.get("status"))
        for name, look in (("artifacts", self._artifact), ("history", self._message)):
            for number, each in enumerate(list_of(body.get(name))):
                if isinstance(each, dict):
                    yield from look(each, f"{name}[{number}].")

    def _status(self, status: Any) -> Iterator[Unread]:
        state = status.get("state") if isinstance(status, dict) else status
        if isinstance(status, dict):
            yield from self._keys(status, "status.", _STATUS)
            message = status.get("message", status.get("update"))
            if isinstance(message, dict):
                yield from self._message(message, "status.message.")
            elif message:
                yield self._report(f"status.message is {_named(message)}, not an object")
        if isinstance(state, str) and not frames.is_state(state):
            word = state.lower().replace("_", "-").removeprefix("task-state-")
            yield self._report(f"there is no state {state[:_QUOTED]!r}", nearest(word, _STATES, 0.6))

    def _artifact_update(self, body: Object) -> Iterator[Unread]:
        yield from self._missing(body, "", "artifact")
        yield from self._keys(body, "", _ARTIFACT_UPDATE)
        if not isinstance(body.get("append"), bool | None):
            yield self._report(f"append is {_named(body['append'])}, not true or false")
        if isinstance(artifact := body.get("artifact"), dict):
            yield from self._artifact(artifact, "artifact.")

    def _artifact(self, artifact: Object, place: str) -> Iterator[Unread]:
        yield from self._keys(artifact, place, _ARTIFACT)
        if isinstance(metadata := artifact.get("metadata"), dict):
            yield from self._keys(metadata, f"{place}metadata.", _FLAGS, cutoff=0.85)
        yield from self._parts(artifact, place)

    def _message(self, message: Object, place: str) -> Iterator[Unread]:
        yield from self._keys(message, place, _MESSAGE)
        yield from self._parts(message, place)

    def _parts(self, owner: Object, place: str) -> Iterator[Unread]:
        name = "parts" if owner.get("parts") is not None else "content"
        parts = owner.get(name)
        if not isinstance(parts, list | dict | str | None):
            yield self._report(f"{place}{name} is {_named(parts)}, not a list")
            return
        for number, part in enumerate(parts if isinstance(parts, list) else [parts]):
            yield from self._part(part, f"{place}{name}[{number}]")

    def _part(self, part: Any, place: str) -> Iterator[Unread]:
        if isinstance(part, str | None):
            return
        if not isinstance(part, dict):
            yield self._report(f"{place} is {_named(part)}, not an object")
            return
        if frames.is_read(part):
            yield from self._keys(part, f"{place}.", (_METADATA,))
            return
        rest = {key: value for key, value in part.items() if key not in _CARRY_NOTHING}
        if not any(rest.values()):
            return
        kind = part.get("kind", part.get("type"))
        names = tuple(name for group in _PART for name in group)
        near = next((near for key in rest if key not in names and (near := _nearest(key, names))), None)
        meant = near or (kind if kind in ("text", "data", "file") and kind not in part else None)
        yield self._report(
            f"{place} has no text, data or file that can be read (its keys: {_listed(part)})", meant
        )

    def _missing(self, body: Object, place: str, name: str) -> Iterator[Unread]:
        """Report a missing or wrong value of `name`, unless a key is nearly that name (see `_keys`)."""
        value = body.get(name)
        if value is None and not any(_nearest(key, (name,)) for key in body):
            yield self._report(f"it has no {place}{name} (its keys: {_listed(body)})")
        elif not isinstance(value, dict | None) and not (name == "status" and isinstance(value, str)):
            yield self._report(f"{place}{name} is {_named(value)}, not an object")

    def _keys(
        self, body: Object, place: str, groups: tuple[tuple[str, ...], ...], cutoff: float = 0.75
    ) -> Iterator[Unread]:
        """Report keys that are nearly the name of a missing key."""
        missing = [name for group in groups if not any(name in body for name in group) for name in group]
        known_keys = {name for group in groups for name in group} | _OTHERS
        for key in body if missing else ():
            if key not in known_keys and (meant := _nearest(key, tuple(missing), cutoff)) is not None:
                yield self._report(f"there is no key {place}{key[:_QUOTED]}", meant)


def _listed(value: Object) -> str:
    keys = ", ".join(map(str, list(value)[:8]))
    return keys[: 2 * _QUOTED] + (", ..." if len(value) > 8 else "")


def _named(value: Any) -> str:
    names = {list: "a list", str: "a text", bool: "true or false", int: "a number", float: "a number"}
    return names.get(type(value), "an object")


@lru_cache(maxsize=4_096)
def _nearest(key: str, candidates: tuple[str, ...], cutoff: float = 0.75) -> str | None:
    """Same as `nearest`, cached: a stream repeats the same keys thousands of times."""
    return nearest(key, candidates, cutoff)
