"""PURE. Whether a message has one of the words that `match` of a channel names.

There are no regular expressions: strangers write the texts. The time is bounded by the limits below, whatever
is written and whatever the operator looks for.
"""

from collections.abc import Iterable, Sequence

_MOST_WORDS = 1_000  # of a message; more are not looked at
_LONGEST_WORD = 100  # characters of it that are looked at
_EDGES = ".,;:!?\"'()[]{}<>«»“”‘’„…*_~`"
"""Characters around a word that are not part of it."""


def has_match(text: str, patterns: Iterable[str]) -> bool:
    """Whether `text` has a word, or words in a row, that one of `patterns` names; upper case does not count.

    In a pattern `*` is any characters of one word, and `?` is one character.
    """
    words = [_forms(word) for word in text.casefold().split()[:_MOST_WORDS]]
    return any(_is_in(pattern.casefold().split(), words) for pattern in patterns)


def _forms(word: str) -> tuple[str, ...]:
    """A word as it is written, and without the characters around it."""
    short = word[:_LONGEST_WORD]
    bare = short.strip(_EDGES)
    return (short, bare) if bare and bare != short else (short,)


def _is_in(pattern: Sequence[str], spoken: Sequence[tuple[str, ...]]) -> bool:
    starts = range(len(spoken) - len(pattern) + 1) if pattern else ()
    return any(
        all(
            any(fits(form, glob) for form in forms)
            for glob, forms in zip(pattern, spoken[start : start + len(pattern)], strict=True)
        )
        for start in starts
    )


def fits(word: str, glob: str) -> bool:
    """Whether the whole of `word` is what `glob` says. It takes at most as many steps as both multiplied."""
    at = place = 0
    star, resume = -1, 0  # the last `*`, and from where of the word it is tried again
    while at < len(word):
        if place < len(glob) and glob[place] == "*":
            star, resume = place, at
            place += 1
        elif place < len(glob) and glob[place] in ("?", word[at]):
            at, place = at + 1, place + 1
        elif star >= 0:
            resume += 1
            at, place = resume, star + 1
        else:
            return False
    return all(each == "*" for each in glob[place:])
