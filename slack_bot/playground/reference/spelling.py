"""Words that are misspelt, as they were meant.

A word counts as misspelt if it is hardly known, and another one is much better known that differs from it by
one letter or has two neighbours in another order.
"""

import re
from collections.abc import Callable, Iterator
from functools import cache, partial
from string import ascii_lowercase

_WORD = re.compile(r"[a-z]{3,}", re.IGNORECASE)
_LONG_WORD = 6  # letters: a shorter one may be another word with one letter changed
_RARE = 2  # so well a long word may be known and yet be misspelt
_BETTER = 8  # times that the right word must be better known; of words that are not known, as well
_OF_SHORT_WORDS = 15  # so well the right one of a short word must be known


def spelled(text: str, commonness: Callable[[str], int]) -> str:
    """`text` with its misspelt words as they were meant. `commonness`: how well a word is known."""
    meant = cache(partial(_meant, commonness=commonness))  # a long text has few words, each of them often
    return _WORD.sub(lambda match: meant(match[0].lower()) or match[0], text)


def _meant(word: str, commonness: Callable[[str], int]) -> str:
    """The word that `word` probably is; empty where it is right."""
    least = _BETTER * max(1, commonness(word))
    is_long = len(word) >= _LONG_WORD
    found = [(commonness(each), each) for each in _swapped(word)]
    found = [pair for pair in found if pair[0] >= max(least, 0 if is_long else _OF_SHORT_WORDS)]
    if is_long and least <= _BETTER * _RARE:
        near = ((commonness(each), each) for each in _changed(word) if not _differ_by_plural(each, word))
        found += [pair for pair in near if pair[0] >= least]
    return max(found)[1] if found else ""


def _swapped(word: str) -> Iterator[str]:
    """`word` with two neighbours in the other order."""
    return (word[:at] + word[at + 1] + word[at] + word[at + 2 :] for at in range(len(word) - 1))


def _changed(word: str) -> Iterator[str]:
    """`word` with one letter less, another or more; its first letter stays."""
    for at in range(1, len(word) + 1):
        yield word[:at] + word[at + 1 :]
        for letter in ascii_lowercase:
            yield word[:at] + letter + word[at + 1 :]
            yield word[:at] + letter + word[at:]


def _differ_by_plural(one: str, other: str) -> bool:
    return one + "s" == other or other + "s" == one
