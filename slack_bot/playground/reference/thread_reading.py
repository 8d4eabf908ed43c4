"""What a short question in a thread is read as: a section, a sentence, or only what comes near it."""

from collections.abc import Sequence
from dataclasses import dataclass

from .follow_ups import is_cut_short, is_fragment, points, question_word, without_beginning
from .pages import PageSection
from .search import Library
from .thread_search import ThreadHits, search_thread
from .thread_sentences import FoundSentence, is_of_kind, sentence_for
from .verdict import Hit

_NEAREST = 3  # sections of what comes nearest
_AGAIN = 0.9  # score of what was shown and is asked for again
_NEW_SUBJECT = 1.15  # score of what a short question must lead to, elsewhere, to change the subject


@dataclass(frozen=True, slots=True)
class ThreadReading:
    """What answers: a `section`, or a `sentence`; else what comes `near`. `is_likely`: its first is meant."""

    section: PageSection | None = None
    sentence: FoundSentence | None = None
    near: Sequence[PageSection] = ()
    is_likely: bool = False


def read_in_thread(
    library: Library, question: str, subjects: Sequence[str], told: Sequence[PageSection]
) -> ThreadReading | None:
    """What `question` is read as behind one of `subjects`, the last first; None where it begins a new one.

    `told`: what was shown for them.
    """
    asked = without_beginning(question)
    if (again := _asked_again(library, asked, told)) is not None:
        return ThreadReading(again)
    found = searched(library, asked, subjects, told)
    sentence = sentence_for(library, asked, subjects, told)
    if found.answer is not None:
        return _answered(library, found.answer, sentence, told)
    alone = found_alone(library, asked)
    reading = _nearest(library, asked, found, [hit.section for hit in alone if hit.section not in told])
    is_said = sentence is not None and sentence.is_told and not _is_alike(asked, reading)
    if is_said and is_fragment(asked):
        return ThreadReading(sentence=sentence)
    is_meant = reading.is_likely and asked != question and is_fragment(asked)
    has_near = points(asked) and any(library.has_all(each, asked) for each in found.near)
    if not (is_meant or has_near) and leads_elsewhere(alone, told):
        return ThreadReading(alone[0].section) if alone[0].section.page == told[-1].page else None
    is_near = sentence is not None and not reading.is_likely and sentence.section in reading.near[:1]
    if is_said or is_near:
        return ThreadReading(sentence=sentence)
    return reading if reading.is_likely or not alone or is_cut_short(asked) else None


def _asked_again(library: Library, asked: str, told: Sequence[PageSection]) -> PageSection | None:
    """What was shown before, if `asked` wants that by itself."""
    if points(asked) or library.is_bare(asked):
        return None
    again = (hit for hit in found_alone(library, asked) if hit.score >= _AGAIN)
    return next((hit.section for hit in again if hit.section in told), None)


def _answered(
    library: Library, answer: PageSection, sentence: FoundSentence | None, told: Sequence[PageSection]
) -> ThreadReading | None:
    """`answer` is certain; a sentence of what was said may be meant all the same."""
    if library.is_whole(answer):
        return None
    is_better = sentence is not None and _is_better(sentence, answer, told)
    return ThreadReading(sentence=sentence) if is_better else ThreadReading(answer)


def searched(
    library: Library, asked: str, subjects: Sequence[str], told: Sequence[PageSection]
) -> ThreadHits:
    """What answers `asked` behind the last subject; else behind what the thread began with."""
    hits = [search_thread(library, asked, each, told) for each in subjects]
    sure = (each for each in hits if each.answer is not None and library.counts(asked, Hit(each.answer, 0.0)))
    return next(sure, ThreadHits(None, hits[0].near, hits[0].is_likely))


def found_alone(library: Library, asked: str) -> list[Hit]:
    """What answers `asked` without what was said before, if that is certain."""
    return [hit for hit in library.search(asked) if hit.is_answer and not hit.is_doubtful][:1]


def leads_elsewhere(alone: Sequence[Hit], told: Sequence[PageSection]) -> bool:
    """What was found without what was said before is meant."""
    return any(
        hit.section not in told and hit.score >= (0.0 if hit.section.page == told[-1].page else _NEW_SUBJECT)
        for hit in alone
    )


def _is_better(sentence: FoundSentence, answer: PageSection, told: Sequence[PageSection]) -> bool:
    """The sentence of what was said is meant rather than a section of another topic."""
    is_far = answer.topic not in {each.topic for each in told}
    return sentence.is_told and is_far


def _is_alike(asked: str, reading: ThreadReading) -> bool:
    """It is asked who, and what is likely says who."""
    is_who = question_word(asked) == "who"
    return is_who and reading.is_likely and question_word(reading.near[0].heading) == "who"


def _nearest(library: Library, asked: str, found: ThreadHits, others: Sequence[PageSection]) -> ThreadReading:
    near = list(dict.fromkeys([*found.near, *others]))[:_NEAREST]
    is_likely = found.is_likely and is_of_kind(asked, near[0]) and library.has_all(near[0], asked)
    return ThreadReading(near=near, is_likely=is_likely)
