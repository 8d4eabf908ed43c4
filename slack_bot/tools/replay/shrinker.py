"""PURE. The smallest tape that still shows something: first without events, then without words.

Delta debugging (Zeller, Hildebrandt 2002): leave out half, a quarter, ... one, as long as what is wanted is
still shown. At the end nothing can be left out any more without losing it: no event, and no word.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias, TypeVar

from ...testing.tape.json_file import Json
from ...testing.tape.tape import Moment, Tape

T = TypeVar("T")
Shows: TypeAlias = Callable[[Tape], bool]

_WORD = re.compile(r"\s*\S+\s*")


@dataclass(slots=True)
class Search:
    """Asks `shows` of one smaller tape after the other, `most` times; `tell` hears how it goes.

    Every tape that does not show what is wanted is a reason to keep what was left out.
    """

    shows: Shows
    most: int
    tell: Callable[[Search], None] = lambda search: None
    asked: int = 0
    best: Tape = field(default_factory=lambda: Tape({}, ()))

    @property
    def is_over(self) -> bool:
        """As many tapes were tried as may be."""
        return self.asked >= self.most

    def tries(self, tape: Tape) -> bool:
        """`tape` still shows it, and is the best by now."""
        if self.is_over or not _can_be_played(tape):
            return False
        self.asked += 1
        found = self.shows(tape)
        if found:
            self.best = tape
        self.tell(self)
        return found


def shrink(tape: Tape, search: Search) -> Tape:
    """The smallest tape that `search` finds. `tape` itself shows what is wanted."""
    search.best = tape
    moments = minimal(tape.moments, lambda kept: search.tries(Tape(tape.head, tuple(kept))))
    fewer = Tape(tape.head, tuple(moments))
    words = list(_words(fewer))
    minimal(words, lambda kept: search.tries(_with_words(fewer, kept)))
    return search.best


def minimal(items: Sequence[T], shows: Callable[[Sequence[T]], bool]) -> list[T]:
    """`items` without all that can be left out so that `shows` stays true of the rest."""
    kept, size = list(items), max(1, len(items) // 2)
    while kept:
        start, before = 0, len(kept)
        while start < len(kept):
            fewer = [*kept[:start], *kept[start + size :]]
            if shows(fewer):
                kept = fewer
            else:
                start += size
        if size == 1 and len(kept) == before:
            break
        size = max(1, size // 2)
    return kept


def size_of(tape: Tape) -> str:
    """How large a tape is, in words."""
    texts = sum(len(text) for moment in tape.moments for _, text in texts_of(moment.event))
    return f"{len(tape.moments):,} moments with {texts:,} characters"


def words_of(tape: Tape) -> str:
    """All text of a tape's events, one after the other."""
    return "".join(text for moment in tape.moments for _, text in texts_of(moment.event))


Path: TypeAlias = tuple[str | int, ...]
_Word: TypeAlias = tuple[int, Path, str]


def texts_of(value: Any, path: Path = ()) -> Iterator[tuple[Path, str]]:
    """Every text of an event, and where it stands: what is called `text`, however deep."""
    if isinstance(value, dict):
        for name, inner in value.items():
            if name == "text" and isinstance(inner, str):
                yield (*path, name), inner
            else:
                yield from texts_of(inner, (*path, name))
    elif isinstance(value, list):
        for number, inner in enumerate(value):
            yield from texts_of(inner, (*path, number))


def _words(tape: Tape) -> Iterator[_Word]:
    for number, moment in enumerate(tape.moments):
        for path, text in texts_of(moment.event):
            yield from ((number, path, word) for word in _WORD.findall(text))


def _with_words(tape: Tape, words: Sequence[_Word]) -> Tape:
    """`tape` with these words only; where none is left, the text is empty."""
    texts: dict[tuple[int, Path], str] = {}
    for number, path, word in words:
        texts[number, path] = texts.get((number, path), "") + word
    moments = [
        moment
        if moment.event is None
        else replace(moment, event=_with_texts(moment.event, number, texts, ()))
        for number, moment in enumerate(tape.moments)
    ]
    return Tape(tape.head, tuple(moments))


def _with_texts(value: Any, number: int, texts: dict[tuple[int, Path], str], path: Path) -> Any:
    if isinstance(value, list):
        return [_with_texts(inner, number, texts, (*path, at)) for at, inner in enumerate(value)]
    if not isinstance(value, dict):
        return value
    found: Json = {}
    for name, inner in value.items():
        here = (*path, name)
        is_text = name == "text" and isinstance(inner, str)
        found[name] = texts.get((number, here), "") if is_text else _with_texts(inner, number, texts, here)
    return found


def _can_be_played(tape: Tape) -> bool:
    """A capture without anything that came is none."""
    return any(_brings(moment) for moment in tape.moments)


def _brings(moment: Moment) -> bool:
    return moment.event is not None or moment.error is not None or moment.raw is not None
