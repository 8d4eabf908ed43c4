"""PURE. Posts, edits, deletions, messages for one person only, response addresses, and reactions."""

from typing import Any

from . import blocks as blockkit
from . import payloads, rendering
from .state import Channel, Json, Refused, StoredMessage, WorkspaceState

_TEXT_CHARS = 40_000
_NOT_OF_UPDATE = frozenset(
    {"ts", "thread_ts", "parent_user_id", "reply_count", "reply_users", "latest_reply", "streaming_state"}
)
"""What the message in the answer to chat.update lacks, as it was recorded."""


def _post(state: WorkspaceState, args: Json) -> Json:
    # a person's id as channel means the direct message with that person
    channel = _addressed(state, args["channel"])
    sent = _written(state, channel, args, "" if _is_ignored(state, "chat.postMessage", args) else None)
    sent.metadata = state.metadata_of(args)
    blockkit.take_cards(sent)
    if sent.thread_ts is not None and state.rules.holds("status.gone_by_reply"):
        state.thread(channel.id, sent.thread_ts).status = ""
    state.add(sent)
    payloads.message(state, sent)
    return {"channel": channel.id, "ts": sent.ts, "message": rendering.read_back(state, sent, True)}


def _ephemeral(state: WorkspaceState, args: Json) -> Json:
    channel = state.bot_channel(args["channel"])
    person = state.person_of(args["user"])
    if person.id not in channel.members:
        raise Refused("user_not_in_channel")
    sent = _written(state, channel, args)
    sent.ephemeral_for = person.id
    state.add(sent)
    return {"message_ts": sent.ts}


def _written(state: WorkspaceState, channel: Channel, args: Json, body: str | None = None) -> StoredMessage:
    body = _body(state, args) if body is None else body
    sent = state.new_message(channel, args.get("thread_ts"))
    sent.body, sent.blocks, sent.is_markdown = body, blockkit.kept(state, args), "markdown_text" in args
    sent.look = state.look_of(args)
    sent.is_broadcast = bool(args.get("reply_broadcast")) and sent.thread_ts is not None
    return sent


def _update(state: WorkspaceState, args: Json) -> Json:
    message = state.message_of(state.bot_channel(args["channel"]), args["ts"])
    if not message.by_app:
        raise Refused("cant_update_message")
    if message.state == "streaming":
        state.refuse("stream.update_while_open", "streaming_state_conflict")
    if len(args.get("text") or "") > state.rules.update_chars:
        state.refuse("update.too_long", "msg_too_long")
    if not _is_ignored(state, "chat.update", args):
        body, before = _body(state, args), rendering.read_back(state, message, False)
        blocks, kept = blockkit.kept(state, args), state.metadata_of(args)
        message.body, message.blocks, message.edited = body, blocks, True
        message.plan_failed, message.is_markdown = False, "markdown_text" in args
        if state.rules.holds("update.drops_cards"):
            blockkit.take_cards(message)
        message.metadata = kept if kept is not None else message.metadata
        state.changed(message.channel, message.root)
        payloads.changed(state, message, before)
    shown = rendering.read_back(state, message, True)
    told = {name: value for name, value in shown.items() if name not in _NOT_OF_UPDATE}
    return {"channel": message.channel, "ts": message.ts, "text": shown["text"], "message": told}


def _delete(state: WorkspaceState, args: Json) -> Json:
    message = state.message_of(state.bot_channel(args["channel"]), args["ts"])
    if not message.by_app:
        raise Refused("cant_delete_message")
    if message.state == "streaming":
        state.refuse("stream.delete_while_open", "cant_delete_message")
    remove(state, message)
    return {"channel": message.channel, "ts": message.ts}


def remove(state: WorkspaceState, message: StoredMessage) -> None:
    """Remove a message from its channel."""
    del state.messages[message.channel][message.ts]
    state.open_streams.pop(message.ts, None)
    if message.ephemeral_for is None:
        payloads.deleted(state, message)
    state.changed(message.channel, message.root)


def _react(state: WorkspaceState, args: Json) -> Json:
    message, users = _reaction(state, args)
    if state.bot.user_id in users:
        state.refuse("reaction.twice", "already_reacted")
    _add_reaction(state, message, args["name"].strip(":"), state.bot.user_id)
    return {}


def _unreact(state: WorkspaceState, args: Json) -> Json:
    if "channel" not in args or "timestamp" not in args:
        raise Refused("no_item_specified")
    message, users = _reaction(state, args)
    if state.bot.user_id not in users:
        state.refuse("reaction.none", "no_reaction")
        return {}
    users.remove(state.bot.user_id)
    state.changed(message.channel, message.root)
    payloads.reacted(state, "reaction_removed", state.bot.user_id, args["name"].strip(":"), message)
    return {}


