"""PURE. How much one streamed message holds, and how much more it takes.

The size is undocumented and was measured: about 11,000 bytes, in which a card's details and output weigh
twice [obs] (facts: Slack 1.7; delivery contract, section 4). Whoever goes over it once gets `msg_too_long`
from then on for everything that adds to the message; a card may still change its state, and the stream may be
stopped.
"""

from __future__ import annotations

from .state import Json, Refused, StoredMessage, WorkspaceState


def weight(message: StoredMessage) -> int:
    """Weighted UTF-8 bytes of a message as it stands."""
    cards = sum(
        _size(task.title) + 2 * (_size(task.details) + _size(task.output)) for task in message.tasks.values()
    )
    return _size(message.body) + _size(message.plan_title or "") + cards


def added(message: StoredMessage, content: list[Json] | str) -> int:
    """What `content` adds to `message`: a title that replaces another counts as the difference."""
    if isinstance(content, str):
        return _size(content)
    titles = {task.id: task.title for task in message.tasks.values()}
    plan, sum_ = message.plan_title or "", 0
    for chunk in content:
        match chunk["type"]:
            case "markdown_text":
                sum_ += _size(chunk["text"])
            case "plan_update":
                sum_ += _size(chunk["title"]) - _size(plan)
                plan = chunk["title"]
            case "task_update":
                known = titles.get(chunk["id"], "")
                sum_ += _size(chunk["title"]) - _size(known)
                sum_ += 2 * (_size(chunk.get("details", "")) + _size(chunk.get("output", "")))
                titles[chunk["id"]] = chunk["title"]
    return sum_


def check(state: WorkspaceState, message: StoredMessage, content: list[Json] | str) -> None:
    """Refuse what the message has no room for, for good."""
    more, most = added(message, content), state.rules.stream_bytes
    if most is not None and more > 0 and weight(message) + more > most:
        message.full = True
    if message.full and more > 0:
        raise Refused("msg_too_long", "the message holds as much as it can")


def _size(text: str) -> int:
    return len(text.encode())
