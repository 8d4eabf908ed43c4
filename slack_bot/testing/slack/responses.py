"""PURE. A response_url: five answers within half an hour to whoever pressed something (facts: Slack 3.5)."""

from __future__ import annotations

from . import chat
from .state import Json, Refused, StoredMessage, WorkspaceState

_USES = 5
_LIFE = 1_800.0
_CONTENT = ("text", "markdown_text", "blocks")


def offer(state: WorkspaceState, message: StoredMessage, user: str, now: float) -> str:
    """The address that a press of a control on `message` gives the app."""
    key = state.next_id("response-")
    state.responses[key] = {"channel": message.channel, "ts": message.ts, "user": user, "at": now, "uses": 0}
    return f"{state.file_base}/response/{key}"


def respond(state: WorkspaceState, key: str, body: Json, now: float) -> None:
    """The app posts `body` to a response_url. Raises `Refused`."""
    known = state.responses.get(key)
    if known is None or now - known["at"] > _LIFE or known["uses"] >= _USES:
        raise Refused("expired_url" if known else "invalid_url")
    known["uses"] += 1
    message = state.find(known["channel"], known["ts"])
    content: Json = {name: body[name] for name in _CONTENT if name in body}
    if message is not None and body.get("delete_original"):
        chat.remove(state, message, now)
    elif message is not None and body.get("replace_original") and message.ephemeral_for is None:
        chat.update(state, {**content, "channel": message.channel, "ts": message.ts}, now)
    else:
        root = body.get("thread_ts") or (message.thread_ts if message is not None else None)
        content |= {"channel": known["channel"], **({"thread_ts": root} if root else {})}
        if body.get("response_type") == "in_channel":
            chat.post(state, content, now)
        else:
            chat.ephemeral(state, {**content, "user": known["user"]}, now)
