"""What a text asks: the clauses of it that are a question, and the point of a long story."""

import re
from itertools import pairwise

LONG_STORY = 45
"""Words: of a longer text the clauses that ask are the question."""
_MOST_SENTENCES = 100  # of a story: more would take too long
_NO_WORDS = re.compile(r"```[^`\n]*\n.*?(?:```|\Z)|https?://\S+", re.DOTALL)
_SENTENCE = re.compile(r"(?<=[.?!])\s+|\n+")
_CLAUSE = re.compile(r"[,:;()]|\s(?:and|but|so|because|plus|und|aber)\s|\s[-–—&]\s", re.IGNORECASE)
_ASKS = re.compile(
    r"\W*(?:(?:hi|hello|hey|so|ok|okay|also|then|well|please|oh|now|just|btw|or|if so|finally"
    r"|question|and|und|aber|oder|auch|like|under|in|for|from|with|by|on|at|to)\b\W*)*"
    r"(?:what\w*|how|who\w*|where\w*|when|why|which|can|cant|could|is|isnt|are|does|do|did|will|would|may"
    r"|might"
    r"|must|should|has|have|am|was|were|any|if|whether|wie|wo|wer|wann|warum|welche\w*|kann\w*|können|gibt|ist|sind"
    r"|muss|darf|läuft|hat|werden|wird)\b",
    re.IGNORECASE,
)
_POINTS_BACK = re.compile(
    r"\A\W*(?:and |or )?(?:have|has|had)\b|\b(?:it|them|that|this|those|these|ones?|there|so)\W*\Z"
    r"|\b(?:is|are|was|does|do|did|will|would|can|could|get|got|about|for|of|with|from|wird|ist)"
    r" (?:that|those|das)\b|\bof (?:each|them|these|those)\b"
    r"|\A\W*(?:and |or )?(?:for |since |until )?(?:how (?:long|often|much|many)|when|where|why|by whom)\W*\Z",
    re.IGNORECASE,
)
_NEXT_QUESTION = re.compile(
    r"[,;]\s+(?:(?:and|but|plus|und|aber)\s)?|\s(?:and|but|plus|und|aber)\s", re.IGNORECASE
)
_CONDITION = re.compile(  # no question, but a part of one
    r"\W*(?:and |or |also |so )?(?:(?:if|wenn|falls)\b"
    r"|(?:when|where) (?:the|my|our|an?|i|we|it|its|one|they|you|people|some\w+) )",
    re.IGNORECASE,
)
_NEXT_IN_STORY = re.compile(  # a question may also begin behind words that say that one comes
    rf"{_NEXT_QUESTION.pattern}|:\s+"
    r"|\b(?:want|like|need)s? to (?:know|understand|find out|learn|see|hear|ask)\b[,:]?\s+"
    r"(?:exactly |first )?",
    re.IGNORECASE,
)
_ASKS_IN_STORY = re.compile(  # what is told there may begin with the same words: "which was slow"
    r"\W*(?:(?:and|so|but|or|also|then|first|exactly|if so|und|aber)\b\W*)*"
    r"(?:what(?! i\b| we\b)\w*|how|when|why|whether|ob|wie|wann|warum|wo|wer|where|who|welche\w*"
    r"|which (?!is\b|was\b|as\b|has\b|had\b|i\b|we\b|means\b|\w+ed\b)"
    r"|(?:can|could|is|are|does|do|did|will|would|may|must|should|has|have) "
    r"(?:it|i|we|you|they|the|an?|my|our|your|this|that|there|one|any\w*|some\w*|every\w*|people|guests"
    r"|agents|messages|data|questions|answers|all)\b"
    r"|(?:kann|ist|sind|muss|darf|wird|werden) (?:es|er|ich|wir|der|die|das|man)\b)",
    re.IGNORECASE,
)
_DEMANDS = re.compile(  # what somebody in a story wants is asked, too
    r"\W*(?:(?:and|but|also|since|because)\b\W*)*(?:our|my|the|we|they|it|i|nothing|nobody|every\w+|teams?)\b.*"
    r"\b(?:won['’]?t|will not|do(?:n['’]?t| not) want|doesn['’]?t want|needs?|has to|have to|must|insists?"
    r"|requires?|refuses?|forbids?|(?:is|are) not allowed|worr(?:y|ies|ied)|wants?|(?:would|['’]d) like)\b",
    re.IGNORECASE,
)
_DEMANDS_MORE = re.compile(  # behind a demand, of the same thing: "and asks a human before"
    r"\W*(?:(?:and|but|also|then)\b\W*)*(?:asks?|does(?:n['’]?t)?|never|must|should|keeps?|sends?|shows?|tells?|lets?"
    r"|remembers?|masks?|stops?|runs?)\b",
    re.IGNORECASE,
)
_TELLS = re.compile(  # it is no part of the question before it
    r"\W*(?:(?:so|and|but)\b\W*)*"
    r"(?:given|since|because|as (?:i|we)|which|we|i|i['’]\w+|our|my|the \w+ people)\b",
    re.IGNORECASE,
)
_END = re.compile(r"[,;\s]+(?:(?:and|but|plus|und|aber)\s+)?\Z", re.IGNORECASE)
_SEVERAL = re.compile(r"[,;/&]|\b(?:and|or|plus|und|oder)\b", re.IGNORECASE)
_OR = re.compile(r"(?:or|oder)\b", re.IGNORECASE)  # the same question goes on
_FRAGMENT = 2  # words: so few are a part of the question before
_WONDERS = re.compile(
    r"\b(?:wonder\w*|know (?:if|what|how|where|who|which|whether)|whether|tell me|asked me|asking|curious"
    r"|explain|show me|question is)\b",
    re.IGNORECASE,
)
_POINT = re.compile(  # what follows is the question of a long story
    r"\b(?:what (?:i|we) (?:\w+ )?(?:want|need|would like) to (?:know|find out|understand|ask)"
    r"|what (?:i|we) (?:\w+ )?need is whether"
    r"|what (?:i|we) (?:\w+ )?(?:wonder|ask|(?:can['’]?t|cannot) figure out)"
    r"|what (?:i|we) (?:\w+ )?(?:do not|don['’]?t) (?:get|know|understand)"
    r"|(?:my|the|our) (?:\w+ )?question)(?: after all (?:this|that))? (?:is|was)\b[:,]?|\blong story short\b",
    re.IGNORECASE,
)


