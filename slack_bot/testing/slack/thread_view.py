"""PURE. A thread as a person sees it: what tests, `replay` and the page read."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from . import blocks as blockkit
from .conversations import status_of
from .state import PLAN_FAILED, Json, MessageState, SeenTask, StoredMessage, WorkspaceState


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
    `ephemeral_for`: the only person who sees it. `expired`: Slack sealed the stream; a client shows an error.
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

    @property
    def read(self) -> str:
        """All words of this message, one part a paragraph."""
        cards = [f"{task.title} ({task.status})" for task in self.tasks]
        parts = [self.plan_title or "", *cards, self.text, *self.extras]
        return "\n\n".join(part for part in parts if part)


_AS_STORED = (
    "ts", "author", "plan_title", "plan_failed", "state", "ephemeral_for", "thread_ts", "display",
    "stopped_by", "edited", "expired",
)  # fmt: skip


def see(state: WorkspaceState, message: StoredMessage, viewer: str | None = None) -> SeenMessage:
    """One message as `viewer` sees it (None: all of it), without the typing status."""
    message = _visible_to(state, message, viewer)
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
    )


def _visible_to(state: WorkspaceState, message: StoredMessage, viewer: str | None) -> StoredMessage:
    """In a channel only its recipient sees a stream grow; others see its first content until the end."""
    alone = state.rules.only_viewer_live and state.channels[message.channel].kind != "im"
    if viewer in (None, message.recipient) or message.state != "streaming" or not alone:
        return message
    return message.first or message


def _file(state: WorkspaceState, file: Json) -> SeenFile:
    known = state.uploads.get(file["id"])
    content = known.content if known is not None and known.content is not None else b""
    return SeenFile(str(file["name"]), str(file.get("title", "")), content, str(file["id"]))


def see_thread(
    state: WorkspaceState, channel: str, root: str, now: float, viewer: str | None = None
) -> list[SeenMessage]:
    """A thread, root first; the typing status is on the last message. `viewer` None: all of it."""
    shown = [
        see(state, message, viewer)
        for message in state.in_thread(channel, root)
        if viewer is None or message.ephemeral_for in (None, viewer)
    ]
    if shown:
        shown[-1] = replace(shown[-1], status_line=status_of(state, state.thread(channel, root), now))
    return shown


def _words(message: StoredMessage) -> tuple[str, tuple[str, ...]]:
    if message.state != "posted" and not message.edited:
        return message.body, tuple(filter(None, map(blockkit.plain, message.blocks)))
    if not message.blocks:
        # cards are blocks too, and where there are blocks `text` is only what a notification says
        return "" if message.tasks else message.body, ()
    return blockkit.body_text(message.blocks), blockkit.furniture(message.blocks)
