"""PURE. Markdown as Slack's rich text: what a message's blocks look like when they are read back.

Not the whole of Markdown: headings, emphasis, code, links, lists, quotes, fences, mentions. Tables stay text.
"""

from __future__ import annotations

import re
from typing import Any

Json = dict[str, Any]

_INLINE = re.compile(
    r"`(?P<code>[^`\n]+)`"
    r"|\*\*(?P<bold>[^\n]+?)\*\*"
    r"|~~(?P<strike>[^\n]+?)~~"
    r"|(?<![\w*])\*(?P<italic>[^*\s][^*\n]*)\*(?!\*)"
    r"|(?<!\w)_(?P<under>[^_\s][^_\n]*)_(?!\w)"
    r"|!?\[(?P<label>[^\]\n]*)\]\((?P<url>[^)\s]+)\)"
    r"|<@(?P<user>[A-Z0-9]+)(?:\|[^>]*)?>"
)
_STYLES = {"code": "code", "bold": "bold", "strike": "strike", "italic": "italic", "under": "italic"}
_HEADING = re.compile(r"#{1,6}\s+(?P<text>.*)")
_ITEM = re.compile(r"\s*(?:[-*+]|(?P<number>\d+[.)]))\s+(?P<text>.*)")
_QUOTE = re.compile(r">\s?(?P<text>.*)")
_FENCE = re.compile(r"\s*(```+|~~~+)")


def rich_text(block_id: str, text: str) -> Json:
    """One rich text block that reads as `text` does."""
    elements: list[Json] = []
    lines = iter(text.split("\n"))
    for line in lines:
        if fence := _FENCE.match(line):
            elements.append(_fenced(lines, fence[1]))
        elif item := _ITEM.fullmatch(line):
            _add_item(elements, "ordered" if item["number"] else "bullet", inline(item["text"]))
        elif quote := _QUOTE.fullmatch(line):
            elements.append({"type": "rich_text_quote", "elements": inline(quote["text"])})
        elif heading := _HEADING.fullmatch(line):
            bold = {"type": "text", "text": heading["text"], "style": {"bold": True}}
            elements.append({"type": "rich_text_section", "elements": [bold]})
        else:
            elements.append({"type": "rich_text_section", "elements": inline(line)})
    return {"type": "rich_text", "block_id": block_id, "elements": elements}


def inline(text: str) -> list[Json]:
    """The parts of one line."""
    parts: list[Json] = []
    end = 0
    for found in _INLINE.finditer(text):
        if found.start() > end:
            parts.append({"type": "text", "text": text[end : found.start()]})
        parts.append(_part(found))
        end = found.end()
    if end < len(text):
        parts.append({"type": "text", "text": text[end:]})
    return parts


def _part(found: re.Match[str]) -> Json:
    kind = found.lastgroup or ""
    if kind == "user":
        return {"type": "user", "user_id": found["user"]}
    if kind == "url":
        return {"type": "link", "url": found["url"], "text": found["label"] or found["url"]}
    return {"type": "text", "text": found[kind], "style": {_STYLES[kind]: True}}


def _fenced(lines: Any, fence: str) -> Json:
    code = []
    for line in lines:
        if line.strip() == fence:
            break
        code.append(line)
    return {"type": "rich_text_preformatted", "elements": [{"type": "text", "text": "\n".join(code)}]}


def _add_item(elements: list[Json], style: str, parts: list[Json]) -> None:
    if not elements or elements[-1].get("style") != style:
        elements.append({"type": "rich_text_list", "style": style, "elements": []})
    elements[-1]["elements"].append({"type": "rich_text_section", "elements": parts})
