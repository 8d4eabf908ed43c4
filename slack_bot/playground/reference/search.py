"""Full-text search over a handful of Markdown pages: SQLite's FTS5 over their sections, in memory."""

import re
import sqlite3
import weakref
from collections.abc import Mapping
from dataclasses import dataclass

from ...errors import BotError

_NAME_WEIGHT = 3  # a word of a heading or a title counts so often
_FEW_SECTIONS = 3  # a word of no more sections says what a question is about
_BEST = 5  # sections that a search finds
_NEW_INDEX = "CREATE VIRTUAL TABLE section USING fts5(words, tokenize = ascii)"
_WORD = re.compile(r"[a-z0-9]+")
_HEADING = re.compile(r"(#{1,3}) +(.+)")
_STOPWORDS = frozenset(
    """
    a about all also am an and any are as at be been but by can could depth describe did do does
    each else every everything explain for from get give had happen happens has have how i if in
    here into is it its just know let like made make many may me more most much must my need no not of
    often on one only or other our out please see should show so some such tell than that the their
    them then there these they this thorough thoroughly those time to too under up us use used using
    very want was we were what when where which who whom whose why will with without work would you
    your
    """.split()  # noqa: SIM905  # a list of words reads better as words
)


@dataclass(frozen=True, slots=True)
class PageSection:
    """A heading and the text under it. `page` is the page's name, `title` its first heading."""

    page: str
    title: str
    heading: str
    text: str

    def names(self) -> set[str]:
        return {*words(self.heading), *words(self.title)}


@dataclass(frozen=True, slots=True)
class Hit:
    """A section that was found, and how well it fits (higher is better; only comparable in one search)."""

    section: PageSection
    score: float


class Library:
    """Pages by name, as Markdown. The order of `pages` breaks ties.

    Raises BotError where Python's SQLite has no FTS5.
    """

    def __init__(self, pages: Mapping[str, str]) -> None:
        self._pages = dict(pages)
        self._sections = [section for name, text in pages.items() for section in sections(name, text)]
        self._index = sqlite3.connect(":memory:", check_same_thread=False)
        weakref.finalize(self, self._index.close)
        try:
            self._index.execute(_NEW_INDEX)
        except sqlite3.OperationalError as error:
            raise BotError(
                "the playground's agent searches with SQLite's FTS5, which this Python's SQLite lacks ("
                f"{error}); use a Python whose SQLite has it"
            ) from error
        texts = (" ".join([*each.names()] * _NAME_WEIGHT + words(each.text)) for each in self._sections)
        self._index.executemany("INSERT INTO section (rowid, words) VALUES (?, ?)", enumerate(texts))

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self._pages)

    def sections_of(self, page: str) -> list[PageSection]:
        return [each for each in self._sections if each.page == page]

    def search(self, query: str) -> list[Hit]:
        """The sections that fit best, best first. Empty where no word of `query` is known."""
        wanted = sorted(set(words(query)))
        found = ((self._sections[row], score) for row, score in self._found(wanted))
        hits = [Hit(section, score * _fit(section, set(wanted))) for section, score in found]
        return sorted(hits, key=lambda hit: -hit.score)[:_BEST]

    def fetch(self, page: str) -> str | None:
        return self._pages.get(page)

    def knows(self, query: str) -> bool:
        """Some section is about `query`: it has half of its words, and not in passing.

        A single word is more than passing in a heading, or where few sections have it.
        """
        wanted = set(words(query))
        rows = {word: {row for row, _ in self._found([word])} for word in wanted}
        rare = {word for word in wanted if len(rows[word]) <= _FEW_SECTIONS}
        for row in set().union(*rows.values()):
            here = {word for word in wanted if row in rows[word]}
            if len(here) >= len(wanted) / 2 and (
                len(here) > 1 or here & (rare | self._sections[row].names())
            ):
                return True
        return False

    def _found(self, wanted: list[str]) -> list[tuple[int, float]]:
        """The sections that have one of the words, by their number, and the score of each."""
        query = " OR ".join(f'"{word}"' for word in wanted) or '""'
        sentence = "SELECT rowid, -rank FROM section WHERE section MATCH ? ORDER BY rowid"
        return self._index.execute(sentence, (query,)).fetchall()


def _fit(section: PageSection, wanted: set[str]) -> float:
    """1 to 1.5: a heading that says little but what was asked is what was asked for."""
    heading = set(words(section.heading))
    return 1 + len(heading & wanted) / max(1, len(heading)) / 2


def sections(page: str, text: str) -> list[PageSection]:
    """The sections of one Markdown page. The text before a second heading belongs to the page's own."""
    title = heading = page
    fenced, found = False, [(page, page, list[str]())]
    for line in text.splitlines():
        fenced ^= line.startswith("```")
        match = None if fenced else _HEADING.fullmatch(line.rstrip())
        if match is None:
            found[-1][2].append(line)
            continue
        heading = match[2]
        title = heading if match[1] == "#" else title
        found.append((title, heading, []))
    bodies = ((title, heading, "\n".join(lines).strip()) for title, heading, lines in found)
    return [PageSection(page, title, heading, body) for title, heading, body in bodies if body]


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
