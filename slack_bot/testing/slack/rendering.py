"""PURE. How a message looks: to the app, which reads JSON with rich text and mrkdwn, and to a person.

A bot that compares what it reads with what it wrote, character by character, fails here as it fails there.
"""

import copy
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import count, takewhile
from typing import Any

from . import blocks as blockkit
from .data_blocks import as_markdown
from .rules import WorkspaceRules
from .state import PLAN_FAILED, Json, MessageState, SeenTask, StoredMessage, WorkspaceState

_LINK = re.compile(r"!?\[([^\[\]\n]*)\]\(([^()\s]+(?:\([^()\s]*\)[^()\s]*)*)\)")
_BOLD = re.compile(r"\*\*(.+?)\*\*|__(.+?)__", re.DOTALL)
_HEADING = re.compile(r"^#{1,6}[ \t]+(.*)$", re.MULTILINE)
_BULLET = re.compile(r"^([ \t]*)[-*+][ \t]+", re.MULTILINE)
_FENCED = re.compile(r"^[ \t]*(```+|~~~+).*?(?:^[ \t]*\1|\Z)", re.DOTALL | re.MULTILINE)
_TABLE = re.compile(
    r"^[^\n]*\|[^\n]*\n[ \t]*\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*\|?[ \t]*(?:\n|\Z)"
    r"(?:[^\n]*\S[^\n]*(?:\n|\Z))*",
    re.MULTILINE,
)
_ROW_CELL = re.compile(r"(?:\\\||[^|])+|(?<=\|)(?=\|)")
_INDENT = re.compile(r"^[ \t]+(?=[-*+][ \t])", re.MULTILINE)
_USUAL = WorkspaceRules()
_HEADINGS = {"plain": r"\1", "bold": r"*\1*"}
"""What becomes of a heading; others stay as they are."""
_STRIKE = re.compile(r"~~(.+?)~~")


def mrkdwn(text: str, rules: WorkspaceRules = _USUAL) -> str:
    """Markdown as Slack's own dialect [obs] (facts: Slack 1.8)."""
    if rules.word("read.escape", "escaped") == "escaped":
        text = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    if rules.word("read.link", "mrkdwn") == "mrkdwn":
        text = _LINK.sub(r"<\2|\1>", text)
    if rules.word("read.nested", "indented") == "flat":
        text = _INDENT.sub("", text)
    if (heading := _HEADINGS.get(rules.word("read.heading", "plain"))) is not None:
        text = _HEADING.sub(heading, text)
    if rules.word("read.bullet", "bullet") == "bullet":
        text = _BULLET.sub(r"\1• ", text)
    if rules.word("read.bold", "mrkdwn") == "mrkdwn":
        text = _BOLD.sub(lambda found: f"*{found[1] or found[2]}*", text)
    return _STRIKE.sub(r"~\1~", text) if rules.word("read.strike", "mrkdwn") == "mrkdwn" else text


def read_back(state: WorkspaceState, message: StoredMessage, with_metadata: bool) -> Json:
    """A message as conversations.replies, an event or chat.stopStream's answer shows it."""
    shown: Json = {
        "type": "message",
        "user": message.author,
        "ts": message.ts,
        **_team(message),
        "text": _text(state.rules, message),
        "blocks": _blocks(state, message),
    }
    shown |= _look(message)
    if message.client_msg_id:
        shown["client_msg_id"] = message.client_msg_id
    shown |= _apps_of(state, message)
    if message.state != "posted" and state.rules.holds("read.state"):
        shown["streaming_state"] = "in_progress" if message.state == "streaming" else "completed"
    shown |= _thread_fields(state, message)
    if message.reactions:
        shown["reactions"] = [
            {"name": name, "users": users, "count": len(users)} for name, users in message.reactions.items()
        ]
    if message.attachments:
        shown["attachments"] = message.attachments
    if message.files:
        shown["files"] = message.files
    if message.edited:
        shown["edited"] = {"user": message.author, "ts": message.ts}
    if with_metadata and message.metadata is not None:
        shown["metadata"] = message.metadata
    is_disguised = message.by_app and message.state == "posted" and "username" in message.look
    return _as_somebody_else(shown) if is_disguised else shown


def _team(message: StoredMessage) -> Json:
    """Where a person shared a file, Slack does not say of which team they are, as it was recorded."""
    return {} if message.files and not message.by_app else {"team": message.team}


def _apps_of(state: WorkspaceState, message: StoredMessage) -> Json:
    if message.by_app:
        return _of_bot(state.bot.bot_id, state.bot.app_id, state.bot.name, state.team)
    author = state.people.get(message.author)
    if author is None or not author.is_bot:
        return {}
    return _of_bot(f"B{author.id[1:]}", "A0OTHER", author.name, author.team)


def _of_bot(bot: str, app: str, name: str, team: str) -> Json:
    """What a message tells of the app that wrote it."""
    profile = {"id": bot, "app_id": app, "name": name, "team_id": team, "deleted": False}
    return {"bot_id": bot, "app_id": app, "bot_profile": profile}


