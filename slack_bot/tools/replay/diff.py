"""PURE. Which stretches of a text are also in another one: what a rewrite left unchanged."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from difflib import SequenceMatcher

CHANCE = 20
"""Characters; fewer may be alike by chance."""

_TOKEN = re.compile(r"\s+|\w+|[^\w\s]")


@dataclass(frozen=True, slots=True)
class Match:
    """`size` characters, at `one` in the first text and at `other` in the second."""

    one: int
    other: int
    size: int


def matches(one: str, other: str, least: int = 1) -> list[Match]:
    """What both texts share, in order and without overlap.

    Their common beginning and end are compared by letters, the text between by words; there, matches of fewer
    than `least` characters count as chance.
    """
    head = common_prefix(one, other)
    tail = common_prefix(one[head:][::-1], other[head:][::-1])
    found = [Match(0, 0, head)]
    if head + tail < min(len(one), len(other)):
        between = _by_words(one[head : len(one) - tail], other[head : len(other) - tail])
        found += [
            Match(head + each.one, head + each.other, each.size) for each in between if each.size >= least
        ]
    found.append(Match(len(one) - tail, len(other) - tail, tail))
    return [each for each in found if each.size]


def common_prefix(one: str, other: str) -> int:
    """How many characters two texts share from their beginning."""
    size = min(len(one), len(other))
    if one[:size] == other[:size]:
        return size
    return next(n for n in range(size) if one[n] != other[n])


def _by_words(one: str, other: str) -> Iterator[Match]:
    mine, theirs = _tokens(one), _tokens(other)
    same = SequenceMatcher(None, [word for word, _ in mine], [word for word, _ in theirs])
    for block in same.get_matching_blocks():
        if block.size:
            size = sum(len(word) for word, _ in mine[block.a : block.a + block.size])
            yield Match(mine[block.a][1], theirs[block.b][1], size)


def _tokens(text: str) -> list[tuple[str, int]]:
    return [(found.group(), found.start()) for found in _TOKEN.finditer(text)]


def kept(look: str, end: str) -> list[str]:
    """The stretches of `look` that are in the `end` too, with single spaces."""
    one, other = (" ".join(text.split()) for text in (look, end))
    return [one[each.one : each.one + each.size] for each in matches(one, other, CHANCE)]


def not_kept(look: str, end: str) -> int:
    """How many characters of `look` are not there in the `end`."""
    return 0 if end.startswith(look) else len(" ".join(look.split())) - sum(map(len, kept(look, end)))
