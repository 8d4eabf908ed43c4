"""Where a growing Markdown text may be cut, and what is open at a cut.

Slack re-parses a streamed message with every append, so a cut is ugly only until the rest comes. Two kinds of
ugliness count: an open mark shows as stars and brackets, and a table's header row without its separator row
is a line of bars. Text waits for their end.

Only for what begins in the new text: waiting would not remove what is shown already, and whole lines never
wait (delivery.md 3). `MarkdownState` is what of a message decides about its next cut.

Lines are classified one at a time: fences, tables, blank lines, and lines that begin a block. Every function
reads its text once.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from enum import IntEnum

from .graphemes import cluster_cut
from .inline_marks import CutPlace, InlineMarks

_FENCE = re.compile(
    r"(?P<lead>[ \t]*(?:>[ \t]*)*(?:(?:[-*+]|\d{1,9}[.)])[ \t]+)?)(?P<run>`{3,}|~{3,})(?P<info>.*)"
)
_FENCE_END = re.compile(r"[ \t>]*(?P<run>`{3,}|~{3,})[ \t]*")
_BLOCK = re.compile(r"[ \t]*(?:#{1,6}(?:[ \t]|$)|>|(?:[-*+]|\d{1,9}[.)])(?:[ \t]|$))")
_HEADING = re.compile(r"[ \t]*#{1,6}(?:[ \t]|$)")
_BAR = re.compile(r"(?<!\\)\|")
_RULE = re.compile(r":?-+:?")
_LONE = re.compile(r"[#*|>_~`=:+-]+")
_NUMBER = re.compile(r"\d{1,9}[.)]")
_SENTENCE = re.compile(r".*[.!?…;:。！？；：][\"'”’»)\]*_`」』）]*")
_RULE_SIGNS = frozenset("|-: \t")
_LONG_LINE = 300  # characters of an unfinished line that are read again for each cut
_LONG_ROW = 4_000  # the same, where it may be a table's row
_LOOK_AHEAD = 400  # characters behind a limit that may decide about a cut before it: a table's separator row


@dataclass(frozen=True, slots=True)
class OpenMarks:
    """What is open at the end of a text.

    `fence` is the fence's opening line up to its info string `info`; `emphasis` the open runs, outermost
    first; `code` the backticks of an open code span; `header` a line that is a table's header row if a
    separator row follows; `table` the header and separator rows of the present table, each with its line end.
    """

    fence: str = ""
    info: str = ""
    emphasis: tuple[str, ...] = ()
    code: str = ""
    header: str = ""
    table: str = ""


_NOTHING = OpenMarks()


@dataclass(frozen=True, slots=True)
class MarkdownState:
    """A message so far: what is `open` where its last line begins, and that unfinished `line`."""

    open: OpenMarks = OpenMarks()
    line: str = ""

    def then(self, text: str) -> MarkdownState:
        """The message after `text` was added to it."""
        lines = (self.line + text).split("\n")
        state = self.open
        for line in lines[:-1]:
            state = _after(state, line)
        return MarkdownState(state, lines[-1])._shortened()

    def _shortened(self) -> MarkdownState:
        """Of a line too long to be read again and again, keep what is open in it, and one letter."""
        size = len(self.line)
        if size <= _LONG_LINE or (size <= _LONG_ROW and "|" in self.line):
            return self
        return MarkdownState(_within(self.open, self.line), "x")


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

    `line`: after a line end. `safe`: where it may be cut when it is shown live. `word`: between words,
    whatever is open there.

    A safe cut is never within a word, a code span, emphasis, a link or an entity, and never so that a lone
    `#`, `*`, `|` or list marker ends what is shown. A table's header row waits for its separator row. Within
    a code fence every border between words is safe.
    """

    line: int = 0
    safe: int = 0
    word: int = 0


