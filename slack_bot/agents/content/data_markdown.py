"""PURE. Writes data and files as Markdown, never as JSON.

The fields of an object become a list, and rows with the same fields a table. There are limits on what is read
and shown; the text says where something was left out.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, TypeVar

from ...text.words import (
    DATA_CUT,
    DATA_FILE_NOT_SHOWN,
    DATA_MORE_ITEMS,
    DATA_MORE_LINES,
    DATA_MORE_LINES_AND_CUT,
    DATA_NO,
    DATA_UNNAMED_FILE,
    DATA_YES,
)
from ...turn.json_values import read_json
from ..wire.frames import FileRef, Part

T = TypeVar("T")

_DEEPEST = 6
_DEEPEST_LEVEL = 20
_MOST_LINES = 200
_MOST_IN_LINE = 200  # items of a list in one line
_MOST_READ = 20_000  # values of one part
_MOST_COLUMNS = 8
_MOST_SOUGHT = 200_000_000  # characters searched for values, of all parts of one message
_TEXT_KEYS = ("content", "text", "answer", "response", "message", "result", "output")
_MACHINE_TYPES = re.compile(r"^application/json\+\w+|^application/vnd\.")
_BLANK_LINES = re.compile(r"\n{3,}")
_WEB = re.compile(r"https?://[^\s<>|()]+\Z")


def as_markdown(value: Any) -> str:
    """Any JSON value as Markdown; "" for an empty value."""
    if isinstance(value, dict) and (text := _only_text(value)):
        return text
    writer = _Lines()
    all_lines = writer.lines(value, 0)
    lines = list(islice(all_lines, _MOST_LINES))
    more = sum(1 for _ in all_lines)
    if writer.is_cut:
        lines.append(DATA_MORE_LINES_AND_CUT.format(more) if more else DATA_CUT)
    elif more:
        lines.append(DATA_MORE_LINES.format(more))
    return _BLANK_LINES.sub("\n\n", "\n".join(lines)).strip("\n")


def file_line(file: FileRef) -> str:
    """One line for a file, with a link if it has an address."""
    name = _one_line(file.name) or DATA_UNNAMED_FILE
    if file.url and _WEB.match(file.url):
        return f"[{name.replace('[', '(').replace(']', ')')}]({file.url})"
    kind = f" ({_one_line(file.mime_type)})" if file.mime_type else ""
    return DATA_FILE_NOT_SHOWN.format(name + kind)


class TextBeside:
    """The text next to some data, to find out whether it already contains the data."""

    def __init__(self, text: str) -> None:
        self._text = text if text.strip() else ""
        self._found: dict[str, bool] = {}
        self._left = _MOST_SOUGHT

    def contains(self, value: Any) -> bool:
        """Whether the text contains all of `value`. False too if the search would take too long."""
        return bool(self._text) and all(map(self._has, _leaves(value)))

    def _has(self, leaf: str) -> bool:
        is_there = self._found.get(leaf)
        if is_there is None and self._left > 0:
            at = self._text.find(leaf)
            self._left -= at if at >= 0 else len(self._text)
            is_there = self._found[leaf] = at >= 0
        return is_there is True


def beside(part: Part, text_beside: TextBeside) -> str:
    """The paragraph that a part without text adds to `text_beside`, or ""."""
    if part.file is not None:
        return file_line(part.file)
    if not part.has_data or is_machine_data(part):
        return ""
    return "" if text_beside.contains(part.data) else as_markdown(part.data)


def is_machine_data(part: Part) -> bool:
    """Whether the media type of the part says that it is for a program."""
    mime = part.metadata.get("mimeType") or part.metadata.get("mediaType")
    return isinstance(mime, str) and bool(_MACHINE_TYPES.match(mime))


def _only_text(value: Mapping[str, Any]) -> str:
    """The text of an object that has one text and otherwise only flags; else ""."""
    texts = [value[key] for key in _TEXT_KEYS if isinstance(value.get(key), str)]
    others = (each for key, each in value.items() if key not in _TEXT_KEYS)
    return texts[0] if len(texts) == 1 and all(isinstance(each, bool | None) for each in others) else ""


class _Lines:
    """Writes one value, line by line. `is_cut`: the value holds more than was read."""

    def __init__(self) -> None:
        self.is_cut = False
        self._left = _MOST_READ

    def lines(self, value: Any, depth: int, level: int = 0) -> Iterator[str]:
        """The lines of `value`.

        `depth`: the indentation; `level`: the nesting. A list in a list is not indented.
        """
        if depth > _DEEPEST or level > _DEEPEST_LEVEL:
            yield "  " * depth + "- …"
        elif isinstance(value, dict):
            for key, each in self._read(value.items()):
                if depth == 0 and isinstance(each, list) and (rows := self._rows(each)):
                    yield from ("", f"**{_title(key)}**", "", *self._table(rows), "")
                    continue
                yield from self._entry(f"**{_title(key)}**: ", each, depth, level)
        elif isinstance(value, list):
            if depth == 0 and (rows := self._rows(value)):
                yield from self._table(rows)
                return
            for each in self._read(value):
                yield from self._entry("", each, depth, level)
        elif (text := _scalar(value)) or depth:
            yield text

    def _entry(self, label: str, value: Any, depth: int, level: int) -> Iterator[str]:
        """One field or item: on the line of its label if it is short, else below it."""
        if isinstance(value, str) and value.strip()[:1] in ("{", "["):  # as the arguments of a tool call
            value = from_json(value) or value
        indent = "  " * depth
        head = f"{indent}- {label}"
        if isinstance(value, list) and value and all(map(_is_plain, value[:_MOST_IN_LINE])):
            texts = [_scalar(each) for each in self._read(value[:_MOST_IN_LINE])]
            more = len(value) - len(texts)
            yield head + ", ".join([*texts, *([DATA_MORE_ITEMS.format(more)] if more else [])])
        elif isinstance(value, dict | list) and value:
            if label:
                yield head.rstrip()
                yield from self.lines(value, depth + 1, level + 1)
            else:  # an item: the fields behind its first one are indented
                for number, line in enumerate(self.lines(value, depth, level + 1)):
                    yield f"  {line}" if number else line
        elif (text := _scalar(value)) != "" or label:
            yield head + f"\n{indent}  ".join((text or "–").split("\n"))

    def _rows(self, items: Sequence[Any]) -> Sequence[Mapping[str, Any]]:
        """`items` if they are rows of one table (objects with the same few plain fields), else []."""
        first = items[0] if items else None
        if not isinstance(first, dict) or len(items) < 2 or not 1 < len(first) <= _MOST_COLUMNS:
            return []
        for row in items[: self._left]:
            if not isinstance(row, dict) or row.keys() != first.keys():
                return []
            if not all(map(_is_plain, row.values())):
                return []
        return items

    def _table(self, rows: Sequence[Mapping[str, Any]]) -> Iterator[str]:
        yield _row([_title(key) for key in rows[0]])
        yield _row(["---"] * len(rows[0]))
        for row in self._read(rows):
            yield _row([_scalar(value) for value in row.values()])

    def _read(self, items: Iterable[T]) -> Iterator[T]:
        for each in items:
            if self._left <= 0:
                self.is_cut = True
                return
            self._left -= 1
            yield each


def from_json(text: str) -> Any:
    """The value in a text that is JSON; None if the text is not JSON."""
    try:
        return read_json(text)
    except (ValueError, RecursionError):
        return None


def _row(cells: Sequence[str]) -> str:
    return "| " + " | ".join(_one_line(cell).replace("|", "\\|") for cell in cells) + " |"


def _is_plain(value: Any) -> bool:
    return not isinstance(value, dict | list) and "\n" not in str(value)


def _scalar(value: Any) -> str:
    """The text of a single value, "" for objects and lists.

    Servers on protobuf send 1 as 1.0 (facts: A2A 1.4).
    """
    if value is None or isinstance(value, dict | list):
        return ""
    if isinstance(value, bool):
        return DATA_YES if value else DATA_NO
    if isinstance(value, float) and value.is_integer():
        return f"{value:.0f}"
    return str(value)


def _leaves(value: Any) -> Iterator[str]:
    """All single values inside `value`, in any order.

    Without recursion: JSON may be nested deeper than calls may.
    """
    pending = [value]
    while pending:
        each = pending.pop()
        if isinstance(each, dict | list):
            pending.extend(each.values() if isinstance(each, dict) else each)
        elif text := _scalar(each):
            yield text


def _title(key: object) -> str:
    """`ticket_id` as "ticket id"."""
    return _one_line(str(key).replace("_", " "))


def _one_line(text: str) -> str:
    return " ".join(text.split())
