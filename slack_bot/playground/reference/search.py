"""Which sections of the pages answer a question, and whether any does.

Two witnesses are heard. The subjects that a question names lead to a topic (`subjects.py`), and its rare
words are those of a section (`ranking.py`). Where both say the same, that section is the answer; where one of
them is silent, the other must be clear. Else nothing is the answer, and what comes nearest can be named. Each
clause that asks is heard alone as well.
"""

import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources

from .pages import PageSection, sections, words_of
from .ranking import Ranking
from .subjects import Subjects, bundled_subjects

_BEST, _NEAREST = 5, 3  # sections that a search finds, and that are named where nothing fits
_BY_NAME = 99.0  # score of a section that is asked for by its heading
_LONG_STORY = 45  # words: of a longer text the clauses that ask are the question
_SHORT_ASK = 20  # words: what is asked in a long story is clear
_BIT = 3  # words: a later clause that is no longer says nothing without the one before it
_IN_HEADING, _IN_WORDING = 3, 2  # how often a word counts there
# What the words alone must have to be believed: a score, how far the next topic is behind (as a share of it),
# and how much of the question they are.
_CLEAR_SCORE, _CLEAR_LEAD, _CLEAR_SHARE = 10.0, 0.25, 0.4
_SOME_LEAD = 0.1  # the same where the subjects name that topic too, but another one first
_CERTAIN_SCORE, _CERTAIN_SHARE = 20.0, 0.8  # the same whatever else seems to be named
_SOME_SHARE = 0.3  # of the question that even a section must have which both name
_SOME_SCORE, _ALONE_SCORE = 5.0, 6.0  # that a clause must reach by itself; beside one about other things
_RIVAL_SHARE = 0.6  # the same where the words name another one first
# The share of the best score that the first topic of the subjects must have where the words name another one;
# the same where the words say little.
_RIVAL, _RIVAL_OF_FEW = 0.8, 0.5
# What is near has this share of the best score, and of the question; of one that may be about other things.
_RELATED, _KNOWN, _KNOWN_OF_OTHERS = 0.5, 0.25, 0.5
_NO_WORDS = re.compile(r"```[^`\n]*\n.*?(?:```|\Z)|https?://\S+", re.DOTALL)
_SENTENCE = re.compile(r"(?<=[.?!])\s+|\n+")
_CLAUSE = re.compile(r"[,:;()]|\s(?:and|but|so|because|plus|und|aber)\s|\s[-–—&]\s", re.IGNORECASE)
_ASKS = re.compile(
    r"\W*(?:(?:hi|hello|hey|so|ok|okay|also|then|well|please|oh|now|just|btw|or|if so|finally"
    r"|question|and|like|under|in|for|from|with|by|on|at|to)\b\W*)*"
    r"(?:what\w*|how|who\w*|where\w*|when|why|which|can|cant|could|is|isnt|are|does|do|did|will|would|may"
    r"|might"
    r"|must|should|has|have|am|was|were|any|if|wie|wo|wer|wann|warum|welche\w*|kann|können|gibt|ist|sind|muss"
    r"|darf|läuft|hat|werden|wird)\b",
    re.IGNORECASE,
)
_WONDERS = re.compile(
    r"\b(?:wonder\w*|know (?:if|what|how|where|who|which|whether)|whether|tell me|asked me|asking|curious"
    r"|explain|show me|question is)\b",
    re.IGNORECASE,
)
_POINT = re.compile(  # what follows is the question of a long story
    r"\b(?:what (?:i|we) (?:\w+ )?(?:want|need|would like) to (?:know|find out|understand|ask)"
    r"|what (?:i|we) (?:\w+ )?(?:wonder|ask|(?:can['’]?t|cannot) figure out)"
    r"|what (?:i|we) (?:\w+ )?(?:do not|don['’]?t) (?:get|know|understand)"
    r"|(?:my|the|our) (?:\w+ )?question)(?: after all (?:this|that))? (?:is|was)\b[:,]?|\blong story short\b",
    re.IGNORECASE,
)
_ASK_FOR = frozenset(("who", "where", "when", "why", "how"))  # tells the parts of a topic apart
# What a part of a topic must have more than its first section: of the question, and in score.
_FIRST, _FIRST_WEIGHS = 0.04, 1.15
_CLAUSES = 12  # that ask: more would take too long


