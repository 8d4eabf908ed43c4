"""PURE. Tapes of simple answers, for a `ScriptedAgent`: `answer("Hello.")`, `question(...)`, `failure(...)`.

`task`, `status` and `chunk` build single events of A2A 0.3; `on_wire` turns a tape into one of A2A 1.0.
"""

from dataclasses import replace
from typing import Any

from .json_file import Json
from .tape import Moment, Tape

_KINDS = {"task": "task", "status-update": "statusUpdate", "artifact-update": "artifactUpdate"}


def task(state: str = "submitted", *, text: str = "", ids: str = "1") -> Json:
    """A task in `state`, with a status message if there is `text`. `ids` ends all its ids."""
    status: Json = {"state": state}
    if text:
        parts = [{"kind": "text", "text": text}]
        status["message"] = {"kind": "message", "messageId": "m1", "role": "agent", "parts": parts}
    return {"kind": "task", "id": f"task-{ids}", "contextId": f"ctx-{ids}", "status": status}


def status(state: str, text: str = "", *, ids: str = "1") -> Json:
    """A status update, the final one unless the task goes on."""
    said, is_final = task(state, text=text)["status"], state not in ("submitted", "working")
    return {"kind": "status-update", **_ids(ids), "status": said, "final": is_final}


def chunk(text: str, *, ids: str = "1") -> Json:
    """More text of the streamed answer."""
    artifact = {
        "artifactId": f"streaming_result-{ids}",
        "name": "streaming_result",
        "metadata": {"is_final_answer": True},
        "parts": [{"kind": "text", "text": text}],
    }
    return {"kind": "artifact-update", **_ids(ids), "append": True, "artifact": artifact}


def _ids(ids: str) -> Json:
    return {"taskId": f"task-{ids}", "contextId": f"ctx-{ids}"}


def answer(text: str, *, seconds: float = 3.0, ids: str = "1") -> Tape:
    """`text`, streamed word by word in `seconds`."""
    words = [f"{word} " for word in text.split(" ")]
    words[-1] = words[-1][:-1]
    step = seconds / len(words)
    moments = [Moment(0.1, event=task(ids=ids))]
    moments += [Moment(0.2 + step * n, event=chunk(word, ids=ids)) for n, word in enumerate(words)]
    moments.append(Moment(0.3 + seconds, event=status("completed", ids=ids)))
    return Tape({"wire": "0.3"}, (*moments, Moment(0.4 + seconds, end="closed")))


def question(text: str, *, ids: str = "1") -> Tape:
    """The agent asks back."""
    return _at_once(status("input-required", text, ids=ids), ids)


def failure(text: str, *, ids: str = "1") -> Tape:
    """The task fails, and `text` says why."""
    return _at_once(status("failed", text, ids=ids), ids)


def _at_once(event: Json, ids: str) -> Tape:
    moments = (Moment(0.1, event=task(ids=ids)), Moment(0.5, event=event), Moment(0.6, end="closed"))
    return Tape({"wire": "0.3"}, moments)


def on_wire(tape: Tape, wire: str) -> Tape:
    """A tape of 0.3 as an agent of `wire`, "0.3" or "1.0", would send it."""
    if wire == "0.3":
        return tape
    events = [moment.event for moment in tape.moments]
    newer = [event and {_KINDS[event["kind"]]: _newer(event)} for event in events]
    moments = (replace(moment, event=event) for moment, event in zip(tape.moments, newer, strict=True))
    return Tape({**tape.head, "wire": wire}, tuple(moments))


def _newer(value: Any) -> Any:
    """Without `kind` and `final`, with the names that 1.0 gives to states and roles."""
    if isinstance(value, list):
        return [_newer(each) for each in value]
    if not isinstance(value, dict):
        return value
    kept = {key: _newer(each) for key, each in value.items() if key not in ("kind", "final")}
    if isinstance(kept.get("state"), str):
        kept["state"] = "TASK_STATE_" + kept["state"].upper().replace("-", "_")
    if isinstance(kept.get("role"), str):
        kept["role"] = "ROLE_" + kept["role"].upper()
    return kept
