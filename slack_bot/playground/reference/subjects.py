"""What the subjects of a question are, and which sections they lead to.

`subjects.toml` says for each section what a question must name, and what it may name besides. A text is read
in words where one stands for all that mean the same. Words that belong to no subject and are no plain ones
count against all sections. So a question about something else finds nothing, whatever everyday words it
shares with a page. The name of another thing says so too, unless this project is named as well.
"""

import re
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib import resources

from .pages import words_of

_BORNE_STRONG = 2  # strange words that a strong subject makes up for
_BORNE_OURS = 1  # the same of a word that says that this project is meant
_WEIGHT = 2.0  # of a subject
_ALSO = 0.6  # share of its weight where it is only named as well
_LESS = 0.3  # what a strange word takes from the score of a section that it does not rule out
_OUTSIDE = 4  # strange words that something counts for which is certainly not in the pages
_CHOOSES = 0.5  # weight of a word of `sections` that is no subject of its own
_WEAK = 1.0  # weight of a pattern that fits only where nothing else is said
_OURS = "ours"  # in a pattern: a word says that this project is meant
_FRAGMENT = 2  # words: so few are about this project
_GAP = r" (?:[^ ]+ ){0,4}"
_SHORT_WORD = 2  # letters: a longer word may have an s at its end
_LONG_WORD = 6  # letters: a longer word may be misspelt by one
_DEFINITION = re.compile(
    r" (?:(?:what|who) (?:is|are)|explain|define|what does)(?: an?| the)?(?: [^ ]+){1,2}?"
    r"(?: mean| stand for| to i)?(?: please)? "
)
_NAME = re.compile(r"(?<=[\w,)\"] )[A-Z]\w+|\b[^\W\d_]\w+(?=['’]s\b)")
_SHORT_IS = re.compile(
    r"(?:what|that|it|who|where|there|here|how|let|he|she|when|why|this|which|\w+one|\w+body)\Z", re.I
)
_ORDER = re.compile(
    r"\W*(?:please )?(?:deploy|restart|reboot|stop|start|update|upgrade|delete|remove|install|create|send"
    r"|open|close|cancel|roll back|scale|rename|archive|back ?up) (?:the|my(?! data\b)|our|an?|all) [^?]*\Z"
    r"|\W*(?:can|could|would|will) you (?:please )?"
    r"((?:deploy|restart|reboot|upgrade|open|close|create|book|order|rename) (?:the|an?) .*)",
    re.IGNORECASE,
)
_TEAMS = re.compile(r"(?<=[a-zü,] )Teams\b")  # Microsoft's, where no sentence begins
_GERMAN = re.compile(r"\b(?:wie|ist|der|das|und|für|gibt|ich|wir|auf|wer|kann|brauch\w*)\b", re.IGNORECASE)
_COUNT = re.compile(r" how many (?:more )?([^ ]+) ([^ ]*)")
_NUMBER = re.compile(
    r"\d|\b(?:one|two|three|four|five|six|ten|twelve|twenty|thirty|forty|fifty|hundred|thousand|any|no"
    r"|as many)\b"
)
_MOST_WORDS = 200  # of a text: more would take too long
_READINGS = 8  # that are kept: several things are asked of a text, one after the other


@dataclass(frozen=True, slots=True)
class _Pattern:
    """What a question must name, and must not. `is_ours`: and a word must say that this project is meant."""

    named: frozenset[str]
    unnamed: frozenset[str]
    is_ours: bool

    def fits(self, reading: "_Reading") -> bool:
        is_meant = reading.is_ours or not self.is_ours
        return is_meant and self.named <= reading.named and self.unnamed.isdisjoint(reading.named)


