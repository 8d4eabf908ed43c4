"""PURE. What we send, on the 0.3 and on the 1.0 wire: bodies and headers.

Unknown ids are left out, never null. fasta2a 0.6 answers HTTP 500 without `acceptedOutputModes`.
`historyLength` 0 means "everything" to some 0.3 servers (facts: A2A 1.2, 2.8).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

Json: TypeAlias = dict[str, Any]
Wire: TypeAlias = Literal["0.3", "1.0"]
TaskVerb: TypeAlias = Literal["get", "cancel", "subscribe"]

OUTPUT_MODES = ("text/plain", "text/markdown", "application/json")
HISTORY_LENGTH = 1
MISSED_MESSAGES = 1000
"""Messages to read of a task whose stream was lost."""

_METHODS: Mapping[Wire, Mapping[str, str]] = {
    "0.3": {
        "stream": "message/stream",
        "send": "message/send",
        "get": "tasks/get",
        "cancel": "tasks/cancel",
        "subscribe": "tasks/resubscribe",
    },
    "1.0": {
        "stream": "SendStreamingMessage",
        "send": "SendMessage",
        "get": "GetTask",
        "cancel": "CancelTask",
        "subscribe": "SubscribeToTask",
    },
}


@dataclass(frozen=True, slots=True)
class Interface:
    """One JSON-RPC address, and its wire by the card."""

    url: str
    wire: Wire
    tenant: str | None = None


@dataclass(frozen=True, slots=True)
class MessageRequest:
    """One question. `task_id` only where it answers that task's question."""

    text: str
    message_id: str
    context_id: str | None = None
    task_id: str | None = None


def ask_body(at: Interface, request: MessageRequest, *, stream: bool) -> Json:
    """A question, with the streaming or the waiting method."""
    if at.wire == "0.3":
        message: Json = {"kind": "message", "role": "user", "parts": [{"kind": "text", "text": request.text}]}
        waiting = {"blocking": True}
    else:
        message = {"role": "ROLE_USER", "parts": [{"text": request.text}]}
        waiting = {"returnImmediately": False}
    message["messageId"] = request.message_id
    if request.context_id:
        message["contextId"] = request.context_id
    if request.task_id:
        message["taskId"] = request.task_id
    accepted = {"acceptedOutputModes": list(OUTPUT_MODES), "historyLength": HISTORY_LENGTH}
    params = {"message": message, "configuration": accepted | waiting}
    return _envelope(at, "stream" if stream else "send", request.message_id, params)


def task_body(at: Interface, verb: TaskVerb, task_id: str, messages: int = HISTORY_LENGTH) -> Json:
    """Reads (with its last `messages`), cancels or re-joins a task."""
    params: Json = {"id": task_id}
    if verb == "get":
        params["historyLength"] = messages
    return _envelope(at, verb, f"{verb}-{task_id}", params)


def headers(wire: Wire, extensions: Sequence[str] = (), *, stream: bool) -> dict[str, str]:
    """LangGraph streams only if SSE is accepted; compression and caches would delay a stream.

    Extensions have an older header on 0.3 (facts: A2A 1.6).
    """
    found = {
        "Content-Type": "application/json",
        "Accept": "text/event-stream, application/json" if stream else "application/json",
        "Accept-Encoding": "identity",
        "Cache-Control": "no-store",
        "A2A-Version": wire,
    }
    if extensions:
        found["A2A-Extensions"] = ", ".join(extensions)
        if wire == "0.3":
            found["X-A2A-Extensions"] = found["A2A-Extensions"]
    return found


def _envelope(at: Interface, verb: str, request_id: str, params: Json) -> Json:
    if at.tenant:  # the client must echo what the card's interface says ([spec] 8.3.2)
        params["tenant"] = at.tenant
    return {"jsonrpc": "2.0", "id": request_id, "method": _METHODS[at.wire][verb], "params": params}
