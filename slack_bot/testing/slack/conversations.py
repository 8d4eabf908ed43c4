"""PURE. Methods that read, and methods for what a thread has besides messages.

A typing status goes away when the app writes in the thread, and after two minutes. One that comes while a
stream is open there shows up as a second row under the answer (facts: Slack 4).
"""

import re

from ...settings.slack_rules import OK
from . import payloads, rendering
from .state import Channel, Json, Refused, StoredMessage, WorkspaceState, ts_key
from .streams import SESSIONS

_PAGE = 100
_SESSION_TITLE = 200
_FOREVER = "9999999999"
_TS = re.compile(r"[0-9]+(\.[0-9]+)?")


def _auth_test(state: WorkspaceState, args: Json) -> Json:
    return {
        "url": f"https://{state.domain}.slack.com/",
        "team": state.domain,
        "user": state.bot.name,
        "team_id": state.team,
        "user_id": state.bot.user_id,
        "bot_id": state.bot.bot_id,
        "is_enterprise_install": state.is_org_install,
        **({"enterprise_id": state.enterprise} if state.enterprise else {}),
    }


def _bot_info(state: WorkspaceState, args: Json) -> Json:
    bot = state.bot
    if args.get("bot") != bot.bot_id:
        raise Refused("bot_not_found")
    return {"bot": {"id": bot.bot_id, "app_id": bot.app_id, "user_id": bot.user_id, "name": bot.name}}


def _open_connection(state: WorkspaceState, args: Json) -> Json:
    ticket = state.next_id("ticket-")
    state.tickets.add(ticket)
    return {"url": f"{state.link_base}/link/?ticket={ticket}&app_id={state.bot.app_id}"}


def _export_manifest(state: WorkspaceState, args: Json) -> Json:
    if args["app_id"] != state.bot.app_id:
        raise Refused("invalid_app_id")
    subscribed = {"bot_events": sorted(state.manifest.events)}
    settings = {
        "event_subscriptions": subscribed,
        "interactivity": {"is_enabled": True},
        "socket_mode_enabled": state.manifest.socket_mode,
    }
    scopes = {"bot": sorted(state.manifest.scopes)}
    return {"manifest": {"oauth_config": {"scopes": scopes}, "settings": settings}}


def _replies(state: WorkspaceState, args: Json) -> Json:
    channel = _member(state, args["channel"])
    asked = state.find(channel.id, args["ts"])
    if asked is None:
        raise Refused("thread_not_found")
    return _page(state, state.in_thread(channel.id, asked.root), args, root=asked.root)


def _history(state: WorkspaceState, args: Json) -> Json:
    return _page(state, state.history(_member(state, args["channel"]).id)[::-1], args)


def _page(state: WorkspaceState, messages: list[StoredMessage], args: Json, root: str = "") -> Json:
    """The messages of the time that is asked for; the `root` of a thread comes whenever it was."""
    oldest, latest = _moment(args, "oldest", "0"), _moment(args, "latest", _FOREVER)
    edges = () if args.get("inclusive") else (oldest, latest)

    def is_asked_for(message: StoredMessage) -> bool:
        at = ts_key(message.ts)
        return message.ts == root or (oldest <= at <= latest and at not in edges)

    is_listed = state.rules.holds("ephemeral.unlisted")
    fitting = [m for m in messages if (m.ephemeral_for is None or not is_listed) and is_asked_for(m)]
    cursor = args.get("cursor") or "0"
    if not (cursor.isascii() and cursor.isdigit()):
        raise Refused("invalid_cursor")
    first, limit = int(cursor), args.get("limit") or _PAGE
    end = first + (limit if state.rules.page is None else min(limit, state.rules.page))
    with_metadata = bool(args.get("include_all_metadata"))
    return {
        "messages": [rendering.read_back(state, m, with_metadata) for m in fitting[first:end]],
        "has_more": len(fitting) > end,
        "response_metadata": {"next_cursor": str(end) if len(fitting) > end else ""},
    }


