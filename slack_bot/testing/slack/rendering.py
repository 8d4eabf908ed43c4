"""PURE. How Slack gives a message back: JSON with rich text, and text in its own mrkdwn instead of Markdown.

So a bot that compares what it reads with what it wrote, character by character, fails here as it fails there.
"""

from __future__ import annotations

import re

from .richtext import rich_text
from .state import Json, StoredMessage, Task, WorkspaceState

_LINK = re.compile(r"!?\[([^\]\n]*)\]\((\S+?)\)")
_BOLD = re.compile(r"\*\*(.+?)\*\*|__(.+?)__", re.DOTALL)
_HEADING = re.compile(r"^#{1,6}[ \t]+(.*)$", re.MULTILINE)
_BULLET = re.compile(r"^([ \t]*)[-*+][ \t]+", re.MULTILINE)
_STRIKE = re.compile(r"~~(.+?)~~")


def mrkdwn(text: str) -> str:
    """Markdown as Slack's own dialect: one star for bold, links in angle brackets, entities escaped, headings
    without their signs, bullets as dots [obs] (facts: Slack 1.8).
    """
    text = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    text = _LINK.sub(r"<\2|\1>", text)
    text = _BULLET.sub(r"\1• ", _HEADING.sub(r"\1", text))
    text = _BOLD.sub(lambda found: f"*{found[1] or found[2]}*", text)
    return _STRIKE.sub(r"~\1~", text)


def read_back(state: WorkspaceState, message: StoredMessage, with_metadata: bool) -> Json:
    """A message as conversations.replies, an event or chat.stopStream's answer shows it."""
    shown: Json = {
        "type": "message",
        "user": message.author,
        "ts": message.ts,
        "team": message.team,
        "text": _text(message),
        "blocks": _blocks(state, message),
    }
    if message.client_msg_id:
        shown["client_msg_id"] = message.client_msg_id
    if message.by_app:
        shown |= {"bot_id": state.bot.bot_id, "app_id": state.bot.app_id}
    if message.state != "posted":
        shown["streaming_state"] = "in_progress" if message.state == "streaming" else "completed"
    shown |= _thread_fields(state, message)
    if message.reactions:
        shown["reactions"] = [
            {"name": name, "users": users, "count": len(users)} for name, users in message.reactions.items()
        ]
    if message.files:
        shown["files"] = message.files
    if message.edited:
        shown["edited"] = {"user": message.author, "ts": message.ts}
    if with_metadata and message.metadata is not None:
        shown["metadata"] = message.metadata
    return shown


def _text(message: StoredMessage) -> str:
    """The text of a message. That of a stream has the title of each card too [obs] (facts: Slack 1.8)."""
    text = mrkdwn(message.body) if message.is_markdown else message.body
    if message.state == "posted" or message.edited:
        return text
    titles = [mrkdwn(task.title) for task in message.tasks.values()]
    return "\n".join([*titles, *([text] if text else [])])


def _thread_fields(state: WorkspaceState, message: StoredMessage) -> Json:
    if message.thread_ts is not None:
        root = state.find(message.channel, message.thread_ts)
        return {"thread_ts": message.thread_ts, "parent_user_id": root.author if root else "USLACKBOT"}
    replies = state.in_thread(message.channel, message.ts)[1:]
    if not replies:
        return {}
    return {
        "thread_ts": message.ts,
        "reply_count": len(replies),
        "reply_users": sorted({reply.author for reply in replies}),
        "latest_reply": replies[-1].ts,
    }


def _blocks(state: WorkspaceState, message: StoredMessage) -> list[Json]:
    shown: list[Json] = []
    cards = [_card(task) for task in message.tasks.values()]
    if message.display == "plan" and cards:
        shown.append({"type": "plan", "title": message.plan_title or "", "tasks": cards})
    else:
        shown += cards
    if message.body and (message.state != "posted" or not message.blocks):
        shown.append(rich_text(f"rt{message.ts}", message.body))
    return [*shown, *message.blocks]


def _card(task: Task) -> Json:
    card: Json = {"type": "task_card", "task_id": task.id, "title": task.title, "status": task.status}
    for name, text in (("details", task.details), ("output", task.output)):
        if text:
            card[name] = rich_text(f"{name}-{task.id}", text)
    return card
