"""What answers a short question in a thread, read with the question before it.

Each section is weighed by what the question says alone, by what both say together, and by whether it belongs
to the subject that the thread is about. What was shown already does not count.
"""

from collections.abc import Collection
from dataclasses import dataclass

from .follow_ups import filled_in, points, read_together
from .pages import PageSection, words_of
from .search import Library

# What counts of the score of the question alone: less where it says "it", and where it has no telling word.
# What is added to a section of the same topic, and of the same page.
_ALONE, _POINTING, _BARE, _TOPIC, _PAGE = 0.75, 0.25, 0.25, 0.2, 0.3
# What the first section must have to be the answer: a score and a lead, and the question itself must speak
# for it, alone or by what it adds to the one before. Less is enough where a question of no telling word adds
# much.
_SURE, _LEAD, _SPEAKS_ALONE, _ADDS = 1.7, 0.25, 0.3, 0.2
_SURE_BARE, _LEAD_BARE, _ADDS_MUCH = 1.15, 0.2, 0.35
# What it must have to be what is probably meant. One of the same topic may take from what the one before
# said: a little, or more with a large lead.
_LIKELY, _LEAD_OF_LIKELY, _TAKES, _FAR_AHEAD = 1.2, 0.1, -0.1, 0.5
_NEAR = 0.95  # what comes near at all
_LIKE_EXAMPLE = 1.25  # what an example must have
_STEM = 5  # letters by which two words are the same
_NEAREST = 2
_EXAMPLE = "an example"


@dataclass(frozen=True, slots=True)
class _Weighed:
    """A section with all that speaks for it; `alone`: the question by itself, `adds`: what it adds."""

    section: PageSection
    score: float
    alone: float
    adds: float


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
    near = tuple(each.section for each in ranked[:_NEAREST] if each.score >= _NEAR)
    first, lead = ranked[0], ranked[0].score - ranked[1].score
    if _is_sure(first, lead, is_bare=not library.telling_words(question)):
        return ThreadHits(first.section, near)
    is_of_topic = first.section.topic == list(told)[-1].topic
    adds = first.adds >= (_TAKES if is_of_topic else _ADDS) or (is_of_topic and lead >= _FAR_AHEAD)
    is_likely = first.score >= _LIKELY and lead >= _LEAD_OF_LIKELY and adds
    return ThreadHits(None, near, is_likely)


def _is_sure(first: _Weighed, lead: float, is_bare: bool) -> bool:
    if is_bare and first.adds >= _ADDS_MUCH and first.score >= _SURE_BARE and lead >= _LEAD_BARE:
        return True
    speaks = first.alone >= _SPEAKS_ALONE or first.adds >= _ADDS
    return speaks and first.score >= _SURE and lead >= _LEAD


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


def said_of(library: Library, question: str, told: Collection[PageSection]) -> str:
    """The sentence of what was `told` that has all telling words of `question`; empty where none has."""
    words = {word[:_STEM] for word in library.telling_words(question)}
    sentences = (each for section in reversed(list(told)) for each in section.sentences)
    found = (each for each in sentences if words <= {word[:_STEM] for word in words_of(each)})
    return next(found, "") if words else ""


def _ranked(library: Library, question: str, before: str, told: list[PageSection]) -> list[_Weighed]:
    own, without = library.scores(question), library.scores(before)
    behind = library.scores(read_together(before, question))
    filled = library.scores(filled_in(question, library.telling_words(before)))
    weight = _POINTING if points(question) else _ALONE
    weight *= 1 if library.telling_words(question) else _BARE
    last = told[-1]
    ranked = []
    for section in library.sections:
        if section in told:
            continue
        alone, *read = (each.get(section.heading, 0.0) for each in (own, behind, filled))
        together = sum(read) / len(read)
        belongs = _TOPIC * (section.topic == last.topic) + _PAGE * (section.page == last.page)
        adds = together - without.get(section.heading, 0.0)
        ranked.append(_Weighed(section, weight * alone + together + belongs, alone, adds))
    return sorted(ranked, key=lambda each: -each.score)
