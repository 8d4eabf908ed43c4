"""PURE. The events an agent sends and when, as each of the wires says them.

Events are written in 0.3's shape and said in the wire's own. Two wires are mixtures that real servers speak:
`langgraph` begins as 1.0 does and goes on in flat kinds of 0.3 with 1.0's states; `fasta2a` puts 0.3's states
into 1.0's wrappers (facts: A2A 0.1).
"""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from random import Random
from typing import Any

from slack_bot.testing.tape.tape import Moment, Tape

PLAIN = ("0.3", "1.0")
MIXED = ("langgraph", "fasta2a")
_CALLED = {
    "task": "task",
    "status-update": "statusUpdate",
    "artifact-update": "artifactUpdate",
    "message": "message",
}
_OVER = frozenset({"completed", "failed", "canceled", "rejected", "input-required", "auth-required"})

Json = dict[str, Any]


class Stream:
    """The events of one task. `begins` is when the first comes, in seconds from the question."""

    def __init__(self, random: Random, wire: str, *, begins: float = 0.1) -> None:
        self.random, self.wire = random, wire
        self._now = begins
        self._moments: list[Moment] = []

    def say(self, event: Json) -> None:
        """Say `event` now."""
        said = _on(self.wire, event, is_first=not self._moments)
        self._moments.append(Moment(round(self._now, 3), event=said))

    def wait(self, seconds: float) -> None:
        """Say nothing for so long."""
        self._now += seconds

    def chunks(
        self,
        name: str,
        parts: Sequence[str],
        seconds: float,
        about: Json | None = None,
        *,
        key: str = "",
        goes_on: bool = True,
    ) -> None:
        """An artifact, part by part, in about so many seconds. `goes_on`: its first part appends, too."""
        for number, part in enumerate(parts):
            self.say(artifact(name, part, about, append=goes_on or number > 0, key=key))
            self.wait(seconds / len(parts) * self.random.uniform(0.2, 1.8))

    def tool(self, name: str, *, fails: bool, step: str = "") -> None:
        """A tool is called and ends."""
        about: Json = {"tool_name": name, "tool_call_id": f"call-{name}"}
        about |= {"plan_step_id": step} if step else {}
        self.say(artifact("tool_notification_start", "", about, append=False))
        self.wait(self.random.uniform(0.0, 4.0))
        ended = {**about, "status": "failed"} if fails else about
        self.say(artifact("tool_notification_end", "", ended, append=False))
        self.wait(self.random.uniform(0.0, 2.0))

    def tape(self) -> Tape:
        """All of it, closed."""
        self.wait(0.2)
        wire = {"langgraph": "0.3", "fasta2a": "1.0"}.get(self.wire, self.wire)
        return Tape({"wire": wire}, (*self._moments, Moment(round(self._now, 3), end="closed")))


def task(state: str = "submitted", artifacts: Sequence[Json] = (), history: Sequence[Json] = ()) -> Json:
    """The task as it stands."""
    found: Json = {"kind": "task", "id": "task-1", "contextId": "ctx-1", "status": {"state": state}}
    found |= {"artifacts": list(artifacts)} if artifacts else {}
    return found | ({"history": list(history)} if history else {})


def status(state: str, *parts: Json, key: str = "") -> Json:
    """The task's state, with a message of the agent's where there are `parts`."""
    said: Json = {"state": state}
    if parts:
        said["message"] = message(*parts, key=key or f"said-{state}")
    return {
        "kind": "status-update",
        "taskId": "task-1",
        "contextId": "ctx-1",
        "status": said,
        "final": state in _OVER,
    }


def message(*parts: Json, key: str, role: str = "agent", of_task: bool = True) -> Json:
    """A message. `of_task`: it belongs to the task, instead of standing in its place."""
    found: Json = {"kind": "message", "messageId": key, "role": role, "parts": list(parts)}
    return found | ({"taskId": "task-1", "contextId": "ctx-1"} if of_task else {"contextId": "ctx-1"})


def artifact(
    name: str, text: str, about: Mapping[str, Any] | None = None, *, append: bool, key: str = ""
) -> Json:
    """An artifact, or more of it."""
    parts = [words(text)] if text else []
    return holding(name, *parts, about=about, append=append, key=key)


def holding(
    name: str, *parts: Json, about: Mapping[str, Any] | None = None, append: bool = False, key: str = ""
) -> Json:
    """An artifact of any parts."""
    return {
        "kind": "artifact-update",
        "taskId": "task-1",
        "contextId": "ctx-1",
        "append": append,
        "artifact": {
            "artifactId": key or f"{name}-1",
            "name": name,
            "metadata": dict(about or {}),
            "parts": list(parts),
        },
    }


def words(text: str) -> Json:
    """A part of text."""
    return {"kind": "text", "text": text}


def data(value: Any) -> Json:
    """A part of data."""
    return {"kind": "data", "data": value}


def file(name: str, content: bytes) -> Json:
    """A file as 0.3 says it."""
    coded = base64.b64encode(content).decode()
    return {"kind": "file", "file": {"name": name, "mimeType": "application/octet-stream", "bytes": coded}}


def _on(wire: str, event: Json, *, is_first: bool) -> Json:
    if wire == "0.3":
        return event
    if wire == "langgraph" and not is_first:
        return _restated(event, flat=True)
    inner = {name: value for name, value in event.items() if name not in ("kind", "final")}
    body = _restated(inner, flat=False) if wire != "fasta2a" else _without_kinds(inner)
    return {_CALLED[event["kind"]]: body}


def _restated(value: Any, *, flat: bool) -> Any:
    """With 1.0's words for states and roles; without kinds, unless it stays `flat`."""
    if isinstance(value, list):
        return [_restated(each, flat=flat) for each in value]
    if not isinstance(value, dict):
        return value
    if "data" in value:
        return {name: each for name, each in value.items() if flat or name != "kind"}
    found = {name: _restated(each, flat=flat) for name, each in value.items() if flat or name != "kind"}
    if isinstance(found.get("state"), str):
        found["state"] = "TASK_STATE_" + found["state"].upper().replace("-", "_")
    if isinstance(found.get("role"), str):
        found["role"] = "ROLE_" + found["role"].upper()
    return found


def _without_kinds(value: Any) -> Any:
    if isinstance(value, list):
        return [_without_kinds(each) for each in value]
    if not isinstance(value, dict):
        return value
    is_data = "data" in value
    return {name: each if is_data else _without_kinds(each) for name, each in value.items() if name != "kind"}