def _as_somebody_else(shown: Json) -> Json:
    """A message that the app posted under another name: as recorded, its own is nowhere but in the ids."""
    own = ("user", "team", "bot_profile")
    return {**{name: value for name, value in shown.items() if name not in own}, "subtype": "bot_message"}


def _look(message: StoredMessage) -> Json:
    """The name and the picture that the app gave, as Slack tells of them."""
    name, emoji, url = (message.look.get(each) for each in ("username", "icon_emoji", "icon_url"))
    icons = {"emoji": emoji} if emoji else {"image_48": url} if url else {}
    return {**({"username": name} if name else {}), **({"icons": icons} if icons else {})}


def _text(rules: WorkspaceRules, message: StoredMessage) -> str:
    """The text; that of a stream has the title of each card too [obs] (facts: Slack 1.8)."""
    text = mrkdwn(message.body, rules) if message.is_markdown else message.body
    if message.state == "posted" or message.edited or not rules.holds("read.titles"):
        return text
    titles = [mrkdwn(task.title, rules) for task in message.tasks.values()]
    return "\n".join([*titles, *([text] if text else [])])


def _thread_fields(state: WorkspaceState, message: StoredMessage) -> Json:
    if message.thread_ts is not None:
        root = state.find(message.channel, message.thread_ts)
        place: Json = {"thread_ts": message.thread_ts, "parent_user_id": root.author if root else "USLACKBOT"}
        if message.is_broadcast:
            place |= {"subtype": "thread_broadcast", "root": root and read_back(state, root, False)}
        return place
    return replies_of(state, message)


