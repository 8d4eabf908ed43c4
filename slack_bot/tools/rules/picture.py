"""PURE. A thread as it is read back, in lines that can be compared: no ids, no times."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

Json = Mapping[str, Any]
MESSAGE = "=== "
_REFERENCE = re.compile(r"Reference: [0-9a-f]+")
_MARKS = {"bold": "**", "italic": "_", "strike": "~~", "code": "`"}


def picture(messages: Sequence[Json]) -> list[str]:
    """The lines of a thread. Rich texts that follow each other are one."""
    lines: list[str] = []
    for message in messages:
        state = "streamed" if message.get("streaming_state") else "posted"
        lines.append(f"{MESSAGE}{state}{', edited' if message.get('edited') else ''}")
        blocks = list(message.get("blocks") or ())
        for block in blocks:
            lines += _block(block)
        if not blocks:
            lines += str(message.get("text") or "").split("\n")
        lines += [
            f"file: {file.get('name')}, {file.get('size')} bytes" for file in message.get("files") or ()
        ]
    return [_REFERENCE.sub("Reference: ...", line.rstrip()) for line in lines if line.strip()]


def difference(emulated: Sequence[str], seen: Sequence[str]) -> list[str]:
    """What differs, as a diff; nothing if they are equal."""
    return list(difflib.unified_diff(emulated, seen, "emulated", "here", lineterm="", n=1))


def _block(block: Json) -> Iterator[str]:
    kind = str(block.get("type"))
    match kind:
        case "rich_text":
            for element in block.get("elements") or ():
                yield from _element(element, 0)
        case "table" | "data_table":
            for row in block.get("rows") or ():
                yield f"| {' | '.join(_cell(cell) for cell in row)} |"
        case "plan":
            yield f"plan: {_words(block.get('title'))}"
            for card in block.get("tasks") or ():
                yield from _block(card)
        case "task_card":
            parts = [_words(block.get(name)) for name in ("title", "details", "output")]
            yield f"card [{block.get('status')}] {' / '.join(filter(None, parts))}"
        case "divider":
            yield "---"
        case _:
            words = [_words(block.get(name)) for name in ("text", "title", "label", "hint", "fields")]
            words += [_control(each) for each in block.get("elements") or ()]
            words += [_control(block[name]) for name in ("element", "accessory") if block.get(name)]
            yield from f"{kind}: {' '.join(filter(None, words))}".split("\n")


def _element(element: Json, depth: int) -> Iterator[str]:
    """A part of a rich text."""
    kind = str(element.get("type"))
    indent = "  " * (depth + int(element.get("indent") or 0))
    if kind == "rich_text_list":
        mark = "1." if element.get("style") == "ordered" else "*"
        for item in element.get("elements") or ():
            yield f"{indent}{mark} {_inline(item)}"
        return
    start = {"rich_text_preformatted": "code: ", "rich_text_quote": "> "}.get(kind, "")
    for line in _inline(element).split("\n"):
        yield f"{start}{line}"


def _inline(element: Json) -> str:
    words = ""
    for part in element.get("elements") or ():
        kind, style = part.get("type"), part.get("style") or {}
        text = str(part.get("text") or "")
        if kind == "link":
            text = f"[{text or part.get('url')}]({part.get('url')})"
        elif kind == "user":
            text = "@user"
        elif kind == "emoji":
            text = _emoji(part)
        for name, mark in _MARKS.items():
            text = f"{mark}{text}{mark}" if isinstance(style, Mapping) and style.get(name) else text
        words += text
    return words


def _emoji(part: Json) -> str:
    """As the character that it stands for, where Slack names it."""
    try:
        return "".join(chr(int(each, 16)) for each in str(part.get("unicode")).split("-"))
    except ValueError:
        return f":{part.get('name')}:"


def _cell(cell: Json) -> str:
    if cell.get("type") == "rich_text":
        return " ".join(line for element in cell.get("elements") or () for line in _element(element, 0))
    return str(cell.get("text", cell.get("value", "")))


def _control(element: Json) -> str:
    """A button or an input, by its words."""
    names = ("text", "placeholder", "positive_button", "negative_button")
    words = [_words(element.get(name)) for name in names]
    words += [_words(each.get("text")) for each in element.get("options") or ()]
    kind = str(element.get("type"))
    said = " ".join(filter(None, words))
    return said if kind in ("mrkdwn", "plain_text") else f"({kind} {said})".replace(" )", ")")


def _words(value: Any) -> str:
    if isinstance(value, Mapping):
        if value.get("type") == "rich_text":
            return " ".join(line for element in value.get("elements") or () for line in _element(element, 0))
        return _words(value.get("text"))
    return " ".join(map(_words, value)) if isinstance(value, list) else str(value or "")
