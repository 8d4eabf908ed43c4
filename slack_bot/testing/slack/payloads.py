"""PURE. What Slack sends to the app: events and interactions, in their real shapes, into the outbox.

The app also hears of its own messages and of metadata-only changes (facts: Slack 1.8).
"""

import copy
from typing import Any

from . import inputs, rendering
from .rules import FAMILIES
from .state import Envelope, Json, Person, StoredMessage, WorkspaceState


def event(state: WorkspaceState, body: Json) -> None:
    """An Events API callback around `body`, if the app's manifest subscribes to it."""
    name = str(body["type"])  # a manifest names messages by the kind of conversation
    if not state.manifest.is_told(f"message.{FAMILIES[body['channel_type']]}" if name == "message" else name):
        return
    authorization = {
        "enterprise_id": state.enterprise or None,
        "team_id": state.team,
        "user_id": state.bot.user_id,
        "is_bot": True,
        "is_enterprise_install": False,
    }
    place = body.get("item", body)  # of a reaction, Slack names the message's
    channel = state.channels.get(str(place.get("channel")))
    state.send(
        "events_api",
        {
            "token": "verification-token",
            "team_id": state.team,
            "context_team_id": state.team,
            "context_enterprise_id": state.enterprise or None,
            "api_app_id": state.bot.app_id,
            "event": body,
            "type": "event_callback",
            "event_id": state.next_id("Ev"),
            "event_time": int(state.now),
            "authorizations": [authorization],
            "is_ext_shared_channel": channel is not None and state.is_shared(channel),
            "event_context": state.next_id("4-context"),
        },
    )


def message(state: WorkspaceState, sent: StoredMessage) -> None:
    """A new message: one event, two for a mention in a channel; and one about the root of an agent's session,
    whose count of replies grew."""
    body, kind = _message_body(state, sent), state.channels[sent.channel].kind
    told = [{**body, "channel_type": kind}]
    if not sent.by_app and kind != "im" and f"<@{state.bot.user_id}" in sent.body:
        mention = {**body, "type": "app_mention"}
        mention.pop("parent_user_id", None)
        told.insert(0 if state.rules.mention_first else 1, mention)
    if sent.by_app and sent.state == "posted" and not state.rules.holds("event.own_post"):
        return
    for each in told[: state.rules.size("event.twins", len(told))]:
        event(state, each)
    root = None if sent.thread_ts is None else state.find(sent.channel, sent.thread_ts)
    if root is not None and state.thread(sent.channel, root.ts).session is not None:
        _root_changed(state, root)


def reacted(state: WorkspaceState, kind: str, user: str, name: str, to: StoredMessage) -> None:
    """reaction_added or reaction_removed (`kind`): Slack says which message, not what it says or where its
    thread is. The app hears of its own too, and only where it is a member.
    """
    if state.bot.user_id in state.channels[to.channel].members and state.manifest.is_told(kind):
        item = {"type": "message", "channel": to.channel, "ts": to.ts}
        if state.rules.holds("event.reaction_thread", usual=False):
            item["thread_ts"] = to.root
        author = {} if not to.author else {"item_user": to.author}
        body = {"type": kind, "user": user, "reaction": name, "item": item, **author}
        event(state, {**body, "event_ts": state.next_ts()})


def looked(state: WorkspaceState, person: Person, channel: str, viewed: tuple[str, ...]) -> None:
    """app_context_changed: what a person looks at; their direct messages name it too (facts: Slack 14)."""
    entities = [{"type": "slack#/types/channel_id", "value": each, "team_id": state.team} for each in viewed]
    state.viewing[person.id] = {"entities": entities} if entities else {}
    told = {"type": "app_context_changed", "user": person.id, "channel": channel, "channel_type": "im"}
    if state.manifest.is_told("app_context_changed"):
        event(state, {**told, "context": state.viewing[person.id], "event_ts": state.next_ts()})


def _message_body(state: WorkspaceState, sent: StoredMessage) -> Json:
    body = rendering.read_back(state, sent, False)
    body |= {"channel": sent.channel, "event_ts": sent.ts}
    if sent.state == "streaming" and state.rules.word("event.stream_start", "empty") == "empty":
        body |= {"text": "", "blocks": []}
    if sent.files:
        body["subtype"] = "file_share"
    if state.viewing.get(sent.author) and state.channels[sent.channel].kind == "im":
        body["app_context"] = state.viewing[sent.author]
    if not sent.by_app and sent.team != state.team:
        author = state.people.get(sent.author)
        enterprise = "" if author is None else author.enterprise
        body |= {"user_team": enterprise or sent.team, "source_team": sent.team}
    return body


def changed(state: WorkspaceState, edited: StoredMessage, text: str = "") -> None:
    """message_changed: an edit, or the end of a stream. `text` was there before."""
    now = rendering.read_back(state, edited, True)
    before = {"type": "message", "ts": edited.ts, "user": edited.author, "text": text}
    if edited.thread_ts is not None:
        before["thread_ts"] = edited.thread_ts
    _hidden(state, edited, "message_changed", message=now, previous_message=before)


