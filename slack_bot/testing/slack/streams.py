"""PURE. Streamed messages: chat.startStream, chat.appendStream, chat.stopStream, and what their chunks do.

A stream is bound to the mode of its first content. Titles and states of task cards are replaced by id,
details and output append. A plan that stops with an open card becomes "Something went wrong" (facts: Slack
1.4).
"""

from __future__ import annotations

import copy
from typing import Any

from . import blocks as blockkit
from . import payloads, rendering
from .state import (
    Channel,
    Json,
    Refused,
    StoredMessage,
    Task,
    WorkspaceState,
    bot_channel,
    check_recipient,
    metadata_of,
    own_message,
    root_exists,
)

_FIELDS = {
    "markdown_text": {"text"},
    "plan_update": {"title"},
    "task_update": {"id", "title", "status", "details", "output", "sources", "hide_title", "icon"},
    "blocks": {"blocks"},
}
_REQUIRED = {
    "markdown_text": ("text",),
    "plan_update": ("title",),
    "task_update": ("id", "title", "status"),
    "blocks": (),
}
_STATUS = ("pending", "in_progress", "complete", "error")
_SESSIONS = ("active", "processing", "suspended", "closed")
PLAN_FAILED = "Something went wrong"


def start(state: WorkspaceState, args: Json, now: float) -> Json:
    """chat.startStream."""
    content = _content(state, args)
    channel = bot_channel(state, args["channel"])
    root = root_exists(state, channel, args.get("thread_ts") or "")
    if channel.kind != "im":
        for name in ("recipient_user_id", "recipient_team_id"):
            if not args.get(name):
                raise Refused(f"missing_{name}")
    check_recipient(state, args.get("recipient_user_id"), args.get("recipient_team_id"))
    display = args.get("task_display_mode", "timeline")
    if display not in ("timeline", "plan"):
        raise Refused("invalid_arguments", "task_display_mode must be timeline or plan")
    message = _opened(state, channel, root, now)
    message.display, message.recipient = display, args.get("recipient_user_id")
    _apply(state, message, content, now)
    thread = state.thread(channel.id, root)
    thread.status = ""
    state.open_streams[message.ts] = message
    state.add(message)
    payloads.message(state, message, now)
    payloads.session(state, channel.id, root, "processing", now)
    return {"channel": channel.id, "ts": message.ts}


def _opened(state: WorkspaceState, channel: Channel, root: str, now: float) -> StoredMessage:
    return StoredMessage(
        channel.id,
        state.next_ts(now),
        state.bot.user_id,
        state.team,
        thread_ts=root,
        state="streaming",
        by_app=True,
        is_markdown=True,
        started_at=now,
        touched_at=now,
    )


def append(state: WorkspaceState, args: Json, now: float) -> Json:
    """chat.appendStream. After a person's Stop it has its own error; stopping such a stream has not."""
    message = _addressed(state, args)
    if message.stopped_by is not None:
        raise Refused("stopped_by_user")
    _require_open(message)
    content = _content(state, args)
    if content is None:
        raise Refused("markdown_text_or_chunks_required")
    _check_mode(message, content)
    _apply(state, message, content, now)
    state.thread(message.channel, message.root).status = ""
    state.changed(message.channel, message.root)
    return {"channel": message.channel, "ts": message.ts}


def stop(state: WorkspaceState, args: Json, now: float) -> Json:
    """chat.stopStream."""
    message = _addressed(state, args)
    _require_open(message)
    content = _content(state, args)
    _check_mode(message, content)
    tail = args.get("blocks") or []
    blockkit.check(state, tail, too_many="msg_blocks_too_many")
    kept = metadata_of(state, args)
    session = args.get("session_status", "active")
    if session not in _SESSIONS:
        raise Refused("invalid_arguments", f"session_status must be one of {', '.join(_SESSIONS)}")
    _apply(state, message, content, now)
    message.blocks += blockkit.with_ids(state, tail)
    if kept is not None:
        message.metadata = kept
    seal(state, message, now)
    payloads.session(state, message.channel, message.root, session, now)
    answer: Json = {"channel": message.channel, "ts": message.ts}
    if state.rules.stop_tells_message:
        answer["message"] = rendering.read_back(state, message, True)
    return answer


def seal(state: WorkspaceState, message: StoredMessage, now: float) -> None:
    """End a stream. A plan with an open card becomes an error."""
    message.state = "sealed"
    state.open_streams.pop(message.ts, None)
    is_open = any(task.status in ("pending", "in_progress") for task in message.tasks.values())
    if message.display == "plan" and is_open:
        message.plan_failed = True
        message.plan_title = PLAN_FAILED
    state.changed(message.channel, message.root)
    payloads.changed(state, message, now)


def _addressed(state: WorkspaceState, args: Json) -> StoredMessage:
    return own_message(state, bot_channel(state, args["channel"]), args["ts"])


def _require_open(message: StoredMessage) -> None:
    if message.state != "streaming":
        raise Refused("message_not_in_streaming_state")


def _content(state: WorkspaceState, args: Json) -> list[Json] | str | None:
    """What a call adds: text, checked chunks, or nothing. An empty list of chunks is nothing, as an empty
    text is.
    """
    text, chunks = args.get("markdown_text"), args.get("chunks")
    if text is not None and chunks is not None:
        raise Refused("cannot_provide_both_markdown_text_and_chunks")
    if text is not None and len(text) > state.rules.call_chars:
        raise Refused("msg_too_long", f"markdown_text holds {len(text)} characters")
    if chunks is not None:
        for number, chunk in enumerate(chunks):
            _check_chunk(state, chunk, f"/chunks/{number}")
        total = sum(len(chunk["text"]) for chunk in chunks if chunk["type"] == "markdown_text")
        if total > state.rules.call_chars:
            raise Refused("msg_too_long", f"chunks hold {total} characters of text")
    return chunks or text or None