def find_cuts(text: str, limit: int | None = None, *, before: str | MarkdownState = "") -> Cuts:
    """All three cuts of `text`. `before` is what the message shows already."""
    line = safe = word = 0
    for cut in cuts_up_to(text, limit, before):
        if cut.waits:
            continue
        word = cut.at
        if cut.rank >= CutQuality.ROW:
            line = cut.at
        if not cut.inside:
            safe = cut.at
    return Cuts(line, safe, word)


def line_cut(text: str, limit: int, before: MarkdownState) -> int:
    """`find_cuts(text, limit, before=before).line`, without a look at words."""
    last = min(limit, len(text))
    lines = (before.line + text[: last + _LOOK_AHEAD]).split("\n")
    state, at, found, header = before.open, -len(before.line), 0, 0
    for line in lines[:-1]:
        after, begins = _after(state, line), at
        at += len(line) + 1
        rules = bool(state.header) and is_rule(state.header, line)
        if 0 < header <= last and not rules:
            found = header
        header = at if after.header and begins >= 0 else 0
        if not header and at <= last:
            found = at
        state = after
    if 0 < header <= last and not set(lines[-1]) <= _RULE_SIGNS:
        found = header
    return found


def best_cut(text: str, limit: int, *, before: str | MarkdownState = "") -> int:
    """Where to end a message that takes `limit` (> 0) characters: never 0 unless `text` is empty.

    In the last quarter a blank line is better than a line end, that than a sentence's end, and that than a
    word's. Failing that, the last border between words; failing that, `limit` less a cluster it would cut.
    """
    if len(text) <= limit:
        return len(text)
    near = limit - limit // 4
    best: dict[CutQuality, int] = {}
    word = 0
    for cut in cuts_up_to(text, limit, before):
        if not cut.waits:
            word = cut.at
        if not cut.waits and not (cut.inside and cut.rank < CutQuality.ROW):
            best[cut.rank] = cut.at
    for rank in sorted(best, reverse=True):
        if best[rank] >= near:
            return best[rank]
    return max(best.values(), default=word) or cluster_cut(text, limit)


def open_at_end(text: str, *, before: str | MarkdownState = "") -> OpenMarks:
    """What is open where `text` ends."""
    state = _state(before).then(text)
    is_open, line = state.open, state.line
    if not line:
        return is_open
    return _after(is_open, line) if is_open.fence or _fence(line) else _within(is_open, line)


def _state(before: str | MarkdownState) -> MarkdownState:
    return MarkdownState().then(before) if isinstance(before, str) else before


def cuts_up_to(text: str, limit: int | None, before: str | MarkdownState) -> Iterator[Cut]:
    """The cuts of `text` in order, those above 0 and not above `limit`."""
    last = len(text) if limit is None else min(limit, len(text))
    for cut in _cuts(_state(before), text[: last + _LOOK_AHEAD]):
        if cut.at > last:
            return
        if cut.at > 0:
            yield cut


def _cuts(before: MarkdownState, text: str) -> Iterator[Cut]:
    """Every cut of `text`. Those of a possible header row come when the row below it is known."""
    lines = (before.line + text).split("\n")
    state, offset = before.open, -len(before.line)
    header: list[Cut] = []
    for line in lines[:-1]:
        after = _after(state, line)
        cuts = [*_line_cuts(state, line, offset), Cut(offset + len(line) + 1, _end_rank(after, line))]
        rules = state.header and is_rule(state.header, line)
        if header and not rules:
            yield from header
        header = cuts if after.header and offset >= 0 else []
        if not header:
            yield from cuts[-1:] if rules else cuts
        state, offset = after, offset + len(line) + 1
    yield from _last_line_cuts(state, lines[-1], offset, header)


