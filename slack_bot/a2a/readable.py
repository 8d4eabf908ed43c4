"""PURE. Data and files as a person reads them: never as JSON.

An agent may answer with data instead of text. Its fields become a list, rows of equal fields a table; what
the text beside it says already is not said again. A file is named, and linked where it has an address.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from .frames import FileRef, Part

_DEEPEST = 6
_DEEPEST_LEVEL = 20
_MOST_LINES = 200
_MOST_COLUMNS = 8
_SAYS_IT_ALL = ("content", "text", "answer", "response", "message", "result", "output")
_WRITTEN_FOR_MACHINES = re.compile(r"^application/json\+\w+|^application/vnd\.")
_BLANK_LINES = re.compile(r"\n{3,}")
_WEB = re.compile(r"https?://[^\s<>|()]+\Z")


def as_markdown(value: Any) -> str:
    """Any JSON value, read by a person. "" where it holds nothing."""
    if isinstance(value, Mapping) and (said := _the_one_text(value)):
        return said
    lines = list(_lines(value, 0))
    if len(lines) > _MOST_LINES:
        lines = [*lines[:_MOST_LINES], f"_… and {len(lines) - _MOST_LINES} more lines_"]
    return _BLANK_LINES.sub("\n\n", "\n".join(lines)).strip("\n")


def file_line(file: FileRef) -> str:
    """A file in one line."""
    name = _one_line(file.name) or "a file"
    if file.url and _WEB.match(file.url):
        return f"[{_unbracketed(name)}]({file.url})"
    kind = f" ({_one_line(file.mime_type)})" if file.mime_type else ""
    return f"_The agent made a file that is not shown here: {name}{kind}_"


def beside(part: Part, said: str) -> str:
    """What a part without text adds to `said`, as a paragraph; "" if it adds nothing."""
    if part.file is not None:
        return file_line(part.file)
    mime = part.metadata.get("mimeType") or part.metadata.get("mediaType")
    if not part.has_data or (isinstance(mime, str) and _WRITTEN_FOR_MACHINES.match(mime)):
        return ""
    leaves = list(_leaves(part.data))
    if said.strip() and all(leaf in said for leaf in leaves):
        return ""
    return as_markdown(part.data)


def _the_one_text(value: Mapping[str, Any]) -> str:
    """The text of an object that holds one and nothing else but flags."""
    texts = [value[key] for key in _SAYS_IT_ALL if isinstance(value.get(key), str)]
    others = [each for key, each in value.items() if key not in _SAYS_IT_ALL]
    return (
        texts[0] if len(texts) == 1 and all(each is None or isinstance(each, bool) for each in others) else ""
    )


def _lines(value: Any, depth: int, level: int = 0) -> Iterator[str]:
    """`depth` is how far in it is written, `level` how far in it stands: lists in lists are not indented."""
    if depth > _DEEPEST or level > _DEEPEST_LEVEL:
        yield f"{_indent(depth)}- …"
    elif isinstance(value, Mapping):
        for key, each in value.items():
            if depth == 0 and isinstance(each, list) and (rows := _rows(each)):
                yield from ("", f"**{_one_line(_title(key))}**", "", *_table(rows), "")
                continue
            yield from _entry(f"**{_one_line(_title(key))}**: ", each, depth, level)
    elif isinstance(value, list):
        if depth == 0 and (rows := _rows(value)):
            yield from _table(rows)
            return
        for each in value:
            yield from _entry("", each, depth, level)
    elif (said := _scalar(value)) or depth:
        yield said


def _entry(label: str, value: Any, depth: int, level: int) -> Iterator[str]:
    """One field or one item: on its line if it is short, below it if it is not."""
    value = _opened(value)
    head = f"{_indent(depth)}- {label}"
    if isinstance(value, list) and value and all(_is_plain(each) for each in value):
        yield head + ", ".join(_scalar(each) for each in value)
    elif isinstance(value, Mapping | list) and value:
        if label:
            yield head.rstrip()
            yield from _lines(value, depth + 1, level + 1)
        else:  # an item: what follows its first field belongs to it
            for number, line in enumerate(_lines(value, depth, level + 1)):
                yield f"  {line}" if number else line
    elif (said := _scalar(value)) != "" or label:
        indented = f"\n{_indent(depth)}  ".join((said or "–").split("\n"))
        yield head + indented


def _opened(value: Any) -> Any:
    """What a text holds that is JSON itself, as the arguments of a tool call are; anything else as it is."""
    if not isinstance(value, str) or value.strip()[:1] not in ("{", "["):
        return value
    try:
        return json.loads(value) or value
    except (ValueError, RecursionError):
        return value


def _rows(items: Sequence[Any]) -> list[Mapping[str, Any]]:
    """`items` if they are rows of one table: objects with the same few plain fields."""
    rows = [item for item in items if isinstance(item, Mapping)]
    if len(rows) < 2 or len(rows) != len(items) or not 1 < len(rows[0]) <= _MOST_COLUMNS:
        return []
    alike = all(row.keys() == rows[0].keys() for row in rows)
    return rows if alike and all(_is_plain(each) for row in rows for each in row.values()) else []


def _table(rows: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    yield _row([_title(key) for key in rows[0]])
    yield _row(["---"] * len(rows[0]))
    for row in rows:
        yield _row([_scalar(value) for value in row.values()])


def _row(cells: Sequence[str]) -> str:
    return "| " + " | ".join(_one_line(cell).replace("|", "\\|") for cell in cells) + " |"


def _is_plain(value: Any) -> bool:
    return not isinstance(value, Mapping | list) and "\n" not in str(value)


def _scalar(value: Any) -> str:
    """A value that holds no others. Servers on protobuf send 1 as 1.0 (facts: A2A 1.4)."""
    if value is None or isinstance(value, Mapping | list):
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float) and value.is_integer():
        return f"{value:.0f}"
    return str(value)


def _leaves(value: Any) -> Iterator[str]:
    """All that holds no others, in any order. JSON may be nested deeper than calls may: no recursion here."""
    left = [value]
    while left:
        each = left.pop()
        if isinstance(each, Mapping | list):
            left.extend(each.values() if isinstance(each, Mapping) else each)
        elif said := _scalar(each):
            yield said


def _title(key: object) -> str:
    """`ticket_id` as a person writes it; anything else stays."""
    return str(key).replace("_", " ").strip()


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _unbracketed(text: str) -> str:
    return text.replace("[", "(").replace("]", ")")


def _indent(depth: int) -> str:
    return "  " * depth