@dataclass(frozen=True, slots=True)
class _Reading:
    """What a text says: the subjects that it names, each with the places of its words that are not plain, and
    the words that neither belong to a subject nor are plain.

    `is_ours`: a word says that this project is meant, or there are too few words to say so. `is_definition`:
    it asks what something is, no more.
    """

    named: frozenset[str]
    places: Mapping[str, frozenset[int]]
    strange: tuple[str, ...]
    is_ours: bool
    is_definition: bool

    def besides(self, names: frozenset[str]) -> frozenset[int]:
        """The places of words that belong to a subject, but to none of `names`."""
        everything = frozenset[int]().union(*self.places.values())
        return everything.difference(*(self.places[name] for name in names))


class Subjects:
    """The subjects that a text may name, and which of them lead to which heading."""

    def __init__(self, text: str) -> None:
        data = tomllib.loads(text)
        self.whole = frozenset(data["whole"])
        self.headings = frozenset(data["sections"])
        self.strong = frozenset(data["strong"].split())
        self._general = frozenset(data["general"].split())
        self._anchors = frozenset(data["anchors"].split())
        self._ours_alone, self._vague = (frozenset(data[each].split()) for each in ("ours_alone", "vague"))
        self._same = {each: word for word, listed in data["same"].items() for each in _phrases(listed)}
        self._synonyms = _expression(sorted(self._same, key=len, reverse=True), ending="")
        self._needs = {
            heading: [_pattern(each) for each in section["needs"]]
            for heading, section in data["sections"].items()
        }
        self._also = {
            heading: frozenset(section.get("also", "").split()).union(
                *(each.named for each in self._needs[heading])
            )
            for heading, section in data["sections"].items()
        }
        used = {
            name for needs in self._needs.values() for each in needs for name in each.named | each.unnamed
        }
        groups = {name: _phrases(listed) for name, listed in data["groups"].items()}
        choosing = used - set(groups)
        groups |= {name: (name,) for name in choosing}
        same = self._in_same_words
        self._phrases = phrases = {name: [same(each) for each in listed] for name, listed in groups.items()}
        self._expressions = {name: _expression(listed) for name, listed in phrases.items()}
        self._outside = _expression(outside := [same(each) for each in _phrases(data["outside"])])
        said_of_whom = (_expression(_phrases(data[each])) for each in ("names", "own", "courtesy"))
        self._names, self._own, self._courtesy = said_of_whom
        weights = {name: float(weight) for weight, names in data["weights"].items() for name in names.split()}
        self._weights = dict.fromkeys(groups, _WEIGHT) | dict.fromkeys(choosing, _CHOOSES) | weights
        self._plain = frozenset(data["plain"].split()) | self._anchors | set(self._same.values())
        listed = [*self._same, *outside, *(each for listed in phrases.values() for each in listed)]
        words = {word for each in listed for word in each.split()}
        self._listed = self._plain | {word for word in words if not word.endswith("*")}
        self._beginnings = tuple(word.removesuffix("*") for word in words if word.endswith("*"))
        self._nearly = _shortened(word for word in self._listed if len(word) >= _LONG_WORD)
        self._read = lru_cache(maxsize=_READINGS)(self._read_through)

    def outside_in(self, text: str, knows: Callable[[str], bool]) -> int:
        """How many things `text` names that are certainly not in the pages; `knows`: they have a word."""
        line = f" {self._in_same_words(' '.join(words_of(text)))} "
        return len(self._outside.findall(line)) + self._others(text, knows)

    def _others(self, text: str, knows: Callable[[str], bool]) -> int:
        """How many other things `text` asks about: none where this project is named as well.

        A thing in the genitive (*Glean's pricing*) counts all the same.
        """
        if self._is_order(text):
            return 1
        names, owners = self._unknown_names(text)
        unknown = {each for each in names if not knows(each)}
        line = self._courtesy.sub(" ", f" {' '.join(words_of(text))} ")
        if self._own.search(line):
            return 0 if self._ours_alone & self.named_in(text) else len(owners)
        return len(unknown | owners) or self._is_asked_of_a_name(line)

    def _is_order(self, text: str) -> bool:
        """`text` orders something about a thing that is not of this project."""
        order = _ORDER.match(text)
        return order is not None and not self._read(order[1] or order[0]).is_ours

    def _unknown_names(self, text: str) -> tuple[set[str], set[str]]:
        """The names in `text` that no list has, and those of any other thing that something belongs to."""
        unknown, owners = set[str](), set[str]()
        words = text.split()
        if _GERMAN.search(text) or 2 * sum(word[:1].isupper() for word in words) > len(words):
            return unknown, owners
        for match in _NAME.finditer(text):
            word, is_owner = match[0].lower(), text[match.end() : match.end() + 1] in ("'", "’")
            is_known = (
                word in self._listed
                or word.removesuffix("s") in self._listed
                or word.startswith(self._beginnings)
            )
            if is_owner and not _SHORT_IS.match(word) and (not is_known or self._names.search(f" {word} ")):
                owners.add(word)
            elif not is_owner and not is_known:
                unknown.add(word)
        return unknown, owners

    def _is_asked_of_a_name(self, line: str) -> bool:
        """A subject is named that has nothing to do with the name of another thing in `line`."""
        names = [match[0] for match in self._names.finditer(line)]
        if not names:
            return False
        besides = self.named_in(self._names.sub(" ", line))
        asked = besides - self.named_in(" ".join(names))
        is_subject = any(self._weights[name] > _CHOOSES for name in asked - self._vague)
        return self._ours_alone.isdisjoint(besides) and is_subject

    def counts(self, question: str, text: str, names: Iterable[str]) -> bool:
        """`text` has a number for what `question` counts, or the question counts nothing.

        `names`: the subjects for which `text` was found; what is no subject does not count.
        """
        line = f" {self._in_same_words(' '.join(words_of(question)))} "
        if (count := _COUNT.search(line)) is None:
            return True
        if any(
            " how many " in f" {match[0]} "
            for name in self._expressions.keys() & names
            for match in self._expressions[name].finditer(line)
        ):
            return True
        words = {word.removesuffix("s") for word in self._in_same_words(" ".join(words_of(text))).split()}
        return _NUMBER.search(text) is not None and any(
            word.removesuffix("s") in words for word in count.groups()
        )

    def named_in(self, text: str) -> frozenset[str]:
        """The subjects that `text` names."""
        return self._read(text).named

    def lists(self, word: str) -> bool:
        """`word` belongs to a subject or is a plain one, as it is spelled."""
        return word in self._listed

    def words_in(self, text: str) -> list[str]:
        """The words of `text`, with one word for all that mean the same, and spelled as the lists have it."""
        words = [self._spelled(word) for word in words_of(_TEAMS.sub("msteams", text))[:_MOST_WORDS]]
        return self._in_same_words(" ".join(words)).split()

    def wordings_of(self, heading: str) -> list[str]:
        """The words of all subjects that lead to `heading`."""
        phrases = [each for pattern in self._needs.get(heading, ()) for each in self._phrases_of(pattern)]
        return [word.removesuffix("*") for each in phrases for word in each.split()]

    def _phrases_of(self, pattern: _Pattern) -> list[str]:
        return [each for name in pattern.named for each in self._phrases[name]]

    def is_about_us(self, text: str) -> bool:
        """A word of `text` says that this project is meant, or there are too few words to say so."""
        return self._read(text).is_ours

    def strange_words(self, text: str) -> tuple[str, ...]:
        """The words of `text` that neither belong to a subject nor are plain."""
        return self._read(text).strange

    def found_in(
        self, text: str, outside: int = 0, *, strict: bool = True
    ) -> Iterator[tuple[str, float, frozenset[str]]]:
        """The headings that answer `text`, each with its score and the subjects that `text` names of it.

        `outside`: how many things the whole question names that are not in the pages. Not `strict`: whatever
        else is named.
        """
        reading = self._read(text)
        strange = _OUTSIDE * outside + len(reading.strange)
        borne_ours = _BORNE_OURS if reading.is_ours else 0
        for heading, needs in self._needs.items():
            for pattern in needs:
                if not pattern.fits(reading):
                    continue
                also = self._also[heading] & reading.named - pattern.named
                borne = borne_ours + _BORNE_STRONG * len(pattern.named & self.strong)
                is_general = reading.is_definition and not also and pattern.named <= self._general
                if self._sum(pattern.named) <= _WEAK:
                    besides = len(reading.besides(pattern.named))
                else:
                    besides = 0 if reading.is_ours else len(reading.besides(pattern.named | also))
                if not strict or (strange + besides <= borne and not is_general):
                    score = self._sum(pattern.named) + _ALSO * self._sum(also) - _LESS * strange
                    yield heading, score, pattern.named | also

    def _sum(self, names: Iterable[str]) -> float:
        return sum(self._weights[name] for name in names)

    def _read_through(self, text: str) -> _Reading:
        text = _TEAMS.sub("msteams", text)
        words = [self._spelled(word) for word in words_of(text)[:_MOST_WORDS]]
        line = f" {self._in_same_words(' '.join(words))} "
        known = {number for number, word in enumerate(line.split()) if self._is_plain(word)}
        places: dict[str, frozenset[int]] = {}
        for name, expression in self._expressions.items():
            covered = set[int]()
            for match in expression.finditer(line):
                first = line.count(" ", 0, match.start()) - 1
                covered.update(range(first, first + match[0].strip().count(" ") + 1))
            if covered:
                places[name] = frozenset(covered - known)
        known = known.union(*places.values())
        return _Reading(
            frozenset(places),
            places,
            tuple(word for number, word in enumerate(line.split()) if number not in known),
            len(words) <= _FRAGMENT or not self._anchors.isdisjoint((*words, *line.split())),
            _DEFINITION.fullmatch(line) is not None,
        )

    def _is_plain(self, word: str) -> bool:
        return word in self._plain or word.isdigit() or len(word) == 1

    def _in_same_words(self, line: str) -> str:
        """`line` with one word for all that mean the same."""
        found = self._synonyms.sub(lambda match: self._same[match[0]], f" {line} ")
        return found.strip()

    def _spelled(self, word: str) -> str:
        """The known word that `word` is with one letter more, less or changed; else `word`."""
        if len(word) < _LONG_WORD - 1 or word in self._listed or word.startswith(self._beginnings):
            return word
        near = (self._nearly[each] for each in sorted(_without_one(word)) if each in self._nearly)
        return next((each for each in near if _differ_by_one(each, word)), word)