def _check_chunk(state: WorkspaceState, chunk: Any, at: str) -> None:
    kind = chunk.get("type") if isinstance(chunk, dict) else None
    if kind not in _FIELDS:
        raise Refused("invalid_chunks", f"unknown type [json-pointer:{at}]")
    extra = set(chunk) - _FIELDS[kind] - {"type"}
    if extra:
        raise Refused("invalid_chunks", f"invalid additional property: {min(extra)} [json-pointer:{at}]")
    for name in _REQUIRED[kind]:
        if not isinstance(chunk.get(name), str) or not chunk[name]:
            raise Refused("invalid_chunks", f"missing required field: {name} [json-pointer:{at}]")
    if kind == "blocks":
        if not isinstance(chunk.get("blocks"), list):
            raise Refused("invalid_chunks", f"must be an array [json-pointer:{at}/blocks]")
        blockkit.check(state, chunk["blocks"][: state.rules.blocks])
    elif kind != "markdown_text":
        _check_card(state, chunk, at)


def _check_card(state: WorkspaceState, chunk: Json, at: str) -> None:
    for name in ("title", "details", "output"):
        value = chunk.get(name, "")
        if not isinstance(value, str) or len(value) > state.rules.card_chars:
            raise Refused(
                "invalid_chunks", f"at most {state.rules.card_chars} characters [json-pointer:{at}/{name}]"
            )
    if chunk.get("status", "complete") not in _STATUS:
        raise Refused("invalid_chunks", f"must be one of {', '.join(_STATUS)} [json-pointer:{at}/status]")
    for source in chunk.get("sources") or ():
        if not isinstance(source, dict) or source.get("type") != "url" or not source.get("url"):
            raise Refused("invalid_chunks", f"must be a url source [json-pointer:{at}/sources]")


def _check_mode(message: StoredMessage, content: list[Json] | str | None) -> None:
    if content is None or message.mode is None:
        return
    if message.mode != ("text" if isinstance(content, str) else "chunks"):
        raise Refused("streaming_mode_mismatch", f"the stream was started with {message.mode}")


def _apply(
    state: WorkspaceState, message: StoredMessage, content: list[Json] | str | None, now: float
) -> None:
    if content is None:
        return
    check_room(state, message, content)
    message.touched_at = now
    _add(state, message, content)
    if message.first is None:
        message.first = copy.deepcopy(message)


def _add(state: WorkspaceState, message: StoredMessage, content: list[Json] | str) -> None:
    if isinstance(content, str):
        message.mode = "text"
        _write(message, content)
        return
    message.mode = "chunks"
    for chunk in content:
        if chunk["type"] == "markdown_text":
            _write(message, chunk["text"])
        elif chunk["type"] == "plan_update":
            message.plan_title = chunk["title"]
        elif chunk["type"] == "task_update":
            _update_task(message, chunk)
        else:
            message.blocks += blockkit.with_ids(state, chunk["blocks"][: state.rules.blocks])


def _write(message: StoredMessage, text: str) -> None:
    """Slack drops mere white space, and white space before the first word [obs] (facts: Slack 6)."""
    if not text.strip():
        return
    message.body += text if message.body else text.lstrip()


def _update_task(message: StoredMessage, chunk: Json) -> None:
    task = message.tasks.setdefault(chunk["id"], Task(chunk["id"], chunk["title"], chunk["status"]))
    task.title, task.status = chunk["title"], chunk["status"]
    task.details += _card_text(chunk.get("details", ""))
    task.output += _card_text(chunk.get("output", ""))
    task.sources += chunk.get("sources") or []


def _card_text(text: str) -> str:
    """A value that starts with `##` shows empty and white space at its start vanishes [obs] (facts: Slack
    1.4).
    """
    text = text.lstrip()
    return "" if text.startswith("##") else text


METHODS = {"chat.startStream": start, "chat.appendStream": append, "chat.stopStream": stop}


def weighted_bytes(message: StoredMessage) -> int:
    """Weighted UTF-8 bytes of a message so far."""
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


def check_room(state: WorkspaceState, message: StoredMessage, content: list[Json] | str) -> None:
    """Refuse what the message has no room for, for good."""
    more, most = added(message, content), state.rules.stream_bytes
    if most is not None and more > 0 and weighted_bytes(message) + more > most:
        message.full = True
    if message.full and more > 0:
        raise Refused("msg_too_long", "the message holds as much as it can")


def _size(text: str) -> int:
    return len(text.encode())


def ends_at(state: WorkspaceState, message: StoredMessage) -> float | None:
    """When Slack will seal an open stream, None: never."""
    if message.state != "streaming":
        return None
    life, idle = state.rules.stream_life, state.rules.stream_idle
    ends = [] if life is None else [message.started_at + life]
    ends += [] if idle is None else [message.touched_at + idle]
    return min(ends, default=None)


def next_end(state: WorkspaceState) -> float | None:
    """When the next stream will be sealed if nothing happens, None: none will."""
    ends = (ends_at(state, message) for message in state.open_streams.values())
    return min((end for end in ends if end is not None), default=None)


def expire(state: WorkspaceState, now: float) -> None:
    """Seal every stream whose time is over at `now`."""
    for message in tuple(state.open_streams.values()):
        end = ends_at(state, message)
        if end is not None and end <= now:
            seal_expired(state, message, end)


def seal_expired(state: WorkspaceState, message: StoredMessage, now: float) -> None:
    """Slack seals an open stream by itself."""
    message.expired = True
    seal(state, message, now)
    payloads.session(state, message.channel, message.root, "active", now)
