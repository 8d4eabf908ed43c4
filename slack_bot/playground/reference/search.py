"""Which sections of the pages answer a question, and whether any does: by the subjects that it names.

`subjects.toml` says for each section what a question must name. A section counts the more, the fewer sections
its subjects lead to; words that nobody knows count against all. So a question about something else finds
nothing, whatever everyday words it shares with a page.
"""

import math
import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources

_BEST, _NEAREST = 5, 3  # sections that a search finds, and that are named where nothing fits
_UNKNOWN = 1.4  # what a word that nobody knows counts against a section; tuned on the lists of the tests
_UNANCHORED = 4  # the same, where no word says that this project is meant
_BESIDE_STRONG = 0.25  # of that, beside a subject that has no other meaning
_LESS = 0.3  # what an unknown word takes from the score of a section that it does not rule out
_OUTSIDE = 4  # unknown words that something counts for which is certainly not in the pages
_BY_NAME = 6.0  # score of a section that is asked for by its heading
_CHOOSES = 1.0  # weight of a phrase that is no subject of its own but chooses between two sections
_LONG_SENTENCE = 12  # words: a longer one is read by its parts as well
_LONG_STORY = 45  # words: in a longer one the sentences that ask are the question
_GAP = r" (?:[^ ]+ ){0,4}"
_LONG_WORD = 6  # letters: a longer word may be misspelt by one
_WORD = re.compile(r"[^\W_]+(?:_[^\W_]+)*")
_HEADING = re.compile(r"(#{1,3}) +(.+)")
_NO_WORDS = re.compile(r"```.*?(?:```|\Z)|https?://\S+", re.DOTALL)
_SENTENCE = re.compile(r"(?<=[.?!])\s+|[;\n]+|(?<=\?)")
_PART = re.compile(r"[,:()]|\s(?:and|but|so|because|or|if|when|und|oder)\s|\s[-–—]\s", re.IGNORECASE)
_ASKS = re.compile(r"\?|\b(wonder\w*|asking|like to know|want to know|question is|tell me)\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class PageSection:
    """A heading and the text under it. `page` is the page's name, `title` its first heading."""

    page: str
    title: str
    heading: str
    text: str


@dataclass(frozen=True, slots=True)
class Hit:
    """A section that was found, how well it fits (higher is better), and the subjects that say so."""

    section: PageSection
    score: float
    subjects: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class _Pattern:
    """What a question must name, and must not, so that `heading` answers it."""

    heading: str
    named: frozenset[str]
    unnamed: frozenset[str]


class Subjects:
    """The subjects that a text may name, and which of them lead to which heading."""

    def __init__(self, text: str) -> None:
        data = tomllib.loads(text)
        self.whole = frozenset(data["whole"])
        self.headings = frozenset(data["sections"])
        self._groups = {name: _phrases(listed) for name, listed in data["groups"].items()}
        self._patterns = [
            _pattern(heading, each) for heading, listed in data["sections"].items() for each in listed
        ]
        used = {name for each in self._patterns for name in each.named | each.unnamed}
        self._groups |= {name: (name,) for name in used - set(self._groups)}
        leads_to: dict[str, set[str]] = {}
        for each in self._patterns:
            for name in each.named:
                leads_to.setdefault(name, set()).add(each.heading)
        total = len(data["sections"])
        self._weights = {name: math.log(1 + total / len(found)) for name, found in leads_to.items()}
        self._weights |= {name: _CHOOSES for name in set(leads_to) - set(data["groups"])}
        self._weights |= data["weights"]
        self.strong = frozenset(data["strong"].split())
        self._expressions = {name: _expression(each) for name, each in self._groups.items()}
        self._outside = _expression(_phrases(data["outside"]))
        self._anchors = frozenset(data["anchors"].split())
        words = {word for group in self._groups.values() for each in group for word in each.split()}
        self._known = frozenset(data["plain"].split()) | self._anchors
        self._known |= {word for word in words if not word.endswith("*")}
        self._beginnings = tuple(word.removesuffix("*") for word in words if word.endswith("*"))
        self._nearly = _shortened(word for word in self._known if len(word) >= _LONG_WORD)

    def outside_in(self, text: str) -> int:
        """How many things `text` names that are certainly not in the pages."""
        return len(self._outside.findall(f" {' '.join(words_of(text))} "))

    def named_in(self, text: str) -> frozenset[str]:
        """The subjects that `text` names."""
        line = f" {' '.join(words_of(text))} "
        return frozenset(name for name, found in self._expressions.items() if found.search(line))

    def found_in(
        self, text: str, outside: int = 0, context: frozenset[str] = frozenset(), *, strict: bool = True
    ) -> Iterator[tuple[str, float, frozenset[str]]]:
        """The headings that answer `text`, each with its score and the subjects that `text` names of it.

        `outside`: how many things the whole question names that are not in the pages. `context`: all the
        subjects that it names. Not `strict`: whatever else is named.
        """
        words = [self._spelled(word) for word in words_of(text)]
        line = f" {' '.join(words)} "
        named, covered = set[str](), set[int]()
        for name, expression in self._expressions.items():
            for match in expression.finditer(line):
                named.add(name)
                first = line.count(" ", 0, match.start()) - 1
                covered.update(range(first, first + match[0].strip().count(" ") + 1))
        strange = [
            word for number, word in enumerate(words) if number not in covered and not self.knows(word)
        ]
        is_anchored = not self._anchors.isdisjoint(words)
        for pattern in self._patterns:
            if not pattern.named <= named or pattern.unnamed & (named | context):
                continue
            score = sum(self._weights[name] for name in pattern.named)
            against = _OUTSIDE * outside + len(strange) * (
                _BESIDE_STRONG if pattern.named & self.strong else 1
            )
            enough = against * (_UNKNOWN if is_anchored else _UNANCHORED)
            if not strict or not against or score >= enough:
                yield pattern.heading, score - _LESS * against, pattern.named

    def knows(self, word: str) -> bool:
        """`word` is no name of something that the pages know nothing about."""
        return word in self._known or word.isdigit() or len(word) == 1

    def _spelled(self, word: str) -> str:
        """The known word that `word` is with one letter more, less or changed; else `word`."""
        if len(word) < _LONG_WORD - 1 or self.knows(word) or word.startswith(self._beginnings):
            return word
        near = (self._nearly[each] for each in sorted(_without_one(word)) if each in self._nearly)
        return next((each for each in near if _differ_by_one(each, word)), word)


class Library:
    """Pages by name, as Markdown. The order of `pages` breaks ties."""

    def __init__(self, pages: Mapping[str, str], subjects: Subjects | None = None) -> None:
        self._pages = dict(pages)
        self._sections = [section for name, text in pages.items() for section in sections(name, text)]
        self._subjects = subjects or bundled_subjects()

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self._pages)

    def sections_of(self, page: str) -> list[PageSection]:
        return [each for each in self._sections if each.page == page]

    def fetch(self, page: str) -> str | None:
        return self._pages.get(page)

    def search(self, query: str) -> list[Hit]:
        """The sections that answer `query`, best first; empty where none does."""
        best: dict[str, tuple[float, frozenset[str]]] = {}
        text = _NO_WORDS.sub(" ", query)
        is_story = len(text.split()) > _LONG_STORY
        outside = 0 if is_story else self._subjects.outside_in(text)
        context = frozenset[str]() if is_story else self._subjects.named_in(text)
        for part in _parts(text):
            for heading, score, subjects in self._subjects.found_in(part, outside, context):
                if score > best.get(heading, (0.0, frozenset()))[0]:
                    best[heading] = (score, subjects)
        for section in self._sections:
            if words_of(section.heading) == words_of(text):
                best[section.heading] = (_BY_NAME, frozenset({section.heading}))
        hits = [Hit(each, *best[each.heading]) for each in self._sections if each.heading in best]
        return sorted(hits, key=lambda hit: -round(hit.score, 2))[: 1 if is_story else _BEST]

    def near(self, query: str) -> list[str]:
        """The headings that come nearest to `query` where nothing answers it, best first."""
        text = _NO_WORDS.sub(" ", query)
        if self._subjects.outside_in(text) or len(text.split()) > _LONG_STORY:
            return []
        found = sorted(self._subjects.found_in(text, strict=False), key=lambda each: -each[1])
        return list(dict.fromkeys(heading for heading, *_ in found))[:_NEAREST]

    def is_sure(self, hit: Hit) -> bool:
        """`hit` is about something that has no other meaning."""
        return not hit.subjects.isdisjoint(self._subjects.strong)

    def is_whole(self, section: PageSection) -> bool:
        """`section` begins a page that is the answer as a whole."""
        return section.heading in self._subjects.whole

    def strange_words(self, text: str) -> list[str]:
        """The words of `text` that no list of subjects has."""
        return [word for word in words_of(text) if not self._subjects.knows(word)]


