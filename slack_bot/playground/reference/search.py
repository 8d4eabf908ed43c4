"""Which sections of the pages answer a question, and whether any does.

The section that is clearly ahead by what all witnesses say (`verdict.py`) is the answer. Else nothing is, and
what comes nearest can be named. Each clause that asks is heard alone as well.
"""

import re
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

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
from .ranking import root_of
from .spelling import spelled
from .subjects import Subjects, bundled_subjects
from .verdict import (
    LEAD,
    LEAST_SCORE,
    TALK_SCORE,
    Hit,
    TextJudge,
    TextVerdict,
    bundled_classifier,
    bundled_wordings,
)

_BEST, _NEAREST = 5, 2  # sections that a search finds, and that are named where nothing fits
_BY_NAME = 99.0  # score of a section that is asked for by its heading
_SHORT_ASK = 20  # words: what is asked in a long story is clear
_HEARD_AS_WHOLE = 150  # words: a longer story tells too much besides
_ENOUGH = 2  # words that are not everyday ones: a clause with fewer says nothing without the rest
_CLAUSES = 12  # that ask: more would take too long
# What the first section must have to be one of two, and the other one; what a clause of several must have.
_PAIR_SCORE, _SECOND = 0.5, 0.35
_LEAST_OF_STORY = 0.75  # of a longer text, which says much besides
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
_NEAR, _NEAR_CLAUSE, _NEAR_TALK = 0.5, 0.55, 0.75
_SURE_TALK, _FAR_TALK = 1.2, 0.4  # what talk must have, and its lead, so that nothing comes near to it


