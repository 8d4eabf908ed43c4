"""PURE. What a line of Markdown shows: its words, each with its style and its link.

`InlineMarks` decides which mark closes which, here as for the ledger, which asks where a line may be cut. Of
a whole line more is known than of one that grows: what nothing closes is text.
"""

import re
from collections import deque
from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import NamedTuple

from .markdown import InlineMarks

_STYLES = {"`": ("code",), "~": ("strike",)}
_ADDRESS = re.compile(r"https?://[^\s<>|]+")
_ESCAPED = re.compile(r"\\([!-/:-@\[-`{-~])")
_SWALLOWS = frozenset("`<(")  # behind these no other mark counts
_MOST_READ = 20  # times that a line is read; with more marks that nothing closes it is shown as it is


class Words(NamedTuple):
    """Words of a line. `styles` are of "bold", "italic", "strike", "code", the outermost first."""

    text: str
    styles: tuple[str, ...] = ()
    url: str = ""


class _Pair(NamedTuple):
    """A mark that is closed: where it begins, where what is in it begins and ends, and where it ends."""

    char: str
    start: int
    inner: int
    inner_end: int
    end: int
    url: str = ""


def words_of(line: str) -> list[Words]:
    """What `line` shows, in order. It is one line: a blank line would end what is open."""
    pairs = deque(sorted(_pairs(line), key=lambda pair: pair.start))
    shown = (each for each in _shown(line, 0, len(line), pairs, Words("")) if each.text)
    return [
        Words("".join(each.text for each in group), styles, url)
        for (styles, url), group in groupby(shown, key=lambda each: (each.styles, each.url))
    ]


def _shown(line: str, at: int, end: int, pairs: deque[_Pair], around: Words) -> Iterator[Words]:
    """`line` from `at` to `end`. `pairs` begin there or behind it; `around`: the style and the link of it."""
    while pairs and pairs[0].start < end:
        pair = pairs.popleft()
        yield around._replace(text=_ESCAPED.sub(r"\1", line[at : pair.start]))
        if pair.char == "`":
            yield around._replace(text=_code(line[pair.inner : pair.inner_end]), styles=_styles(pair, around))
        else:
            within = Words("", _styles(pair, around), pair.url or around.url)
            yield from _shown(line, pair.inner, pair.inner_end, pairs, within)
        at = pair.end
    yield around._replace(text=_ESCAPED.sub(r"\1", line[at:end]))


def _styles(pair: _Pair, around: Words) -> tuple[str, ...]:
    """Those of what is in `pair`. An address has none of its own."""
    size = pair.inner - pair.start
    emphasis = (*(("bold",) if size > 1 else ()), *(("italic",) if size % 2 else ()))
    own = () if pair.url else _STYLES.get(pair.char, emphasis)
    return tuple(dict.fromkeys((*around.styles, *own)))


def _code(text: str) -> str:
    """Without the space at each end that keeps a backtick away from the marks (CommonMark 6.1)."""
    is_apart = text.startswith(" ") and text.endswith(" ") and text.strip()
    return text[1:-1] if is_apart else text


def _pairs(line: str) -> Sequence[_Pair]:
    literal: set[int] = set()
    for _ in range(_MOST_READ):
        marks = _ClosedMarks(literal)
        marks.read(line)
        if marks.swallowing is None:
            return [each for pair in marks.pairs if (each := _meant(pair, line)) is not None]
        literal.add(marks.swallowing)
    return []


def _meant(pair: _Pair, line: str) -> _Pair | None:
    """`pair` as it is shown. None: these are no marks, but signs."""
    if pair.char == "(":
        url = line[pair.inner : pair.inner_end]
        is_image = line[: pair.start].endswith("!") and not line[: pair.start].endswith("\\!")
        found = _Pair("[", pair.start - is_image, pair.start + 1, pair.inner - 2, pair.end, url)
        return found if line[pair.start] == "[" and _ADDRESS.fullmatch(url) else None
    if pair.char == "<":
        url = line[pair.inner : pair.inner_end]
        return pair._replace(url=url) if _ADDRESS.fullmatch(url) else None
    is_single = pair.char == "_" or (pair.char == "*" and pair.inner - pair.start == 1)
    before, after = line[: pair.start][-1:], line[pair.end : pair.end + 1]
    return None if is_single and (before.isalnum() or after.isalnum()) else pair


class _ClosedMarks(InlineMarks):
    """Keeps which marks of one line are closed. Those that begin at a place of `literal` are text."""

    def __init__(self, literal: set[int]) -> None:
        super().__init__()
        self.pairs: list[_Pair] = []
        self._literal = literal

    @property
    def swallowing(self) -> int | None:
        """Where a mark begins that nothing closes, and behind which no other counts."""
        return next((mark.at for mark in self._stack if mark.char in _SWALLOWS), None)

    def _push(self, char: str, count: int, at: int, inner: int) -> None:
        if at not in self._literal:
            super()._push(char, count, at, inner)

    def _close(self, start: int, end: int) -> None:
        mark = self._stack[-1]
        began = mark.at if mark.char == "(" else mark.inner - (end - start)
        self.pairs.append(_Pair(mark.char, began, mark.inner, start, end))
        super()._close(start, end)
