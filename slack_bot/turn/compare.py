"""Whether two texts are the same answer, and what is missing from one of them.

Agents send one answer several times with different white space: streamed, stripped, joined (facts: A2A 8.1).
So texts are compared word by word, in NFC.

Normalising a run of combining marks costs the square of its length, and an agent may send a megabyte of them.
So a word is normalised in pieces, and a very long one not at all: in another form it counts as different.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from itertools import zip_longest

_WORD = re.compile(r"\S+")
_PIECE = 500  # characters
_LONG_WORD = 10_000
_STEP = 100_000  # characters that are compared in one step


def normalize(text: str) -> str:
    """`text` in NFC, runs of white space as one space, none at the ends."""
    words = text.split()
    return " ".join(words if text.isascii() else map(_composed, words))


def _composed(word: str) -> str:
    if len(word) <= _PIECE:
        return unicodedata.normalize("NFC", word)
    if len(word) > _LONG_WORD or word.isascii():
        return word
    pieces = (word[at : at + _PIECE] for at in range(0, len(word), _PIECE))
    return "".join(unicodedata.normalize("NFC", piece) for piece in pieces)


def equivalent(one: str, other: str) -> bool:
    """Both have the same words."""
    return one == other or Comparison(one, other).result().is_same


def contains(whole: str, part: str) -> bool:
    """`part` is somewhere in `whole`. An empty part is not."""
    needle = normalize(part)
    return bool(needle) and needle in normalize(whole)


def preview(text: str) -> str:
    """`text` without the dots that say it was cut short, which no other text has."""
    cut = text.rstrip()
    return cut.removesuffix("…").removesuffix("...") or text


def missing_suffix(shown: str, whole: str) -> str | None:
    """What `shown` lacks at its end to have the words of `whole`; None if it is not its beginning.

    It is cut from `whole`, with the white space before it, unless `shown` ends in white space of its own.
    """
    return Comparison(shown, whole).result().missing


class Comparison:
    """Compares `shown` with `whole`. `work` does it step by step, because both may be megabytes.

    Then `is_same` is whether both have the same words, and `missing` is what `missing_suffix` returns.
    """

    def __init__(self, shown: str, whole: str) -> None:
        self.shown, self.whole = shown, whole
        self.is_same = False
        self.missing: str | None = None
        self._at: int | None = 0  # in `whole`, behind the last word that both have; None: they differ

    def work(self) -> Iterator[None]:
        """Compare, some ten thousand words a step."""
        if self.whole.startswith(self.shown):
            self.missing = self.whole[len(self.shown) :]
            self.is_same = not self.missing or self.missing.isspace()
            return
        yield from self._compare_words()
        if self._at is not None:
            rest = self.whole[self._at :]
            self.missing = rest.lstrip() if self.shown[-1:].isspace() or not self.shown else rest

    def result(self) -> Comparison:
        """Do all the work. Returns this."""
        for _ in self.work():
            pass
        return self

    def _compare_words(self) -> Iterator[None]:
        pairs = zip_longest(_WORD.finditer(self.shown), _WORD.finditer(self.whole))
        due = _STEP
        for ours, theirs in pairs:
            if ours is not None and ours.end() >= due:
                due = ours.end() + _STEP
                yield
            if ours is None:  # `whole` goes on
                return
            if theirs is None:
                self._at = None
                return
            if not self._compare(ours, theirs):
                return
        self.is_same = True

    def _compare(self, ours: re.Match[str], theirs: re.Match[str]) -> bool:
        """Compare one word with another. False where nothing behind them counts any more."""
        word, other = ours.group(), theirs.group()
        if word == other:
            self._at = None if self._at is None else theirs.end()
            return True
        if self._at is not None and ours.end() == len(self.shown) and other.startswith(word):
            self._at = theirs.start() + len(word)
            return False
        self._at = None
        return _composed(word) == _composed(other)
