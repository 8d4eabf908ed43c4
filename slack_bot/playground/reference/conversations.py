"""What was said before in a thread, so that a short question is understood there.

Of each A2A context the last question with a subject of its own is known, what was shown for it, and the rest
of an answer that somebody stopped. "go on" shows what comes next. A question without a subject ("why?", "and
for 100 users?") is searched for together with the question before it. Where neither finds anything, the agent
says so. All of it is lost when the agent ends.
"""

import re
from collections.abc import Sequence
from itertools import dropwhile

from .clauses import asks, points_back
from .pages import PageSection, words_of
from .scenarios import ShowPlan, Thought, WriteMove, researched, sections_for, shorter, think
from .search import Library
from .small_talk import is_about_form, is_follow_up, points_to_part
from .toolbox import ToolResult

_MOST_CONTEXTS = 1000
_FEW_WORDS = 8  # a longer question has a subject of its own
_FRAGMENT = 4  # words: so few without a verb belong to what was asked before

_GO_ON = re.compile(
    r"\W*(?:(?:ok|okay|please|and|yes|now|so|well)\W+)*"
    r"(?:go on|continue|carry on|keep going|proceed|more|next|tell me more|show (?:me )?more|more please"
    r"|what else|anything else|(?:what )?now|then(?: what)?|and|the rest|what(?:s| is) next|weiter|mehr)"
    r"(?: please| bitte)?\W*\Z",
    re.IGNORECASE,
)
_DETAIL = re.compile(
    r"\W*(?:(?:please|and|can you|explain|tell me|say|it|that|this)\W+)*"
    r"(?:longer|(?:in |with )?more details?|in detail|elaborate)(?: please)?\W*\Z",
    re.IGNORECASE,
)
_BEGINS = re.compile(
    r"\W*(?:(?:ok|okay|so)\W+)?(?:(?:and|but|or|also|und|oder|aber)\b\W*)+(?:what about |how about )?"
    r"|\W*(?:what about|how about|was ist mit)\b\W*",
    re.IGNORECASE,
)
_WITH = re.compile(
    r"(?:for|in|with|without|on|at|to|from|by|as|if|when|per|after|before|during|within|between|bei|mit|ohne|für"
    r"|im|wenn)\b",
    re.IGNORECASE,
)
_WHY = re.compile(
    r"(?:but |and |so )?(?:why|how so|how come|warum|wieso)(?: not)?(?: is)?(?: that| so)?\W*\Z", re.I
)
_PARAGRAPH = re.compile(r"(?<=\n\n)")
_NOTHING_BEFORE = (
    "I cannot tell what this is about: I have answered nothing in this conversation before it, or was "
    "started anew since. Ask once more, with what it is about.\n"
)


