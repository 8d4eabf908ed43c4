"""PURE. Does what a call names exist, and may the app touch it? Checks raise `Refused` in Slack's words."""

from __future__ import annotations

import json

from .state import Channel, Json, Person, Refused, StoredMessage, WorkspaceState


def channel_of(state: WorkspaceState, channel_id: str) -> Channel:
    """An existing conversation. An `im` may also be named by its person, as chat.postMessage allows."""
    channel = state.channels.get(channel_id)
    if channel is None:
        raise Refused("channel_not_found")
    return channel


def bot_channel(state: WorkspaceState, channel_id: str) -> Channel:
    """A conversation the app may write in."""
    channel = channel_of(state, channel_id)
    if channel.archived:
        raise Refused("is_archived")
    if state.bot.user_id not in channel.members:
        raise Refused("not_in_channel")
    return channel


def root_exists(state: WorkspaceState, channel: Channel, thread_ts: str) -> str:
    """The ts of a root that stands. A reply is not a root, and a deleted root is none any more."""
    root = state.find(channel.id, thread_ts)
    if root is None or root.thread_ts is not None or root.ephemeral_for is not None:
        raise Refused("invalid_thread_ts")
    return thread_ts


def message_of(state: WorkspaceState, channel: Channel, ts: str) -> StoredMessage:
    """A message that stands."""
    message = state.find(channel.id, ts)
    if message is None or message.ephemeral_for is not None:
        raise Refused("message_not_found")
    return message


def own_message(state: WorkspaceState, channel: Channel, ts: str) -> StoredMessage:
    """A message of the app's own."""
    message = message_of(state, channel, ts)
    if not message.by_app:
        raise Refused("message_not_owned_by_app")
    return message


def person_of(state: WorkspaceState, user_id: str) -> Person:
    """A user of this workspace or a guest."""
    person = state.people.get(user_id)
    if person is None:
        raise Refused("user_not_found")
    return person


def recipient(state: WorkspaceState, user_id: str | None, team_id: str | None) -> None:
    """A stream's recipient: a human, named with the team that human belongs to (facts: Slack 1.1)."""
    if user_id is None and team_id is None:
        return
    person = person_of(state, user_id or "")
    if person.is_bot or (team_id is not None and person.team != team_id):
        raise Refused("user_not_found")


def metadata(state: WorkspaceState, args: Json) -> Json | None:
    """The call's message metadata, or None."""
    given: Json | None = args.get("metadata")
    if given is None:
        return None
    if set(given) - {"event_type", "event_payload", "entities"}:
        raise Refused("invalid_metadata_schema")
    if not isinstance(given.get("event_type"), str) or not isinstance(given.get("event_payload"), dict):
        raise Refused("invalid_metadata_format")
    if len(json.dumps(given)) > state.rules.metadata_bytes:
        raise Refused("metadata_too_large")
    return given
