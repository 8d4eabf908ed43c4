"""PURE. Streamed messages: chat.startStream, chat.appendStream, chat.stopStream, and what their chunks do.

A stream is bound to the mode of its first content. Titles and states of task cards are replaced by id,
details and output append (facts: Slack 1.4).
"""

import copy
from collections.abc import Mapping
from dataclasses import replace

from ...settings.slack_rules import OK
from . import blocks as blockkit
from . import payloads, rendering
from .data_blocks import check_message
from .rules import WorkspaceRules
from .state import PLAN_FAILED, Channel, Json, Refused, SeenTask, StoredMessage, WorkspaceState

SESSIONS = ("active", "processing", "suspended", "closed")


def _start(state: WorkspaceState, args: Json) -> Json:
    content = _content(state, args)
    channel = state.bot_channel(args["channel"])
    root = _root(state, channel, args)
    if channel.kind == "im":
        if not args.get("recipient_user_id"):
            state.refuse("stream.direct", OK)
    else:
        for part in ("user", "team"):
            if not args.get(f"recipient_{part}_id"):
                state.refuse(f"stream.recipient_{part}", f"missing_recipient_{part}_id")
    _check_recipient(state, args)
    display = args.get("task_display_mode", "timeline")
    if display not in ("timeline", "plan"):
        state.refuse("stream.display", "invalid_arguments", "task_display_mode must be timeline or plan")
    message = state.new_message(channel, root)
    message.state, message.is_markdown = "streaming", True
    message.started_at = message.touched_at = state.now
    message.display, message.recipient = display, args.get("recipient_user_id")
    message.look = state.look_of(args) if state.rules.names_streams else {}
    _apply(state, message, content)
    state.thread(channel.id, root).status = ""
    state.open_streams[message.ts] = message
    state.add(message)
    payloads.message(state, message)
    if (begun := state.rules.word("session.at_start", "processing")) != "none":
        payloads.session(state, channel.id, root, begun)
    return {"channel": channel.id, "ts": message.ts}


def _root(state: WorkspaceState, channel: Channel, args: Json) -> str:
    """The thread of a stream. Where this workspace needs none, the stream begins one."""
    given = args.get("thread_ts")
    try:
        return state.root_exists(channel, given or "")
    except Refused as refused:
        state.refuse("stream.unknown_thread" if given else "stream.no_thread", refused.error)
    return ""


def _check_recipient(state: WorkspaceState, args: Json) -> None:
    """A human, named with the team that human belongs to (facts: Slack 1.1)."""
    user, team = args.get("recipient_user_id"), args.get("recipient_team_id")
    if user is None and team is None:
        return
    if user is None and (team is None or state.rules.word("stream.recipient_user", "") == OK):
        return
    person = state.person_of(user or "")
    if person.is_bot:
        state.refuse("stream.recipient_bot", "user_not_found")
    if team not in (None, person.team):
        state.refuse("stream.recipient_of_other_team", "user_not_found")


def _append(state: WorkspaceState, args: Json) -> Json:
    message = _addressed(state, args)
    if message.stopped_by is not None:
        raise Refused("stopped_by_user")
    content = _continued(state, message, args, "stream.append_after_stop")
    if content is None:
        state.refuse("stream.empty_append", "markdown_text_or_chunks_required")
    _apply(state, message, content)
    state.thread(message.channel, message.root).status = ""
    state.changed(message.channel, message.root)
    if state.rules.size("event.appends", 0):
        payloads.stream_changed(state, message)
    return {"channel": message.channel, "ts": message.ts}


def _stop(state: WorkspaceState, args: Json) -> Json:
    message = _addressed(state, args)
    content = _continued(state, message, args, "stream.stop_after_stop")
    tail = args.get("blocks") or []
    if len(tail) > state.rules.size("stop.blocks", state.rules.blocks):
        state.refuse("stop.too_many_blocks", "msg_blocks_too_many", "no more items allowed")
    blockkit.check(state, tail, most=len(tail))
    kept = state.metadata_of(args) if state.rules.holds("stop.metadata") else None
    session = args.get("session_status", "active")
    if session not in SESSIONS:
        state.refuse(
            "stop.session", "invalid_arguments", f"session_status must be one of {', '.join(SESSIONS)}"
        )
    _apply(state, message, content)
    message.blocks += blockkit.with_ids(state, tail)
    message.tail_above = state.rules.word("stop.place", "below") == "above"
    if kept is not None:
        message.metadata = kept
    seal(state, message)
    if (told := state.rules.word("session.at_stop", session)) != "none":
        payloads.session(state, message.channel, message.root, told)
    answer: Json = {"channel": message.channel, "ts": message.ts}
    if state.rules.stop_tells_message:
        answer["message"] = rendering.read_back(state, message, True)
    return answer


