"""Where a growing Markdown text may be cut, and what is open at a cut.

Slack re-parses a streamed message with every append, so a cut is ugly only until the rest comes: open marks
show as stars, a header row without its separator row as bars. Text waits for the end of marks that begin in
it, until its line is whole (delivery.md 3).
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from enum import IntEnum
from typing import NamedTuple, TypeAlias

_LEAD = r"[ \t]*(?:>[ \t]*)*(?:(?:[-*+]|\d{1,9}[.)])[ \t]+)?"
_FENCE = re.compile(rf"(?P<lead>{_LEAD})(?P<run>`{{3,}}|~{{3,}})(?P<info>.*)")
_FENCE_END = re.compile(r"[ \t>]*(?P<run>`{3,}|~{3,})[ \t]*")
_FENCE_ROW = re.compile(r"^.*(?:```|~~~).*$", re.MULTILINE)
_FENCE_BEGUN = re.compile(rf"{_LEAD}(?:`{{1,2}}|~{{1,2}})")
_FENCE_END_BEGUN = re.compile(r"[ \t>]*(?P<run>`+|~+)[ \t]*")
_BLOCK = re.compile(r"[ \t]*(?:#{1,6}(?:[ \t]|$)|>|(?:[-*+]|\d{1,9}[.)])(?:[ \t]|$))")
_HEADING = re.compile(r"[ \t]*#{1,6}(?:[ \t]|$)")
BAR = re.compile(r"\|(?<!\\\|)")  # not escaped
RULE_SIGNS = frozenset("|-: \t")
_RULE = re.compile(r":?-+:?")
_LONE = re.compile(r"[#*|>_~`=:+-]+")  # alone at the end of what is shown, it would be drawn as a mark
_NUMBER = re.compile(r"\d{1,9}[.)]")
_SENTENCE = re.compile(r".*[.!?…;:。！？；：][\"'”’»)\]*_`」』）]*")
# each begins with a sign itself, not with a repetition or a group: so `re` skips the text between at once
_MARK = (
    r"(?P<mark>``*|\*\**|__*|~~*|\[|\]\(?|\(|\)|<(?=https?://|mailto:)|>"
    r"|\\(?:`+|[!-/:-@\[-_{-~]))"  # escaped; within code a backtick behind a backslash is a mark
)
_MARKS = re.compile(_MARK)
_TOKEN = re.compile(rf"(?P<space>\s+)|(?P<word>[^\s`*_~\[\]()<>\\]+)|{_MARK}|.")
# scripts written without spaces: Thai, Lao, Tibetan, Myanmar, Khmer, CJK punctuation, kana, Han, full width
_SPACELESS = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3000-\u30ff\u3400-\u9fff\uf900-\ufaff\uff00-\uffef]"
)
_ENDS_SENTENCE = ".!?…"  # behind these a text may be shown before the white space that follows has come
_MOST_OPEN = 100  # marks; the outermost of more were not meant, and all would be carried from line to line
_TOKEN_TAIL = 40  # of a long word, only its end can be a marker or end a sentence
_FIRST_COMBINING = "\u0300"
_ZWJ = "\u200d"
_LINE_ENDS = frozenset("\n\r\x85\u2028\u2029")
_LONG_FENCE = 200  # characters of a line that is waited for because it may open a fence
_LONG_LINE = 300  # characters of an unfinished line that are read again for each cut
_LONG_ROW = 4_000  # the same, where it may be a table's row
_LOOK_AHEAD = 400  # characters behind a limit that may decide about a cut before it: a table's separator row


@dataclass(frozen=True, slots=True)
class OpenMarks:
    """What is open at the end of a text.

    `lead`, `fence` and `info` are a fence's first line; `emphasis` the runs, outermost first; `header` a line
    that is a table's header row if a separator row follows; `table` the header and separator rows.
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
        return (*self.emphasis, self.code) if self.code else self.emphasis


_NOTHING = OpenMarks()


@dataclass(frozen=True, slots=True)
class MarkdownState:
    """What is `open` in a message before its unfinished `line`."""

    open: OpenMarks = OpenMarks()
    line: str = ""

    def then(self, text: str) -> MarkdownState:
        *lines, last = (self.line + text).split("\n")
        state = self.open
        for line in lines:
            state = _after(state, line)
        if len(last) > (_LONG_ROW if "|" in last else _LONG_LINE):
            return MarkdownState(_within(state, last), "x")
        return MarkdownState(state, last)

    @property
    def at_end(self) -> OpenMarks:
        if not self.line:
            return self.open
        is_fence = self.open.fence or _fence(self.line)
        return _after(self.open, self.line) if is_fence else _within(self.open, self.line)


