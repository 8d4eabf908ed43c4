"""PURE. The current task, built from the events that were played, in the JSON of their protocol version.

Chunks are appended as parts, as a2a-sdk does it, also where the artifact was never begun, as in real
streams (facts: A2A 2.2).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Literal, TypeAlias

Json: TypeAlias = dict[str, Any]
Wire: TypeAlias = Literal["0.3", "1.0"]

_KINDS = {
    "task": "task",
    "status-update": "statusUpdate",
    "artifact-update": "artifactUpdate",
    "message": "message",
}
_WRAPPERS = tuple(_KINDS.values())
_TERMINAL = frozenset({"completed", "failed", "canceled", "cancelled", "rejected"})


def opened(event: Mapping[str, Any]) -> tuple[str, Json]:
    """What `event` is (the 1.0 name of its wrapper, "" if unknown) and its content, in either dialect."""
    for name in _WRAPPERS:
        if isinstance(event.get(name), dict) and "kind" not in event:
            return name, event[name]
    content = dict(event)
    if kind := _KINDS.get(str(event.get("kind"))):
        return kind, content
    if "artifact" in event:
        return "artifactUpdate", content
    if "status" in event:
        return ("task" if "id" in event else "statusUpdate"), content
    return ("message" if "parts" in event else ""), content


def wire_of(events: Iterable[Mapping[str, Any]]) -> Wire:
    """The dialect of the first event that shows one. Flat objects are 0.3."""
    for event in events:
        if "kind" in event:
            return "0.3"
        if any(isinstance(event.get(name), dict) for name in _WRAPPERS):
            return "1.0"
    return "0.3"


def state_of(task: Mapping[str, Any]) -> str:
    """The state of a task in lower-case words with hyphens, "" where it has none."""
    status = task.get("status")
    state = str(status.get("state", "")) if isinstance(status, Mapping) else ""
    return state.removeprefix("TASK_STATE_").lower().replace("_", "-")


def is_over(task: Mapping[str, Any]) -> bool:
    """No further event will come for this task."""
    return state_of(task) in _TERMINAL


def with_state(task: Json, state: str, wire: Wire) -> Json:
    """`task` in another state."""
    spelled = state if wire == "0.3" else "TASK_STATE_" + state.upper().replace("-", "_")
    return {**task, "status": {"state": spelled}}


def status_event(task: Json, wire: Wire) -> Json:
    """The status update for the state of `task`."""
    update = {"taskId": task["id"], "contextId": task.get("contextId", ""), "status": task["status"]}
    return {"kind": "status-update", **update, "final": True} if wire == "0.3" else {"statusUpdate": update}


def task_of(events: Iterable[Mapping[str, Any]], wire: Wire) -> Json | None:
    """The task after `events`, or None where none of them named one."""
    task = with_state({"id": "", "contextId": ""}, "submitted", wire)
    artifacts: dict[str, Json] = {}
    history: list[Json] = []
    for event in events:
        kind, content = opened(event)
        task["id"] = content.get("id" if kind == "task" else "taskId") or task["id"]
        task["contextId"] = content.get("contextId") or task["contextId"]
        if kind == "task":
            artifacts = {_key(each): each for each in _dicts(content.get("artifacts"))} or artifacts
            history = _dicts(content.get("history")) or history
        if kind == "artifactUpdate" and isinstance(content.get("artifact"), dict):
            _add(artifacts, content["artifact"], append=content.get("append") is True)
        if kind == "message":
            history.append(content)
        if kind in ("task", "statusUpdate") and isinstance(status := content.get("status"), dict):
            said = task["status"].get("message")  # what is replaced by another goes into the history
            history += [said] if isinstance(said, dict) and said != status.get("message") else []
            task["status"] = status
        if kind in ("task", "statusUpdate") and isinstance(content.get("metadata"), dict):
            task["metadata"] = task.get("metadata", {}) | content["metadata"]
    if not task["id"]:
        return None
    task |= {"artifacts": list(artifacts.values())} if artifacts else {}
    task |= {"history": history} if history else {}
    return {"kind": "task", **task} if wire == "0.3" else task


def last_message(events: Iterable[Mapping[str, Any]]) -> Json | None:
    """The last message of an agent that answers without a task."""
    found = [content for kind, content in map(opened, events) if kind == "message"]
    return found[-1] if found else None


def _add(artifacts: dict[str, Json], artifact: Json, *, append: bool) -> None:
    key = _key(artifact)
    known = artifacts.get(key) if append else None
    if known is None:
        artifacts[key] = artifact
        return
    joined: Json = {**known, "parts": [*_dicts(known.get("parts")), *_dicts(artifact.get("parts"))]}
    metadata = (known.get("metadata") or {}) | (artifact.get("metadata") or {})
    artifacts[key] = {**joined, "metadata": metadata} if metadata else joined


def _key(artifact: Mapping[str, Any]) -> str:
    return str(artifact.get("artifactId") or artifact.get("name") or "")


def _dicts(value: object) -> list[Json]:
    return [each for each in value if isinstance(each, dict)] if isinstance(value, list) else []