def _moment(args: Json, name: str, default: str) -> tuple[int, int]:
    given = args.get(name) or default
    if not _TS.fullmatch(given):
        raise Refused(f"invalid_ts_{name}")
    return ts_key(given)


def _member(state: WorkspaceState, channel_id: str) -> Channel:
    channel = state.channel_of(channel_id)
    if state.bot.user_id not in channel.members:
        raise Refused("not_in_channel")
    return channel


def _channel_info(state: WorkspaceState, args: Json) -> Json:
    return {"channel": _channel(state, state.channel_of(args["channel"]))}


def _open_channel(state: WorkspaceState, args: Json) -> Json:
    if args.get("channel"):
        return _opened(state, state.channel_of(args["channel"]), args)
    users = [user for user in (args.get("users") or "").split(",") if user]
    if len(users) != 1:
        raise Refused("users_list_not_supplied" if not users else "invalid_user_combination")
    return _opened(state, direct_channel(state, state.person_of(users[0]).id), args)


def _opened(state: WorkspaceState, channel: Channel, args: Json) -> Json:
    """Nothing but the id, unless more is asked for."""
    return {"channel": _channel(state, channel) if args.get("return_im") else {"id": channel.id}}


def direct_channel(state: WorkspaceState, user: str) -> Channel:
    """The direct message of the app with a person; made where there is none yet."""
    members = {user, state.bot.user_id}
    for channel in state.channels.values():
        if channel.kind == "im" and channel.members == members:
            return channel
    channel = state.channels[f"D{user[1:]}"] = Channel(f"D{user[1:]}", user, "im", members)
    return channel


def _channel(state: WorkspaceState, channel: Channel) -> Json:
    """Of a direct message Slack says little."""
    if channel.kind == "im":
        return {
            "id": channel.id,
            "is_im": True,
            "is_archived": channel.archived,
            "is_org_shared": False,
            "user": min(channel.members - {state.bot.user_id}),
        }
    return {
        "id": channel.id,
        "name": channel.name,
        "is_channel": channel.kind == "channel",
        "is_group": channel.kind == "group",
        "is_im": False,
        "is_mpim": channel.kind == "mpim",
        "is_private": channel.kind != "channel",
        "is_archived": channel.archived,
        "is_shared": state.is_shared(channel),
        "is_ext_shared": state.is_shared(channel),
        "is_org_shared": False,
        "is_pending_ext_shared": channel.is_pending_ext_shared,
        "pending_shared": [],
        "pending_connected_team_ids": [],
        "is_member": state.bot.user_id in channel.members,
    }


def _user_info(state: WorkspaceState, args: Json) -> Json:
    person = state.person_of(args["user"])
    user: Json = {"id": person.id, "team_id": person.team, "name": person.name, "real_name": person.name}
    profile = {"display_name": person.name, "real_name": person.name}
    user |= {"is_bot": person.is_bot, "deleted": False, "profile": profile}
    if args.get("include_locale"):
        user["locale"] = "en-GB"
    if person.email and "users:read.email" in state.manifest.scopes:
        profile["email"] = person.email
        user["is_email_confirmed"] = person.has_confirmed_email
    if person.enterprise:
        user["enterprise_user"] = {"id": person.id, "enterprise_id": person.enterprise}
    if state.is_external(person):  # Slack says no more of them
        is_seen = any(person.id in channel.members for channel in state.channels.values())
        return {"user": {**user, "is_stranger": not is_seen}}
    flags = {"is_restricted": person.guest != "", "is_ultra_restricted": person.guest == "single"}
    return {"user": {**user, "tz": "Europe/Rome", **flags}}


def _user_with_email(state: WorkspaceState, args: Json) -> Json:
    person = next((each for each in state.people.values() if each.email == args["email"]), None)
    if person is None:
        raise Refused("users_not_found")
    return _user_info(state, {"user": person.id})


def _group_members(state: WorkspaceState, args: Json) -> Json:
    if (members := state.groups.get(args["usergroup"])) is None:
        raise Refused("no_such_subteam")
    return {"users": members}


# ---- what a thread has besides messages


