"""Where a growing Markdown text may be cut, and what is open at a cut.

Slack re-parses a streamed message with every append, so a cut is ugly only until the rest comes. Two kinds of
ugliness count: an open mark shows as stars and brackets, and a table's header row without its separator row
is a line of bars. Text waits for their end, but only for marks that begin in the new text, and never once its
line is whole (delivery.md 3).

Lines are classified one at a time. Every function reads its text once.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from enum import IntEnum

from .inline_marks import CutPlace, InlineMarks

_FENCE = re.compile(
    r"(?P<lead>[ \t]*(?:>[ \t]*)*(?:(?:[-*+]|\d{1,9}[.)])[ \t]+)?)(?P<run>`{3,}|~{3,})(?P<info>.*)"
)
_FENCE_END = re.compile(r"[ \t>]*(?P<run>`{3,}|~{3,})[ \t]*")
_BLOCK = re.compile(r"[ \t]*(?:#{1,6}(?:[ \t]|$)|>|(?:[-*+]|\d{1,9}[.)])(?:[ \t]|$))")
_HEADING = re.compile(r"[ \t]*#{1,6}(?:[ \t]|$)")
BAR = re.compile(r"(?<!\\)\|")
RULE_SIGNS = frozenset("|-: \t")
_RULE = re.compile(r":?-+:?")
_LONE = re.compile(r"[#*|>_~`=:+-]+")
_NUMBER = re.compile(r"\d{1,9}[.)]")
_SENTENCE = re.compile(r".*[.!?…;:。！？；：][\"'”’»)\]*_`」』）]*")
_LONG_LINE = 300  # characters of an unfinished line that are read again for each cut
_LONG_ROW = 4_000  # the same, where it may be a table's row
_LOOK_AHEAD = 400  # characters behind a limit that may decide about a cut before it: a table's separator row


@dataclass(frozen=True, slots=True)
class OpenMarks:
    """What is open at the end of a text.

    `lead`, `fence` and `info` are the parts of a fence's first line; `emphasis` the runs, outermost first;
    `code` the backticks of a code span; `header` a line that is a table's header row if a separator row
    follows; `table` the header and separator rows of the present table, each with its line end.
    """

    lead: str = ""
    fence: str = ""
    info: str = ""
    emphasis: tuple[str, ...] = ()
    code: str = ""
    header: str = ""
    table: str = ""

    @property
    def inline(self) -> tuple[str, ...]:
        """Emphasis and code span, outermost first."""
        return (*self.emphasis, self.code) if self.code else self.emphasis


_NOTHING = OpenMarks()


@dataclass(frozen=True, slots=True)
class MarkdownState:
    """What of a message decides about its next cut: what is `open` before its last, unfinished `line`."""

    open: OpenMarks = OpenMarks()
    line: str = ""

    def then(self, text: str) -> MarkdownState:
        """The message with `text` behind it. Of a very long line, only what is open in it is kept."""
        *lines, last = (self.line + text).split("\n")
        state = self.open
        for line in lines:
            state = _after(state, line)
        if len(last) > (_LONG_ROW if "|" in last else _LONG_LINE):
            return MarkdownState(_within(state, last), "x")
        return MarkdownState(state, last)

    @property
    def at_end(self) -> OpenMarks:
        """What is open where the message ends."""
        if not self.line:
            return self.open
        is_fence = self.open.fence or _fence(self.line)
        return _after(self.open, self.line) if is_fence else _within(self.open, self.line)


class CutQuality(IntEnum):
    """How good a place is for the border between two messages."""

    WORD = 0
    SENTENCE = 1
    ROW = 2  # a line's end within a fence, a table or emphasis, or behind a heading
    LINE = 3
    PARAGRAPH = 4


@dataclass(frozen=True, slots=True)
class Cut:
    """A place `at` which a text may be cut: how good it is, and what is against it."""

    at: int
    rank: CutQuality
    waits: bool = False  # a lone marker would end the text, or a header row without its separator row
    inside: bool = False  # a mark that begins in the new text is open


@dataclass(frozen=True, slots=True)
class Cuts:
    """The largest indexes up to a limit at which a text may be cut; 0 where there is none.

    `line`: behind a line end. `safe`: between words where nothing of the new text is open. `word`: between
    words. None is behind a lone marker or a header row; in a code fence, all between words are safe.
    """

    line: int = 0
    safe: int = 0
    word: int = 0


def find_cuts(text: str, limit: int, before: MarkdownState, *, words: bool = True) -> Cuts:
    """The cuts of `text` in a message with the state `before`. Without `words`, only `line` is right."""
    line = safe = word = 0
    for cut in cuts_up_to(text, limit, before, words=words):
        if cut.waits:
            continue
        word = cut.at
        if cut.rank >= CutQuality.ROW:
            line = cut.at
        if not cut.inside:
            safe = cut.at
    return Cuts(line, safe, word)


def cuts_up_to(text: str, limit: int, before: MarkdownState, *, words: bool = True) -> Iterator[Cut]:
    """The cuts of `text` in order, those above 0 and not above `limit`. `words`: not only line ends."""
    last = min(limit, len(text))
    for cut in _cuts(before, text[: last + _LOOK_AHEAD], words):
        if cut.at > last:
            return
        if cut.at > 0:
            yield cut


def _cuts(before: MarkdownState, text: str, words: bool) -> Iterator[Cut]:
    """Every cut of `text`. Those of a possible header row come when the row below it is known."""
    *lines, last = (before.line + text).split("\n")
    state, offset = before.open, -len(before.line)
    header: list[Cut] = []
    for line in lines:
        after = _after(state, line)
        cuts = list(_line_cuts(state, line, offset)) if words else []
        cuts.append(Cut(offset + len(line) + 1, _end_rank(after, line)))
        rules = state.header and is_rule(state.header, line)
        if header and not rules:
            yield from header
        header = cuts if after.header and offset >= 0 else []
        if not header:
            yield from cuts[-1:] if rules else cuts
        state, offset = after, offset + len(line) + 1
    if header and RULE_SIGNS.issuperset(last):
        yield from (replace(cut, waits=True) for cut in header)
        return
    yield from header
    bar = None if offset < 0 or state.fence or state.table else BAR.search(last)
    for cut in _line_cuts(state, last, offset) if words else ():
        yield cut if bar is None or cut.at <= offset + bar.start() else replace(cut, waits=True)


def _line_cuts(state: OpenMarks, line: str, offset: int) -> Iterator[Cut]:
    if state.fence:
        yield from (Cut(offset + place.at, CutQuality.WORD) for place in InlineMarks().places(line))
    elif line and not line.lstrip(" \t>").startswith(("```", "~~~")):
        marks = InlineMarks(_inherited(state, line))
        yield from (_word_cut(place, offset) for place in marks.places(line))


def _word_cut(place: CutPlace, offset: int) -> Cut:
    rank = CutQuality.SENTENCE if _SENTENCE.fullmatch(place.token) else CutQuality.WORD
    lone = _LONE.fullmatch(place.token) or (place.leads and _NUMBER.fullmatch(place.token))
    return Cut(offset + place.at, rank, waits=bool(lone), inside=place.mark >= max(0, -offset))


def _end_rank(after: OpenMarks, line: str) -> CutQuality:
    """How good the end of `line` is, with `after` open there."""
    if after.fence or after.table or after.inline or _HEADING.match(line):
        return CutQuality.ROW
    return CutQuality.LINE if line.strip() else CutQuality.PARAGRAPH


def _after(state: OpenMarks, line: str) -> OpenMarks:
    """What is open after the whole `line`, given without its line end."""
    if state.fence:
        end = _FENCE_END.fullmatch(line)
        return _NOTHING if end and end["run"].startswith(state.fence) else state
    if not line.strip() or _HEADING.match(line):
        return _NOTHING
    if fence := _fence(line):
        return OpenMarks(fence["lead"], fence["run"], fence["info"])
    if state.header and is_rule(state.header, line):
        return OpenMarks(table=f"{state.header}{line}\n")
    if state.table and not _BLOCK.match(line):
        return state
    return _read(state, line, f"{line}\n" if BAR.search(line) else "")


def _within(state: OpenMarks, line: str) -> OpenMarks:
    """What is open at the end of the unfinished `line`."""
    return state if state.fence or state.table else _read(state, line)


def _read(state: OpenMarks, line: str, header: str = "") -> OpenMarks:
    marks = InlineMarks(_inherited(state, line)).read(line)
    return OpenMarks(emphasis=marks.runs("*_~"), code="".join(marks.runs("`")), header=header)


def _inherited(state: OpenMarks, line: str) -> tuple[str, ...]:
    """The marks that earlier lines left open and that go on in `line`."""
    return () if state.table or _BLOCK.match(line) else state.inline


def is_rule(header: str, line: str) -> bool:
    """`line` is the separator row that makes `header` a table's header row."""
    cells = _cells(line)
    return len(cells) == len(_cells(header)) and all(_RULE.fullmatch(cell.strip()) for cell in cells)


def _cells(row: str) -> list[str]:
    cells = BAR.split(row.strip().removeprefix("|"))
    return cells[:-1] if len(cells) > 1 and not cells[-1].strip() else cells


def _fence(line: str) -> re.Match[str] | None:
    """`line` begins a fence; three backticks with more of them in the line are a code span."""
    found = _FENCE.fullmatch(line)
    return found if found and (found["run"][0] == "~" or "`" not in found["info"]) else None