def _last_line_cuts(state: OpenMarks, line: str, offset: int, header: list[Cut]) -> Iterator[Cut]:
    """The cuts of an unfinished line, after those of a possible header row above it."""
    cuts = _line_cuts(state, line, offset)
    if header and set(line) <= _RULE_SIGNS:
        yield from (replace(cut, waits=True) for cut in header)
        return
    yield from header
    bar = _BAR.search(line)
    if bar is None or offset < 0 or state.fence or state.table:
        yield from cuts
        return
    for cut in cuts:
        yield replace(cut, waits=cut.waits or cut.at > offset + bar.start())


def _line_cuts(state: OpenMarks, line: str, offset: int) -> Iterator[Cut]:
    """The cuts within one line."""
    if not line:
        return
    if state.fence:
        yield from (Cut(offset + place.at, CutQuality.WORD) for place in InlineMarks().places(line))
    elif not line.lstrip(" \t>").startswith(("```", "~~~")):
        marks = InlineMarks(_inherited(state, line))
        yield from (_word_cut(place, offset) for place in marks.places(line))


def _end_rank(after: OpenMarks, line: str) -> CutQuality:
    """How good the end of `line` is, with `after` open there."""
    if after.fence or after.table or after.emphasis or after.code or _HEADING.match(line):
        return CutQuality.ROW
    return CutQuality.LINE if line.strip() else CutQuality.PARAGRAPH


def _word_cut(place: CutPlace, offset: int) -> Cut:
    rank = CutQuality.SENTENCE if _SENTENCE.fullmatch(place.token) else CutQuality.WORD
    lone = _LONE.fullmatch(place.token) or (place.leads and _NUMBER.fullmatch(place.token))
    return Cut(offset + place.at, rank, waits=bool(lone), inside=place.mark >= max(0, -offset))


def _after(state: OpenMarks, line: str) -> OpenMarks:
    """What is open after the whole `line`, given without its line end."""
    if state.fence:
        end = _FENCE_END.fullmatch(line) if line else None
        return _NOTHING if end and end["run"].startswith(_fence_run(state.fence)) else state
    if not line:
        return _NOTHING
    if fence := _fence(line):
        return OpenMarks(fence=fence["lead"] + fence["run"], info=fence["info"])
    return _after_text(state, line)


def _after_text(state: OpenMarks, line: str) -> OpenMarks:
    """The same for a line that neither is in a fence nor begins one."""
    if not line.strip() or _HEADING.match(line):
        return _NOTHING
    if state.header and is_rule(state.header, line):
        return OpenMarks(table=f"{state.header}{line}\n")
    if state.table and not _BLOCK.match(line):
        return state
    after = _within(replace(state, table=""), line)
    return replace(after, header=f"{line}\n" if _BAR.search(line) else "")


def _within(state: OpenMarks, line: str) -> OpenMarks:
    """What is open at the end of the unfinished `line`."""
    if state.fence or state.table:
        return state
    marks = InlineMarks(_inherited(state, line)).read(line)
    return replace(state, emphasis=marks.emphasis, code=marks.code, header="")


def _inherited(state: OpenMarks, line: str) -> tuple[str, ...]:
    """The marks that earlier lines left open and that go on in `line`."""
    if state.table or _BLOCK.match(line):
        return ()
    return (*state.emphasis, *([state.code] if state.code else []))


def is_rule(header: str, line: str) -> bool:
    """`line` is the separator row that makes `header` a table's header row."""
    cells = _cells(line)
    return len(cells) == len(_cells(header)) and all(_RULE.fullmatch(cell.strip()) for cell in cells)


def _cells(row: str) -> list[str]:
    bare = row.strip().removeprefix("|")
    cells = _BAR.split(bare)
    return cells[:-1] if len(cells) > 1 and not cells[-1].strip() else cells


def _fence(line: str) -> re.Match[str] | None:
    """`line` begins a fence; three backticks with more of them in the line are a code span."""
    found = _FENCE.fullmatch(line)
    return found if found and (found["run"][0] == "~" or "`" not in found["info"]) else None


def _fence_run(fence: str) -> str:
    mark = fence[-1]
    return fence[len(fence.rstrip(mark)) :]
