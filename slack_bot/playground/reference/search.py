"""Which sections of the pages answer a question, and whether any does.

Three witnesses are heard. The subjects that a question names lead to a topic (`subjects.py`), its rare words
are those of a section (`ranking.py`), and a model that learned from examples gives scores to all sections and
to the kinds of talk that none of them answers (`classifier.py`). The scores of the model count most; what the
other two say is added to them. The section that is clearly ahead is the answer. Else nothing is, and what
comes nearest can be named. Each clause that asks is heard alone as well.
"""

import gzip
import re
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib import resources

from .classifier import Classifier
from .clauses import (
    asking_clauses,
    clauses_beside,
    is_long_story,
    last_question,
    names_several,
    point_of,
    points_back,
    questions_in,
    questions_in_story,
    said_before,
    without_code,
)
from .pages import PageSection, sections, words_of
from .ranking import Ranking
from .spelling import spelled
from .subjects import Subjects, bundled_subjects

_BEST, _NEAREST = 5, 2  # sections that a search finds, and that are named where nothing fits
_BY_NAME = 99.0  # score of a section that is asked for by its heading
_SHORT_ASK = 20  # words: what is asked in a long story is clear
_HEARD_AS_WHOLE = 150  # words: a longer story tells too much besides
_ENOUGH = 2  # words that are not everyday ones: a clause with fewer says nothing without the rest
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
_CLAUSES = 12  # that ask: more would take too long
# What is added to the scores of the model: for the words that a section has, at most; for the section that
# subjects and words lead to, and for all of its topic; for the kinds of talk where they lead nowhere.
_BY_WORDS, _BY_SECTION, _BY_TOPIC, _BY_NOTHING = 0.2, 0.1, 0.1, 0.1
_FULL_SCORE = 12.0  # of words: a lower one adds less
# What the first section must have to be the answer alone: a score and a lead, or a high one and a small lead;
# what it must have to be one of two, and the other one; what a single clause of several must have.
_LEAST_SCORE, _LEAD, _SURE_SCORE, _SURE_LEAD = 0.6, 0.2, 1.0, 0.1
_PAIR_SCORE, _SECOND = 0.5, 0.35
_LEAST_OF_STORY = 0.75  # of a longer text, which says much besides
# A lower score is no certain answer; one for which the model alone speaks, with another label near it.
_DOUBTFUL, _DOUBTFUL_ALONE = 0.6, 0.65
_TALK_SCORE = 0.75  # what the first section must have where a kind of talk is near it
_OWN_SCORE, _OWN_LEAD = 0.9, 0.3
# What one of several questions must have to be understood alone; one that points back must be far ahead, too.
_PART_SCORE, _POINTING_SCORE = 0.7, 0.85
_STORY_SCORE, _STORY_LEAD = (
    0.75,
    0.05,
)  # what one of the questions of a story must have; else as for the whole
_NEAR_PART = 0.5  # what comes near to a clause of few words, which says something then
_AMONG, _ABOUT = 3, 0.6  # what answers a clause too: one of so many labels, with this share of the best score
_SAID = 0.5  # share of a clause that a section must have to be the answer to it as well
_OVERTAKES = 0.3  # by so much a clause must be better than the whole to be answered first
# Score of what comes near at all; to a clause of a story; to what is rather talk.
_NEAR, _NEAR_CLAUSE, _NEAR_TALK = 0.45, 0.55, 0.75
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
class _Verdict:
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
        is_shared = not (self.is_agreed or self.is_ahead(0.0, _LEAD))
        return not self.is_ahead(_DOUBTFUL_ALONE if is_shared else _DOUBTFUL, 0.0)

    @property
    def may_be_talk(self) -> bool:
        """A kind of talk is near the first one, for which little speaks."""
        first = self.ranked[0][1] if self.ranked else 0.0
        talk = next((score for label, score in self.ranked if label.startswith(_KIND)), 0.0)
        return first < _TALK_SCORE and talk > first - _TALK_LEAD

    @property
    def is_clear(self) -> bool:
        """The first one is the answer alone."""
        return self.is_ahead(_LEAST_SCORE, _LEAD) or self.is_ahead(_SURE_SCORE, _SURE_LEAD)

    @property
    def kind(self) -> str:
        """The kind of talk that it is rather than a question for a section; else empty."""
        first = next((score for label, score in self.ranked if not label.startswith(_KIND)), 0.0)
        is_kind = self.best.startswith(_KIND) and self.ranked[0][1] - first >= _TALK_LEAD
        return self.best.removeprefix(_KIND) if is_kind else ""


