"""PURE. Methods that read: auth.test, people, conversations, messages."""

from __future__ import annotations

import re

from . import rendering
from .state import Channel, Json, Refused, StoredMessage, WorkspaceState, channel_of, person_of, ts_key

_PAGE = 100
_FOREVER = "9999999999"
_TS = re.compile(r"[0-9]+(\.[0-9]+)?")


def auth_test(state: WorkspaceState, args: Json, now: float) -> Json:
    """auth.test."""
    return {
        "url": f"https://{state.domain}.slack.com/",
        "team": state.domain,
        "user": state.bot.name,
        "team_id": state.team,
        "user_id": state.bot.user_id,
        "bot_id": state.bot.bot_id,
        "is_enterprise_install": False,
    }


def open_connection(state: WorkspaceState, args: Json, now: float) -> Json:
    """apps.connections.open: a web-socket address with a ticket that is good once."""
    ticket = state.next_id("ticket-")
    state.tickets.add(ticket)
    return {"url": f"{state.link_base}/link/?ticket={ticket}&app_id={state.bot.app_id}"}


def replies(state: WorkspaceState, args: Json, now: float) -> Json:
    """conversations.replies. `ts` may be the root's or a reply's."""
    channel = _member(state, args["channel"])
    asked = state.find(channel.id, args["ts"])
    if asked is None:
        raise Refused("thread_not_found")
    return _page(state, state.in_thread(channel.id, asked.root), args)


def history(state: WorkspaceState, args: Json, now: float) -> Json:
    """conversations.history: the roots, newest first."""
    channel = _member(state, args["channel"])
    roots = [m for m in state.messages.get(channel.id, {}).values() if m.thread_ts is None]
    return _page(state, sorted(roots, key=lambda m: ts_key(m.ts), reverse=True), args)


def _page(state: WorkspaceState, messages: list[StoredMessage], args: Json) -> Json:
    oldest, latest = _moment(args, "oldest", "0"), _moment(args, "latest", _FOREVER)
    if args.get("inclusive"):
        fitting = [m for m in messages if oldest <= ts_key(m.ts) <= latest]
    else:
        fitting = [m for m in messages if oldest < ts_key(m.ts) < latest]
    fitting = [m for m in fitting if m.ephemeral_for is None]
    cursor = args.get("cursor") or "0"
    if not cursor.isdigit():
        raise Refused("invalid_cursor")
    first, limit = int(cursor), args.get("limit") or _PAGE
    limit = limit if state.rules.page is None else min(limit, state.rules.page)
    rest = len(fitting) > first + limit
    shown = [rendering.read_back(state, m, bool(args.get("include_all_metadata"))) for m in fitting]
    return {
        "messages": shown[first : first + limit],
        "has_more": rest,
        "response_metadata": {"next_cursor": str(first + limit) if rest else ""},
    }


def _moment(args: Json, name: str, default: str) -> tuple[int, int]:
    given = args.get(name) or default
    if not _TS.fullmatch(given):
        raise Refused(f"invalid_ts_{name}")
    return ts_key(given)


def _member(state: WorkspaceState, channel_id: str) -> Channel:
    channel = channel_of(state, channel_id)
    if state.bot.user_id not in channel.members:
        raise Refused("not_in_channel")
    return channel


def channel_info(state: WorkspaceState, args: Json, now: float) -> Json:
    """conversations.info."""
    return {"channel": _channel(state, channel_of(state, args["channel"]))}


def open_channel(state: WorkspaceState, args: Json, now: float) -> Json:
    """conversations.open, for a direct message with one person."""
    if args.get("channel"):
        return {"channel": _channel(state, channel_of(state, args["channel"]))}
    users = [user for user in (args.get("users") or "").split(",") if user]
    if len(users) != 1:
        raise Refused("users_list_not_supplied" if not users else "invalid_user_combination")
    person = person_of(state, users[0])
    return {"channel": _channel(state, direct_channel(state, person.id))}


def direct_channel(state: WorkspaceState, user: str) -> Channel:
    """The direct message of the app with a person; made where there is none yet."""
    members = {user, state.bot.user_id}
    for channel in state.channels.values():
        if channel.kind == "im" and channel.members == members:
            return channel
    channel = Channel(f"D{user[1:]}", user, "im", members)
    state.channels[channel.id] = channel
    return channel


def _channel(state: WorkspaceState, channel: Channel) -> Json:
    shown: Json = {
        "id": channel.id,
        "name": channel.name,
        "is_channel": channel.kind == "channel",
        "is_group": channel.kind == "group",
        "is_im": channel.kind == "im",
        "is_mpim": channel.kind == "mpim",
        "is_private": channel.kind != "channel",
        "is_archived": channel.archived,
        "is_member": state.bot.user_id in channel.members,
    }
    if channel.kind == "im":
        shown["user"] = min(channel.members - {state.bot.user_id})
    return shown


def user_info(state: WorkspaceState, args: Json, now: float) -> Json:
    """users.info."""
    person = person_of(state, args["user"])
    return {
        "user": {
            "id": person.id,
            "team_id": person.team,
            "name": person.name,
            "real_name": person.name,
            "is_bot": person.is_bot,
            "deleted": False,
            "profile": {"display_name": person.name, "real_name": person.name},
        }
    }


METHODS = {
    "apps.connections.open": open_connection,
    "auth.test": auth_test,
    "conversations.history": history,
    "conversations.info": channel_info,
    "conversations.open": open_channel,
    "conversations.replies": replies,
    "users.info": user_info,
}
