"""What answers a short question in a thread, read with the question before it.

Each section is weighed by what the question says alone, by what both say together, and by whether it belongs
to the subject that the thread is about. What was shown already does not count.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from .follow_ups import filled_in, points, question_word, read_together
from .pages import PageSection, words_of
from .search import Library

# What counts of the score of the question alone: less where it says "it", and where it has no telling word.
# What is added to a section of the same topic, and of the same page.
_ALONE, _POINTING, _BARE, _TOPIC, _PAGE = 0.75, 0.25, 0.25, 0.2, 0.3
_SAME_WORD = 0.25  # what is added where both begin with the same question word
# What the first section must have to be the answer: a score and a lead, and the question itself must speak
# for it, alone or by what it adds to the one before. Less is enough where a question of no telling word adds
# much.
_SURE, _LEAD, _SPEAKS_ALONE, _ADDS = 1.7, 0.25, 0.3, 0.2
_SURE_BARE, _LEAD_BARE, _ADDS_MUCH = 1.15, 0.2, 0.35
# What it must have to be what is probably meant.
_LIKELY, _LIKELY_FAR, _LEAD_OF_LIKELY, _ADDS_SOME = 1.0, 1.2, 0.1, 0.1
_NEAR = 0.95  # what comes near at all
_LIKE_EXAMPLE = 1.25  # what an example must have
_NEAREST = 2
_FEWEST_WORDS = 3  # of a question whose first word alone says which section is meant
_EXAMPLE = "an example"


@dataclass(frozen=True, slots=True)
class _Weighed:
    """A section with all that speaks for it; `alone`: the question by itself, `adds`: what it adds.

    `is_alike`: both begin with the same question word.
    """

    section: PageSection
    score: float
    alone: float
    adds: float
    is_alike: bool

    @property
    def nearness(self) -> float:
        """The score, with what the beginning adds: enough to come near, too little to be certain."""
        return self.score + _SAME_WORD * self.is_alike


@dataclass(frozen=True, slots=True)
class ThreadHits:
    """The section that answers, if one does, and those that come nearest, best first.

    `is_likely`: the first of those is probably meant.
    """

    answer: PageSection | None
    near: tuple[PageSection, ...]
    is_likely: bool = False


def search_thread(library: Library, question: str, before: str, told: Collection[PageSection]) -> ThreadHits:
    """What answers `question`, a short one, behind `before`. `told`: what was shown for that."""
    ranked = _ranked(library, question, before, list(told))
    nearest = sorted(ranked, key=lambda each: -each.nearness)
    near = tuple(each.section for each in nearest[:_NEAREST] if each.nearness >= _NEAR)
    first, lead = ranked[0], ranked[0].score - ranked[1].score
    if _is_sure(first, lead, is_bare=not library.telling_words(question)):
        return ThreadHits(first.section, near)
    first, second = nearest[:2]
    is_ahead = len(near) == 1 or first.nearness - second.nearness >= _LEAD_OF_LIKELY
    is_bare = library.is_bare(question)
    if is_ahead and _is_likely(first, list(told)[-1], is_bare=is_bare):
        return ThreadHits(None, near, is_likely=True)
    only = _only_alike(ranked, list(told)[-1].topic)
    if only is None or not is_bare or len(words_of(question)) < _FEWEST_WORDS:
        return ThreadHits(None, near)
    return ThreadHits(None, (only, *(each for each in near if each != only)), is_likely=True)


def _is_sure(first: _Weighed, lead: float, is_bare: bool) -> bool:
    if is_bare and first.adds >= _ADDS_MUCH and first.score >= _SURE_BARE and lead >= _LEAD_BARE:
        return True
    speaks = first.alone >= _SPEAKS_ALONE or first.adds >= _ADDS
    return speaks and first.score >= _SURE and lead >= _LEAD


def _only_alike(ranked: Sequence[_Weighed], topic: str) -> PageSection | None:
    """The only section of the topic that begins with the same question word."""
    alike = [each.section for each in ranked if each.is_alike and each.section.topic == topic]
    return alike[0] if len(alike) == 1 else None


def _is_likely(first: _Weighed, last: PageSection, *, is_bare: bool) -> bool:
    """It is probably meant behind `last`. `is_bare`: the question names nothing by itself."""
    if is_bare and first.section.topic != last.topic:
        return first.adds >= _ADDS_MUCH and first.score >= _LIKELY_FAR
    speaks = first.alone >= _SPEAKS_ALONE or first.adds >= _ADDS_SOME
    is_near = first.section.page == last.page
    return speaks and (first.nearness >= _LIKELY if is_near else first.score >= _LIKELY_FAR)


def parts_left(library: Library, question: str, told: Collection[PageSection]) -> list[PageSection]:
    """The sections of the last topic that were not shown yet, those first that come nearest to `question`."""
    scores = library.scores(question)
    parts = [each for each in library.parts_of(list(told)[-1]) if each not in told]
    return sorted(parts, key=lambda each: -scores.get(each.heading, 0.0))


def next_sections(library: Library, question: str, told: Collection[PageSection]) -> list[PageSection]:
    """What can be told when more is wanted: what is left of the topic, then what follows on its page."""
    last, parts = list(told)[-1], parts_left(library, question, told)
    page = library.sections_of(last.page)
    return parts + [each for each in page[page.index(last) :] if each not in told and each not in parts]


def example_for(library: Library, before: str, told: Collection[PageSection]) -> PageSection | None:
    """The section near `before` that shows something to write or to run."""
    ranked = _ranked(library, _EXAMPLE, before, list(told))
    near = [each.section for each in ranked if each.score >= _LIKE_EXAMPLE and "`" in each.section.text]
    return min(near, key=lambda each: "```" not in each.text, default=None)


def _ranked(library: Library, question: str, before: str, told: list[PageSection]) -> list[_Weighed]:
    own, without = library.scores(question), library.scores(before)
    behind = library.scores(read_together(before, question))
    subjects = library.telling_words(before)
    filled = library.scores(filled_in(question, subjects))
    singles = [library.scores(filled_in(question, [each])) for each in subjects] if points(question) else []
    weight = _POINTING if points(question) else _ALONE
    weight *= 1 if library.telling_words(question) else _BARE
    last, word = told[-1], question_word(question)
    ranked = []
    for section in library.sections:
        if section in told:
            continue
        alone, *read = (each.get(section.heading, 0.0) for each in (own, behind, filled))
        together = sum(read) / len(read)
        alone_with_one = max([0.0, *(each.get(section.heading, 0.0) for each in singles)])
        belongs = _TOPIC * (section.topic == last.topic) + _PAGE * (section.page == last.page)
        adds = together - without.get(section.heading, 0.0)
        score = weight * max(alone, alone_with_one) + together + belongs
        is_alike = bool(word) and question_word(section.heading) == word
        ranked.append(_Weighed(section, score, alone, adds, is_alike))
    return sorted(ranked, key=lambda each: -each.score)