@dataclass(frozen=True, slots=True)
class _Part:
    """One of several questions, what was said `before` it, and the `whole` in which it stands."""

    text: str
    before: str
    whole: str


class Library:
    """Pages by name, as Markdown. The order of `pages` breaks ties."""

    def __init__(
        self,
        pages: Mapping[str, str],
        subjects: Subjects | None = None,
        wordings: str | None = None,
        model: Classifier | None = None,
    ) -> None:
        self._pages = dict(pages)
        self._sections = [section for name, text in pages.items() for section in sections(name, text)]
        self._named = {each.heading: each for each in self._sections}
        self._topics = {each.heading: each.topic for each in self._sections}
        self._subjects = bundled_subjects() if subjects is None else subjects
        asked = tomllib.loads(bundled_wordings() if wordings is None else wordings)
        headed = {
            each.heading: self._words_that_ask(each.heading, asked["wordings"].get(each.heading, ""))
            for each in self._sections
        }
        self._besides = _phrases_of(asked.get("besides", ""))
        errors = asked.get("errors", {})
        self._errors = {each: _phrases_of(errors[each]) for each in self._named if each in errors}
        everyday = self._everyday = frozenset(asked["everyday"].split())
        self._parts = Ranking(headed, everyday - _ASK_FOR)
        with_text = {
            each.heading: [*headed[each.heading], *self._words_of_text(each)] for each in self._sections
        }
        self._ranking = Ranking(with_text, everyday)
        self._model = bundled_classifier() if model is None else model
        # search, what is near and the kind of talk are asked for one after the other
        self._verdict = lru_cache(maxsize=_CLAUSES)(self._judge)

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
        found = answers = self._answers(query)
        if answers:
            there = {hit.section.heading for hit in answers}
            scores = self._hear(query, 0).scores
            found = answers + [
                Hit(self._named[each], score, is_answer=False)
                for each, score in scores.items()
                if each not in there
            ]
        return found[: max(_BEST, len(answers))]

    def error_in(self, query: str) -> PageSection | None:
        """The section that explains an error that is pasted into `query`."""
        found = [(match[0], each) for each, said in self._errors.items() if (match := said.search(query))]
        return self._named[max(found, key=lambda pair: len(pair[0]))[1]] if found else None

    def kind_of(self, query: str) -> str:
        """The kind of talk that `query` is rather than a question that a section may answer; else empty."""
        return self._verdict(self._question_in(query)).kind

    def _question_in(self, query: str) -> str:
        """`query` without code, addresses and what is said besides; of a long story its point."""
        return spelled(point_of(self._besides.sub(" ", without_code(query))), self._commonness)

    def _commonness(self, word: str) -> int:
        """How well `word` is known."""
        return _LISTED if self._subjects.lists(word) else self._model.commonness(word)

    def _answers(self, query: str) -> list[Hit]:
        """The sections that answer `query`, one for each thing it asks."""
        words = words_of(query)
        for section in self._sections:
            if words_of(section.heading) == words:
                return [Hit(section, _BY_NAME, frozenset({section.heading}))]
        text = self._question_in(query)
        if error := self.error_in(query):
            others = [hit for part in self._parts_of(text) for hit in self._answers_to_part(part)]
            return _once([Hit(error, _BY_NAME, frozenset({error.topic})), *others])
        if len(told := self._answers_to_story(text)) > 1:
            return told
        parts, asking = self._parts_of(text), asking_clauses(text)[:_CLAUSES]
        whole = self._answers_to_whole(text, asking)
        others = [hit for part in parts for hit in self._answers_to_part(part)]
        topics = {hit.section.topic for hit in (*whole, *others)}
        beside = [] if is_long_story(text) else clauses_beside(text)[:_CLAUSES]
        for clause in (*([] if parts else asking), *beside):
            said = self._own_answers(self._verdict(clause)) if clause != text else []
            others += [hit for hit in said if hit.section.topic not in topics]
        if others:
            whole = whole[:1]
        elif names_several(text) and not is_long_story(text):
            whole += self._own_answers(self._verdict(text))[1:]
        first = max([0.0, *(hit.score for hit in whole)]) + _OVERTAKES
        overtaking = [hit for hit in others if hit.score >= first]
        hits = overtaking + whole + [hit for hit in others if hit.score < first]
        order = {self._verdict_of(part).best: place for place, part in reversed(list(enumerate(parts)))}
        hits.sort(key=lambda hit: order.get(hit.section.heading, len(order)))
        return _once(hits) or told

    def _answers_to_whole(self, text: str, asking: Sequence[str]) -> list[Hit]:
        """The sections that answer `text`, or its `asking` clauses without what is told besides."""
        asked = [last_question(text)] if is_long_story(text) else [text]
        if is_long_story(text) and len(text.split()) <= _HEARD_AS_WHOLE:
            asked.append(text)
        joined = " ".join(asking)
        if self._says_enough(joined) and (not is_long_story(text) or len(joined.split()) <= _SHORT_ASK):
            asked.append(joined)
        least = _PAIR_SCORE if self._says_enough(text) else _LEAST_SCORE
        least = least if len(text.split()) <= _SHORT_ASK else _LEAST_OF_STORY
        verdicts = [each for each in map(self._verdict, dict.fromkeys(asked)) if each.is_ahead(least, 0.0)]
        verdicts.sort(key=lambda each: not each.is_clear)
        return next((hits for each in verdicts if (hits := self._clear(each))), [])

    def _answers_to_story(self, text: str) -> list[Hit]:
        """The sections that answer the questions of a long `text`."""
        questions = questions_in_story(text)[:_CLAUSES]
        found: list[Hit] = []
        for before, question in zip(["", *questions], questions, strict=False):
            verdict = self._verdict(question)
            if points_back(question) and not verdict.is_clear:
                verdict = self._verdict(f"{before} {question}")
            if verdict.is_ahead(_STORY_SCORE, _STORY_LEAD) or verdict.is_clear:
                found += self._hits(verdict, [verdict.best])
        return _once(found)

    def _own_answers(self, verdict: _Verdict) -> list[Hit]:
        """The section that is far ahead, or the two that are, where nothing else was heard."""
        for count in (1, 2):
            scores = [*(score for _, score in verdict.ranked[: count + 1]), 0.0, 0.0]
            labels = [label for label, _ in verdict.ranked[:count]]
            if scores[count - 1] >= _OWN_SCORE and scores[count - 1] - scores[count] >= _OWN_LEAD:
                return self._hits(verdict, labels)
        return []

    def _parts_of(self, text: str) -> list[_Part]:
        """The questions of `text`, where it asks several."""
        questions = questions_in(text)[:_CLAUSES]
        before = [said_before(text) if questions else "", *questions]
        return [_Part(each, said, text) for each, said in zip(questions, before, strict=False)]

    def _verdict_of(self, part: _Part) -> _Verdict:
        """What is said of `part` alone; where it cannot be understood so, with what stands before it."""
        own = self._verdict(part.text)
        says_what = any(word not in self._everyday for word in words_of(part.text))
        if points_back(part.text):
            is_sure = own.is_ahead(_OWN_SCORE, 0.0) or own.is_ahead(_POINTING_SCORE, _OWN_LEAD)
        else:
            is_sure = own.is_ahead(_PART_SCORE, 0.0)
        if not part.before or (says_what and is_sure) or own.kind:
            return own
        return self._verdict(f"{part.before} {part.text}")

    def _answers_to_part(self, part: _Part) -> list[Hit]:
        """The sections that answer one of several questions."""
        verdict, own = self._verdict_of(part), self._verdict(part.text)
        is_alone = verdict is own
        least = _PART_SCORE if is_alone else _LEAST_SCORE
        found = self._clear(verdict)[:1] if verdict.is_ahead(least, 0.0) else []
        if names_several(part.text):
            found += self._own_answers(verdict)[1:]
        if not (is_alone and found):
            found += self._hits(own, self._fitting(part, own))
        return found

    def _fitting(self, part: _Part, own: _Verdict) -> list[str]:
        """The label that something speaks for in `part` alone, and in the whole or nothing against it."""
        scores = dict(self._verdict(part.whole).ranked)
        fitting = {
            label: score + scores.get(label, 0.0)
            for label, score in own.ranked
            if score >= _PAIR_SCORE and scores.get(label, 0.0) >= _LEAST_SCORE
        }
        if own.is_ahead(_PAIR_SCORE, _LEAD) and not points_back(part.text):
            return [own.best]
        return sorted(fitting, key=lambda label: -fitting[label])[:1]

    def unanswered(self, query: str) -> list[str]:
        """The questions in `query` that no section answers, where it asks several."""
        parts = [] if self.error_in(query) else self._parts_of(self._question_in(query))
        sections = [hit.section for hit in self._answers(query)]
        return [
            each.text
            for each in parts
            if self._stands_alone(each.text) and not self._is_said(each.text, sections)
        ]

    def _is_said(self, clause: str, answered: Sequence[PageSection]) -> bool:
        """What `clause` asks is in one of the sections, or one of their topics comes nearest to it."""
        topics = {each.topic for each in answered}
        near = self._verdict(clause).ranked[:_AMONG]
        words = self._subjects.words_in(clause)
        return any(
            self._topics.get(label) in topics and score >= _ABOUT * near[0][1] for label, score in near
        ) or any(self._ranking.share(words, each.heading) >= _SAID for each in answered)

    def _stands_alone(self, clause: str) -> bool:
        """`clause` names what it asks about, and does not only point to it."""
        words = {word for word in words_of(clause) if word not in self._everyday}
        says = len(words) >= _ENOUGH or (words and self._verdict(clause).is_ahead(_NEAR_PART, 0.0))
        return bool(says) and not points_back(clause)

    def _says_enough(self, clause: str) -> bool:
        """`clause` can be understood without what stands before it."""
        words = {
            word for word in words_of(clause) if word not in self._everyday and self._ranking.knows(word)
        }
        return len(words) >= _ENOUGH

    def _clear(self, verdict: _Verdict) -> list[Hit]:
        """The section that is clearly ahead; the first two where it is not; none where little is known."""
        if verdict.may_be_talk:
            labels = []
        elif verdict.is_clear:
            labels = [verdict.best]
        elif verdict.is_ahead(_PAIR_SCORE, 0.0):
            labels = [label for label, score in verdict.ranked[:2] if score >= _SECOND]
            if verdict.is_ahead(_TALK_SCORE, 0.0):
                labels = labels[:1] + [label for label in labels[1:] if label in self._named]
        else:
            labels = []
        return self._hits(verdict, labels)

    def _hits(self, verdict: _Verdict, labels: Sequence[str]) -> list[Hit]:
        """The sections of `labels`; none where one of them is a kind of talk."""
        if any(label not in self._named for label in labels):
            return []
        hit, scores = verdict.hit, dict(verdict.ranked)
        is_led_to = {label: hit is not None and hit.section.topic == self._topics[label] for label in labels}
        return [
            Hit(
                self._named[label],
                scores[label],
                hit.subjects if hit is not None and is_led_to[label] else frozenset(),
                is_doubtful=verdict.is_doubtful,
            )
            for label in labels
        ]

    def _judge(self, text: str) -> _Verdict:
        """What all witnesses say of `text`."""
        outside = self._outside_in(text)
        heard = self._hear(text, outside)
        hit = self._answer_to(heard)
        lead_to = hit.section if hit is not None else self._named.get(next(iter(self._related(heard)), ""))
        full = max([_FULL_SCORE, *heard.scores.values()])
        learned = self._model.scores(text, self._subjects.named_in(text))
        scores = {}
        for label in (*self._named, *(each for each in learned if each.startswith(_KIND))):
            score = learned.get(label, 0.0)
            if label.startswith(_KIND):
                score += _BY_NOTHING * (lead_to is None) + _BY_NOTHING * (outside > 0)
            else:
                score += _BY_WORDS * heard.scores.get(label, 0.0) / full
                score += _BY_SECTION * (hit is not None and hit.section.heading == label)
                if lead_to is not None and (hit is not None or lead_to.heading == label):
                    score += _BY_TOPIC * (self._named[label].topic == lead_to.topic)
            scores[label] = score
        ranked = sorted(((label, score) for label, score in scores.items() if score > 0), key=lambda e: -e[1])
        best = self._topics.get(ranked[0][0]) if ranked else None
        return _Verdict(ranked, hit, is_agreed=lead_to is not None and lead_to.topic == best)

    def nearest(self, clause: str) -> PageSection | None:
        """The section that comes nearest to a part of a question, if it is near enough to be named."""
        verdict = self._verdict(clause)
        return None if verdict.is_doubtful else self._named.get(verdict.best)

    def near(self, query: str) -> list[PageSection]:
        """What comes nearest to `query` where nothing answers it, best first."""
        text = self._question_in(query)
        if is_long_story(text):
            return self._near_in_story(text)
        verdict = self._verdict(text)
        least = _NEAR_TALK if verdict.kind or (verdict.may_be_talk and not verdict.is_agreed) else _NEAR
        near = [label for label, score in verdict.ranked if score >= least and label in self._named]
        return [self._named[name] for name in near[:_NEAREST]]

    def _near_in_story(self, text: str) -> list[PageSection]:
        """What comes nearest to the clauses of a long `text` that ask, each heard alone."""
        found: dict[PageSection, float] = {}
        for clause in asking_clauses(text)[:_CLAUSES]:
            verdict = self._verdict(clause)
            if verdict.best in self._named and verdict.ranked[0][1] >= _NEAR_CLAUSE:
                found.setdefault(self._named[verdict.best], verdict.ranked[0][1])
        return sorted(found, key=lambda section: -found[section])[:_NEAREST]

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
            (each for each in self._named if each in led), key=lambda each: -round(led[each][0], 2)
        )
        topics: dict[str, float] = {}
        for name, score in scores.items():
            topics.setdefault(self._named[name].topic, score)
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


def _once(hits: Iterable[Hit]) -> list[Hit]:
    """Each section once, with its first hit."""
    found: dict[str, Hit] = {}
    for hit in hits:
        found.setdefault(hit.section.heading, hit)
    return list(found.values())


@cache
def bundled_wordings() -> str:
    """How people ask for the sections of the bundled pages."""
    return (resources.files(__package__) / "wordings.toml").read_text(encoding="utf-8")


def _phrases_of(listed: str) -> re.Pattern[str]:
    """Finds one of the phrases in `listed`, with any apostrophe or none where they have one."""
    said = [" ".join(each.split()) for each in listed.split(";") if each.strip()]
    phrases = [re.escape(each).replace("'", "['’]?") for each in said or ["\0"]]
    return re.compile(rf"(?<!\w)(?:{'|'.join(phrases)})(?!\w)", re.IGNORECASE)


@cache
def bundled_classifier() -> Classifier:
    """What was learned from examples of questions."""
    packed = (resources.files(__package__) / "model.gz").read_bytes()
    return Classifier(gzip.decompress(packed).decode("utf-8"))