def without_code(text: str) -> str:
    """`text` without code and addresses."""
    return _NO_WORDS.sub(" ", text)


def is_long_story(text: str) -> bool:
    """So much is said that only a part of it can be the question."""
    return len(text.split()) > LONG_STORY


def point_of(text: str) -> str:
    """What stands in a long story behind words such as "my question is"; else all of `text`."""
    found = list(_POINT.finditer(text)) if is_long_story(text) else []
    return text[found[-1].end() :] if found else text


def asking_clauses(text: str) -> list[str]:
    """The clauses of `text` that ask something; all of them where none says so."""
    sentences = _SENTENCE.split(text)
    asking = [
        each for each in sentences if "?" in each or _WONDERS.search(each) or _ASKS.match(each)
    ] or sentences
    clauses = [clause for sentence in asking for clause in _clauses_of(sentence)]
    return clauses or [text]


def last_question(text: str) -> str:
    """The last sentence of `text` that asks, if it is short enough to be the question; else empty.

    One that points back comes with the sentence before it.
    """
    sentences = _SENTENCE.split(text)
    asking = [place for place, each in enumerate(sentences) if "?" in each or _WONDERS.search(each)]
    if not asking:
        return ""
    last = sentences[asking[-1]]
    both = " ".join(sentences[max(0, asking[-1] - 1) : asking[-1] + 1])
    if points_back(last) and not is_long_story(both):
        return both
    return "" if is_long_story(last) else last


