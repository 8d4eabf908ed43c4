"""PURE. Server-sent events cut out of bytes as they come, for a capture: nothing repaired, nothing dropped.

The bot's own reader repairs what it can and refuses the rest. A capture must show what was sent, so here each
byte stands in exactly one piece, and comments come out as soon as their line is whole: they are the pulse of
a silent server.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

_LINE_END = re.compile(rb"\r\n|\n|\r")
_BOM = b"\xef\xbb\xbf"


@dataclass(frozen=True, slots=True)
class SseBlock:
    """One event, one comment, or one blank line that ends neither.

    `raw` is its bytes with their line ends. `data` is None where it has none; `name` is the event's, "" for
    the usual one. `whole` is false for bytes that no blank line ended.
    """

    raw: bytes
    data: str | None = None
    name: str = ""
    comments: tuple[str, ...] = ()
    whole: bool = True


class SseSplitter:
    """Feed it bytes; it gives the pieces that became whole. An event of more than `limit` bytes is cut."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._held = b""  # the bytes of lines that are not whole yet
        self._scanned = 0
        self._lines: list[bytes] = []  # whole lines of an event that is not, with their ends
        self._size = 0
        self._first = True

    def feed(self, chunk: bytes) -> list[SseBlock]:
        """The pieces that `chunk` completes."""
        self._held += chunk
        found = [piece for line in self._whole_lines() for piece in self._take(line)]
        if self._size + len(self._held) > self._limit:
            found += self.end()
        return found

    def end(self) -> list[SseBlock]:
        """What is left when nothing more comes."""
        raw = b"".join(self._lines) + self._held
        self._lines, self._held, self._scanned, self._size = [], b"", 0, 0
        if not raw:
            return []
        data = _data(_LINE_END.split(raw))
        return [SseBlock(raw, data[1], data[0], whole=False)]

    def _whole_lines(self) -> Iterator[bytes]:
        start = 0
        while (end := _LINE_END.search(self._held, max(start, self._scanned))) is not None:
            if end.group() == b"\r" and end.end() == len(self._held):
                break  # its newline may be on its way
            yield self._held[start : end.end()]
            start = end.end()
        self._held = self._held[start:]
        self._scanned = max(0, len(self._held) - 1)

    def _take(self, line: bytes) -> Iterator[SseBlock]:
        text = line.rstrip(b"\r\n")
        if self._first:
            text, self._first = text.removeprefix(_BOM), False
        if not text:
            lines, self._lines, self._size = self._lines, [], 0
            yield _event([*lines, line]) if lines else SseBlock(line)
        elif text.startswith(b":") and not self._lines:
            yield SseBlock(line, comments=(_comment(text),))
        else:
            self._lines.append(line)
            self._size += len(line)


def _event(lines: list[bytes]) -> SseBlock:
    texts = [line.rstrip(b"\r\n").removeprefix(_BOM) for line in lines]
    name, data = _data(texts)
    comments = tuple(_comment(text) for text in texts if text.startswith(b":"))
    return SseBlock(b"".join(lines), data, name, comments)


def _data(lines: list[bytes]) -> tuple[str, str | None]:
    """The name and the data of an event's lines."""
    name, data = "", list[str]()
    for line in lines:
        field, _, value = line.removeprefix(_BOM).partition(b":")
        text = value.removeprefix(b" ").decode("utf-8", "replace")
        if field == b"data":
            data.append(text)
        elif field == b"event":
            name = text
    return name, "\n".join(data) if data else None


def _comment(line: bytes) -> str:
    return line[1:].removeprefix(b" ").decode("utf-8", "replace")