def sendable_part(text: str, before: MarkdownState) -> int:
    """How much of `text` may be sent: no part of a line that opens or closes a fence, or rules a table.

    Nor of one that may yet become such a line.
    """
    head, end, _ = text.rpartition("\n")
    state, line = before.then(head + end).open, (before.line + text).rpartition("\n")[2]
    return len(head + end) if _must_be_whole(state, line) else len(text)


def _must_be_whole(state: OpenMarks, line: str) -> bool:
    if state.header and line.strip() and RULE_SIGNS.issuperset(line):
        return True
    if len(line) > _LONG_FENCE:
        return False
    if state.fence:
        closing = _FENCE_END_BEGUN.fullmatch(line)
        return closing is not None and closing["run"][0] == state.fence[0]
    return _FENCE_BEGUN.fullmatch(line) is not None or _fence(line) is not None


# -- code ----------------------------------------------------------------------------------------------------


def code_blocks(text: str) -> list[tuple[int, int]]:
    """Where the fenced blocks of `text` begin and end, with their fences; an open one ends behind `text`."""
    found: list[tuple[int, int]] = []
    fence, began = "", 0
    for row in _FENCE_ROW.finditer(text):
        if not fence and (opened := _fence(row.group())):
            fence, began = opened["run"], row.start()
        elif fence and _closes(fence, row.group()):
            found.append((began, row.end()))
            fence = ""
    return [*found, (began, len(text) + 1)] if fence else found


def ends_in_code(text: str) -> bool:
    """What comes behind `text` is code: a fence or a code span is open."""
    return _is_code(text, len(text), code_blocks(text))


def outside_code(pattern: re.Pattern[str], text: str, before: str = "") -> Iterator[re.Match[str]]:
    """What `pattern` finds in `text`, which comes behind `before`, but not in code blocks and code spans."""
    if not (places := list(pattern.finditer(text))):
        return  # as in most chunks of an answer: what came before is not read again
    whole = before + text
    blocks = code_blocks(whole)
    for found in places:
        if not _is_code(whole, len(before) + found.start(), blocks):
            yield found


def _is_code(text: str, at: int, blocks: list[tuple[int, int]]) -> bool:
    if any(start <= at < end for start, end in blocks):
        return True
    paragraph = max(0, text.rfind("\n\n", 0, at), *(end for _, end in blocks if end <= at))
    return bool(MarkdownState().then(text[paragraph:at]).at_end.code)


class CutQuality(IntEnum):
    """How good a place is to end a message."""

    WORD = 0
    SENTENCE = 1
    ROW = 2  # a line's end within a fence, a table or emphasis, or behind a heading
    LINE = 3
    PARAGRAPH = 4


class Cut(NamedTuple):
    """A place `at` which a text may be cut. `inside`: a mark that begins in the new text is open."""

    at: int
    rank: CutQuality
    inside: bool = False


@dataclass(frozen=True, slots=True)
class Cuts:
    """The last cuts of a text: behind a line, where nothing is open, and between any words."""

    line: int = 0
    safe: int = 0
    word: int = 0


def find_cuts(text: str, limit: int, before: MarkdownState, *, words: bool = True) -> Cuts:
    """The last cuts of `text` up to `limit`. Without `words`, only `line` is right."""
    line = safe = word = 0
    for cut in cuts_up_to(text, limit, before, words=words):
        word = cut.at
        if cut.rank >= CutQuality.ROW:
            line = cut.at
        if not cut.inside:
            safe = cut.at
    return Cuts(line, safe, word)


def cuts_up_to(text: str, limit: int, before: MarkdownState, *, words: bool = True) -> Iterator[Cut]:
    """The cuts of `text` up to `limit`, in order. `words`: not only line ends."""
    last = min(limit, len(text))
    for cut in _cuts(before, text[: last + _LOOK_AHEAD], words):
        if cut.at > last:
            return
        if cut.at > 0:
            yield cut


def _cuts(before: MarkdownState, text: str, words: bool) -> Iterator[Cut]:
    """Those of a possible header row come when the row below it is known, and none behind half a row."""
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
        return
    yield from header
    bar = None if offset < 0 or state.fence or state.table else BAR.search(last)
    for cut in _line_cuts(state, last, offset) if words else ():
        if bar is None or cut.at <= offset + bar.start():
            yield cut


