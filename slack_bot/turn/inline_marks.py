"""Which marks are open within a line of Markdown (emphasis, code spans, links), and where its words end.

Its rules are looser than CommonMark's: a star next to a letter closes if it can, else it opens. A mark
wrongly taken for open costs a pause, the opposite error shows stars.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeAlias

from .graphemes import inside_cluster

_TOKEN = re.compile(
    r"(?P<space>\s+)"
    r"|(?P<mark>`+|\*+|_+|~+|\[|\]\(?|\(|\)|<(?=https?://|mailto:)|>)"
    r"|\\[!-/:-@\[-`{-~]"
    r"|(?P<word>[^\s`*_~\[\]()<>\\]+)"
    r"|."
)
# scripts written without spaces: Thai, Lao, Tibetan, Myanmar, Khmer, CJK punctuation, kana, Han, full width
_SPACELESS = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3000-\u30ff\u3400-\u9fff\uf900-\ufaff\uff00-\uffef]"
)
_ENDS_SENTENCE = ".!?…"  # behind these a text may be shown before the white space that follows has come
_MOST_OPEN = 100  # marks; the outermost of more were not meant, and all would be carried from line to line
_TOKEN_TAIL = 40  # of a long word, only its end can be a marker or end a sentence


CutPlace: TypeAlias = tuple[int, int, str, bool]
"""A border between words: where; the index of the innermost open mark, -1: none of this line is open; the
word before, and whether that leads the line."""


@dataclass(slots=True)
class _Mark:
    char: str
    count: int
    at: int


class InlineMarks:
    """The marks open in a line. `opened` is what earlier lines left open."""

    def __init__(self, opened: tuple[str, ...] = ()) -> None:
        self._stack = [_Mark(run[0], len(run), -1) for run in opened]

    def runs(self, chars: str) -> tuple[str, ...]:
        return tuple(mark.char * mark.count for mark in self._stack if mark.char in chars)

    def read(self, line: str) -> InlineMarks:
        for found in _TOKEN.finditer(line):
            if found.lastgroup == "mark":
                self._read(found.group(), line, *found.span())
        return self

    def places(self, line: str) -> Iterator[CutPlace]:
        word, leads = 0, True
        for found in _TOKEN.finditer(line):
            start, end = found.span()
            if found.lastgroup == "mark":
                self._read(found.group(), line, start, end)
            elif found.lastgroup == "word":
                borders = (char.end() for char in _SPACELESS.finditer(line, start, end))
                yield from (self._place(at, line[at - 1]) for at in borders if not inside_cluster(line, at))
            elif found.lastgroup == "space":
                token = line[max(word, start - _TOKEN_TAIL) : start]
                if not inside_cluster(line, end):
                    yield self._place(end, token, leads=leads)
                word, leads = end, leads and not token
        if word < len(line) and line[-1] in _ENDS_SENTENCE and not self._stack and not leads:
            yield self._place(len(line), line[max(word, len(line) - _TOKEN_TAIL) :])

    def _place(self, at: int, token: str, *, leads: bool = False) -> CutPlace:
        return at, self._stack[-1].at if self._stack else -1, token, leads

    def _read(self, run: str, line: str, start: int, end: int) -> None:
        stack = self._stack
        match stack[-1].char if stack else "", run[0]:
            case "`", char:
                if char == "`" and len(run) == stack[-1].count:
                    stack.pop()
            case "<", char:
                if char == ">":
                    stack.pop()
            case "(", _:
                self._read_address(run, start)
            case _, "`" | "[" | "<":
                self._push(run[0], len(run), start)
            case _, "]" if self._is_open("["):
                began = self._back_to("[")
                stack.pop()
                if run.endswith("("):
                    self._push("(", 1, began.at)
            case _, "*" | "_" | "~" if run[0] != "~" or len(run) == 2:
                self._read_emphasis(run, line[start - 1 : start], line[end : end + 1], start)

    def _read_address(self, run: str, start: int) -> None:
        """Within `](...)` only parentheses count: addresses are full of underscores."""
        if run.endswith("("):
            self._push("(", 1, start)
        elif run == ")":
            self._stack.pop()

    def _read_emphasis(self, run: str, before: str, after: str, start: int) -> None:
        char, left = run[0], len(run)
        if char == "_" and before.isalnum() and after.isalnum():
            return
        while left and before.strip() and self._is_open(char):
            mark = self._back_to(char)
            used = min(left, mark.count)
            left -= used
            mark.count -= used
            if not mark.count:
                self._stack.pop()
        if left and after.strip():
            self._push(char, left, start)

    def _push(self, char: str, count: int, at: int) -> None:
        if len(self._stack) >= _MOST_OPEN:
            self._stack.pop(0)
        self._stack.append(_Mark(char, count, at))

    def _is_open(self, char: str) -> bool:
        return any(mark.char == char for mark in self._stack)

    def _back_to(self, char: str) -> _Mark:
        while self._stack[-1].char != char:
            self._stack.pop()
        return self._stack[-1]
