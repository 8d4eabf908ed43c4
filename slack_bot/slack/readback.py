"""PURE. What a message shows, compared with what was written into it.

Slack gives a streamed message back in another dialect: its text is mrkdwn, its blocks are rich text, emoji
are names, links are turned around, white space is not what it was (facts: Slack 1.8). So both sides are
reduced to what no dialect changes, letters and digits, before they are compared. An append is applied as a
whole or not at all; anything else than these two pictures means that the message cannot be read, and it is
then written anew.
"""

from __future__ import annotations

import html
import re
from collections.abc import Collection, Iterable, Mapping
from enum import StrEnum
from typing import Any

_LINK = re.compile(r"!?\[([^\[\]\n]*)\]\([^)\s]{0,999}\)")  # Markdown: the label stays
_LABELLED = re.compile(r"<[^|<>\s]+\|([^<>]*)>")  # mrkdwn: the label stays
_BARE = re.compile(r"<((?:https?|mailto|tel):[^<>|\s]+)>")
_EMOJI = re.compile(r":[a-z0-9_+'-]+:")
_ESCAPED = re.compile(r"&(?:amp;)+")  # Slack escapes what an agent had escaped already
_NUMBER = re.compile(r"^[ \t>]*\d{1,9}[.)][ \t]", re.MULTILINE)  # Slack counts an ordered list itself
_INFO = re.compile(
    r"^(?:[ \t>]|&(?:amp;)*gt;)*(?:`{3,}|~{3,})[^\n`]*$", re.MULTILINE
)  # a fence and its language
_ENOUGH = 24  # letters by which a stream is known as the one that was begun


class Stands(StrEnum):
    """What became of a text whose call had no answer."""

    ALL = "all"
    NONE = "none"
    UNREADABLE = "unreadable"


def bare(text: str) -> str:
    """The letters and digits of `text`, Markdown or mrkdwn: what both dialects have in common."""
    for pattern, kept in ((_INFO, ""), (_LINK, r"\1"), (_LABELLED, r"\1"), (_BARE, r"\1")):
        text = pattern.sub(kept, text)
    text = html.unescape(_ESCAPED.sub("&", text))
    text = _NUMBER.sub("", _EMOJI.sub("", text))
    return "".join(letter for letter in text if letter.isalnum())


def what_stands(message: Mapping[str, Any], confirmed: str, sent: str) -> Stands:
    """Whether `message`, read back after its stop, shows `sent` behind `confirmed`, or only `confirmed`."""
    without, both = bare(confirmed), bare(confirmed + sent)
    texts = (str(message.get("text") or ""), words_of(message.get("blocks")))
    shown = {bare(text) for text in texts}
    if both != without and both in shown:
        return Stands.ALL
    if sent.strip() and any(_is_exactly(text, confirmed + sent) for text in texts):
        return Stands.ALL  # no letters came, and no dialect changed the signs that did
    if both != without and shown <= {without, ""} and without in shown:
        return Stands.NONE
    return Stands.UNREADABLE


def _is_exactly(shown: str, written: str) -> bool:
    return "".join(written.split()) in ("".join(text.split()) for text in (shown, html.unescape(shown)))


def words_of(blocks: object) -> str:
    """The words of a message's rich text blocks, without its cards and without what stands under it."""
    found: list[str] = []
    for block in blocks if isinstance(blocks, list) else ():
        if isinstance(block, Mapping) and block.get("type") == "rich_text":
            found.extend(_words(block))
        elif isinstance(block, Mapping) and block.get("type") == "markdown":
            found.append(str(block.get("text") or ""))
    return "".join(found)


def _words(node: Mapping[str, Any]) -> Iterable[str]:
    if isinstance(text := node.get("text"), str):
        yield text
    elif node.get("type") == "link":
        yield str(node.get("url") or "")
    for inner in node.get("elements") or ():
        if isinstance(inner, Mapping):
            yield from _words(inner)
            if inner.get("type") in ("rich_text_section", "rich_text_preformatted", "rich_text_quote"):
                yield "\n"


def own_stream(
    messages: Iterable[object], *, since: float, sent: str, known: Collection[str]
) -> Mapping[str, Any] | None:
    """The stream among a thread's `messages` that a start without an answer has opened, or None.

    It was begun after `since` (wall-clock seconds), is none of those `known`, carries no turn's signature,
    and begins as `sent` does, as far as it can be read: Slack may show an open stream without its text, and
    one odd letter of a long text in another dialect must not make a second stream of it.
    """
    wanted = bare(sent)
    for message in messages:
        if not isinstance(message, Mapping) or not _is_unsigned_stream(message):
            continue
        if message.get("ts") in known or float(message.get("ts") or 0) < since:
            continue
        shown = bare(str(message.get("text") or ""))
        if shown[:_ENOUGH] == wanted[: min(_ENOUGH, len(shown))]:
            return message
    return None


def _is_unsigned_stream(message: Mapping[str, Any]) -> bool:
    return bool(message.get("bot_id") and message.get("streaming_state")) and not message.get("metadata")
