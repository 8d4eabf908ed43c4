"""PURE. Reads what an agent's server sent into frames: by its shape, never by a version.

Cards lie about versions, and servers mix them (facts: A2A 0.1). Values of wrong types are left out. Frames
are not changed. The classes made for each chunk are not frozen: that would take three times as long.
"""

import base64
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, TypeAlias

from ...errors import AgentFailed, BadAgentData
from ...text.words import (
    AGENT_DOES_NOT_UNDERSTAND,
    AGENT_FORGOT_TASK,
    AGENT_REFUSED_CONTENT,
    AGENT_WANTS_EXTENSION,
)
from ...turn.json_values import Object, object_of, objects_of, text_of

Metadata: TypeAlias = Object


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
        return self in TERMINAL

    @property
    def is_asking(self) -> bool:
        """Whether the agent waits for a person."""
        return self in (TaskState.INPUT_REQUIRED, TaskState.AUTH_REQUIRED)


TERMINAL = frozenset({TaskState.COMPLETED, TaskState.FAILED, TaskState.CANCELED, TaskState.REJECTED})


@dataclass(frozen=True, slots=True)
class FileRef:
    """A file by its address (`url`), or by its content in Base64."""

    name: str = ""
    mime_type: str = ""
    url: str | None = None
    content: str | None = field(default=None, repr=False)


@dataclass(slots=True)
class Part:
    """A part of a message or artifact: a text, data (any JSON value, also null) or a file."""

    text: str | None = None
    data: Any = None
    has_data: bool = False
    file: FileRef | None = None
    metadata: Metadata = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class AgentMessage:
    """A message of A2A. `role` is "agent" or "user"."""

    message_id: str = ""
    role: str = "agent"
    parts: tuple[Part, ...] = ()
    task_id: str | None = None
    context_id: str | None = None
    metadata: Metadata = field(default_factory=dict)

    @property
    def text(self) -> str:
        return "".join([part.text for part in self.parts if part.text])


@dataclass(slots=True)
class Artifact:
    """An artifact, or one chunk of it."""

    artifact_id: str = ""
    name: str = ""
    description: str = ""
    parts: tuple[Part, ...] = ()
    metadata: Metadata = field(default_factory=dict)

    @property
    def text(self) -> str:
        return "".join([part.text for part in self.parts if part.text])


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The whole task as it is now."""

    task_id: str | None = None
    context_id: str | None = None
    state: TaskState = TaskState.UNKNOWN
    message: AgentMessage | None = None
    artifacts: tuple[Artifact, ...] = ()
    history: tuple[AgentMessage, ...] = ()
    metadata: Metadata = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class StatusUpdate:
    """A new state of the task. `final` is None if the server does not say (1.0)."""

    task_id: str | None = None
    context_id: str | None = None
    state: TaskState = TaskState.UNKNOWN
    message: AgentMessage | None = None
    final: bool | None = None
    metadata: Metadata = field(default_factory=dict)


@dataclass(slots=True)
class ArtifactUpdate:
    """A chunk of an artifact, or all of it. `append` is None if the server does not say."""

    artifact: Artifact
    task_id: str | None = None
    context_id: str | None = None
    append: bool | None = None
    last_chunk: bool = False
    metadata: Metadata = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class MessageReply:
    """A message that answers without a task."""

    message: AgentMessage


@dataclass(frozen=True, slots=True)
class Unknown:
    """An event of an unknown shape."""

    kind: str = ""


Frame: TypeAlias = Snapshot | StatusUpdate | ArtifactUpdate | MessageReply | Unknown


@dataclass(slots=True)
class Received:
    """One event: its raw JSON, its frame, the size of the JSON in characters, and the event's id."""

    raw: Mapping[str, Any]
    frame: Frame
    size: int = 0
    event_id: str = ""


