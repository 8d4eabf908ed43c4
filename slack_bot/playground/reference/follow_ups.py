"""What a short message in a thread wants of the answer before it: more of it, an example, its second point.

Only the message is looked at. What came before it is known in `conversations.py`.
"""

import re
from collections.abc import Sequence
from enum import Enum, auto

from .clauses import points_back
from .pages import words_of
from .small_talk import is_about_form

_FEW_WORDS = 9  # a longer question has a subject of its own
_FRAGMENT = 4  # words: so few belong to what was asked before


class FollowUp(Enum):
    """What is wanted of the answer before."""

    GO_ON = auto()
    """What comes next: the rest of a stopped answer, or the next section."""
    DETAIL = auto()
    """The same with more detail."""
    SHORTER = auto()
    EXAMPLE = auto()
    DOUBT = auto()
    """Where it stands, and whether it is true."""
    EXPLAIN = auto()
    """The answer was not understood."""


_COURTESY = (
    r"(?:(?:ok|okay|please|pls|and|but|so|well|yes|no|hm+|great|thanks|thank you|now|just|also"
    r"|can you|could you"
    r"|would you|can i|could i|may i|i want|i need|id like|do you have|is there|have you got|u|maybe"
    r"|bitte|und"
    r"|kannst du)\W+)*"
)
_END = (
    r"(?: please| pls| bitte| then| now| of (?:it|that|this)| about (?:it|that|this)| for (?:it"
    r"|that|this))*\W*\Z"
)
_WANTED = {
    FollowUp.GO_ON: (
        r"go on|continue|carry on|keep going|proceed|more|next|(?:tell|show|give) (?:me"
        r"|us) (?:some )?more|more please"
        r"|what else|anything else|what more|(?:what )?now|then(?: what)?|and|the rest|whats? next"
        r"|what is next"
        r"|what else (?:is there|can you say|do you know|should i know)|more info(?:rmation)?|weiter|mehr"
    ),
    FollowUp.DETAIL: (
        r"longer|(?:(?:explain|tell me|say|give me|show me|it|that|this|with|in|some|a bit|a little"
        r"|get|have)\W+)*"
        r"(?:(?:more|further|greater) (?:details?|depth|precise(?:ly)?)|in (?:more )?detail|details|elaborate"
        r"|be more specific|a (?:longer|better|fuller|more detailed) (?:answer|version|explanation"
        r"|text)|mehr details|genauer)"
    ),
    FollowUp.EXAMPLE: (
        r"(?:(?:show|give|tell|send|write|make|see|get|have|with|me|us|it|that|this|a|an|one|some|any|another"
        r"|short|small|simple|real|concrete|quick|what would be)\W+)*"
        r"(?:examples?|samples?|demo(?:nstration)?|snippet|code|beispiele?)|for (?:example|instance)"
        r"|such as what"
        r"|like what|e\.?g\.?|show (?:me|us|it)(?: (?:how|that|it|one))?|how does (?:that|it"
        r"|this) look(?: like)?"
        r"|what does (?:that|it|this) look like|zum beispiel|(?:try|see) (?:it|that|one|this)(?: here)?"
    ),
    FollowUp.DOUBT: (
        r"really|seriously|(?:are you|r u|you) (?:really |quite )?(?:sure|certain)|is (?:that|this"
        r"|it) (?:really )?"
        r"(?:true|right|correct|so|certain|official)|says who|who says (?:so|that)"
        r"|how do you know(?: that| this)?"
        r"|where (?:does|did) (?:that|this|it|you) (?:come from|stand|get (?:that|this|it) from)"
        r"|where (?:is|was) (?:that|this|it) (?:written|from|documented)|sources?|(?:whats?"
        r"|what is) (?:your|the) source"
        r"|(?:(?:give|send|show) (?:me|us) )?(?:the |any |a )?(?:links?|sources?|proof|urls?)|wirklich|sicher"
        r"|(?:where|what) (?:can|could|do|should) i read(?: (?:more|about|on|this|that|it))*"
        r"|where (?:are|is) the (?:docs|documentation)"
    ),
    FollowUp.EXPLAIN: (
        r"huh|what|eh|sorry|pardon|what do you mean(?: by (?:that|this|it))?|explain(?: (?:it|that"
        r"|this|me|to me))*"
        r"|(?:i )?(?:do not|dont|didnt|did not|cant|cannot) (?:understand|get|follow)(?: (?:it|that"
        r"|this|you|a word))?"
        r"|what does (?:that|this|it|all that) mean"
        r"|in (?:other|simple|plain|easy|few|your own) (?:words|terms|english)|rephrase(?: (?:it|that))?"
        r"|(?:say|repeat) (?:it|that)(?: again)?|again|once more|meaning|was heißt das|versteh ich nicht"
    ),
}
_KINDS = {
    kind: re.compile(rf"\W*{_COURTESY}(?:{words}){_END}", re.IGNORECASE) for kind, words in _WANTED.items()
}
_ASKS_WHETHER = re.compile(
    r"\W*(?:(?:and|but|so)\W+)*(?:can|could|may|how (?:do|can)) (?:i|we)\b", re.IGNORECASE
)
_LANGUAGES = {
    "Diese Demo antwortet nur auf Englisch.": r"german|deutsch",
    "Esta demo solo responde en inglés.": r"spanish|español|espanol",
    "Cette démo ne répond qu'en anglais.": r"french|français|francais",
    "Questa demo risponde solo in inglese.": r"italian|italiano",
    "Esta demonstração só responde em inglês.": r"portuguese|português|portugues",
    "": r"dutch|polish|russian|chinese|japanese|korean|hindi|arabic|turkish|swedish|danish|norwegian|finnish"
    r"|czech|greek|hebrew|ukrainian|romanian|hungarian|another language|my language",
}
_LANGUAGE = re.compile(
    rf"\W*{_COURTESY}(?:(?:say|answer|write|repeat|translate|explain|give|speak|tell|reply|show|put"
    r"|me|us|it|that|this"
    rf"|the answer|same|again)\W+)*(?:in|into|to|auf|en) (?P<language>{'|'.join(_LANGUAGES.values())}){_END}",
    re.IGNORECASE,
)
_NUMBERS = {"first": 0, "second": 1, "third": 2, "fourth": 3, "fifth": 4, "sixth": 5, "last": -1} | {
    "1st": 0, "2nd": 1, "3rd": 2, "4th": 3, "5th": 4, "6th": 5, "latter": -1, "former": 0,
    "erste": 0, "zweite": 1, "dritte": 2, "letzte": -1,
}  # fmt: skip
_PLACE = re.compile(
    r"\W*(?:(?:ok|okay|and|but|so|now|then|what|how|why|about|tell me(?: more)?|explain|more|on"
    r"|show me|go with|take"
    r"|i mean|i meant|id like|the|please|was ist mit|das|die|der)\W+)*"
    rf"(?:(?P<word>{'|'.join(_NUMBERS)})"
    r"(?: (?:one|point|thing|option|item|part|bullet|answer|step|idea|way))?"
    r"|(?:(?:number|no|point|option|item|step|nr)\W*)?(?P<digit>[1-9])(?:\.|\))?)"
    r"(?: (?:of (?:these|those|them)|from (?:the|your) list|(?:on|in) (?:the|your) list|please|again"
    r"|in detail))*\W*\Z",
    re.IGNORECASE,
)
_AND = re.compile(
    r"\W*(?:(?:ok|okay|so|hm+|yes|no)\W+)*(?:(?:and|but|or|also|und|oder|aber)\b\W*)+(?=\w)", re.IGNORECASE
)
_ABOUT = re.compile(r"\W*(?:what about|how about|was ist mit)\b", re.IGNORECASE)
_WITH = re.compile(
    r"(?:for|in|with|without|on|at|to|from|by|as|if|when|per|after|before|during|within|between|bei"
    r"|mit|ohne|für"
    r"|im|wenn)\b",
    re.IGNORECASE,
)
_CORRECTION = re.compile(
    r"\W*(?:(?:no|nope|nah|sorry|oh|ok|okay|wait|hm+|nein|but|not that)\W+)*"
    r"(?:i (?:really |rather |actually )?(?:mean|meant)"
    r"|i (?:was asking|asked|am asking|want to know|wanted to know) (?:about|for)"
    r"|not [\w ]{1,30}?,? but|ich meinte?)(?: of)? (?P<meant>\w.*)",
    re.IGNORECASE | re.DOTALL,
)
_WORD_ASKED = re.compile(
    r"\W*(?:(?:and|but|so|ok|okay|sorry|hm+)\W+)*"
    r"(?:what do you mean (?:by|with)|what do(?:es)?(?=.* (?:mean|supposed to be)\b)"
    r"|what(?:s| is| are)(?: an?)?(?! (?:the|that|this|it|my|your|our)\b)|define|was heißt|meaning of)"
    r"(?: (?:the|an?|word|term))* \W?(?P<word>[\w-]+?(?: [\w-]+?)?)\W?"
    r"(?: (?:mean|supposed to be))?(?: (?:here|there|exactly))?\W*\Z",
    re.IGNORECASE,
)
_IT = re.compile(r"\b(?:it|that|this|those|these|them|they|ones?|there)\b", re.IGNORECASE)
_QUESTION_WORD = re.compile(
    r"\W*(?:(?:and|but|so|ok|okay|then|for|by)\W+)*"
    r"(?:(who|whom|how (?:long|many|much|often|fast|large|big)|where|when|which)"
    r"|(?:can|may|could) (?:any|every)(?:one|body)(?: else)?)\b",
    re.IGNORECASE,
)
_POINTS = re.compile(
    r"\b(?:its|their|then|others?|else|instead|same|either|both|so|he|she|him|her|es|das|sie|davon|damit|dafür)\b",
    re.IGNORECASE,
)


