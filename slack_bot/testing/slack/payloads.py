"""PURE. What Slack sends to the app: events and interactions, in their real shapes, into the outbox.

The app also hears of its own messages and of metadata-only changes; a bot must leave those alone (facts:
Slack 1.8).
"""

from __future__ import annotations

from typing import Any

from . import rendering
from .manifest import FAMILIES
from .state import Channel, Envelope, Json, Person, StoredMessage, WorkspaceState


def event(state: WorkspaceState, body: Json, now: float) -> Envelope | None:
    """An Events API callback around `body`. None: the app's manifest does not subscribe to it."""
    if not state.manifest.is_told(_subscription(body)):
        return None
    authorization = {
        "enterprise_id": None,
        "team_id": state.team,
        "user_id": state.bot.user_id,
        "is_bot": True,
        "is_enterprise_install": False,
    }
    return state.send(
        "events_api",
        {
            "token": "verification-token",
            "team_id": state.team,
            "context_team_id": state.team,
            "context_enterprise_id": None,
            "api_app_id": state.bot.app_id,
            "event": body,
            "type": "event_callback",
            "event_id": state.next_id("Ev"),
            "event_time": int(now),
            "authorizations": [authorization],
            "is_ext_shared_channel": False,
            "event_context": state.next_id("4-context"),
        },
    )


def _subscription(body: Json) -> str:
    """What an event is called in a manifest: messages by the kind of conversation."""
    name = str(body["type"])
    return name if name != "message" else f"message.{FAMILIES[body['channel_type']]}"


def message(state: WorkspaceState, sent: StoredMessage, now: float) -> None:
    """A new message: one event, or two for a mention of the app in a channel; and one about the root, whose
    count of replies grew, where the thread is an agent's session."""
    _sent(state, sent, now)
    root = None if sent.thread_ts is None else state.find(sent.channel, sent.thread_ts)
    if root is not None and state.thread(sent.channel, root.ts).session is not None:
        _root_changed(state, root, now)


def _sent(state: WorkspaceState, sent: StoredMessage, now: float) -> None:
    channel = state.channels[sent.channel]
    body = _message_body(state, sent)
    twin = {**body, "channel_type": channel.kind}
    mention = {**body, "type": "app_mention"}
    mention.pop("parent_user_id", None)
    if sent.by_app or channel.kind == "im" or f"<@{state.bot.user_id}" not in sent.body:
        event(state, twin, now)
        return
    for one in (mention, twin) if state.rules.mention_first else (twin, mention):
        event(state, one, now)


def _message_body(state: WorkspaceState, sent: StoredMessage) -> Json:
    body = rendering.read_back(state, sent, False)
    body |= {"channel": sent.channel, "event_ts": sent.ts}
    if sent.state == "streaming":
        body |= {"text": "", "blocks": []}
    if sent.files:
        body["subtype"] = "file_share"
    if not sent.by_app and sent.team != state.team:
        body |= {"user_team": sent.team, "source_team": sent.team}
    author = state.people.get(sent.author)
    if not sent.by_app and author is not None and author.is_bot:
        body |= {"bot_id": f"B{author.id[1:]}", "app_id": "A0OTHER"}
    return body


def changed(state: WorkspaceState, edited: StoredMessage, now: float) -> None:
    """message_changed, hidden: an edit, or the end of a stream."""
    event(
        state,
        {
            "type": "message",
            "subtype": "message_changed",
            "hidden": True,
            "message": rendering.read_back(state, edited, True),
            "previous_message": {"type": "message", "ts": edited.ts, "user": edited.author, "text": ""},
            "channel": edited.channel,
            "channel_type": state.channels[edited.channel].kind,
            "ts": state.next_ts(now),
            "event_ts": state.next_ts(now),
        },
        now,
    )