_STATES = {state.name: state for state in TaskState} | {"CANCELLED": TaskState.CANCELED}
_NUMBERS = tuple(TaskState)  # for servers whose JSON writer keeps the enum's numbers
_REASONS: Mapping[str, int] = {
    "TASK_NOT_FOUND": -32001,
    "TASK_NOT_CANCELABLE": -32002,
    "PUSH_NOTIFICATION_NOT_SUPPORTED": -32003,
    "UNSUPPORTED_OPERATION": -32004,
    "CONTENT_TYPE_NOT_SUPPORTED": -32005,
    "INVALID_AGENT_RESPONSE": -32006,
    "EXTENDED_AGENT_CARD_NOT_CONFIGURED": -32007,
    "EXTENSION_SUPPORT_REQUIRED": -32008,
    "VERSION_NOT_SUPPORTED": -32009,
    "METHOD_NOT_FOUND": -32601,
    # of google.rpc.Status, where nothing says more
    "NOT_FOUND": -32001,
    "UNIMPLEMENTED": -32004,
    "INVALID_ARGUMENT": -32602,
    "INTERNAL": -32603,
}
_SAFE = {
    -32001: AGENT_FORGOT_TASK,
    -32601: AGENT_DOES_NOT_UNDERSTAND,
    -32005: AGENT_REFUSED_CONTENT,
    -32008: AGENT_WANTS_EXTENSION,
    -32009: AGENT_DOES_NOT_UNDERSTAND,
}
_NOT_PLAIN = re.compile(r"[\x00-\x20\x7f-\x9f\u2028\u2029]+")
_SURROGATE = re.compile(r"[\ud800-\udfff]")
_QUOTED_CHARS = 1200
_KIND_CHARS = 60


def decode(payload: Any) -> Frame:
    """Read the frame in a JSON-RPC envelope or a bare event.

    Raises AgentFailed if it reports an error (`code` is 0 for an error without a number), and BadAgentData if
    it is not an object.
    """
    return frame_of(unwrap(payload))


def unwrap(payload: Any) -> Object:
    """Remove the JSON-RPC envelope from an event. Raises the same errors as `decode`."""
    if not isinstance(payload, dict):
        raise BadAgentData("the agent sent JSON that is not an object")
    if _kind(payload) in _READERS or _wrapper(payload) is not None:
        return payload
    if payload.get("error") is not None and not isinstance(payload.get("result"), dict):
        raise failure(payload["error"])
    if "result" in payload:
        return object_of(payload["result"])
    if _integer(payload.get("code")) is not None and isinstance(payload.get("message"), str):
        raise failure(payload)  # a bare google.rpc.Status, as REST servers stream it
    return payload


def task_id_of(payload: Any) -> str | None:
    """The id of the task that an event is about, with less work than `decode`. Raises the same errors."""
    return _id(opened(unwrap(payload))[0], "taskId", "task_id", "id")


def opened(event: Object) -> tuple[Object, str]:
    """The value of the one key in which 1.0 wraps an event, and that key; without one, the event and ""."""
    wrapper = None if _kind(event) in _READERS else _wrapper(event)
    return (event, "") if wrapper is None else (event[wrapper], wrapper)


def failure(error: Any) -> AgentFailed:
    """Read an error object of JSON-RPC, google.rpc.Status or problem JSON. Accepts any JSON value."""
    fields = object_of(error)
    code = _code(fields)
    message = (fields.get("message") or fields.get("detail") or fields.get("title")) if fields else error
    words = quote(message) if isinstance(message, str) else ""
    return AgentFailed(f"the agent reported error {code}", code=code, safe=_SAFE.get(code), said=words)


def _code(error: Object) -> int:
    """The JSON-RPC number of an error, also if it has only a name ([spec] 11.6) or a status (HTTP+JSON)."""
    code = _integer(error.get("code")) or 0
    if code < 0:
        return code
    reasons = [text_of(each.get("reason")) for each in objects_of(error.get("details"))]
    problem = text_of(error.get("type")).rpartition("/")[2]
    reasons.append(problem.removesuffix("-error").replace("-", "_").upper())
    codes = (_REASONS[each] for each in reasons if each in _REASONS)
    return next(codes, _REASONS.get(text_of(error.get("status")), code))


def quote(text: str) -> str:
    """A text of the server, shortened to one line without control characters."""
    return _SURROGATE.sub("\ufffd", _NOT_PLAIN.sub(" ", text[:_QUOTED_CHARS])).strip()


def frame_of(event: Object) -> Frame:
    """Read the frame of an event that has no envelope."""
    kind, body = _kind(event), event
    reader = _READERS.get(kind)
    if reader is None and (wrapper := _wrapper(event)) is not None:
        body = event[wrapper]
        reader = _READERS.get(_kind(body)) or _WRAPPERS[wrapper]
    if reader is None and not kind:
        reader = _guess(event)
    return Unknown(kind[:_KIND_CHARS]) if reader is None else reader(body)