def wanted(plain: str) -> FollowUp | None:
    """What `plain`, a message without apostrophes, wants of the answer before; None where it says more."""
    kind = next((kind for kind, words in _KINDS.items() if words.match(plain)), None)
    is_form = kind is None and is_about_form(plain) and not asks_whether(plain)
    return FollowUp.SHORTER if is_form else kind


def asks_whether(plain: str) -> bool:
    """It asks what the reader can do, and wants nothing of the answer."""
    return _ASKS_WHETHER.match(plain) is not None


def language_wanted(plain: str) -> tuple[str, str] | None:
    """The language in which the answer is wanted, and the sentence in it that this cannot be."""
    found = _LANGUAGE.match(plain)
    if found is None:
        return None
    language = found["language"]
    said = next(said for said, words in _LANGUAGES.items() if re.fullmatch(words, language, re.IGNORECASE))
    return language[:1].upper() + language[1:].lower(), said


def place_wanted(plain: str) -> int | None:
    """The place, from 0, of the point that is meant ("the second one"); -1 is the last. None: no point is."""
    found = _PLACE.match(plain)
    if found is None:
        return None
    return _NUMBERS[found["word"].lower()] if found["word"] else int(found["digit"]) - 1


def correction_in(question: str) -> str:
    """What was meant, where `question` says that something else was understood; else empty."""
    found = _CORRECTION.match(question)
    return found["meant"].strip() if found else ""