METHODS = {"chat.startStream": _start, "chat.appendStream": _append, "chat.stopStream": _stop}


def seal(state: WorkspaceState, message: StoredMessage) -> None:
    """End a stream. A plan with an open card becomes an error."""
    message.state = "sealed"
    state.open_streams.pop(message.ts, None)
    is_open = any(task.status in ("pending", "in_progress") for task in message.tasks.values())
    if (closed := state.rules.word("card.open_after_stop", "in_progress")) != "in_progress":
        message.tasks = {
            task.id: replace(task, status=closed if task.status == "in_progress" else task.status)
            for task in message.tasks.values()
            if closed != "none" or task.status != "in_progress"
        }
    if (
        message.display == "plan"
        and is_open
        and state.rules.word("plan.open_after_stop", "failed") == "failed"
    ):
        message.plan_failed, message.plan_title = True, PLAN_FAILED
    state.changed(message.channel, message.root)
    payloads.stream_ended(state, message)


def _addressed(state: WorkspaceState, args: Json) -> StoredMessage:
    message = state.message_of(state.bot_channel(args["channel"]), args["ts"])
    if not message.by_app:
        raise Refused("message_not_owned_by_app")
    return message


Content = list[Json] | str | None


def _continued(state: WorkspaceState, message: StoredMessage, args: Json, after_end: str) -> Content:
    """What a call adds to an open stream, in the mode in which it was started.

    `after_end`: the rule about a stream that is not open.
    """
    if message.state != "streaming":
        state.refuse(after_end, "message_not_in_streaming_state")
    content = _content(state, args)
    mode = "text" if isinstance(content, str) else "chunks"
    if content is not None and message.mode not in (None, mode):
        state.refuse("stream.mode", "streaming_mode_mismatch", f"the stream was started with {message.mode}")
    return content


def _content(state: WorkspaceState, args: Json) -> Content:
    text, chunks = args.get("markdown_text"), args.get("chunks")
    if text is not None and chunks is not None:
        state.refuse("stream.text_and_chunks", "cannot_provide_both_markdown_text_and_chunks")
    if text is not None and len(text) > state.rules.call_chars:
        raise Refused("msg_too_long", f"markdown_text holds {len(text)} characters")
    if chunks is not None:
        blockkit.check_chunks(state, chunks)
        total = sum(len(chunk["text"]) for chunk in chunks if chunk["type"] == "markdown_text")
        if total > state.rules.call_chars:
            raise Refused("msg_too_long", f"chunks hold {total} characters of text")
    return chunks or text or None


def _apply(state: WorkspaceState, message: StoredMessage, content: Content) -> None:
    if content is None:
        return
    check_room(state, message, content)
    message.touched_at = state.now
    message.mode = "text" if isinstance(content, str) else "chunks"
    for chunk in _as_chunks(content):
        match chunk["type"]:
            case "markdown_text":
                _write(state.rules, message, chunk["text"])
            case "plan_update":
                message.plan_title = chunk["title"]
            case "task_update":
                _update_task(state.rules, message, chunk)
            case _:
                given = blockkit.with_ids(state, chunk["blocks"][: _blocks_left(state, message)])
                tables = [block for block in given if block["type"] in ("table", "data_table")]
                message.tables += [(len(message.body), block) for block in tables]
                message.blocks += [block for block in given if block not in tables]
    if message.first is None:
        message.first = copy.deepcopy(message)


def _as_chunks(content: list[Json] | str) -> list[Json]:
    return [{"type": "markdown_text", "text": content}] if isinstance(content, str) else content


def _write(rules: WorkspaceRules, message: StoredMessage, text: str) -> None:
    """Slack drops mere white space, and white space before the first word [obs] (facts: Slack 6)."""
    if rules.word("read.blank_append", "dropped") == "dropped" and not text.strip():
        return
    is_first = not message.body and rules.word("read.leading_space", "dropped") == "dropped"
    message.body += text.lstrip() if is_first else text


