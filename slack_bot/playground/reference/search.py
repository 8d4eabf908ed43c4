"""PURE. Full-text search over a handful of Markdown pages: BM25 over their sections.

The playground's agent must answer from somewhere, offline and the same every time. A few pages do not need an
index, embeddings or a library: scoring every section anew takes less than a millisecond.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass

_K1 = 1.5  # BM25: how fast a repeated word stops counting; the usual value
_B = 0.75  # BM25: how much a long section is held back; the usual value
_HEADING_WEIGHT = 3  # a word in a heading says more about a section than one in its text
_FEW_SECTIONS = 3  # a word that stands in no more of them says what a question is about
_WORD = re.compile(r"[a-z0-9]+")
_HEADING = re.compile(r"(#{1,3}) +(.+)")
_STOPWORDS = frozenset(
    """
    a about all also am an and any are as at be been but by can could depth describe did do does
    each else every everything explain for from get give had happen happens has have how i if in
    into is it its just know let like made make many may me more most much must my need no not of
    often on one only or other our out please see should show so some such tell than that the their
    them then there these they this thorough thoroughly those time to too under up us use used using
    very want was we were what when where which who whom whose why will with without work would you
    your
    """.split()  # noqa: SIM905  # a list of words reads better as words
)


@dataclass(frozen=True, slots=True)
class PageSection:
    """A heading and what stands under it.

    `page` is the page's name, `title` its first heading, `position` counts the sections of a page from 0.
    """

    page: str
    title: str
    heading: str
    text: str
    position: int = 0


@dataclass(frozen=True, slots=True)
class Hit:
    """A section that was found, and how well it fits (higher is better; only comparable in one search)."""

    section: PageSection
    score: float


@dataclass(frozen=True, slots=True)
class _Counted:
    section: PageSection
    words: Counter[str]
    heading: frozenset[str]
    length: int

    def named(self, word: str) -> bool:
        """`word` stands in the section's heading or in its page's."""
        return self.words[word] >= _HEADING_WEIGHT and word in self.heading.union(words(self.section.title))


class Library:
    """Pages by name, as Markdown. The order of `pages` breaks ties."""

    def __init__(self, pages: Mapping[str, str]) -> None:
        self._pages = dict(pages)
        self._sections = [_count(section) for name, text in pages.items() for section in sections(name, text)]
        self._frequency = Counter(word for each in self._sections for word in each.words)
        self._mean = sum(each.length for each in self._sections) / max(1, len(self._sections))

    @property
    def names(self) -> tuple[str, ...]:
        """The names of all pages."""
        return tuple(self._pages)

    def sections_of(self, page: str) -> list[PageSection]:
        """The sections of a page, in order; empty where there is no such page."""
        return [each.section for each in self._sections if each.section.page == page]

    def search(self, query: str, limit: int = 5) -> list[Hit]:
        """The `limit` sections that fit best, best first. Empty where no word of `query` is known."""
        wanted = [word for word in dict.fromkeys(words(query)) if word in self._frequency]
        scored = ((self._score(each, wanted), number) for number, each in enumerate(self._sections))
        ranked = sorted((-score, number) for score, number in scored if score > 0)
        return [Hit(self._sections[number].section, -score) for score, number in ranked[: max(0, limit)]]

    def fetch(self, page: str) -> str | None:
        """A whole page, or None where there is none of that name."""
        return self._pages.get(page)

    def knows(self, query: str) -> bool:
        """Some section is about `query`: half of its words stand there, and not in passing.

        A single word is more than passing where it stands in a heading, or in few sections of all.
        """
        wanted = set(words(query))
        return any(self._is_about(each, wanted) for each in self._sections)

    def _is_about(self, section: _Counted, wanted: Collection[str]) -> bool:
        here = {word for word in wanted if section.words[word]}
        if not here or len(here) < len(wanted) / 2:
            return False
        return len(here) > 1 or any(self._is_telling(word) or section.named(word) for word in here)

    def _is_telling(self, word: str) -> bool:
        return self._frequency[word] <= _FEW_SECTIONS

    def _score(self, section: _Counted, wanted: Collection[str]) -> float:
        total = 0.0
        for word in wanted:
            count = section.words[word]
            share = self._frequency[word]
            rarity = math.log(1 + (len(self._sections) - share + 0.5) / (share + 0.5))
            fullness = 1 - _B + _B * section.length / self._mean
            total += rarity * count * (_K1 + 1) / (count + _K1 * fullness)
        # a heading that says little but what was asked is what was asked for
        exact = len(section.heading.intersection(wanted)) / max(1, len(section.heading))
        return total * (1 + exact / 2)


def sections(page: str, text: str) -> list[PageSection]:
    """The sections of one Markdown page. The text before a second heading belongs to the page's own."""
    title, heading, lines, fenced = page, page, list[str](), False
    found: list[PageSection] = []

    def close() -> None:
        if body := "\n".join(lines).strip():
            found.append(PageSection(page, title, heading, body, len(found)))
        lines.clear()

    for line in text.splitlines():
        fenced ^= line.startswith("```")
        match = None if fenced else _HEADING.fullmatch(line.rstrip())
        if match is None:
            lines.append(line)
            continue
        close()
        heading = match[2]
        title = heading if match[1] == "#" else title
    close()
    return found


def words(text: str) -> list[str]:
    """The words of `text` that mean something, in lower case and without their commonest endings."""
    return [_stem(word) for word in _WORD.findall(text.lower()) if word not in _STOPWORDS]


def _stem(word: str) -> str:
    if word.endswith("ies") and len(word) > 4:
        word = word.removesuffix("ies") + "y"
    elif word.endswith("s") and not word.endswith("ss") and len(word) > 3:
        word = word.removesuffix("s")
    for ending, rest in (("ment", 4), ("ion", 5), ("ing", 3), ("ed", 3), ("e", 3)):
        if word.endswith(ending) and len(word) - len(ending) >= rest:
            return word.removesuffix(ending)
    return word


def _count(section: PageSection) -> _Counted:
    found = Counter(words(section.text))
    heading = frozenset(words(section.heading))
    for word in heading.union(words(section.title)):
        found[word] += _HEADING_WEIGHT
    return _Counted(section, found, heading, sum(found.values()))
