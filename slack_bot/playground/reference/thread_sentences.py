"""The one sentence of the guide that says what a short question in a thread asks for.

"How big?" wants a size, "why?" a reason, "where do I set it?" a setting. A sentence that has one, and all
else that the question names, is the answer, if its section belongs to what the thread is about. What was
shown is read first.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from .follow_ups import read_together
from .pages import PageSection
from .search import Library

_ASKED = r"\A\W*(?:(?:and|but|so|ok|okay|then|well|und|aber)\W+)*"
_I = r"(?: (?:i|we|you|one|people|they|he|she|somebody))?"
_COUNTED = r"(?:\d[\d,.]*|two|three|four|five|six|seven|eight|nine|ten|twelve|twenty|thirty|fifty)"
_SETTING = r"`[A-Z][A-Z0-9]+_[A-Z0-9_]+(?:=[^`]*)?`|`[a-z_]+ = [^`]+`"
_WAY = (
    r"`[^`]*[ _/=\[][^`]*`"
    r"|(?:\A|[:;,] |\bor )(?:[Ww]rite|[Pp]ress|[Ss]et|[Rr]un|[Oo]pen|[Pp]ut|[Ii]nvite|[Mm]ention|[Ii]nstall"
    r"|[Cc]hoose|[Uu]se|[Mm]ake|[Ss]wap|[Ee]dit|[Dd]elete|[Aa]sk)\b"
)
_DO = r"(?:do|can|could|would|should|must)"
_UNITS = r"(?:ms|s|milliseconds?|seconds?|minutes?|hours?|days?|weeks?|months?|years?)"
_SET = (
    r"(?:set|change|configured?|turn|switch|enable|disable|adjust|raise|lower|limit|allow|forbid|shorten"
    r"|extend|reduce|increase|make (?:it|that|this|them) \w+er)"
)
_BE_SET = (
    r"(?:set|chang|configur|turn|switch|disabl|enabl|adjust|rais|lower|forbid|limit|shorten|extend|reduc"
    r"|increas|make (?:it|that|this|them) \w+er\b)"
)
_KINDS = {
    "a time": (
        r"\bhow (?:long|soon)\b|\bwie lange\b",
        rf"\b(?:{_COUNTED} ?|(?:an?|half an?|a few) ){_UNITS}\b|\bat once\b",
    ),
    "how often": (
        r"\bhow (?:often|regularly)\b",
        r"\b(?:every|each) (?:\w+ )?(?:second|minute|hour|day|week|month)s?\b|\b[Oo]nce\b|\btimes\b"
        r"|\b(?:an?|per) (?:second|minute|hour|day|week|month)\b",
    ),
    "a size": (r"\bhow (?:big|large|heavy)\b|\bwhat size\b", r"\d[\d,.]* ?(?:[kMG]i?B|bytes|characters)\b"),
    "a number": (
        r"\bhow many\b|\bwie viele\b",
        rf"\b(?i:{_COUNTED}|any number|as many|no limit|hundreds|thousands)\b(?! ?(?:{_UNITS}|[kMG]i?B)\b)",
    ),
    "a reason": (
        rf"{_ASKED}(?:why|how come|for what reason|warum|wieso)\b",
        r"\b(?:[Bb]ecause|so that|otherwise|therefore|for that reason|which is why)\b|, so "
        r"|\b[Ss]ince (?!the same)",
    ),
    "a setting": (
        rf"\b(?:where|how) (?:{_DO}|is){_I}(?: (?:it|that|this))? {_SET}\w*\b"
        rf"|\b(?:can|could|may) (?:i|we|one|it|that|this)(?: be)? {_BE_SET}\w*"
        r"|\bwhich (?:setting|variable|option)\b",
        _SETTING,
    ),
    "a command": (
        r"\b(?:which|what(?: is|s)?(?: the)?) commands?\b"
        r"|\bwhat (?:do|should|must) i (?:type|enter|write|run)\b",
        r"`slack-bot [^`]+`|`/(?:invite|remove)",
    ),
    "a file": (
        rf"\bwhere {_DO}{_I} (?:write|put|define|specify|enter|list|declare)\b"
        r"(?: (?:it|that|this|them) down)?",
        rf"{_SETTING}|`[^` ]+\.(?:toml|env|yml)`|\bfile of channels\b",
    ),
    "a way": (
        rf"{_ASKED}(?:how|how (?:{_DO}|to){_I}"
        r"(?: (?:do|run|make|get|start|use|find|try|see|write|begin|know|tell|go|check|proceed))?)"
        r"(?: (?:it|that|this|one|out|started|there|now))*\W*\Z",
        _WAY,
    ),
    "who decides": (
        rf"{_ASKED}(?:who|by whom|wer) (?:\w+ )?(?:decide|set|configure|control|choose|change)\w*\b",
        r"\b(?:[Oo]perators?|[Aa]dministrators?)\b",
    ),
    "what else": (
        r"\b(?:if|when)\b.*\b(?:nobody|none|nothing|no ?one|not|never|dont|doesnt|isnt|arent|neither)\b",
        r"\b(?:(?:and|or) else|otherwise|unless|lapses?|expires?|ends? by itself)\b",
    ),
    "a limit": (
        r"\b(?:if|when)\b.*\b(?:longer|bigger|larger|more|too (?:long|big|large|many|much)|exceeds?|limit)\b",
        r"\b(?:rest|further|cut|refused|too (?:long|large|many)|above|beyond|more than|at most|ends? a"
        r"|named in the thread)\b",
    ),
}
_READ = [(re.compile(asked, re.IGNORECASE), re.compile(said)) for asked, said in _KINDS.values()]
"""What a question wants, and how a sentence looks that has it."""
# What speaks for a section: it was shown last, or before; its topic is that of the last one; its page is.
_LAST, _TOLD, _TOPIC, _PAGE = 1.0, 0.9, 0.2, 0.15
# What must speak for a section that was not shown: if the question names something; if it only wants a kind.
_LEAST, _LEAST_OF_KIND = 0.6, 0.95
_MOST_SECTIONS = 25  # those for which most speaks
_POINTS = re.compile(r"\A(?:That|This|Those|These|Such|Then|Both)\b")


@dataclass(frozen=True, slots=True)
class FoundSentence:
    """`text` stands in `section`. `is_told`: the section was shown before."""

    text: str
    section: PageSection
    is_told: bool


def sentence_for(
    library: Library, question: str, before: Sequence[str], told: Sequence[PageSection]
) -> FoundSentence | None:
    """The sentence that answers `question`, a short one, behind those `before`. `told`: what was shown."""
    plain = re.sub(r"['’]", "", question)
    wants, looks_so = _kind_of(plain)
    named = library.named_things(plain.replace(wants, " ") if wants else plain)
    if looks_so is None and library.is_bare(question):
        return None
    for section, weight in _by_weight(library, question, before, told):
        is_told = section in told
        if not is_told and weight < (_LEAST if named else _LEAST_OF_KIND):
            continue
        for said in _with_what_they_point_to(section):
            things = library.named_things(f"{section.heading} {said}" if looks_so else said)
            if named <= things and (looks_so is None or looks_so.search(said)):
                return FoundSentence(said, section, is_told)
    return None


def _kind_of(plain: str) -> tuple[str, re.Pattern[str] | None]:
    """The words of `plain` by which it wants something of a kind, and how a sentence looks that has it."""
    found = ((match[0], said) for asked, said in _READ if (match := asked.search(plain)) is not None)
    return next(found, ("", None))


def is_of_kind(question: str, section: PageSection) -> bool:
    """`section` has what `question` wants, or that is nothing of a kind."""
    _, looks_so = _kind_of(re.sub(r"['’]", "", question))
    return looks_so is None or any(looks_so.search(each) for each in section.sentences)


def mention_in(
    library: Library, question: str, told: Sequence[PageSection], *, even_bare: bool
) -> FoundSentence | None:
    """The sentence of what was `told` that has all that `question` names, whatever it wants of that.

    `even_bare`: words count that say little, too.
    """
    named = library.named_things(question, even_bare=even_bare)
    sentences = ((each, section) for section in reversed(told) for each in _with_what_they_point_to(section))
    found = (
        FoundSentence(*each, is_told=True)
        for each in sentences
        if named <= library.named_things(each[0], even_bare=even_bare)
    )
    return next(found, None) if named and (even_bare or not library.is_bare(question)) else None


def _by_weight(
    library: Library, question: str, before: Sequence[str], told: Sequence[PageSection]
) -> list[tuple[PageSection, float]]:
    """The sections for which most speaks, best first."""
    last = told[-1]
    scores = [library.scores(each) for one in before for each in (one, read_together(one, question))]

    def weight(section: PageSection) -> float:
        by_words = sum(each.get(section.heading, 0.0) for each in scores) / len(scores)
        shown = _LAST if section == last else _TOLD * (section in told)
        belongs = _TOPIC * (section.topic == last.topic) + _PAGE * (section.page == last.page)
        return max(by_words, shown) + belongs

    weighed = [(each, weight(each)) for each in library.sections]
    return sorted(weighed, key=lambda each: (each[0] not in told, -each[1]))[:_MOST_SECTIONS]


def _with_what_they_point_to(section: PageSection) -> Iterator[str]:
    """Its sentences; one that begins with "it" comes with the one before it."""
    sentences = section.sentences
    yield from sentences[:1]
    for one, following in pairwise(sentences):
        yield f"{one} {following}" if _POINTS.match(following) else following