def word_asked_for(plain: str) -> str:
    """The word whose meaning is asked for; else empty."""
    found = _WORD_ASKED.match(plain)
    return found["word"] if found else ""


def is_cut_short(plain: str) -> bool:
    """What `plain` asks about may have been named before: it begins with "and", or says "it"."""
    if not has_few_words(plain):
        return False
    return is_fragment(plain) or bool(_AND.match(plain) or _ABOUT.match(plain) or points(plain))


def is_fragment(plain: str) -> bool:
    """`plain` has so few words that they belong to what was asked before."""
    return len(words_of(plain)) <= _FRAGMENT


def has_few_words(plain: str) -> bool:
    """`plain` is so short that something may have been named before."""
    return len(words_of(plain)) <= _FEW_WORDS


def points(question: str) -> bool:
    """`question` says "it" or the like of something that was named before it."""
    return bool(_IT.search(question) or _POINTS.search(question) or points_back(question))


def question_word(question: str) -> str:
    """*Who*, *how long* and the like, by which `question` begins; else empty. "Can anybody" asks who can."""
    found = _QUESTION_WORD.match(question)
    return "" if found is None else (found[1] or "who").lower()


def filled_in(question: str, words: Sequence[str]) -> str:
    """`question` with `words` where it says "it", or behind it."""
    named = " ".join(words)
    said, count = _IT.subn(lambda _: named, question, count=1)
    return said if count else f"{question.rstrip(' ?!.')} {named}"


def without_beginning(question: str) -> str:
    """`question` without "and" and the like in front."""
    begins = _AND.match(question)
    return question[begins.end() :] if begins else question


def read_together(before: str, question: str) -> str:
    """One question that is made of `before` and a short `question` behind it."""
    before = before.rstrip(" ?!.")
    return f"{before} {question}" if _WITH.match(question) else f"{before}, {question}"