def replies_of(state: WorkspaceState, root: StoredMessage) -> Json:
    """What a root tells of its replies, deleted or not."""
    replies = [reply for reply in state.in_thread(root.channel, root.ts) if reply is not root]
    if not replies:
        return {}
    return {
        "thread_ts": root.ts,
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
    if message.state != "posted" and not message.edited:
        shown += _streamed(state, message)
    elif message.body and (message.state != "posted" or not message.blocks):
        shown.append(rich_text(f"rt{message.ts}", message.body, state.rules))
    return [*message.blocks, *shown] if message.tail_above else [*shown, *message.blocks]


def _streamed(state: WorkspaceState, message: StoredMessage) -> Iterator[Json]:
    """The text of a stream with its tables, in order."""
    number = count()
    for text, table in _pieces(message):
        for part, is_table in _drawn(text) if state.rules.draws_tables else [(text, False)]:
            if is_table:
                rows = [_ROW_CELL.findall(line.strip().strip("|")) for line in part.rstrip().split("\n")]
                del rows[1]
                cells = [[{"type": "raw_text", "text": cell.strip() or " "} for cell in row] for row in rows]
                yield {"type": "table", "block_id": f"tb{next(number)}", "rows": cells}
            elif part:
                yield rich_text(f"rt{message.ts}.{next(number)}", part, state.rules)
        if table is not None:
            yield table


def _pieces(message: StoredMessage) -> Iterator[tuple[str, Json | None]]:
    """Text, and the table that follows it."""
    at = 0
    for place, table in message.tables:
        yield message.body[at:place], table
        at = place
    yield message.body[at:], None


def _drawn(text: str) -> Iterator[tuple[str, bool]]:
    """Text and tables, in order."""
    at, fences = 0, [found.span() for found in _FENCED.finditer(text)]
    for found in _TABLE.finditer(text):
        if not any(start <= found.start() < end for start, end in fences):
            yield text[at : found.start()], False
            yield found.group(), True
            at = found.end()
    yield text[at:], False


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


def rich_text(block_id: str, text: str, rules: WorkspaceRules = _USUAL) -> Json:
    """One rich text block that reads as `text` does."""
    elements: list[Json] = []
    lines = iter(text.split("\n"))
    for line in lines:
        if fence := _FENCE.match(line):
            code = "\n".join(takewhile(lambda each: each.strip() != fence[1], lines))
            elements.append(
                _element(rules.word("read.fence", "preformatted"), [{"type": "text", "text": code}])
            )
            continue
        found = _LINE.fullmatch(line)
        if found is None:
            elements.append(_element("section", inline(line, rules)))
        elif found.lastgroup == "item":
            _add_item(elements, "ordered" if found["number"] else "bullet", inline(found["item"], rules))
        elif found.lastgroup == "quote":
            elements.append(_element("quote", inline(found["quote"], rules)))
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


def inline(text: str, rules: WorkspaceRules = _USUAL) -> list[Json]:
    """The parts of one line."""
    parts: list[Json] = []
    end = 0
    for found in _INLINE.finditer(text):
        parts += [*_unstyled(text[end : found.start()]), _part(found, rules)]
        end = found.end()
    return parts + _unstyled(text[end:])


def _unstyled(text: str) -> list[Json]:
    return [{"type": "text", "text": text}] if text else []


def _part(found: re.Match[str], rules: WorkspaceRules) -> Json:
    kind = found.lastgroup or ""
    if kind == "user" and rules.word("read.mention", "live") == "text":
        return {"type": "text", "text": found.group()}
    if kind == "user":
        return {"type": "user", "user_id": found["user"]}
    if kind == "url":
        return {"type": "link", "url": found["url"], "text": found["label"] or found["url"]}
    return {"type": "text", "text": found[kind], "style": {_STYLES.get(kind, kind): True}}


# ---- a thread as a person sees it


@dataclass(frozen=True, slots=True)
class SeenFile:
    """A file under a message. `content`: its bytes. Two equal files may have different ids."""

    name: str
    title: str = ""
    content: bytes = b""
    id: str = field(default="", compare=False)


@dataclass(frozen=True, slots=True)
class SeenMessage:
    """A message as a person sees it.

    `text`: the streamed text, the text of a post without blocks, else the words of its markdown, section,
    header and rich text blocks. `extras`: the words of all else: notes, footers, button labels, and the
    blocks a stream was stopped with. `status_line`: the thread's typing status, on its last message.
    `ephemeral_for`: who alone sees it. `expired`: Slack sealed the stream; a client shows an error. `look`:
    the name and the picture it stands under, where the app gave them. `attachments`: of an alert, as Slack's
    older apps write them.
    """

    ts: str
    author: str
    is_bot: bool
    text: str
    blocks: tuple[Mapping[str, Any], ...] = ()
    tasks: tuple[SeenTask, ...] = ()
    plan_title: str | None = None
    plan_failed: bool = False
    state: MessageState = "posted"
    status_line: str | None = None
    ephemeral_for: str | None = None
    metadata: Mapping[str, Any] | None = None
    reactions: Mapping[str, tuple[str, ...]] | None = None
    thread_ts: str | None = None
    extras: tuple[str, ...] = ()
    display: str = "timeline"
    stopped_by: str | None = None
    edited: bool = False
    files: tuple[SeenFile, ...] = ()
    expired: bool = False
    look: Mapping[str, str] = field(default_factory=dict)
    attachments: tuple[Mapping[str, Any], ...] = ()

    @property
    def read(self) -> str:
        """All words of this message, one part a paragraph."""
        cards = [f"{task.title} ({task.status})" for task in self.tasks]
        parts = [self.plan_title or "", *cards, self.text, *self.extras]
        return "\n\n".join(part for part in parts if part)


_AS_STORED = (
    "ts", "author", "plan_title", "plan_failed", "state", "ephemeral_for", "thread_ts", "display",
    "stopped_by", "edited", "expired", "look",
)  # fmt: skip


def see(state: WorkspaceState, message: StoredMessage, viewer: str | None = None) -> SeenMessage:
    """One message as `viewer` sees it (None: all of it), without the typing status."""
    in_channel = state.channels[message.channel].kind != "im"
    if viewer not in (None, message.recipient) and state.rules.only_viewer_live and in_channel:
        message = (message.first if message.state == "streaming" else None) or message
    if viewer is not None:
        message = replace(message, blocks=blockkit.as_seen(message.blocks, viewer))
    text, extras = _words(message)
    if message.plan_failed:
        text = f"{PLAN_FAILED}\n\n{text}".rstrip()
    return SeenMessage(
        **{name: getattr(message, name) for name in _AS_STORED},
        is_bot=message.by_app,
        text=text,
        extras=extras,
        blocks=tuple(copy.deepcopy(message.blocks)),
        tasks=tuple(message.tasks.values()),
        metadata=copy.deepcopy(message.metadata),
        reactions={name: tuple(users) for name, users in message.reactions.items() if users},
        files=tuple(_file(state, file) for file in message.files),
        attachments=tuple(copy.deepcopy(message.attachments)),
    )


def _file(state: WorkspaceState, file: Json) -> SeenFile:
    known = state.uploads.get(file["id"])
    content, name = (b"", "") if known is None else (known.content or b"", known.name)
    return SeenFile(name, str(file.get("title", "")), content, str(file["id"]))


def see_thread(
    state: WorkspaceState, channel: str, root: str, now: float, viewer: str | None = None
) -> list[SeenMessage]:
    """A thread, root first, with the typing status."""
    shown = [
        see(state, message, viewer)
        for message in state.in_thread(channel, root)
        if viewer is None or message.ephemeral_for in (None, viewer)
    ]
    status = state.status_of(channel, root, now)
    if shown and status is not None:
        shown[-1] = replace(shown[-1], status_line=status)
    return shown


def _words(message: StoredMessage) -> tuple[str, tuple[str, ...]]:
    if message.state != "posted" and not message.edited:
        shown = (
            f"{text}{as_markdown(table, blockkit.plain) if table else ''}" for text, table in _pieces(message)
        )
        return "".join(shown), tuple(filter(None, map(blockkit.plain, message.blocks)))
    if not message.blocks:
        # cards are blocks too, and where there are blocks `text` is only what a notification says
        return "" if message.tasks else message.body, ()
    return blockkit.words(message.blocks)
