"""What a text asks: the clauses of it that are a question, and the point of a long story."""

import re

LONG_STORY = 45
"""Words: of a longer text the clauses that ask are the question."""
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
_POINTS_BACK = re.compile(
    r"\A\W*(?:and |or )?(?:have|has|had)\b|\b(?:it|them|that|this|those|these|ones?|there|so)\W*\Z",
    re.IGNORECASE,
)
_NEXT_QUESTION = re.compile(
    r"[,;]\s+(?:(?:and|but|plus|und|aber)\s)?|\s(?:and|but|plus|und|aber)\s", re.IGNORECASE
)
_IF = re.compile(
    r"\W*(?:and |or |also |so )?(?:if|wenn|falls)\b", re.IGNORECASE
)  # no question, but its condition
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
    """The last sentence of `text` that asks, if it is short enough to be the question; else empty."""
    asking = [each for each in _SENTENCE.split(text) if "?" in each or _WONDERS.search(each)]
    return asking[-1] if asking and not is_long_story(asking[-1]) else ""


def questions_in(text: str) -> list[str]:
    """The questions of `text`, where it is short and asks more than one."""
    if is_long_story(text):
        return []
    clauses = [clause for each in _SENTENCE.split(text) for clause in _NEXT_QUESTION.split(each)]
    asking = [each.strip() for each in clauses if _ASKS.match(each) and not _IF.match(each)]
    asking = [each for each in asking if len(each.split()) > _FRAGMENT]
    return asking if len(asking) > 1 else []


def points_back(clause: str) -> bool:
    """What `clause` asks about was named before it."""
    return _POINTS_BACK.search(clause) is not None


def _clauses_of(sentence: str) -> list[str]:
    """The clauses of `sentence` that ask something; all of them where none says so."""
    clauses = [each for each in _CLAUSE.split(sentence) if len(each.split()) > 1]
    return [each for each in clauses if _ASKS.match(each) or _WONDERS.search(each)] or clauses