_EVERYWHERE = frozenset(
    map(root_of, ("answer", "question", "bot", "agent", "slack", "message", "channel", "thread"))
)


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
        self._subjects = bundled_subjects() if subjects is None else subjects
        asked = tomllib.loads(bundled_wordings() if wordings is None else wordings)
        self._besides = _phrases_of(asked.get("besides", ""))
        self._hollow = frozenset(asked.get("hollow", "").split())
        self._bare = self._hollow | frozenset(asked.get("bare", "").split())
        model = bundled_classifier() if model is None else model
        self._judge = TextJudge(self._sections, self._subjects, asked, model)
        self._verdict, self._named = self._judge.verdict, self._judge.named
        self._topics = self._judge.topics
        errors = asked.get("errors", {})
        self._errors = {each: _phrases_of(errors[each]) for each in self._named if each in errors}

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self._pages)

    @property
    def sections(self) -> tuple[PageSection, ...]:
        """All sections, in the order of the pages."""
        return tuple(self._sections)

    def sections_of(self, page: str) -> list[PageSection]:
        return [each for each in self._sections if each.page == page]

    def fetch(self, page: str) -> str | None:
        return self._pages.get(page)

    def search(self, query: str) -> list[Hit]:
        """The sections that answer `query`, and then what is related; empty where no answer is clear."""
        found = answers = self._answers(query)
        if answers:
            there = {hit.section.heading for hit in answers}
            scores = self._judge.scores_by_words(query)
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

    def scores(self, query: str) -> dict[str, float]:
        """What speaks for each section and each kind of talk, by heading, even where it answers nothing."""
        return dict(self._verdict(self._question_in(query)).ranked)

    def telling_words(self, query: str) -> list[str]:
        """The words of `query` that are not in questions about anything, as they stand there."""
        telling = self._judge.telling_words(query)
        return [word for word in words_of(query) if word in telling]

    def named_things(self, text: str, *, even_bare: bool = False) -> frozenset[str]:
        """What `text` is about: the roots of its words, without those that say nothing by themselves.

        `even_bare`: with those that say little, such as verbs that fit anything.
        """
        words = self._subjects.words_in(text)
        telling = self._judge.telling_words(" ".join(words)) - (self._hollow if even_bare else self._bare)
        return frozenset(root_of(word) for word in words if word in telling)

    def is_bare(self, text: str) -> bool:
        """`text` is about nothing by itself, or only about what most sections are about."""
        return self.named_things(text) <= _EVERYWHERE

    def has_all(self, section: PageSection, text: str) -> bool:
        """`section`, or how people ask for it, has all that `text` is about."""
        return self.named_things(text) <= {root_of(stem) for stem in self._judge.stems_of(section)}

    def _question_in(self, query: str) -> str:
        """`query` without code, addresses and what is said besides; of a long story its point."""
        return spelled(point_of(self._besides.sub(" ", without_code(query))), self._judge.commonness)

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
        least = _PAIR_SCORE if self._says_enough(text) else LEAST_SCORE
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

    def _own_answers(self, verdict: TextVerdict) -> list[Hit]:
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

    def _verdict_of(self, part: _Part) -> TextVerdict:
        """What is said of `part` alone; where it cannot be understood so, with what stands before it."""
        own = self._verdict(part.text)
        says_what = self._judge.telling_words(part.text)
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
        least = _PART_SCORE if is_alone else LEAST_SCORE
        found = self._clear(verdict)[:1] if verdict.is_ahead(least, 0.0) else []
        if names_several(part.text):
            found += self._own_answers(verdict)[1:]
        if not (is_alone and found):
            found += self._hits(own, self._fitting(part, own))
        return found

    def _fitting(self, part: _Part, own: TextVerdict) -> list[str]:
        """The label that something speaks for in `part` alone, and in the whole or nothing against it."""
        scores = dict(self._verdict(part.whole).ranked)
        fitting = {
            label: score + scores.get(label, 0.0)
            for label, score in own.ranked
            if score >= _PAIR_SCORE and scores.get(label, 0.0) >= LEAST_SCORE
        }
        if own.is_ahead(_PAIR_SCORE, LEAD) and not points_back(part.text):
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
        return any(
            self._topics.get(label) in topics and score >= _ABOUT * near[0][1] for label, score in near
        ) or any(self._judge.share(clause, each) >= _SAID for each in answered)

    def _stands_alone(self, clause: str) -> bool:
        """`clause` names what it asks about, and does not only point to it."""
        words = self._judge.telling_words(clause)
        says = len(words) >= _ENOUGH or (words and self._verdict(clause).is_ahead(_NEAR_PART, 0.0))
        return bool(says) and not points_back(clause)

    def _says_enough(self, clause: str) -> bool:
        """`clause` can be understood without what stands before it."""
        return len(self._judge.known_words(clause)) >= _ENOUGH

    def _clear(self, verdict: TextVerdict) -> list[Hit]:
        """The section that is clearly ahead; the first two where it is not; none where little is known."""
        if verdict.may_be_talk:
            labels = []
        elif verdict.is_clear:
            labels = [verdict.best]
        elif verdict.is_ahead(_PAIR_SCORE, 0.0):
            labels = [label for label, score in verdict.ranked[:2] if score >= _SECOND]
            if verdict.is_ahead(TALK_SCORE, 0.0):
                labels = labels[:1] + [label for label in labels[1:] if label in self._named]
        else:
            labels = []
        return self._hits(verdict, labels)

    def _hits(self, verdict: TextVerdict, labels: Sequence[str]) -> list[Hit]:
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

    def is_far_off(self, query: str) -> bool:
        """`query` is certainly about something else, so that nothing comes near to it."""
        verdict = self._verdict(self._question_in(query))
        return bool(verdict.kind) and verdict.is_ahead(_SURE_TALK, _FAR_TALK)

    def _near_in_story(self, text: str) -> list[PageSection]:
        """What comes nearest to the clauses of a long `text` that ask, each heard alone."""
        found: dict[PageSection, float] = {}
        for clause in asking_clauses(text)[:_CLAUSES]:
            verdict = self._verdict(clause)
            if verdict.best in self._named and verdict.ranked[0][1] >= _NEAR_CLAUSE:
                found.setdefault(self._named[verdict.best], verdict.ranked[0][1])
        return sorted(found, key=lambda section: -found[section])[:_NEAREST]

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


def _phrases_of(listed: str) -> re.Pattern[str]:
    """Finds one of the phrases in `listed`, with any apostrophe or none where they have one."""
    said = [" ".join(each.split()) for each in listed.split(";") if each.strip()]
    phrases = [re.escape(each).replace("'", "['’]?") for each in said or ["\0"]]
    return re.compile(rf"(?<!\w)(?:{'|'.join(phrases)})(?!\w)", re.IGNORECASE)