@cache
def bundled_subjects() -> Subjects:
    """The subjects of the bundled pages."""
    return Subjects((resources.files(__package__) / "subjects.toml").read_text(encoding="utf-8"))


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


def chapters(text: str) -> Iterator[tuple[str, str]]:
    """A long page in chapters, each a page of its own: a name, and the text with its headings one level up.

    What stands before the first chapter is left out.
    """
    for chapter in re.split(r"(?m)^## ", text)[1:]:
        title = chapter.partition("\n")[0]
        yield "-".join(_WORD.findall(title.lower())), "# " + re.sub(r"(?m)^###(?=#* )", "##", chapter)


def words_of(text: str) -> list[str]:
    """The words of `text` in lower case; an apostrophe is no border."""
    return _WORD.findall(re.sub(r"['’`]", "", text.lower()))


def _parts(text: str) -> Iterator[str]:
    """The sentences of `text`, and the parts of long ones. Of a long story, those that ask."""
    sentences = [each for each in _SENTENCE.split(text) if each.strip()]
    if len(text.split()) > _LONG_STORY:
        asking = [each for each in sentences if _ASKS.search(each)]
        sentences = asking or sentences
    elif len(sentences) > 1:
        yield text
    for sentence in sentences:
        yield sentence
        if len(sentence.split()) > _LONG_SENTENCE:
            yield from (part for part in _PART.split(sentence) if len(part.split()) > 1)