def _line_cuts(state: OpenMarks, line: str, offset: int) -> Iterator[Cut]:
    """Those of the new text; the line begins at `offset`, which may be before it."""
    known = max(0, -offset)
    if state.fence:
        places = InlineMarks().places(line, after=known)
        yield from (Cut(offset + at, CutQuality.WORD) for at, *_ in places)
    elif line and _fence(line) is None:
        for at, mark, token, leads in InlineMarks(_inherited(state, line)).places(line, after=known):
            is_word = token[-1:].isalnum()  # as nearly all are: none of the patterns ends so
            if is_word or not (_LONE.fullmatch(token) or (leads and _NUMBER.fullmatch(token))):
                is_end = not is_word and _SENTENCE.fullmatch(token)
                rank = CutQuality.SENTENCE if is_end else CutQuality.WORD
                yield Cut(offset + at, rank, inside=mark >= known)


def _end_rank(after: OpenMarks, line: str) -> CutQuality:
    if after.fence or after.table or after.inline or _HEADING.match(line):
        return CutQuality.ROW
    return CutQuality.LINE if line.strip() else CutQuality.PARAGRAPH


def _after(state: OpenMarks, line: str) -> OpenMarks:
    if state.fence:
        return _NOTHING if _closes(state.fence, line) else state
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
    return state if state.fence or state.table else _read(state, line)


def _read(state: OpenMarks, line: str, header: str = "") -> OpenMarks:
    marks = InlineMarks(_inherited(state, line)).read(line)
    return OpenMarks(emphasis=marks.runs("*_~"), code="".join(marks.runs("`")), header=header)


def _inherited(state: OpenMarks, line: str) -> tuple[str, ...]:
    return () if state.table or _BLOCK.match(line) else state.inline


def is_rule(header: str, line: str) -> bool:
    """`line` is the separator row that makes `header` a table's header row."""
    cells = cells_of(line)
    return len(cells) == len(cells_of(header)) and all(_RULE.fullmatch(cell.strip()) for cell in cells)


def cells_of(row: str) -> list[str]:
    """The cells of a table's row as they are written."""
    cells = BAR.split(row.strip().removeprefix("|"))
    return cells[:-1] if len(cells) > 1 and not cells[-1].strip() else cells


def _fence(line: str) -> re.Match[str] | None:
    """Three backticks with more of them in the line are a code span."""
    found = _FENCE.fullmatch(line)
    return found if found and (found["run"][0] == "~" or "`" not in found["info"]) else None


def _closes(fence: str, line: str) -> bool:
    end = _FENCE_END.fullmatch(line)
    return end is not None and end["run"].startswith(fence)


# -- within a line -------------------------------------------------------------------------------------------


CutPlace: TypeAlias = tuple[int, int, str, bool]
"""A border between words: where; the index of the innermost open mark, -1: none of this line is open; the
word before, and whether that leads the line."""


@dataclass(slots=True)
class _Mark:
    char: str
    count: int
    at: int
    inner: int  # where what it marks begins

    def shorten(self, size: int) -> None:
        """The innermost signs of a run are closed first."""
        self.count -= size
        self.inner -= size