@dataclass(frozen=True, slots=True)
class Hit:
    """A section that was found, how well its words fit (higher is better), and the subjects that lead to it.

    Without subjects its words alone were clear. `is_answer`: it answers; else it is only related.
    """

    section: PageSection
    score: float
    subjects: frozenset[str] = frozenset()
    is_answer: bool = True


@dataclass(frozen=True, slots=True)
class _Hearing:
    """What the two witnesses say of a text.

    `scores`: of sections, by its `words`, best first, and of their `topics`; `share`: how much of the text
    the best section has.
    `subjects`: what is named of each topic, best first. `outside`: how many things are named that are
    certainly not in the pages.
    """

    words: Sequence[str]
    scores: Mapping[str, float]
    topics: Mapping[str, float]
    share: float
    subjects: Mapping[str, frozenset[str]]
    outside: int


class Library:
    """Pages by name, as Markdown. The order of `pages` breaks ties."""

    def __init__(
        self,
        pages: Mapping[str, str],
        subjects: Subjects | None = None,
        wordings: str | None = None,
    ) -> None:
        self._pages = dict(pages)
        self._sections = [section for name, text in pages.items() for section in sections(name, text)]
        self._named = {each.heading: each for each in self._sections}
        self._subjects = bundled_subjects() if subjects is None else subjects
        asked = tomllib.loads(bundled_wordings() if wordings is None else wordings)
        headed = {
            each.heading: self._words_that_ask(each.heading, asked["wordings"].get(each.heading, ""))
            for each in self._sections
        }
        self._besides = _phrases_of(asked.get("besides", ""))
        errors = asked.get("errors", {})
        self._errors = {each: _phrases_of(errors[each]) for each in self._named if each in errors}
        everyday = asked["everyday"].split()
        self._parts = Ranking(headed, set(everyday) - _ASK_FOR)
        with_text = {
            each.heading: [*headed[each.heading], *self._words_of_text(each)] for each in self._sections
        }
        self._ranking = Ranking(with_text, everyday)

    def _words_that_ask(self, heading: str, wordings: str) -> list[str]:
        """The words by which people ask for the section of `heading`."""
        words = _IN_HEADING * self._subjects.words_in(heading)
        return words + [
            word for each in wordings.split(";") for word in _IN_WORDING * self._subjects.words_in(each)
        ]

    def _words_of_text(self, section: PageSection) -> list[str]:
        """The words of `section`, and of all subjects that lead to it."""
        words = [word for line in section.text.split("\n") for word in self._subjects.words_in(line)]
        return words + self._subjects.wordings_of(section.heading)

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self._pages)

    def sections_of(self, page: str) -> list[PageSection]:
        return [each for each in self._sections if each.page == page]

    def fetch(self, page: str) -> str | None:
        return self._pages.get(page)

    def search(self, query: str) -> list[Hit]:
        """The sections that answer `query`, and then what is related; empty where no answer is clear."""
        found = self._answers(query)
        if found:
            there = {hit.section.heading for hit in found}
            scores = self._hear(query, 0).scores
            found += [
                Hit(self._named[each], score, is_answer=False)
                for each, score in scores.items()
                if each not in there
            ]
        return found[:_BEST]

    def error_in(self, query: str) -> PageSection | None:
        """The section that explains an error that is pasted into `query`."""
        found = (heading for heading, said in self._errors.items() if said.search(query))
        return next((self._named[each] for each in found), None)

    def _question_in(self, query: str) -> str:
        """`query` without code, addresses and what is said besides; of a long story its point."""
        text = self._besides.sub(" ", _NO_WORDS.sub(" ", query))
        point = list(_POINT.finditer(text)) if len(text.split()) > _LONG_STORY else []
        return text[point[-1].end() :] if point else text

    def _answers(self, query: str) -> list[Hit]:
        """The sections that answer `query`, one for each thing it asks."""
        words = words_of(query)
        for section in self._sections:
            if words_of(section.heading) == words:
                return [Hit(section, _BY_NAME, frozenset({section.heading}))]
        if error := self.error_in(query):
            return [Hit(error, _BY_NAME, frozenset({error.topic}))]
        text = self._question_in(query)
        asking = _asking_clauses(text)[:_CLAUSES]
        if len(text.split()) > _LONG_STORY:
            text = " ".join(asking)
            if len(text.split()) > _SHORT_ASK:
                return []
        outside = self._outside_in(text)
        asked = (self._answer_to(self._hear(each, outside)) for each in (text, " ".join(asking)))
        whole = next((hit for hit in asked if hit is not None), None)
        found: dict[str, Hit] = {}
        for number, clause in enumerate(asking):
            if clause != text and not (number and len(clause.split()) <= _BIT):
                hit = self._answer_to(self._hear(clause, self._outside_in(clause)))
                if hit is not None and hit.score >= (_ALONE_SCORE if outside else _SOME_SCORE):
                    found.setdefault(hit.section.topic, hit)
        if whole is not None and (whole.subjects or not found):
            found = {whole.section.topic: whole} | {
                topic: hit for topic, hit in found.items() if topic != whole.section.topic
            }
        return list(found.values())

    def near(self, query: str) -> list[PageSection]:
        """What comes nearest to `query` where nothing answers it, best first."""
        text = self._question_in(query)
        if len(text.split()) > _LONG_STORY:
            return self._near_in_story(text)
        heard = self._hear(text, self._outside_in(text))
        known = _KNOWN if self._subjects.is_about_us(text) else _KNOWN_OF_OTHERS
        if heard.outside or not (heard.subjects or heard.share >= known):
            return []
        best = max(heard.scores.values(), default=0)
        related = [name for name, score in heard.scores.items() if score >= _RELATED * best]
        topic, _ = self._topic_of(heard)
        names = [] if topic is None else [self._part_for(heard.words, topic).heading]
        names += [*related[:1], *list(heard.subjects)[:1], *related[1:]]
        return [self._named[name] for name in dict.fromkeys(names)][:_NEAREST]

    def _near_in_story(self, text: str) -> list[PageSection]:
        """What comes nearest to the clauses of a long `text` that ask, each heard alone."""
        found: dict[PageSection, tuple[bool, float]] = {}
        for clause in _asking_clauses(text)[:_CLAUSES]:
            heard = self._hear(clause, 0)
            topic, is_clear = self._topic_of(heard)
            topic = topic if is_clear else next(iter(heard.topics), None)
            if topic is not None and heard.share >= _CLEAR_SHARE:
                score = heard.topics.get(topic, 0.0)
                found.setdefault(self._part_for(heard.words, topic), (is_clear, score))
        return sorted(found, key=lambda section: found[section], reverse=True)[:_NEAREST]

    def _outside_in(self, text: str) -> int:
        return self._subjects.outside_in(text, self._ranking.knows)

    def _hear(self, text: str, outside: int) -> _Hearing:
        words = self._subjects.words_in(text)
        scores = self._ranking.scores(words)
        share = self._ranking.share(words, next(iter(scores))) if scores else 0.0
        led: dict[str, tuple[float, frozenset[str]]] = {}
        for heading, score, subjects in self._subjects.found_in(text, outside):
            if score > led.get(heading, (0.0, frozenset()))[0]:
                led[heading] = (score, subjects)
        in_order = sorted(
            (each for each in self._named if each in led), key=lambda each: -round(led[each][0], 2)
        )
        topics: dict[str, float] = {}
        for name, score in scores.items():
            topics.setdefault(self._named[name].topic, score)
        return _Hearing(words, scores, topics, share, {each: led[each][1] for each in in_order}, outside)

    def _answer_to(self, heard: _Hearing) -> Hit | None:
        """The section that answers what was heard; None where that is not clear."""
        topic, is_clear = self._topic_of(heard)
        if topic is None or not is_clear:
            return None
        score = heard.topics.get(topic, 0.0)
        return Hit(self._part_for(heard.words, topic), score, heard.subjects.get(topic, frozenset()))

    def _topic_of(self, heard: _Hearing) -> tuple[str | None, bool]:
        """The topic that fits best, if any, and whether that is clear."""
        first, topics = next(iter(heard.subjects), None), list(heard.topics)
        if not topics:
            return first, True
        best = heard.topics[topics[0]]
        lead = 1 - heard.topics[topics[1]] / best if topics[1:] else 1.0
        if best >= _CERTAIN_SCORE and heard.share >= _CERTAIN_SHARE:
            return topics[0], True
        if first == topics[0] or (topics[0] in heard.subjects and lead >= _SOME_LEAD):
            return topics[0], heard.share >= _SOME_SHARE or lead >= _CLEAR_LEAD
        if best >= _CLEAR_SCORE and lead >= _CLEAR_LEAD and heard.share >= _CLEAR_SHARE and not heard.outside:
            return topics[0], True
        rival = _RIVAL if best >= _CLEAR_SCORE else _RIVAL_OF_FEW
        if first is not None and heard.topics.get(first, 0) >= rival * best:
            section = self._part_for(heard.words, first).heading
            return first, self._ranking.share(heard.words, section) >= _RIVAL_SHARE
        return None, False

    def _part_for(self, words: Sequence[str], topic: str) -> PageSection:
        """The section of `topic` that has the most of `words`.

        A single word leads to its first section, if no part has more of the question; more words do so only
        where they fit no part much better.
        """
        parts = [each for each in self._sections if each.topic == topic]
        had = frozenset[str]().union(*(self._ranking.had(words, each.heading) for each in parts))
        scores = self._parts.scores(words)

        def fits(section: PageSection) -> tuple[float, float]:
            is_first = section.heading == topic
            share = self._parts.share(words, section.heading) + _FIRST * (is_first and len(had) <= 1)
            return round(share, 2), scores.get(section.heading, 0.0) * (_FIRST_WEIGHS if is_first else 1)

        return max(parts, key=fits)

    def parts_of(self, section: PageSection) -> list[PageSection]:
        """The section of the topic of `section`, and all that are parts of it."""
        return [each for each in self._sections if (each.page, each.topic) == (section.page, section.topic)]

    def is_whole(self, section: PageSection) -> bool:
        """`section` begins a page that is the answer as a whole."""
        return section.heading in self._subjects.whole

    def counts(self, question: str, hit: Hit) -> bool:
        """The section has a number for what `question` counts, or the question counts nothing."""
        section = f"{hit.section.heading} {hit.section.text}"
        return self._subjects.counts(question, section, hit.subjects - self._subjects.headings)

    def strange_words(self, text: str) -> list[str]:
        """The words of `text` that no list of subjects has."""
        return list(self._subjects.strange_words(text))