def stream_ended(state: WorkspaceState, sealed: StoredMessage) -> None:
    """A stream is over."""
    _changed_as(state, sealed, state.rules.word("event.stream_end", "message_changed"))


def edited(state: WorkspaceState, message: StoredMessage, before: str) -> None:
    """A person edited a message, whose text was `before`."""
    _changed_as(state, message, state.rules.word("event.edit", "message_changed"), before)


def _changed_as(state: WorkspaceState, about: StoredMessage, told: str, before: str = "") -> None:
    if told == "message_changed":
        changed(state, about, before)
    elif told == "message":
        kind = state.channels[about.channel].kind
        event(state, {**_message_body(state, about), "channel_type": kind})


def deleted(state: WorkspaceState, gone: StoredMessage) -> None:
    """message_deleted; of a root with replies Slack leaves a tombstone."""
    before = rendering.read_back(state, gone, False)
    if state.thread(gone.channel, gone.ts).replies:
        said = {"text": "This message was deleted.", "user": "USLACKBOT", "hidden": True}
        left = {"type": "message", "subtype": "tombstone", "ts": gone.ts, "thread_ts": gone.ts, **said}
        _hidden(state, gone, "message_changed", message=left, previous_message=before)
        return
    subtype = state.rules.word("event.delete", "message_deleted")
    if subtype != "none":
        _hidden(state, gone, subtype, deleted_ts=gone.ts, previous_message=before)


def session(state: WorkspaceState, channel: str, root: str, status: str) -> None:
    """The thread's agent session has another status."""
    thread, top = state.thread(channel, root), state.find(channel, root)
    is_new, thread.session = thread.session != status, status
    thread.session_at = state.now
    if is_new and top is not None:
        _root_changed(state, top)


def _root_changed(state: WorkspaceState, root: StoredMessage) -> None:
    """message_changed about a root of which nothing that can be read is new (facts: Slack 1.8)."""
    status = state.session_of(root.channel, root.ts)
    shown = {**rendering.read_back(state, root, False), "agent_session": {"status": status}}
    _hidden(state, root, "message_changed", message=shown, previous_message=shown)


def _hidden(state: WorkspaceState, about: StoredMessage, subtype: str, **fields: Any) -> None:
    place = {"channel": about.channel, "channel_type": state.channels[about.channel].kind}
    times = {"ts": state.next_ts(), "event_ts": state.next_ts()}
    event(state, {"type": "message", "subtype": subtype, "hidden": True, **fields, **place, **times})


def interaction(state: WorkspaceState, kind: str, person: Person, fields: Json) -> Envelope:
    """A person did something that lets the app open a view. The workspace is the person's, and a view says
    for whose installation of the app it is (Slack Connect).
    """
    if "view" in fields:
        fields["view"] = {**fields["view"], "app_installed_team_id": state.team}
    trigger = state.next_id("trigger-")
    state.triggers[trigger] = person.id, state.now
    payload = {
        "type": kind,
        "token": "verification-token",
        "api_app_id": state.bot.app_id,
        "team": {"id": person.team, "domain": state.domain},
        "enterprise": None,
        "is_enterprise_install": False,
        "user": {"id": person.id, "username": person.name, "name": person.name, "team_id": person.team},
        "trigger_id": trigger,
    }
    return state.send("interactive", payload | fields)


def filled_in(state: WorkspaceState, user: str, on: StoredMessage) -> Json:
    """What a person has filled in on a message: each person sees an own state of it."""
    begun = inputs.begun(on.blocks)
    known = state.filled.setdefault((user, on.channel, on.ts), begun)
    if known.keys() != begun.keys():  # the app has edited it
        known = state.filled[user, on.channel, on.ts] = begun
    return known


def pressed(state: WorkspaceState, person: Person, on: StoredMessage, action: Json, url: str) -> Envelope:
    """A person pressed a control. `url` is where the app may respond."""
    container: Json = {
        "type": "message",
        "message_ts": on.ts,
        "channel_id": on.channel,
        "is_ephemeral": on.ephemeral_for is not None,
    }
    if on.thread_ts is not None:
        container["thread_ts"] = on.thread_ts
    fields = {
        "container": container,
        "channel": {"id": on.channel, "name": state.channels[on.channel].name},
        "message": rendering.read_back(state, on, True),
        "state": {"values": filled_in(state, person.id, on)},
        "response_url": url,
        "actions": [{**action, "action_ts": state.next_ts()}],
    }
    return interaction(state, "block_actions", person, fields)


def pressed_in_view(state: WorkspaceState, person: Person, view: Json, action: Json) -> Envelope:
    """A person pressed a control of a view."""
    fields = {
        "container": {"type": "view", "view_id": view["id"]},
        "view": copy.deepcopy(view),
        "actions": [{**action, "action_ts": state.next_ts()}],
    }
    return interaction(state, "block_actions", person, fields)