class InlineMarks:
    """The marks open in a line: emphasis, code spans, links. `opened` is what earlier lines left open.

    A star next to a letter closes if it can, else it opens, which is looser than CommonMark. A mark wrongly
    taken for open costs a pause, the opposite error shows stars.
    """

    def __init__(self, opened: tuple[str, ...] = ()) -> None:
        self._stack = [_Mark(run[0], len(run), -1, 0) for run in opened]

    def runs(self, chars: str) -> tuple[str, ...]:
        return tuple(mark.char * mark.count for mark in self._stack if mark.char in chars)

    def read(self, line: str) -> InlineMarks:
        for found in _MARKS.finditer(line):
            self._read(found.group(), line, *found.span())
        return self

    def places(self, line: str, *, after: int = 0) -> Iterator[CutPlace]:
        """The borders of `line` behind its first `after` characters."""
        word = line.rfind(" ", 0, len(line[:after].rstrip())) + 1  # of what is before, only marks count
        known, is_ascii = line[:word], line.isascii()
        leads = not known.strip()
        self.read(known)
        for found in _TOKEN.finditer(line, word):
            start, end = found.span()
            if found.lastgroup == "mark":
                self._read(found.group(), line, start, end)
            elif found.lastgroup == "word":
                if is_ascii:
                    continue
                borders = (char.end() for char in _SPACELESS.finditer(line, start, end))
                for at in borders:
                    if at > after and not inside_cluster(line, at):
                        yield self._place(at, line[at - 1])
            elif found.lastgroup == "space":
                if end > after and (is_ascii or not inside_cluster(line, end)):
                    yield self._place(end, line[max(word, start - _TOKEN_TAIL) : start], leads=leads)
                word, leads = end, leads and word == start
        if word < len(line) and line[-1] in _ENDS_SENTENCE and not self._stack and not leads:
            yield self._place(len(line), line[max(word, len(line) - _TOKEN_TAIL) :])

    def _place(self, at: int, token: str, *, leads: bool = False) -> CutPlace:
        return at, self._stack[-1].at if self._stack else -1, token, leads

    def _read(self, run: str, line: str, start: int, end: int) -> None:
        """Of one mark. Within code, `<...>` and an address only what ends it counts."""
        match self._stack[-1].char if self._stack else "":
            case "`":
                ticks = run.removeprefix("\\")
                if ticks[0] == "`" and len(ticks) == self._stack[-1].count:
                    self._close(end - len(ticks), end)
            case "<":
                if run == ">":
                    self._close(start, end)
            case "(":
                self._read_address(run, start, end)
            case _:
                self._read_mark(run, line, start, end)

    def _read_mark(self, run: str, line: str, start: int, end: int) -> None:
        match run[0]:
            case "\\":
                if len(run) > 2:  # the first is escaped
                    self._push("`", len(run) - 2, start + 2, end)
            case "`" | "[" | "<":
                self._push(run[0], len(run), start, end)
            case "]" if self._is_open("["):
                began = self._back_to("[")
                self._stack.pop()
                if run.endswith("("):
                    self._push("(", 1, began.at, end)
            case "*" | "_" | "~" if run[0] != "~" or len(run) == 2:
                self._read_emphasis(run, line[start - 1 : start], line[end : end + 1], start)

    def _read_address(self, run: str, start: int, end: int) -> None:
        """Within `](...)` only parentheses count: addresses are full of underscores."""
        if run in ("(", "]("):
            self._push("(", 1, start, end)
        elif run == ")":
            self._close(start, end)

    def _read_emphasis(self, run: str, before: str, after: str, start: int) -> None:
        char, left = run[0], len(run)
        end = start + left
        if char == "_" and before.isalnum() and after.isalnum():
            return
        while left and before.strip() and self._is_open(char):
            used = min(left, self._back_to(char).count)
            self._close(end - left, end - left + used)
            left -= used
        if left and after.strip():
            self._push(char, left, start, end)

    def _push(self, char: str, count: int, at: int, inner: int) -> None:
        if len(self._stack) >= _MOST_OPEN:
            self._stack.pop(0)
        self._stack.append(_Mark(char, count, at, inner))

    def _close(self, start: int, end: int) -> None:
        """The characters of the line from `start` to `end` close the innermost mark, or a part of it."""
        mark = self._stack[-1]
        mark.shorten(end - start)
        if not mark.count:
            self._stack.pop()

    def _is_open(self, char: str) -> bool:
        return any(mark.char == char for mark in self._stack)

    def _back_to(self, char: str) -> _Mark:
        while self._stack[-1].char != char:
            self._stack.pop()
        return self._stack[-1]


# -- characters that are drawn as one ------------------------------------------------------------------------


def inside_cluster(text: str, at: int) -> bool:
    """`at` is between characters that are drawn as one, or behind the first half of a pair.

    A small part of Unicode's rules, on the safe side.
    """
    if not 0 < at <= len(text):
        return False
    last, following = text[at - 1], text[at : at + 1]
    if last.isascii() and following.isascii():
        return last == "\r" and following == "\n"
    if last == _ZWJ or "\ud800" <= last <= "\udbff":
        return True
    if following and not _is_flag_half(following):
        return _extends(last, following)
    first = at
    while first > 0 and _is_flag_half(text[first - 1]):
        first -= 1
    return (at - first) % 2 == 1


def _extends(last: str, char: str) -> bool:
    """`char` is drawn onto `last`. Nothing is drawn onto a line's end (UAX 29, GB4)."""
    if char < _FIRST_COMBINING or last in _LINE_ENDS:
        return char == "\n" and last == "\r"
    if char == _ZWJ or "\U0001f3fb" <= char <= "\U0001f3ff" or "\U000e0020" <= char <= "\U000e007f":
        return True
    return unicodedata.category(char).startswith("M")


def _is_flag_half(char: str) -> bool:
    return "\U0001f1e6" <= char <= "\U0001f1ff"


def cluster_cut(text: str, limit: int) -> int:
    """The largest index <= `limit` outside a cluster; `limit` itself where one cluster fills it all."""
    at = limit = min(limit, len(text))
    while at > 0 and inside_cluster(text, at):
        at -= 1
    return at or limit