def _set_status(state: WorkspaceState, args: Json) -> Json:
    channel, root = _thread_of(state, args)
    messages = args.get("loading_messages") or []
    most = state.rules.size("status.messages", 10)
    if len(messages) > most or not all(isinstance(text, str) for text in messages):
        raise Refused("invalid_arguments", f"loading_messages takes at most {most} strings")
    thread, status = state.thread(channel, root), args["status"]
    if status and any(message.state == "streaming" for message in state.in_thread(channel, root)):
        thread.status_rows.append(status)
    else:
        thread.status, thread.status_at = status, state.now
        thread.status_look = state.look_of(args)
    state.changed(channel, root)
    payloads.session(state, channel, root, "processing" if status else "active")
    return {}


def _thread_of(state: WorkspaceState, args: Json) -> tuple[str, str]:
    channel = state.bot_channel(args["channel_id"])
    return channel.id, state.root_exists(channel, args["thread_ts"])


def _set_title(state: WorkspaceState, args: Json) -> Json:
    state.thread(*_thread_of(state, args)).title = args["title"]
    return {}


def _set_prompts(state: WorkspaceState, args: Json) -> Json:
    channel = state.bot_channel(args["channel_id"])
    prompts, most = args["prompts"], state.rules.size("prompts.count", 4)
    if not 1 <= len(prompts) <= most:
        raise Refused("invalid_arguments", f"prompts takes 1 to {most} items")
    for prompt in prompts:
        if not isinstance(prompt, dict) or not prompt.get("title") or not prompt.get("message"):
            raise Refused("invalid_arguments", "a prompt has a title and a message")
    thread_ts = args.get("thread_ts")
    root = state.root_exists(channel, thread_ts) if thread_ts else ""
    state.thread(channel.id, root).prompts = prompts
    state.changed(channel.id, root)
    return {}


def _set_session(state: WorkspaceState, args: Json) -> Json:
    if not state.rules.agent_sessions:
        raise Refused("feature_disabled")
    state.refuse("session.available", OK)
    state.bot_channel(args["channel_id"])
    if args["status"] not in SESSIONS:
        state.refuse("session.wrong_state", "invalid_status")
    if not args.get("thread_ts"):
        state.refuse("session.no_thread", "thread_ts_required")
        return {}
    channel, root = _thread_of(state, args)
    if args.get("initiator_user_id"):
        state.person_of(args["initiator_user_id"])
    thread, title = state.thread(channel, root), args.get("title", "")
    if len(title) > state.rules.size("session.title_chars", _SESSION_TITLE):
        raise Refused("invalid_arguments", "title takes 1 to 200 characters")
    thread.status = ""
    if thread.session is None:
        thread.title = title or thread.title
    payloads.session(state, channel, root, args["status"])
    state.changed(channel, root)
    return {"status": args["status"], "title": thread.title or ""}


def _rename_session(state: WorkspaceState, args: Json) -> Json:
    if not state.rules.agent_sessions:
        raise Refused("feature_disabled")
    thread = state.thread(*_thread_of(state, args))
    if thread.session is None:
        state.refuse("session.rename_before", "not_authorized")
    if not 1 <= len(args["title"]) <= state.rules.size("session.title_chars", _SESSION_TITLE):
        raise Refused("invalid_arguments", "title takes 1 to 200 characters")
    thread.title = args["title"]
    return {"title": thread.title}


METHODS = {
    "agents.sessions.rename": _rename_session,
    "agents.sessions.setStatus": _set_session,
    "apps.connections.open": _open_connection,
    "assistant.threads.setStatus": _set_status,
    "assistant.threads.setSuggestedPrompts": _set_prompts,
    "assistant.threads.setTitle": _set_title,
    "apps.manifest.export": _export_manifest,
    "auth.test": _auth_test,
    "bots.info": _bot_info,
    "conversations.history": _history,
    "conversations.info": _channel_info,
    "conversations.open": _open_channel,
    "conversations.replies": _replies,
    "usergroups.users.list": _group_members,
    "users.info": _user_info,
    "users.lookupByEmail": _user_with_email,
}
