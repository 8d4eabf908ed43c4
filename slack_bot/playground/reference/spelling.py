"""Words that are misspelt or shortened, as they were meant.

A word counts as misspelt if it is hardly known, and another one is much better known that differs from it by
one letter or has two neighbours in another order. Of a short word only a letter may be missing.
"""

import re
from collections.abc import Callable, Iterator
from functools import cache, partial
from string import ascii_lowercase

_WORD = re.compile(r"[a-z]{3,}", re.IGNORECASE)
_ALONE = re.compile(r"(?<![\w'’.-])[a-z]{1,4}(?![\w'’-])", re.IGNORECASE)
_SHORTENED = {
    **{"u": "you", "ur": "your", "r": "are", "pls": "please", "plz": "please", "thru": "through"},
    **{"cn": "can", "hw": "how", "wat": "what", "wut": "what", "wht": "what", "wich": "which", "hav": "have"},
    **{"msg": "message", "msgs": "messages", "cfg": "config", "ppl": "people", "bcs": "because"},
}
"""How people shorten common words in a chat."""
_LONG_WORD = 6  # letters: a shorter one may be another word with one letter changed
_SHORT_WORD = 4  # letters: of a shorter one nothing may be missing
_RARE = 2  # so well a long word may be known and yet be misspelt
_BETTER = 8  # times that the right word must be better known; of words that are not known, as well
_OF_SHORT_WORDS = 15  # so well the right one of a short word must be known
_WITH_A_LETTER_MORE = 30  # the same where a letter is missing


def spelled(text: str, commonness: Callable[[str], int]) -> str:
    """`text` with its misspelt words as they were meant. `commonness`: how well a word is known."""
    meant = cache(partial(_meant, commonness=commonness))  # a long text has few words, each of them often
    whole = _ALONE.sub(lambda match: _SHORTENED.get(match[0].lower(), match[0]), text)
    return _WORD.sub(lambda match: meant(match[0].lower()) or match[0], whole)


def _meant(word: str, commonness: Callable[[str], int]) -> str:
    """The word that `word` probably is; empty where it is right."""
    least = _BETTER * max(1, commonness(word))
    is_long = len(word) >= _LONG_WORD
    found = [(commonness(each), each) for each in _swapped(word)]
    found = [pair for pair in found if pair[0] >= max(least, 0 if is_long else _OF_SHORT_WORDS)]
    if _SHORT_WORD <= len(word) < _LONG_WORD and not commonness(word):
        longer = ((commonness(each), each) for each in _lengthened(word) if not _differ_by_plural(each, word))
        found += [pair for pair in longer if pair[0] >= _WITH_A_LETTER_MORE]
    if is_long and least <= _BETTER * _RARE:
        near = ((commonness(each), each) for each in _changed(word) if not _differ_by_plural(each, word))
        found += [pair for pair in near if pair[0] >= least]
    return max(found)[1] if found else ""


def _swapped(word: str) -> Iterator[str]:
    """`word` with two neighbours in the other order."""
    return (word[:at] + word[at + 1] + word[at] + word[at + 2 :] for at in range(len(word) - 1))


def _lengthened(word: str) -> Iterator[str]:
    """`word` with one letter more; its first letter stays."""
    return (word[:at] + letter + word[at:] for at in range(1, len(word) + 1) for letter in ascii_lowercase)


def _changed(word: str) -> Iterator[str]:
    """`word` with one letter less, another or more; its first letter stays."""
    for at in range(1, len(word) + 1):
        yield word[:at] + word[at + 1 :]
        for letter in ascii_lowercase:
            yield word[:at] + letter + word[at + 1 :]
            yield word[:at] + letter + word[at:]


def _differ_by_plural(one: str, other: str) -> bool:
    return one + "s" == other or other + "s" == one