@cache
def bundled_subjects() -> Subjects:
    """The subjects of the bundled pages."""
    return Subjects((resources.files(__package__) / "subjects.toml").read_text(encoding="utf-8"))


def _phrases(listed: str) -> tuple[str, ...]:
    return tuple(" ".join(each.split()) for each in listed.split(";") if each.strip())


def _pattern(text: str) -> _Pattern:
    terms = {each.strip() for each in text.split("&")}
    unnamed = {each for each in terms if each.startswith("!")}
    named = terms - unnamed - {_OURS}
    return _Pattern(frozenset(named), frozenset(each[1:] for each in unnamed), _OURS in terms)


def _expression(phrases: Iterable[str], ending: str = "s?") -> re.Pattern[str]:
    """Finds one of `phrases` in words with a space before and after each. Their words may have `ending`."""
    ways = (" ".join(_way(word, ending) for word in each.split()).replace(" .. ", _GAP) for each in phrases)
    return re.compile(f"(?<= )(?:{'|'.join(ways)})(?= )")


def _way(word: str, ending: str) -> str:
    if word == "..":
        return word
    if word.endswith("*"):
        return re.escape(word.removesuffix("*")) + "[^ ]*"
    return re.escape(word) + ending * (len(word) > _SHORT_WORD)


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
