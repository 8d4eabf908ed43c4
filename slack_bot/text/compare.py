"""Whether two texts are the same answer, and what is missing from one of them.

Agents repeat an answer with other white space (facts: A2A 8.1), so texts are compared word by word, in NFC.
That costs the square of a run of combining marks: a long word is normalised in pieces.
"""

import re
import unicodedata
from collections.abc import Generator
from itertools import zip_longest
from typing import NamedTuple

_WORD = re.compile(r"\S+")
_PIECE = 500  # characters
_LONG_WORD = 10_000
_STEP = 100_000  # characters that are compared in one step


def normalize(text: str) -> str:
    """`text` in NFC, with single spaces."""
    words = text.split()
    return " ".join(words if text.isascii() else map(_composed, words))


def _composed(word: str) -> str:
    if len(word) > _LONG_WORD or word.isascii():
        return word
    pieces = (word[at : at + _PIECE] for at in range(0, len(word), _PIECE))
    return "".join(unicodedata.normalize("NFC", piece) for piece in pieces)


def contains(whole: str, part: str) -> bool:
    """`part` is somewhere in `whole`. An empty part is not."""
    needle = normalize(part)
    return bool(needle) and needle in normalize(whole)


def contains_letters(whole: str, part: str) -> bool:
    """As `contains`, but white space counts for nothing: the bot puts some between two texts of an agent."""
    needle = _without_space(part)
    return bool(needle) and needle in _without_space(whole)


def _without_space(text: str) -> str:
    words = text.split()
    return "".join(words if text.isascii() else map(_composed, words))


def preview(text: str) -> str:
    """`text` without the dots that say it was cut short."""
    cut = text.rstrip()
    return cut.removesuffix("…").removesuffix("...") or text


class Comparison(NamedTuple):
    """Whether both texts have the same words, and what `missing_suffix` returns."""

    is_same: bool
    missing: str | None


def compare_in_steps(shown: str, whole: str) -> Generator[None, None, Comparison]:
    """Compare, some ten thousand words a step."""
    if whole.startswith(shown):
        rest = whole[len(shown) :]
        return Comparison(not rest.strip(), rest)
    at: int | None = 0  # in `whole`, behind the last word that both have; None: they differ
    due, is_same = _STEP, True
    for ours, theirs in zip_longest(_WORD.finditer(shown), _WORD.finditer(whole)):
        if ours is None:
            is_same = False
            break
        if theirs is None:
            return Comparison(is_same=False, missing=None)
        if ours.end() >= due:
            due = ours.end() + _STEP
            yield
        word, other = ours.group(), theirs.group()
        if word == other:
            at = at if at is None else theirs.end()
        elif at is not None and ours.end() == len(shown) and other.startswith(word):
            at, is_same = theirs.start() + len(word), False
            break
        elif _composed(word) == _composed(other):
            at = None
        else:
            return Comparison(is_same=False, missing=None)
    if at is None:
        return Comparison(is_same, None)
    rest = whole[at:]
    return Comparison(is_same, rest.lstrip() if not shown or shown[-1].isspace() else rest)


def compare(shown: str, whole: str) -> Comparison:
    """Compare in one step."""
    steps = compare_in_steps(shown, whole)
    while True:
        try:
            next(steps)
        except StopIteration as end:
            return Comparison(*end.value)


def equivalent(one: str, other: str) -> bool:
    """Both have the same words."""
    return one == other or compare(one, other).is_same


def missing_suffix(shown: str, whole: str) -> str | None:
    """The end of `whole` that `shown` lacks; None if `shown` is not its beginning."""
    return compare(shown, whole).missing