def _phrases(listed: str) -> tuple[str, ...]:
    return tuple(" ".join(each.split()) for each in listed.split(";") if each.strip())


def _pattern(heading: str, text: str) -> _Pattern:
    terms = [each.strip() for each in text.split("&")]
    unnamed = frozenset(each[1:] for each in terms if each.startswith("!"))
    return _Pattern(heading, frozenset(terms) - {f"!{each}" for each in unnamed}, unnamed)


def _expression(phrases: Iterable[str]) -> re.Pattern[str]:
    """Finds one of `phrases` in words with a space before and after each."""
    ways = (re.escape(each).replace(r"\*", "[^ ]*").replace(r"\ \.\.\ ", _GAP) for each in phrases)
    return re.compile(f"(?<= )(?:{'|'.join(ways)})(?= )")


def _shortened(words: Iterable[str]) -> dict[str, str]:
    found: dict[str, str] = {}
    for word in sorted(words):
        for each in _without_one(word):
            found.setdefault(each, word)
    return found


def _differ_by_one(one: str, other: str) -> bool:
    """A letter is missing in one of them, or one is another, or two neighbours have changed places."""
    if len(one) != len(other):
        return True
    places = [at for at, pair in enumerate(zip(one, other, strict=True)) if pair[0] != pair[1]]
    return len(places) == 1 or (places[-1] - places[0] == 1 and sorted(one) == sorted(other))


def _without_one(word: str) -> set[str]:
    """`word`, and `word` without each of its letters in turn."""
    return {word, *(word[:at] + word[at + 1 :] for at in range(len(word)))}