def _wrapper(event: Object) -> str | None:
    if _WRAPPERS.keys().isdisjoint(event):
        return None
    return next((key for key in _WRAPPERS if isinstance(event.get(key), dict)), None)


def _kind(event: Object) -> str:
    kind = event.get("kind")
    if not isinstance(kind, str):
        return ""
    return kind if kind in _READERS else kind.replace("-", "").replace("_", "").lower()


def _guess(event: Object) -> Callable[[Object], Frame] | None:
    """How to read an event that names no kind, judged by its keys."""
    if isinstance(event.get("artifact"), dict):
        return _artifact_update
    if isinstance(event.get("status"), dict | str):
        return _status_update if "taskId" in event and "id" not in event else _task
    if isinstance(event.get("artifacts"), list):
        return _task
    if isinstance(event.get("parts"), list) or isinstance(event.get("content"), list):
        return _reply
    return None


def _task(body: Object) -> Frame:
    state, message = _status(body)
    return Snapshot(
        task_id=_id(body, "id", "taskId", "task_id"),
        context_id=_id(body, "contextId", "context_id"),
        state=state,
        message=message,
        artifacts=tuple(_artifact(each) for each in objects_of(body.get("artifacts"))),
        history=tuple(_message(each) for each in objects_of(body.get("history"))),
        metadata=object_of(body.get("metadata")),
    )


def _status_update(body: Object) -> Frame:
    state, message = _status(body)
    return StatusUpdate(
        task_id=_id(body, "taskId", "task_id", "id"),
        context_id=_id(body, "contextId", "context_id"),
        state=state,
        message=message,
        final=_flag(body.get("final")),
        metadata=object_of(body.get("metadata")),
    )


def _artifact_update(body: Object) -> Frame:
    artifact = object_of(body.get("artifact"))  # up to 0.2 the artifact says how it grows
    last_chunk = _either(body, "lastChunk", "last_chunk")
    if last_chunk is None:
        last_chunk = _either(artifact, "lastChunk", "last_chunk")
    return ArtifactUpdate(
        artifact=_artifact(artifact),
        task_id=_id(body, "taskId", "task_id", "id"),
        context_id=_id(body, "contextId", "context_id"),
        append=_flag(body.get("append", artifact.get("append"))),
        last_chunk=last_chunk is True,
        metadata=object_of(body.get("metadata")),
    )


def _reply(body: Object) -> Frame:
    return MessageReply(_message(body))


_READERS: Mapping[str, Callable[[Object], Frame]] = {
    "task": _task,
    "message": _reply,
    "status-update": _status_update,
    "statusupdate": _status_update,
    "artifact-update": _artifact_update,
    "artifactupdate": _artifact_update,
}
# keys that a 1.0 event wraps its one value in; 0.3's proto calls a message `msg`
_WRAPPERS: Mapping[str, Callable[[Object], Frame]] = {
    "task": _task,
    "message": _reply,
    "msg": _reply,
    "statusUpdate": _status_update,
    "status_update": _status_update,
    "artifactUpdate": _artifact_update,
    "artifact_update": _artifact_update,
}


def _status(body: Object) -> tuple[TaskState, AgentMessage | None]:
    status = body.get("status")
    if not isinstance(status, dict):
        return _state(status), None
    message = _either(status, "message", "update")  # `update` is 0.3's proto name for it
    return _state(status.get("state")), _message(message) if isinstance(message, dict) else None


def _state(value: Any) -> TaskState:
    """The state in any spelling: `input-required`, `TASK_STATE_INPUT_REQUIRED`, 6, British `cancelled`."""
    if isinstance(value, str):
        return _STATES.get(_word(value), TaskState.UNKNOWN)
    number = _integer(value) or 0
    return _NUMBERS[number] if 0 <= number < len(_NUMBERS) else TaskState.UNKNOWN


def is_state(value: str) -> bool:
    """Whether `value` names a state; "unknown" does too."""
    return _state(value) is not TaskState.UNKNOWN or _word(value) in ("", "UNKNOWN", "UNSPECIFIED")


