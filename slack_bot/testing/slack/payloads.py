"""PURE. What Slack sends to the app: events and interactions, in their real shapes, into the outbox.

The app also hears of its own messages and of metadata-only changes (facts: Slack 1.8).
"""

import copy
from dataclasses import replace
from typing import Any

from . import inputs, rendering
from .rules import FAMILIES
from .state import Envelope, Json, Person, StoredMessage, Trigger, WorkspaceState


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
    callback = {
        "token": "verification-token",
        "team_id": state.team,
        **({"enterprise_id": state.enterprise} if state.enterprise else {}),
        "context_team_id": state.team,
        "context_enterprise_id": state.enterprise or None,
        "api_app_id": state.bot.app_id,
        "event": body,
        "type": "event_callback",
        "event_id": state.next_id("Ev"),
        "event_time": int(state.now),
        "authorizations": [authorization],
        "is_ext_shared_channel": channel is not None and state.is_shared(channel),
    }
    if name != "app_home_opened":
        callback["event_context"] = state.next_id("4-context")
    state.send("events_api", callback)


def message(state: WorkspaceState, sent: StoredMessage) -> None:
    """A new message: one event, two for a mention in a channel; and one about the root of an agent's session,
    whose count of replies grew."""
    body, kind = _message_body(state, sent), state.channels[sent.channel].kind
    told = [{**body, "channel_type": kind}]
    if _mentions_app(state, sent):
        told.insert(0 if state.rules.mention_first else 1, _mention(state, sent))
    if sent.by_app and sent.state == "posted" and not state.rules.holds("event.own_post"):
        return
    for each in told[: state.rules.size("event.twins", len(told))]:
        event(state, each)
    root = None if sent.thread_ts is None else state.find(sent.channel, sent.thread_ts)
    if root is not None and state.thread(sent.channel, root.ts).session is not None:
        _root_changed(state, root)


def _mentions_app(state: WorkspaceState, sent: StoredMessage) -> bool:
    """Whether a person or another app names this one, in a channel."""
    is_direct = state.channels[sent.channel].kind == "im"
    return not sent.by_app and not is_direct and f"<@{state.bot.user_id}" in sent.body


def _mention(state: WorkspaceState, sent: StoredMessage) -> Json:
    mention = {**_message_body(state, sent), "type": "app_mention"}
    mention.pop("parent_user_id", None)
    return mention


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
        body |= {"user_team": _organisation(state, sent), "source_team": sent.team}
        body["user_profile"] = _profile(state.people[sent.author])
    return body


def _organisation(state: WorkspaceState, sent: StoredMessage) -> str:
    """The organisation of the author, which on Enterprise Grid is none of the workspaces."""
    author = state.people.get(sent.author)
    return (author.enterprise if author is not None else "") or sent.team


def _profile(person: Person) -> Json:
    """Who somebody of another organisation is, whom users.info may not know."""
    names = {"name": person.name, "real_name": person.name, "display_name": person.name, "team": person.team}
    return {
        **names,
        "is_restricted": person.guest == "multi",
        "is_ultra_restricted": person.guest == "single",
    }


def changed(state: WorkspaceState, edited: StoredMessage, before: Json) -> None:
    """message_changed: an edit. `before`: the message as it could be read before."""
    now = rendering.read_back(state, edited, True)
    if "bot_id" not in now:
        now |= dict.fromkeys(("user_team", "source_team"), _organisation(state, edited))
    _hidden(state, edited, "message_changed", message=now, previous_message=before)


def stream_changed(state: WorkspaceState, stream: StoredMessage) -> None:
    """message_changed about a stream, which was without text when it began."""
    begun = replace(stream, state="streaming", body="", blocks=[], tables=[], tasks={}, plan_title=None)
    changed(state, stream, rendering.read_back(state, begun, False))


def stream_ended(state: WorkspaceState, sealed: StoredMessage) -> None:
    """A stream is over."""
    told = state.rules.word("event.stream_end", "message_changed")
    if told == "message_changed":
        stream_changed(state, sealed)
    elif told == "message":
        _told_anew(state, sealed)


def edited(state: WorkspaceState, message: StoredMessage, before: Json) -> None:
    """A person edited a message. `before`: as it could be read before."""
    told = state.rules.word("event.edit", "message_changed")
    if told == "message_changed":
        changed(state, message, before)
    elif told == "message":
        _told_anew(state, message)
    if _mentions_app(state, message) and state.rules.holds("event.edit_mention"):
        event(state, _mention(state, message))


def _told_anew(state: WorkspaceState, message: StoredMessage) -> None:
    event(state, {**_message_body(state, message), "channel_type": state.channels[message.channel].kind})


def deleted(state: WorkspaceState, gone: StoredMessage) -> None:
    """message_deleted; of a root with replies Slack leaves a tombstone."""
    before = rendering.read_back(state, gone, False)
    if state.in_thread(gone.channel, gone.ts):
        left = {**_tombstone(gone.ts), **rendering.replies_of(state, gone)}
        _hidden(state, gone, "message_changed", message=left, previous_message=before)
        return
    subtype = state.rules.word("event.delete", "message_deleted")
    if subtype != "none":
        _hidden(state, gone, subtype, deleted_ts=gone.ts, previous_message=before)
    if gone.thread_ts is not None and not state.in_thread(gone.channel, gone.thread_ts):
        # the last reply to a root that was deleted before: its tombstone goes, as an empty list
        _hidden(state, gone, "message_changed", message=_tombstone(gone.thread_ts), previous_message=[])


def _tombstone(ts: str) -> Json:
    """What stands in place of a deleted root."""
    said = {"text": "This message was deleted.", "user": "USLACKBOT", "hidden": True}
    return {"type": "message", "subtype": "tombstone", "ts": ts, **said}


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
    state.triggers[trigger] = Trigger(person.id, state.now, state.window)
    team, enterprise = {"id": person.team, "domain": state.domain}, None
    if state.enterprise:
        enterprise = {"id": state.enterprise, "name": state.domain}
        team |= {"enterprise_id": state.enterprise, "enterprise_name": state.domain}
    payload = {
        "type": kind,
        "token": "verification-token",
        "api_app_id": state.bot.app_id,
        "team": team,
        "enterprise": enterprise,
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
    told = {} if on.ephemeral_for else {"message": rendering.read_back(state, on, True)}
    fields = {
        "container": container,
        "channel": {"id": on.channel, "name": state.channels[on.channel].name},
        **told,
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
