"""PURE. How Slack gives a message back: JSON with rich text, and text in its own mrkdwn instead of Markdown.

So a bot that compares what it reads with what it wrote, character by character, fails here as it fails there.
"""

from __future__ import annotations

import re
from itertools import takewhile

from .state import Json, SeenTask, StoredMessage, WorkspaceState

_LINK = re.compile(r"!?\[([^\[\]\n]*)\]\(([^()\s]+(?:\([^()\s]*\)[^()\s]*)*)\)")
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


def _card(task: SeenTask) -> Json:
    texts = {name: getattr(task, name) for name in ("details", "output")}
    shown = {name: rich_text(f"{name}-{task.id}", text) for name, text in texts.items() if text}
    return {"type": "task_card", "task_id": task.id, "title": task.title, "status": task.status, **shown}


_INLINE = re.compile(
    r"`(?P<code>[^`\n]+)`"
    r"|\*\*(?P<bold>[^\n]+?)\*\*"
    r"|~~(?P<strike>[^\n]+?)~~"
    r"|(?<![\w*])\*(?P<italic>[^*\s][^*\n]*)\*(?!\*)"
    r"|(?<!\w)_(?P<under>[^_\s][^_\n]*)_(?!\w)"
    r"|!?\[(?P<label>[^\[\]\n]*)\]\((?P<url>[^()\s]+(?:\([^()\s]*\)[^()\s]*)*)\)"
    r"|<@(?P<user>[A-Z0-9]+)(?:\|[^<>]*)?>"
)
_STYLES = {"under": "italic"}
_LINE = re.compile(
    r"\s*(?:[-*+]|(?P<number>\d+[.)]))\s+(?P<item>.*)|>\s?(?P<quote>.*)|#{1,6}\s+(?P<heading>.*)"
)
_FENCE = re.compile(r"\s*(```+|~~~+)")


def rich_text(block_id: str, text: str) -> Json:
    """One rich text block that reads as `text` does."""
    elements: list[Json] = []
    lines = iter(text.split("\n"))
    for line in lines:
        if fence := _FENCE.match(line):
            code = "\n".join(takewhile(lambda each: each.strip() != fence[1], lines))
            elements.append(_element("preformatted", [{"type": "text", "text": code}]))
            continue
        found = _LINE.fullmatch(line)
        if found is None:
            elements.append(_element("section", inline(line)))
        elif found.lastgroup == "item":
            _add_item(elements, "ordered" if found["number"] else "bullet", inline(found["item"]))
        elif found.lastgroup == "quote":
            elements.append(_element("quote", inline(found["quote"])))
        else:
            bold = {"type": "text", "text": found["heading"], "style": {"bold": True}}
            elements.append(_element("section", [bold]))
    return {"type": "rich_text", "block_id": block_id, "elements": elements}


def _element(kind: str, parts: list[Json]) -> Json:
    return {"type": f"rich_text_{kind}", "elements": parts}


def _add_item(elements: list[Json], style: str, parts: list[Json]) -> None:
    if not elements or elements[-1].get("style") != style:
        elements.append({"type": "rich_text_list", "style": style, "elements": []})
    elements[-1]["elements"].append(_element("section", parts))


def inline(text: str) -> list[Json]:
    """The parts of one line."""
    parts: list[Json] = []
    end = 0
    for found in _INLINE.finditer(text):
        parts += [*_unstyled(text[end : found.start()]), _part(found)]
        end = found.end()
    return parts + _unstyled(text[end:])


def _unstyled(text: str) -> list[Json]:
    return [{"type": "text", "text": text}] if text else []


def _part(found: re.Match[str]) -> Json:
    kind = found.lastgroup or ""
    if kind == "user":
        return {"type": "user", "user_id": found["user"]}
    if kind == "url":
        return {"type": "link", "url": found["url"], "text": found["label"] or found["url"]}
    return {"type": "text", "text": found[kind], "style": {_STYLES.get(kind, kind): True}}