def _word(value: str) -> str:
    return value.strip().upper().replace("-", "_").removeprefix("TASK_STATE_")


def _message(body: Object) -> AgentMessage:
    role = body.get("role")
    is_user = isinstance(role, str) and role.upper().removeprefix("ROLE_") == "USER"
    return AgentMessage(
        message_id=_id(body, "messageId", "message_id") or "",
        role="user" if is_user else "agent",
        parts=_parts(body),
        task_id=_id(body, "taskId", "task_id"),
        context_id=_id(body, "contextId", "context_id"),
        metadata=object_of(body.get("metadata")),
    )


def _artifact(body: Object) -> Artifact:
    return Artifact(
        artifact_id=_id(body, "artifactId", "artifact_id") or "",
        name=text_of(body.get("name")),
        description=text_of(body.get("description")),
        parts=_parts(body),
        metadata=object_of(body.get("metadata")),
    )


def _parts(body: Object) -> tuple[Part, ...]:
    parts, is_boxed = body.get("parts"), False
    if not isinstance(parts, list):
        if is_boxed := not isinstance(parts, dict | str):
            parts = body.get("content")
            if not isinstance(parts, list | str):
                return ()
        if not isinstance(parts, list):
            parts = [parts]  # one part, as hand-written servers send it
    return tuple([part for each in parts if (part := _part(each, is_boxed=is_boxed)) is not None])


def is_read(part: Object) -> bool:
    """Whether the bot can read a text, data or a file in `part`."""
    return _part(part, is_boxed=False) is not None


def _part(value: Any, *, is_boxed: bool) -> Part | None:
    if isinstance(value, str):
        return Part(text=value)
    if not isinstance(value, dict):
        return None
    metadata = object_of(value.get("metadata"))
    if isinstance(text := value.get("text"), str):
        return Part(text=text, metadata=metadata)
    if "data" in value:
        data = value["data"]
        if is_boxed and isinstance(data, dict) and data.keys() == {"data"}:
            data = data["data"]  # 0.3's proto has a message of its own around the value
        if isinstance(data, dict) and data.keys() == {"type", "text"} and data["type"] == "text":
            return Part(text=text_of(data["text"]), metadata=metadata)  # as BeeAI sends it
        return Part(data=data, has_data=True, metadata=metadata)
    file = _file(value)
    return Part(file=file, metadata=metadata) if file is not None else None


def _file(part: Object) -> FileRef | None:
    """Read a file: in an object of its own (0.3) or bare (1.0), in every spelling that documents show."""
    inner = part.get("file")
    source = inner if isinstance(inner, dict) else part
    value = _either(source, "bytes", "raw")
    if value is None:
        value = _bytes_of_proto(_either(source, "fileWithBytes", "file_with_bytes"))
    url = _either(source, "uri", "url", "fileWithUri", "fileUrl", "file_with_uri")
    if not isinstance(value, str) and not isinstance(url, str):
        return None
    return FileRef(
        name=text_of(_either(source, "name", "filename") or part.get("filename")),
        mime_type=text_of(_either(source, "mimeType", "mediaType", "mime_type", "media_type")),
        url=url if isinstance(url, str) else None,
        content=value if isinstance(value, str) else None,
    )


def _bytes_of_proto(value: Any) -> Any:
    """Undo the second Base64: SDKs for Python and Go put JSON-RPC's Base64 into a field of bytes."""
    try:
        once = base64.b64decode(value, validate=True)
        base64.b64decode(once, validate=True)
    except (TypeError, ValueError):
        return value
    return once.decode("ascii")


# --- values that may be anything ----------------------------------------------------------------------------


def _flag(value: Any) -> bool | None:
    return value if isinstance(value, bool) else None


def _integer(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _either(source: Object, *keys: str) -> Any:
    for key in keys:
        if (value := source.get(key)) is not None:
            return value
    return None


def _id(source: Object, *keys: str) -> str | None:
    """An id as text. Some servers send numbers, and half of a surrogate pair cannot be stored."""
    if (value := source.get(keys[0])) is None:
        value = _either(source, *keys[1:])
    if isinstance(value, str):
        return (value if value.isascii() else _SURROGATE.sub("\ufffd", value)) or None
    number = _integer(value)
    return None if number is None else str(number)