@cache
def bundled_wordings() -> str:
    """How people ask for the sections of the bundled pages."""
    return (resources.files(__package__) / "wordings.toml").read_text(encoding="utf-8")


def _phrases_of(listed: str) -> re.Pattern[str]:
    """Finds one of the phrases in `listed`, with any apostrophe or none where they have one."""
    said = [" ".join(each.split()) for each in listed.split(";") if each.strip()]
    phrases = [re.escape(each).replace("'", "['’]?") for each in said or ["\0"]]
    return re.compile(rf"(?<!\w)(?:{'|'.join(phrases)})(?!\w)", re.IGNORECASE)


def _asking_clauses(text: str) -> list[str]:
    """The clauses of `text` that ask something; all of them where none says so."""
    sentences = _SENTENCE.split(text)
    asking = [
        each for each in sentences if "?" in each or _WONDERS.search(each) or _ASKS.match(each)
    ] or sentences
    clauses = [clause for sentence in asking for clause in _clauses_of(sentence)]
    return clauses or [text]


def _clauses_of(sentence: str) -> list[str]:
    """The clauses of `sentence` that ask something; all of them where none says so."""
    clauses = [each for each in _CLAUSE.split(sentence) if len(each.split()) > 1]
    return [each for each in clauses if _ASKS.match(each) or _WONDERS.search(each)] or clauses
