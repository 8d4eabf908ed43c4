"""What all witnesses together say of a text.

Three are heard. The subjects that a text names lead to a topic (`subjects.py`), its rare words are those of
a section (`ranking.py`), and a model that learned from examples gives scores to all sections and to the
kinds of talk that none of them answers (`classifier.py`). The scores of the model count most; what the other
two say is added to them.
"""

import gzip
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib import resources
from typing import Any

from .classifier import Classifier
from .pages import PageSection, words_of
from .ranking import Ranking
from .subjects import Subjects

_KEPT = 12  # verdicts: a question is heard as a whole and by its clauses
_IN_HEADING, _IN_WORDING = 3, 2  # how often a word counts there
# What the words alone must have to be believed: a score, how far the next topic is behind (as a share of it),
# and how much of the question they are.
_CLEAR_SCORE, _CLEAR_LEAD, _CLEAR_SHARE = 10.0, 0.25, 0.4
_SOME_LEAD = 0.1  # the same where the subjects name that topic too, but another one first
_CERTAIN_SCORE, _CERTAIN_SHARE = 20.0, 0.8  # the same whatever else seems to be named
_SOME_SHARE = 0.3  # of the question that even a section must have which both name
_RIVAL_SHARE = 0.6  # the same where the words name another one first
# The share of the best score that the first topic of the subjects must have where the words name another one;
# the same where the words say little.
_RIVAL, _RIVAL_OF_FEW = 0.8, 0.5
# The share of a question that a section must have to be near it; of one that may be about other things.
_KNOWN, _KNOWN_OF_OTHERS = 0.25, 0.5
_ASK_FOR = frozenset(("who", "where", "when", "why", "how"))  # tells the parts of a topic apart
# What a part of a topic must have more than its first section: of the question, and in score.
_FIRST, _FIRST_WEIGHS = 0.04, 1.15
# What is added to the scores of the model: for the words that a section has, at most; for the section that
# subjects and words lead to, and for all of its topic; for the kinds of talk where they lead nowhere.
_BY_WORDS, _BY_SECTION, _BY_TOPIC, _BY_NOTHING = 0.2, 0.1, 0.1, 0.1
_FULL_SCORE = 12.0  # of words: a lower one adds less
# A lower score is no certain answer; one for which the model alone speaks, with another label near it.
_DOUBTFUL, _DOUBTFUL_ALONE = 0.65, 0.75
# What the first section must have to be the answer alone: a score and a lead, or a high one and a small lead.
LEAST_SCORE, LEAD = 0.6, 0.2
_SURE_SCORE, _SURE_LEAD = 1.0, 0.1
TALK_SCORE = 0.75  # what the first section must have where a kind of talk is near it
_TALK_LEAD = 0.1  # by which talk must be ahead of all sections
_LISTED = 50  # so well a word is known that the lists of subjects have: no other is much better known
_KIND = "-"  # how the label of a kind of talk begins


@dataclass(frozen=True, slots=True)
class Hit:
    """A section that was found, how well its words fit (higher is better), and the subjects that lead to it.

    Without subjects its words alone were clear. `is_answer`: it answers; else it is only related.
    `is_doubtful`: something else may be meant.
    """

    section: PageSection
    score: float
    subjects: frozenset[str] = frozenset()
    is_answer: bool = True
    is_doubtful: bool = False


@dataclass(frozen=True, slots=True)
class _Hearing:
    """What the two witnesses say of a text.

    `scores`: of sections, by its `words`, best first, and of their `topics`; `share`: how much of the text
    the best section has.
    `subjects`: what is named of each topic, best first. `outside`: how many things are named that are
    certainly not in the pages. `is_ours`: a word says that this project is meant.
    """

    words: Sequence[str]
    scores: Mapping[str, float]
    topics: Mapping[str, float]
    share: float
    subjects: Mapping[str, frozenset[str]]
    outside: int
    is_ours: bool


@dataclass(frozen=True, slots=True)
class TextVerdict:
    """What all witnesses together say of a text: sections and kinds of talk with their scores, best first.

    `hit`: what subjects and words lead to, if they are clear.
    `is_agreed`: they lead to the topic of the first one.
    """

    ranked: Sequence[tuple[str, float]]
    hit: Hit | None
    is_agreed: bool

    @property
    def best(self) -> str:
        """The heading of the first section, or the name of a kind of talk; empty where nothing is known."""
        return self.ranked[0][0] if self.ranked else ""

    def is_ahead(self, score: float, lead: float) -> bool:
        """The first one has this score at least, and is ahead of the second by `lead`."""
        first, second = [*(each for _, each in self.ranked[:2]), 0.0, 0.0][:2]
        return first >= score and first - second >= lead

    @property
    def is_doubtful(self) -> bool:
        """Something else may be meant: little speaks for the first one, or the model alone."""
        is_shared = not (self.is_agreed or self.is_ahead(0.0, LEAD))
        return not self.is_ahead(_DOUBTFUL_ALONE if is_shared else _DOUBTFUL, 0.0)

    @property
    def may_be_talk(self) -> bool:
        """A kind of talk is near the first one, for which little speaks."""
        first = self.ranked[0][1] if self.ranked else 0.0
        talk = next((score for label, score in self.ranked if label.startswith(_KIND)), 0.0)
        return first < TALK_SCORE and talk > first - _TALK_LEAD

    @property
    def is_clear(self) -> bool:
        """The first one is the answer alone."""
        return self.is_ahead(LEAST_SCORE, LEAD) or self.is_ahead(_SURE_SCORE, _SURE_LEAD)

    @property
    def kind(self) -> str:
        """The kind of talk that it is rather than a question for a section; else empty."""
        first = next((score for label, score in self.ranked if not label.startswith(_KIND)), 0.0)
        is_kind = self.best.startswith(_KIND) and self.ranked[0][1] - first >= _TALK_LEAD
        return self.best.removeprefix(_KIND) if is_kind else ""