def deleted(state: WorkspaceState, gone: StoredMessage, now: float) -> None:
    """message_deleted."""
    event(
        state,
        {
            "type": "message",
            "subtype": "message_deleted",
            "hidden": True,
            "deleted_ts": gone.ts,
            "previous_message": rendering.read_back(state, gone, False),
            "channel": gone.channel,
            "channel_type": state.channels[gone.channel].kind,
            "ts": state.next_ts(now),
            "event_ts": state.next_ts(now),
        },
        now,
    )


def session(state: WorkspaceState, channel: str, root: str, status: str, now: float) -> None:
    """The thread's agent session has another status: the root changes, without anything to read."""
    thread = state.thread(channel, root)
    standing = state.find(channel, root)
    if thread.session == status or standing is None:
        thread.session = status
        return
    thread.session = status
    _root_changed(state, standing, now)


def _root_changed(state: WorkspaceState, root: StoredMessage, now: float) -> None:
    """message_changed about a root of which nothing that can be read is new (facts: Slack 1.8)."""
    status = state.thread(root.channel, root.ts).session
    shown = {**rendering.read_back(state, root, False), "agent_session": {"status": status}}
    event(
        state,
        {
            "type": "message",
            "subtype": "message_changed",
            "hidden": True,
            "message": shown,
            "previous_message": shown,
            "channel": root.channel,
            "channel_type": state.channels[root.channel].kind,
            "ts": state.next_ts(now),
            "event_ts": state.next_ts(now),
        },
        now,
    )


def stopped(
    state: WorkspaceState, channel: str, root: str, user: str, streams: list[str], now: float
) -> None:
    """agent_session_stopped: somebody pressed Slack's own Stop."""
    event(
        state,
        {
            "type": "agent_session_stopped",
            "channel": channel,
            "thread_ts": root,
            "user": user,
            "streaming_message_ts": streams,
            "event_ts": state.next_ts(now),
        },
        now,
    )


def home_opened(state: WorkspaceState, user: str, channel: str, tab: str, now: float) -> None:
    """app_home_opened: a person came to the app's Home or Messages tab."""
    body = {"type": "app_home_opened", "user": user, "channel": channel, "tab": tab}
    event(state, {**body, "event_ts": state.next_ts(now)}, now)


def _interaction(state: WorkspaceState, kind: str, person: Person, now: float) -> Json:
    trigger = state.next_id("trigger-")
    state.triggers[trigger] = now
    return {
        "type": kind,
        "token": "verification-token",
        "api_app_id": state.bot.app_id,
        "team": {"id": state.team, "domain": state.domain},
        "enterprise": None,
        "is_enterprise_install": False,
        "user": {"id": person.id, "username": person.name, "name": person.name, "team_id": person.team},
        "trigger_id": trigger,
    }


def pressed(
    state: WorkspaceState, person: Person, on: StoredMessage, action: Json, url: str, now: float
) -> Envelope:
    """block_actions: a person pressed a control of a message. `url` is where the app may respond."""
    channel: Channel = state.channels[on.channel]
    container: Json = {
        "type": "message",
        "message_ts": on.ts,
        "channel_id": on.channel,
        "is_ephemeral": on.ephemeral_for is not None,
    }
    if on.thread_ts is not None:
        container["thread_ts"] = on.thread_ts
    payload = _interaction(state, "block_actions", person, now) | {
        "container": container,
        "channel": {"id": channel.id, "name": channel.name},
        "message": rendering.read_back(state, on, True),
        "state": {"values": {}},
        "response_url": url,
        "actions": [{**action, "action_ts": state.next_ts(now)}],
    }
    return state.send("interactive", payload)


def submitted(
    state: WorkspaceState, person: Person, view: Json, values: dict[str, Any], now: float
) -> Envelope:
    """view_submission: a person sent a modal."""
    payload = _interaction(state, "view_submission", person, now) | {
        "view": {**view, "state": {"values": values}},
        "response_urls": [],
    }
    return state.send("interactive", payload)
