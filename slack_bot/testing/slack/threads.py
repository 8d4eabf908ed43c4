"""PURE. What a thread has besides messages: typing status, title, prompts, agent session.

A status goes away when the app writes in the thread, and after two minutes. One that comes while a stream is
open in that thread shows up as a second row under the answer: kept, so that a test can see it (facts: Slack
4).
"""

from __future__ import annotations

from . import payloads
from .state import Json, Refused, Thread, WorkspaceState, bot_channel, person_of, root_exists

_SESSIONS = ("active", "processing", "suspended", "closed")


def set_status(state: WorkspaceState, args: Json, now: float) -> Json:
    """assistant.threads.setStatus."""
    channel = bot_channel(state, args["channel_id"])
    root = root_exists(state, channel, args["thread_ts"])
    messages = args.get("loading_messages") or []
    if len(messages) > 10 or not all(isinstance(text, str) for text in messages):
        raise Refused("invalid_arguments", "loading_messages takes at most 10 strings")
    thread, status = state.thread(channel.id, root), args["status"]
    is_streaming = any(message.state == "streaming" for message in state.in_thread(channel.id, root))
    if status and is_streaming:
        thread.status_rows.append(status)
    else:
        thread.status, thread.status_at = status, now
    state.changed(channel.id, root)
    payloads.session(state, channel.id, root, "processing" if status else "active", now)
    return {}


def status_of(state: WorkspaceState, thread: Thread, now: float) -> str | None:
    """The typing status as it shows at `now`."""
    if not thread.status or now - thread.status_at >= state.rules.status_timeout:
        return None
    return thread.status


def set_title(state: WorkspaceState, args: Json, now: float) -> Json:
    """assistant.threads.setTitle."""
    channel = bot_channel(state, args["channel_id"])
    thread = state.thread(channel.id, root_exists(state, channel, args["thread_ts"]))
    thread.title = args["title"]
    return {}


def set_prompts(state: WorkspaceState, args: Json, now: float) -> Json:
    """assistant.threads.setSuggestedPrompts. Without a thread they belong to the whole conversation."""
    channel = bot_channel(state, args["channel_id"])
    prompts = args["prompts"]
    if not 1 <= len(prompts) <= 4:
        raise Refused("invalid_arguments", "prompts takes 1 to 4 items")
    for prompt in prompts:
        if not isinstance(prompt, dict) or not prompt.get("title") or not prompt.get("message"):
            raise Refused("invalid_arguments", "a prompt has a title and a message")
    thread_ts = args.get("thread_ts")
    root = root_exists(state, channel, thread_ts) if thread_ts else ""
    state.thread(channel.id, root).prompts = prompts
    return {}


def set_session(state: WorkspaceState, args: Json, now: float) -> Json:
    """agents.sessions.setStatus."""
    if not state.rules.agent_sessions:
        raise Refused("feature_disabled")
    channel = bot_channel(state, args["channel_id"])
    if args["status"] not in _SESSIONS:
        raise Refused("invalid_status")
    if not args.get("thread_ts"):
        raise Refused("thread_ts_required")
    root = root_exists(state, channel, args["thread_ts"])
    if args.get("initiator_user_id"):
        person_of(state, args["initiator_user_id"])
    thread = state.thread(channel.id, root)
    thread.status = ""
    thread.title = args.get("title") or thread.title
    payloads.session(state, channel.id, root, args["status"], now)
    state.changed(channel.id, root)
    return {}


METHODS = {
    "assistant.threads.setStatus": set_status,
    "assistant.threads.setTitle": set_title,
    "assistant.threads.setSuggestedPrompts": set_prompts,
    "agents.sessions.setStatus": set_session,
}