class TextJudge:
    """Hears the witnesses of a text about `sections`. `asked`: how people ask for them (`wordings.toml`)."""

    def __init__(
        self, sections: Sequence[PageSection], subjects: Subjects, asked: Mapping[str, Any], model: Classifier
    ) -> None:
        self._sections, self._subjects = sections, subjects
        self._model = model
        self.named = {each.heading: each for each in sections}
        self.topics = {each.heading: each.topic for each in sections}
        headed = {
            each.heading: self._words_that_ask(each.heading, asked["wordings"].get(each.heading, ""))
            for each in sections
        }
        everyday = self._everyday = frozenset(asked["everyday"].split())
        self._parts = Ranking(headed, everyday - _ASK_FOR)
        with_text = {each.heading: [*headed[each.heading], *self._words_of_text(each)] for each in sections}
        self._ranking = Ranking(with_text, everyday)
        # search, what is near and the kind of talk are asked for one after the other
        self.verdict = lru_cache(maxsize=_KEPT)(self._weigh)

    def commonness(self, word: str) -> int:
        """How well `word` is known."""
        return _LISTED if self._subjects.lists(word) else self._model.commonness(word)

    def telling_words(self, text: str) -> set[str]:
        """The words of `text` that are not in questions about anything."""
        return {word for word in words_of(text) if word not in self._everyday}

    def known_words(self, text: str) -> set[str]:
        """Those of them that some section has."""
        return {word for word in self.telling_words(text) if self._ranking.knows(word)}

    def scores_by_words(self, text: str) -> Mapping[str, float]:
        """How well each section has the words of `text`, best first."""
        return self._ranking.scores(self._subjects.words_in(text))

    def share(self, text: str, section: PageSection) -> float:
        """How much of the words of `text` the section has, 0 to 1."""
        return self._ranking.share(self._subjects.words_in(text), section.heading)

    def stems_of(self, section: PageSection) -> frozenset[str]:
        """The stems of the words that the section has, or by which people ask for it."""
        return self._ranking.stems_in(section.heading)

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

    def _weigh(self, text: str) -> TextVerdict:
        """What all witnesses say of `text`."""
        outside = self._outside_in(text)
        heard = self._hear(text, outside)
        hit = self._answer_to(heard)
        lead_to = hit.section if hit is not None else self.named.get(next(iter(self._related(heard)), ""))
        full = max([_FULL_SCORE, *heard.scores.values()])
        learned = self._model.scores(text, self._subjects.named_in(text))
        scores = {}
        for label in (*self.named, *(each for each in learned if each.startswith(_KIND))):
            score = learned.get(label, 0.0)
            if label.startswith(_KIND):
                score += _BY_NOTHING * (lead_to is None) + _BY_NOTHING * (outside > 0)
            else:
                score += _BY_WORDS * heard.scores.get(label, 0.0) / full
                score += _BY_SECTION * (hit is not None and hit.section.heading == label)
                if lead_to is not None and (hit is not None or lead_to.heading == label):
                    score += _BY_TOPIC * (self.named[label].topic == lead_to.topic)
            scores[label] = score
        ranked = sorted(((label, score) for label, score in scores.items() if score > 0), key=lambda e: -e[1])
        best = self.topics.get(ranked[0][0]) if ranked else None
        return TextVerdict(ranked, hit, is_agreed=lead_to is not None and lead_to.topic == best)

    def _related(self, heard: _Hearing) -> list[str]:
        """What comes near to what subjects and words say, best first."""
        known = _KNOWN if heard.is_ours else _KNOWN_OF_OTHERS
        if heard.outside or not (heard.subjects or heard.share >= known):
            return []
        topic, _ = self._topic_of(heard)
        first = [] if topic is None else [self._part_for(heard.words, topic).heading]
        return [*first, *heard.scores][:1]

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
            (each for each in self.named if each in led), key=lambda each: -round(led[each][0], 2)
        )
        topics: dict[str, float] = {}
        for name, score in scores.items():
            topics.setdefault(self.named[name].topic, score)
        return _Hearing(
            words,
            scores,
            topics,
            share,
            {each: led[each][1] for each in in_order},
            outside,
            self._subjects.is_about_us(text),
        )

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


@cache
def bundled_wordings() -> str:
    """How people ask for the sections of the bundled pages."""
    return (resources.files(__package__) / "wordings.toml").read_text(encoding="utf-8")


@cache
def bundled_classifier() -> Classifier:
    """What was learned from examples of questions."""
    packed = (resources.files(__package__) / "model.gz").read_bytes()
    return Classifier(gzip.decompress(packed).decode("utf-8"))