def _update_task(rules: WorkspaceRules, message: StoredMessage, chunk: Json) -> None:
    known = message.tasks.get(chunk["id"]) or SeenTask(chunk["id"], "", "")
    details, output = (_card_text(rules, chunk.get(name, "")) for name in ("details", "output"))
    message.tasks[known.id] = replace(
        known,
        title=_joined(rules, "title", "replaces", known.title, chunk["title"]),
        status=chunk["status"],
        details=_joined(rules, "details", "appends", known.details, details),
        output=_joined(rules, "output", "appends", known.output, output),
        sources=(*known.sources, *(chunk.get("sources") or ())),
    )


def _joined(rules: WorkspaceRules, name: str, usual: str, before: str, text: str) -> str:
    """A field of a card, once `text` has come for it."""
    return text if rules.word(f"card.{name}", usual) == "replaces" and text else before + text


def _card_text(rules: WorkspaceRules, text: str) -> str:
    """A value that starts with `##` shows empty and white space at its start vanishes [obs] (facts: Slack
    1.4).
    """
    if text.lstrip().startswith("##") and rules.word("card.hashes", "empty") == "empty":
        return ""
    return text.lstrip() if rules.word("card.leading_space", "dropped") == "dropped" else text


# ---- how much a message holds, and how long it lives


def weighted_bytes(message: StoredMessage, weight: int = 2) -> int:
    """Weighted UTF-8 bytes of a message so far. `weight`: of details and output."""
    cards = sum(
        _size(task.title) + weight * (_size(task.details) + _size(task.output))
        for task in message.tasks.values()
    )
    return _size(message.body) + _size(message.plan_title or "") + cards


def added(message: StoredMessage, content: list[Json] | str, weight: int = 2) -> int:
    """What `content` adds to `message`: a title that replaces another counts as the difference."""
    titles: Mapping[str | None, str] = {task.id: task.title for task in message.tasks.values()}
    titles = {**titles, None: message.plan_title or ""}
    more = 0
    for chunk in _as_chunks(content):
        if "title" in chunk:
            more += _size(chunk["title"]) - _size(titles.get(chunk.get("id"), ""))
            titles[chunk.get("id")] = chunk["title"]
        more += _size(chunk.get("text", ""))
        more += weight * (_size(chunk.get("details", "")) + _size(chunk.get("output", "")))
    return more


def check_room(state: WorkspaceState, message: StoredMessage, content: list[Json] | str) -> None:
    """Refuse what the message has no room for, for good."""
    weight, most = state.rules.size("card.weight", 2), state.rules.stream_bytes
    more = added(message, content, weight)
    if most is not None and more > 0 and weighted_bytes(message, weight) + more > most:
        message.full = True
    if message.full and more > 0:
        state.refuse("stream.full", "msg_too_long", "the message holds as much as it can")
    chunks = [] if isinstance(content, str) else content
    given = [block for chunk in chunks for block in chunk.get("blocks", ())][: _blocks_left(state, message)]
    shown = [*message.blocks, *(table for _, table in message.tables), *given]
    if given and (reason := check_message(shown, state.rules)):
        raise Refused("invalid_blocks", reason)


def _blocks_left(state: WorkspaceState, message: StoredMessage) -> int:
    """How many more may come with chunks; Slack drops the rest. A stop has its own (facts: Slack 1)."""
    return max(
        0,
        state.rules.size("chunk_blocks.kept", state.rules.blocks) - len(message.blocks) - len(message.tables),
    )


def _size(text: str) -> int:
    return len(text.encode(errors="surrogatepass"))


def _ends_at(state: WorkspaceState, message: StoredMessage) -> float | None:
    life, idle = state.rules.stream_life, state.rules.stream_idle
    ends = [] if life is None else [message.started_at + life]
    ends += [] if idle is None else [message.touched_at + idle]
    return min(ends, default=None)


def next_end(state: WorkspaceState) -> float | None:
    """When the next stream will be sealed if nothing happens, None: none will."""
    ends = (_ends_at(state, message) for message in state.open_streams.values())
    return min((end for end in ends if end is not None), default=None)


def pass_time(state: WorkspaceState, now: float) -> None:
    """It is `now`: seal every stream whose time is over."""
    before = state.now
    for message in tuple(state.open_streams.values()):
        end = _ends_at(state, message)
        if end is not None and end <= now:
            state.now = end
            seal_expired(state, message)
    state.now = max(before, now)


def seal_expired(state: WorkspaceState, message: StoredMessage) -> None:
    """Slack seals an open stream by itself."""
    message.expired = True
    seal(state, message)
    payloads.session(state, message.channel, message.root, "active")