class TalkContext:
    """One A2A context."""

    def __init__(self, library: Library) -> None:
        self._library = library
        self._question = ""  # the last one with a subject of its own
        self._told: list[PageSection] = []  # that were shown since
        self._unsaid: list[str] = []  # paragraphs of the answer, from the one that is being written on
        self._thought: Thought | None = None  # what comes behind them

    def think(self, question: str, reply: str | None = None) -> Thought:
        """The moves that answer `question`, as `scenarios.think`, which knows of nothing before."""
        thought = None if reply is not None else self._follow_up(question.strip())
        if thought is None:
            thought = think(question, self._library, reply)
            if told := sections_for(question, self._library):
                self._question, self._told = question, told
        return self._remembered(thought)

    def _remembered(self, thought: Thought) -> Thought:
        """The same, by paragraphs: what is not written when somebody stops it can still be."""
        self._unsaid, self._thought = [], None
        result: ToolResult | None = None
        while True:
            try:
                move = thought.send(result)
            except StopIteration:
                self._unsaid, self._thought = [], None
                return
            if not isinstance(move, WriteMove):
                result = yield move
                continue
            result = None
            self._unsaid, self._thought = _paragraphs(move.text), thought
            while self._unsaid:
                yield WriteMove(self._unsaid[0])
                del self._unsaid[0]

    def _follow_up(self, question: str) -> Thought | None:
        """The moves for a question that is about what was said before; None where it is not."""
        plain = re.sub(r"['’]", "", question)
        if _GO_ON.match(plain):
            return self._go_on()
        if (again := self._in_another_form(plain)) is not None:
            return again
        if points_to_part(plain):
            return _say(self._no_subject() if self._question else _NOTHING_BEFORE)
        if (whole := self._with_question_before(question, plain)) is not None:
            return researched(whole, self._library, self._told)
        if is_follow_up(plain):
            return _say(self._no_subject() if self._question else _NOTHING_BEFORE)
        return None

    def _in_another_form(self, plain: str) -> Thought | None:
        """The answer before, longer or shorter, where `plain` wants that."""
        if self._question and _DETAIL.match(plain):
            return think(self._question, self._library, is_detailed=True)
        if self._question and is_about_form(plain):
            return shorter(think(self._question, self._library), is_again=True)
        return None

    def _go_on(self) -> Thought:
        if self._thought is not None:
            return _resumed(self._unsaid, self._thought)
        if not self._told:
            return _say(_NOTHING_BEFORE)
        last = self._told[-1]
        behind = dropwhile(lambda each: each != last, self._library.sections_of(last.page))
        following = next((each for each in behind if each not in self._told), None)
        if following is None:
            return _say(f"That was the end of *{last.title}*. Ask me about something else.\n")
        self._told.append(following)
        return _say(f"**{following.heading}**\n\n{following.text}\n\n**Source:** {following.title}\n")

    def _with_question_before(self, question: str, plain: str) -> str | None:
        """`question` and the one before it as one; None where it has a subject of its own."""
        if not self._question or len(words_of(plain)) > _FEW_WORDS:
            return None
        own = plain[begins.end() :] if (begins := _BEGINS.match(plain)) else plain
        before = self._question.rstrip(" ?!.")
        if _WHY.match(plain):
            return f"Why: {before}?"
        if _WITH.match(own) and (begins is not None or len(words_of(own)) <= _FRAGMENT):
            return f"{before} {question[len(question) - len(own) :] if own in question else own}"
        has_subject = any(not hit.is_doubtful for hit in self._library.search(question) if hit.is_answer)
        if has_subject:
            return None
        if begins is not None or (points_back(plain) and asks(plain)):
            return f"{before}, {own}"
        return None

    def _no_subject(self) -> str:
        return (
            f"I read this with your question before it, *{self._question.strip()}*, and cannot tell what you "
            "mean. Ask once more, and name it.\n"
        )


class TalkContexts:
    """By the id of their context. The oldest are forgotten."""

    def __init__(self, library: Library) -> None:
        self._library = library
        self._known: dict[str, TalkContext] = {}

    def of(self, context_id: str) -> TalkContext:
        """The conversation, which is then the newest."""
        known = self._known.pop(context_id, None) or TalkContext(self._library)
        self._known[context_id] = known
        while len(self._known) > _MOST_CONTEXTS:
            del self._known[next(iter(self._known))]
        return known


def _say(text: str) -> Thought:
    yield "I look at what I said before."
    yield WriteMove(text)


def _resumed(unsaid: Sequence[str], thought: Thought) -> Thought:
    """The rest of an answer, from the paragraph in which it was stopped; its steps were done before."""
    yield "I go on where I was stopped."
    yield WriteMove("".join(unsaid))
    yield from (move for move in thought if not isinstance(move, ShowPlan))


def _paragraphs(text: str) -> list[str]:
    """`text` in pieces that join to it; a piece of code is in one."""
    pieces: list[str] = []
    is_open = False
    for each in _PARAGRAPH.split(text):
        if is_open:
            pieces[-1] += each
        elif each:
            pieces.append(each)
        is_open ^= each.count("```") % 2 == 1
    return pieces
