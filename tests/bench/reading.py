"""PURE. The judge of texts: do a thread's messages, read one after another, say what the agent wrote, once?

It knows nothing of how the bot cuts an answer, only what a cut may add to be readable: a fence closed and
opened again, a table's header repeated (and empty cells where a row is cut), emphasis closed and opened
again, a quote's mark repeated, empty list items above an indented line. Apart from these and white space at
the cuts, every character must stand there, once, in its order, and within the same kind of thing (a line of
code, a table's row, ordinary text) as in the answer.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

Kind = Literal["lost", "doubled", "wrong"]

_FENCE = re.compile(
    r"(?P<quote>[ \t]*(?:>[ \t]*)*)(?P<item>(?:(?:[-*+]|\d{1,9}[.)])[ \t]+)*)(?P<run>`{3,}|~{3,})(?P<info>.*)"
)
_FENCE_END = re.compile(r"[ \t>]*(?P<run>`{3,}|~{3,})[ \t]*")
_RULE = re.compile(r"[ \t>]*\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*\|?[ \t]*")
_BAR = re.compile(r"(?<!\\)\|")
_QUOTED = re.compile(r"[ \t]*>")
_HEADING = re.compile(r"[ \t]*#{1,6}(?:[ \t]|$)")
_BELOW_A_TABLE = re.compile(r"[ \t]*(?:$|#{1,6}(?:[ \t]|$)|>|(?:[-*+]|\d{1,9}[.)])(?:[ \t]|$))")
_MARKS = frozenset("*_~`")
_MOST_MARKS = 24
_REACH = 2_000
_JOINER = "\u2060"  # nobody sees it
_TEXT, _ROW, _LAZY, _FIRST_CODE = "t", "r", "l", 0x100
_LIKE = frozenset({_LAZY + _TEXT, _LAZY + _ROW, _ROW + _LAZY})
"""A line without bars right below a table's rows is a row to some, and text to others."""
_PROBE = 24


@dataclass(frozen=True, slots=True)
class Finding:
    """What is wrong, in the message with this index (or behind the last), and what stands there instead."""

    kind: Kind
    message: int
    why: str
    expected: str
    found: str

    def __str__(self) -> str:
        instead = f"expected {self.expected!r}, found {self.found!r}"
        return f"{self.kind} in message {self.message}: {self.why}; {instead}"


@dataclass(slots=True)
class Page:
    """A text as it is read: its visible characters, and for each where it stands and the space before it.

    Lines that only open or close a fence are not ink. `tables` are (first of the header, first behind the
    separator, end) as indexes into `ink`; `quotes` the ink's indexes that stand in quoted lines. `is_open`:
    it ends within a fence.
    """

    ink: str = ""
    place: str = ""
    gaps: list[str] = field(default_factory=list)
    tables: list[tuple[int, int, int]] = field(default_factory=list)
    quotes: set[int] = field(default_factory=set)
    is_open: bool = False


class Reader:
    """Reads pages with one numbering of languages, so that their places can be compared."""

    def __init__(self) -> None:
        self._languages: dict[str, str] = {}

    def read(self, text: str) -> Page:
        """The page of `text`."""
        return _Reading(self, text.split("\n")).page()

    def code(self, language: str) -> str:
        """The place of a line of code in `language`."""
        return self._languages.setdefault(language, chr(_FIRST_CODE + len(self._languages)))


class _Reading:
    """One text being read, line by line."""

    def __init__(self, reader: Reader, lines: list[str]) -> None:
        self._reader, self._lines = reader, lines
        self._page = Page()
        self._ink: list[str] = []
        self._place: list[str] = []
        self._gap = ""
        self._fence = ""
        self._code = ""
        self._table: tuple[int, int] | None = None

    def page(self) -> Page:
        for number, line in enumerate(self._lines):
            if number:
                self._gap += "\n"
            self._line(line, self._lines[number + 1] if number + 1 < len(self._lines) else "")
        self._end_table()
        page = self._page
        page.ink, page.place, page.is_open = "".join(self._ink), "".join(self._place), bool(self._fence)
        return page

    def _line(self, line: str, following: str) -> None:
        if self._fence:
            self._line_of_code(line)
        elif (opening := _FENCE.fullmatch(line)) and not _is_span(opening):
            self._end_table()
            self._add(opening["item"], _TEXT)
            self._fence, self._gap = opening["run"], "\n"
            self._code = self._reader.code(opening["info"].strip())
        else:
            self._line_of_text(line, following)

    def _line_of_code(self, line: str) -> None:
        ending = _FENCE_END.fullmatch(line)
        if ending and ending["run"][0] == self._fence[0] and len(ending["run"]) >= len(self._fence):
            self._fence, self._gap = "", "\n"
        else:
            self._add(line, self._code)

    def _line_of_text(self, line: str, following: str) -> None:
        if self._table is not None and "|" not in line and _BELOW_A_TABLE.match(line):
            self._end_table()
        may_rule = "|" in line and not _HEADING.match(line)
        if self._table is None and may_rule and "|" in following and _rules(line, following):
            self._table = (len(self._ink), 0)
        begun = len(self._ink)
        self._add(line, _TEXT if self._table is None else _ROW if "|" in line else _LAZY)
        if self._table is not None and not self._table[1] and begun > self._table[0]:
            self._table = (self._table[0], len(self._ink))
        if _QUOTED.match(line):
            self._page.quotes.update(range(begun, len(self._ink)))

    def _end_table(self) -> None:
        if self._table is not None:
            self._page.tables.append((*self._table, len(self._ink)))
            self._table = None

    def _add(self, text: str, place: str) -> None:
        for char in text:
            if char.isspace():
                self._gap += char
            elif char == _JOINER:
                continue
            else:
                self._ink.append(char)
                self._place.append(place)
                self._page.gaps.append(self._gap)
                self._gap = ""