def react(state: WorkspaceState, message: StoredMessage, name: str, user: str) -> None:
    """A person adds a reaction. Raises `Refused` as `reactions.add` does."""
    if message.ephemeral_for is not None:
        raise Refused("message_not_found")
    if user in message.reactions.get(name, ()):
        raise Refused("already_reacted")
    _add_reaction(state, message, name, user)


def unreact(state: WorkspaceState, message: StoredMessage, name: str, user: str) -> None:
    """A person takes a reaction away. Raises `Refused`."""
    if user not in message.reactions.get(name, ()):
        raise Refused("no_reaction")
    message.reactions[name].remove(user)
    state.changed(message.channel, message.root)
    payloads.reacted(state, "reaction_removed", user, name, message)


def _add_reaction(state: WorkspaceState, message: StoredMessage, name: str, user: str) -> None:
    message.reactions.setdefault(name, []).append(user)
    state.changed(message.channel, message.root)
    payloads.reacted(state, "reaction_added", user, name, message)


def _reaction(state: WorkspaceState, args: Json) -> tuple[StoredMessage, list[str]]:
    message = state.message_of(state.channel_of(args["channel"]), args["timestamp"])
    return message, message.reactions.setdefault(args["name"].strip(":"), [])


def _addressed(state: WorkspaceState, channel_id: str) -> Channel:
    if channel_id in state.people:
        for channel in state.channels.values():
            if channel.kind == "im" and channel_id in channel.members:
                return channel
    return state.bot_channel(channel_id)


def _body(state: WorkspaceState, args: Json) -> str:
    text, markdown, blocks = args.get("text"), args.get("markdown_text"), args.get("blocks")
    if markdown is not None and (text is not None or blocks is not None):
        state.refuse("post.two_texts", "markdown_text_conflict")
    if len(markdown or "") > state.rules.call_chars:
        state.refuse("call.too_long", "msg_too_long", f"markdown_text holds {len(markdown or '')} characters")
    body = (markdown or text or "")[: state.rules.size("post.chars", _TEXT_CHARS)]
    if not body.strip() and not blocks and not args.get("attachments"):
        state.refuse("post.empty", "no_text")
    return body


def _is_ignored(state: WorkspaceState, method: str, args: Json) -> bool:
    return "markdown_text" in args and method in state.rules.ignores_markdown_text


METHODS = {
    "chat.postMessage": _post,
    "chat.postEphemeral": _ephemeral,
    "chat.update": _update,
    "chat.delete": _delete,
    "reactions.add": _react,
    "reactions.remove": _unreact,
}


_USES = 5
_LIFE = 1_800.0
_CONTENT = ("text", "markdown_text", "blocks")
_KINDS = {"text": str, "markdown_text": str, "blocks": list, "thread_ts": str}


def offer(state: WorkspaceState, message: StoredMessage, user: str) -> str:
    """The address that a press of a control on `message` gives the app."""
    key = state.next_id("response-")
    place = {"channel": message.channel, "ts": message.ts}
    state.responses[key] = {**place, "user": user, "at": state.now, "uses": 0}
    return f"{state.file_base}/response/{key}"


def respond(state: WorkspaceState, key: str, body: Any) -> None:
    """The app posts `body` to a response_url. Raises `Refused`."""
    known = state.responses.get(key)
    if (
        known is None
        or state.now - known["at"] > _LIFE
        or known["uses"] >= state.rules.size("press.responses", _USES)
    ):
        raise Refused("expired_url" if known else "invalid_url")
    if not isinstance(body, dict):
        raise Refused("invalid_payload", "not an object")
    known["uses"] += 1
    message = state.find(known["channel"], known["ts"])
    if any(not isinstance(body.get(name, kind()), kind) for name, kind in _KINDS.items()):
        raise Refused("invalid_payload", "text is a string, blocks are a list")
    content: Json = {name: body[name] for name in _CONTENT if name in body}
    if message is not None and body.get("delete_original"):
        remove(state, message)
    elif message is not None and body.get("replace_original"):
        if message.ephemeral_for is None:
            _update(state, {**content, "channel": message.channel, "ts": message.ts})
        else:
            message.body, message.blocks = _body(state, content), blockkit.kept(state, content)
            state.changed(message.channel, message.root)
    else:
        root = body.get("thread_ts") or (message.thread_ts if message is not None else None)
        content |= {"channel": known["channel"], **({"thread_ts": root} if root else {})}
        if body.get("response_type") == "in_channel":
            _post(state, content)
        else:
            _ephemeral(state, {**content, "user": known["user"]})