def questions_in(text: str) -> list[str]:
    """The questions of `text`, where it is short and asks more than one.

    What stands between two of them belongs to the first, a condition to the question behind it.
    """
    if is_long_story(text):
        return []
    asking = [question for sentence in _SENTENCE.split(text) for question in _questions_of(sentence)]
    return asking if len(asking) > 1 else []


def questions_in_story(text: str) -> list[str]:
    """The questions of a long `text`, with what it says must be so, each alone."""
    if not is_long_story(text):
        return []
    sentences = _SENTENCE.split(text, maxsplit=_MOST_SENTENCES)[:_MOST_SENTENCES]
    found = [question for sentence in sentences for question in _asked_in_story(sentence)]
    return found if len(found) > 1 else []


def clauses_beside(text: str) -> list[str]:
    """The clauses of `text` in sentences that ask nothing, where others ask."""
    sentences = _SENTENCE.split(text)
    beside = [each for each in sentences if "?" not in each and not _ASKS.match(each)]
    beside = beside if len(beside) < len(sentences) else []
    return [clause for sentence in beside for clause in _CLAUSE.split(sentence) if len(clause.split()) > 1]


def names_several(text: str) -> bool:
    """More than one thing may be asked in `text`."""
    return _SEVERAL.search(text) is not None


def said_before(text: str) -> str:
    """The sentences of `text` before the first that asks."""
    sentences = _SENTENCE.split(text)
    asking = (place for place, each in enumerate(sentences) if "?" in each or _ASKS.match(each))
    return " ".join(sentences[: next(asking, 0)])


def points_back(clause: str) -> bool:
    """What `clause` asks about was named before it."""
    return _POINTS_BACK.search(clause) is not None


def asks(clause: str) -> bool:
    """`clause` begins as a question does."""
    return _ASKS.match(clause) is not None


def _questions_of(sentence: str) -> list[str]:
    """The questions of `sentence`, each up to the next."""
    borders = list(_NEXT_QUESTION.finditer(sentence))
    starts = [0, *(each.end() for each in borders)]
    ends = [*(each.start() for each in borders), len(sentence)]
    begins: list[int] = []
    condition: int | None = None  # where one begins whose question is to come
    for start, end in zip(starts, ends, strict=True):
        clause = sentence[start:end]
        if _CONDITION.match(clause):
            condition = start if condition is None else condition
        elif _ASKS.match(clause) and not (begins and (_OR.match(clause) or len(clause.split()) <= _FRAGMENT)):
            begins.append(start if condition is None else condition)
            condition = None
    return [_END.sub("", sentence[begin:end]).strip() for begin, end in pairwise([*begins, len(sentence)])]


def _asked_in_story(sentence: str) -> list[str]:
    """What `sentence` of a story asks or demands, each without what is told between."""
    borders = list(_NEXT_IN_STORY.finditer(sentence))
    starts = [0, *(each.end() for each in borders)]
    ends = [*(each.start() for each in borders), len(sentence)]
    found: list[tuple[int, int]] = []
    is_open = False  # what comes belongs to the one before
    for start, end in zip(starts, ends, strict=True):
        clause = sentence[start:end]
        if len(clause.split()) > 1 and (_ASKS_IN_STORY.match(clause) or _DEMANDS.match(clause)):
            found.append((start, end))
            is_open = True
        elif is_open and len(clause.split()) > _FRAGMENT and _DEMANDS_MORE.match(clause):
            found.append((start, end))
        elif is_open and not _TELLS.match(clause):
            found[-1] = found[-1][0], end
        else:
            is_open = False
    return [_END.sub("", sentence[start:end]).strip() for start, end in found]


def _clauses_of(sentence: str) -> list[str]:
    """The clauses of `sentence` that ask something; all of them where none says so."""
    clauses = [each for each in _CLAUSE.split(sentence) if len(each.split()) > 1]
    return [each for each in clauses if _ASKS.match(each) or _WONDERS.search(each)] or clauses