def _rules(header: str, row: str) -> bool:
    """`row` makes `header` a table's: it has as many cells (GFM 4.10)."""
    return _RULE.fullmatch(row) is not None and _cells(row) == _cells(header)


def _cells(row: str) -> int:
    bare = row.strip(" \t>")
    return len(_BAR.findall(bare.removeprefix("|"))) + (not bare.endswith("|") or bare.endswith("\\|"))


def _is_span(opening: re.Match[str]) -> bool:
    return opening["run"][0] == "`" and "`" in opening["info"]


def compare(
    answer: str, messages: Sequence[str], *, whole: bool = True, closed: bool = True
) -> Finding | None:
    """What is wrong with `messages` as a reading of `answer`; None: nothing.

    `whole` False: they may end before the answer does. `closed` False: a message that Slack ended may end
    within a fence, which reads as code all the same.
    """
    reader = Reader()
    comparison = _Comparison(reader.read(answer), whole=whole, closed=closed)
    return comparison.run([reader.read(text) for text in messages])


def reads_as(messages: Sequence[str], answer: str) -> bool:
    """The messages show `answer`, all of it, once."""
    return compare(answer, messages, closed=False) is None


class _Comparison:
    def __init__(self, answer: Page, *, whole: bool, closed: bool) -> None:
        self._answer, self._whole, self._closed = answer, whole, closed
        self._at = 0
        self._torn: list[tuple[int, int, int]] = []  # tables from where their header row was cut in two

    def run(self, pages: Sequence[Page]) -> Finding | None:
        answer, whole = self._answer, self._whole
        for number, page in enumerate(pages):
            is_last = number == len(pages) - 1
            if (finding := self._take(number, page, is_last)) is not None:
                return finding
            if page.is_open and self._closed and not (is_last and (answer.is_open or not whole)):
                return Finding("wrong", number, "a fence is not closed at its end", "", page.ink[-_PROBE:])
        if whole and self._at < len(answer.ink):
            rest = answer.ink[self._at :]
            return Finding("lost", len(pages), f"the last {len(rest)} characters are missing", rest[:60], "")
        return None

    def _take(self, number: int, page: Page, is_last: bool) -> Finding | None:
        fits = [(skip, self._common(page, skip)) for skip in self._openers(page)]
        most = max(sum(each) for each in fits)
        findings = [self._read(number, page, *each, is_last=is_last) for each in fits if sum(each) == most]
        finding = None if None in findings else findings[0]
        best = [each for each in fits if sum(each) == most][findings.index(finding)]
        self._go_on(*best)
        return finding

    def _read(self, number: int, page: Page, skip: int, length: int, *, is_last: bool) -> Finding | None:
        """What is wrong with a page whose first `skip` characters were added; the next `length` match."""
        left = page.ink[skip + length :]
        if left and not self._closes(left, self._at + length, is_last=is_last):
            return self._differs(number, page, skip + length, self._at + length)
        return self._shape(number, page, skip, self._at, length)

    def _go_on(self, skip: int, length: int) -> None:
        self._torn += self._tears(skip, length)
        self._at += length

    def _tears(self, skip: int, length: int) -> list[tuple[int, int, int]]:
        """The table whose header row goes on, without its beginning, where this page begins."""
        at = self._at
        if skip or not length or "\n" in self._answer.gaps[at]:
            return []
        return [(at, *table[1:]) for table in self._answer.tables if table[0] < at < table[1]]

    def _closes(self, left: str, at: int, *, is_last: bool) -> bool:
        """Whether `left`, at the end of a page, may close what is open in the answer at `at`."""
        return _is_marks(left) and (not is_last or left[:1] in self._answer.ink[max(0, at - _REACH) : at])

    def _openers(self, page: Page) -> list[int]:
        """How many characters at the front of a page may be there because of the cut before it."""
        at, answer = self._at, self._answer
        skips = [0]
        if at == 0:
            return skips
        for start, body, end in (*answer.tables, *self._torn):
            header = answer.ink[start:body]
            if body <= at < end and page.ink.startswith(header):
                skips.append(len(header))
            if start < at <= body and page.ink.startswith(answer.ink[start:at]):
                skips.append(at - start)
        for base in tuple(skips):
            mays = _MARKS | ({"|"} if base else set()) | ({">"} if at in answer.quotes else set())
            mays |= {"-"} if _indented(answer.gaps[at : at + 1]) else set()
            behind = range(base, min(base + _MOST_MARKS, len(page.ink)))
            skips += range(base + 1, next((n for n in behind if page.ink[n] not in mays), behind.stop) + 1)
        return skips

    def _common(self, page: Page, skip: int) -> int:
        """How many characters of the page from `skip` on are the answer's next ones."""
        ink, at, low, high = self._answer.ink, self._at, 0, len(page.ink) - skip
        if ink.startswith(page.ink[skip:], at):
            return high
        while low < high:
            middle = (low + high + 1) // 2
            if ink.startswith(page.ink[skip : skip + middle], at):
                low = middle
            else:
                high = middle - 1
        return low

    def _differs(self, number: int, page: Page, here: int, at: int) -> Finding:
        ink = self._answer.ink
        found, expected = page.ink[here : here + 60], ink[at : at + 60]
        probe = found[:_PROBE]
        if len(probe) == _PROBE and ink.find(probe, at) >= 0:
            return Finding("lost", number, "something is skipped", expected, found)
        if ink.find(probe, 0, at + len(probe) - 1) >= 0:
            return Finding("doubled", number, "it was read before", expected, found)
        return Finding("wrong", number, "this is not in the answer", expected, found)

    def _shape(self, number: int, page: Page, skip: int, at: int, length: int) -> Finding | None:
        """The same characters: do they stand in the same places, with the same space between them?"""
        answer = self._answer
        headless = self._headless(skip, at, length)
        for here in range(length):
            one, other = answer.place[at + here], page.place[skip + here]
            excused = one == _ROW and other == _TEXT and any(at + here in each for each in headless)
            if one != other and one + other not in _LIKE and not excused:
                return self._misplaced(number, page, skip + here, at + here)
        gaps = (answer.gaps[at + 1 : at + length], page.gaps[skip + 1 : skip + length])
        if gaps[0] != gaps[1]:
            here = next(n for n, (one, other) in enumerate(zip(*gaps, strict=True)) if one != other) + 1
            around = slice(skip + here, skip + here + _PROBE)
            why = f"the space before {page.ink[around]!r} differs"
            return Finding("wrong", number, why, answer.gaps[at + here], page.gaps[skip + here])
        return self._indent(number, page, skip, at) if length else None

    def _headless(self, skip: int, at: int, length: int) -> list[range]:
        """Where rows read as text: a header row is one only with its separator row under it, both whole."""
        torn = [*self._torn, *self._tears(skip, length)]
        cut = [range(start, body) for start, body, _ in self._answer.tables if start < at + length < body]
        return [*cut, *(range(start, end) for start, _, end in torn)]

    def _misplaced(self, number: int, page: Page, here: int, at: int) -> Finding:
        names = {_TEXT: "text", _ROW: "a row", _LAZY: "a row without bars"}
        one, other = self._answer.place[at], page.place[here]
        why = f"{page.ink[here : here + _PROBE]!r} stands in another place"
        return Finding("wrong", number, why, names.get(one, "code"), names.get(other, "other code"))

    def _indent(self, number: int, page: Page, skip: int, at: int) -> Finding | None:
        """A line of code keeps its indentation over a cut."""
        expected, found = self._answer.gaps[at], page.gaps[skip]
        if at == 0 or ord(page.place[skip]) < _FIRST_CODE or "\n" not in expected:
            return None
        if expected.rpartition("\n")[2] == found.rpartition("\n")[2]:
            return None
        return Finding("wrong", number, "a line of code lost its indentation at the cut", expected, found)


def _indented(gaps: Sequence[str]) -> bool:
    """A new line follows that is indented: empty list items may stand above it, to hold its indentation."""
    return any("\n  " in gap for gap in gaps)


def _is_marks(text: str) -> bool:
    return len(text) <= _MOST_MARKS and all(char in _MARKS for char in text)
