"""What the playground's agent thinks: a question becomes a sequence of moves, the same one every time.

`think` is a generator: it yields what a model would do next, and is sent the result of each tool call. A few
first words ask for something special, so that each way of an answer may be tried by hand: `fail`, `slow`,
`long 8000`, `unicode 8000`.
"""

import re
from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import count, cycle
from typing import TypeAlias

from .clauses import questions_in
from .named_settings import meaning_of_setting, setting_in
from .orders import is_order, is_plain_order, order_reply, table_reply, topic_of_table, wants_code
from .pages import PageSection, words_of
from .search import Library
from .small_talk import has_code, is_small_talk, joke_for, language_note, nearest, small_talk, wants_joke
from .toolbox import FETCH, SEARCH, ModelFailed, ToolResult
from .verdict import Hit

STATUSES = ("pending", "in_progress", "completed", "failed")
"""Of a step of the plan, as on the wire."""


@dataclass(frozen=True, slots=True)
class ScenarioStep:
    """One step of the plan."""

    title: str
    status: str = "pending"
    agent: str = "Supervisor"


@dataclass(frozen=True, slots=True)
class InputField:
    """One thing a form asks for, as on the wire. Without `field_values` it is free text."""

    field_name: str
    field_description: str
    field_values: tuple[str, ...] = ()
    required: bool = True


@dataclass(frozen=True, slots=True)
class ShowPlan:
    """The whole current plan. `title` says what was done, at its end."""

    steps: tuple[ScenarioStep, ...]
    title: str = ""


@dataclass(frozen=True, slots=True)
class CallTool:
    """Call a tool; its `ToolResult` is sent back into the generator."""

    tool: str
    argument: str


@dataclass(frozen=True, slots=True)
class WriteMove:
    """The next piece of the answer."""

    text: str


@dataclass(frozen=True, slots=True)
class Pause:
    """Nothing for so many seconds, and for as long as so many tokens take; at a pace of 0 no time at all."""

    seconds: float = 0.0
    tokens: int = 0


@dataclass(frozen=True, slots=True)
class AskBack:
    """Ask the human and stop. The answer comes as another message to the same task.

    `request`: one of `requests.REQUESTS`, in place of fields.
    """

    prompt: str
    fields: tuple[InputField, ...] = ()
    request: str = ""


Move: TypeAlias = str | ShowPlan | CallTool | WriteMove | Pause | AskBack
"""A text says what is being done; it is not part of the answer."""
Thought: TypeAlias = Generator[Move, ToolResult | None, None]

_TOO_OFTEN = 6  # further searches of a thorough question
_FEW_PAGES, _MANY_PAGES = 2, 4
_ASKED_AT_ONCE, _MOST_ANSWERS = 3, 10  # things that one message asks: of more, each has one sentence
_ORDERS = ("order", "do")  # kinds of talk by which something is to be done
_RELATED = 2  # sections that come with an answer in detail
_LONGEST = 200_000  # characters: more would only test patience
_SPECIAL = re.compile(
    r"\s*(?:(?:please )?(?:write|give|show)(?: me)? an? )?(fail|slow|long|unicode)"
    r"(?: answer| late| on purpose)*(?: (\d+))?\W*\Z",
    re.IGNORECASE,
)
THOROUGH = re.compile(r"\b(everything (about|on)|thorough(ly)?|in depth)\b", re.IGNORECASE)
_AGAIN = re.compile(r"\s*Please answer this again, (shorter|with more detail)\b.*", re.IGNORECASE | re.DOTALL)
"""What the bot writes below a question whose answer was not helpful."""
_PLAINLY = re.compile(
    r"\b(?:like|as if|as though) (?:i['’]?m|i am|i was|i were|to a) (?:five|5|a (?:child|kid))\b|\beli5\b:?"
    r"|\b(?:in|with) (?:one|a (?:single|short|few)|simple|plain|few) (?:sentences?|words?|terms|english)\b"
    r"|\b(?:very |as )?(?:briefly|shortly|tl;?dr)\b:?",
    re.IGNORECASE,
)
"""By which an answer is wanted short."""
_SENTENCE_END = re.compile(r"(?<=[.!?])\s")
_SHORTEST = (
    "That was one sentence, and I have no shorter one: I show sections of a guide as they are, without a "
    "language model.\n"
)
_FILE = re.compile(r"(?<!\S)@[\w-]+\.md\b")
_MARKS = re.compile(r"[*_`~<>\[\]|]+")  # of Markdown
_WORD_LIKE = re.compile(r"\s*(?:\w{1,6}|[^\w\s]{1,4})|\s+")


def think(question: str, library: Library, *, is_detailed: bool = False) -> Thought:
    """The moves that answer `question`.

    Raises ModelFailed where the question asks for that.
    """
    if (again := _AGAIN.search(question)) is not None:
        before = question[: again.start()]
        is_shorter = again[1].lower() == "shorter"
        thought = _think(before, library, is_detailed=not is_shorter)
        return shorter(thought, is_again=True) if is_shorter else thought
    if words_of(plain := _PLAINLY.sub(" ", question)) and plain != question:
        return _think(plain, library, True) if is_detailed else shorter(_think(plain, library))
    return _think(question, library, is_detailed)


def shorter(thought: Thought, *, is_again: bool = False) -> Thought:
    """The same with the first paragraph of the answer alone. `is_again`: it was shown before, so one sentence
    is enough, and where it has no more, that is said.
    """
    result: ToolResult | None = None
    is_written = False
    while True:
        try:
            move = thought.send(result)
        except StopIteration:
            return
        if not isinstance(move, WriteMove):
            result = yield move
            continue
        result = None
        if not is_written:
            is_written = True
            yield WriteMove(_in_short(move.text) if is_again else f"{_first_paragraph(move.text)}\n")


def _first_paragraph(text: str) -> str:
    return text.strip().partition("\n\n")[0]


def _in_short(text: str) -> str:
    """The first sentence of `text`, if there is more."""
    first = _first_paragraph(text)
    sentence = _SENTENCE_END.split(first, maxsplit=1)[0]
    whole = text.strip().partition("\n\n**Source")[0]
    return _SHORTEST if sentence == whole else f"{sentence}\n"


def _think(question: str, library: Library, is_detailed: bool = False) -> Thought:
    if special := _SPECIAL.match(question):
        return _special(special[1].lower(), int(special[2] or 0), question, library)
    return _joke(question) if wants_joke(question) else _reply_to(question, library, is_detailed)


def _reply_to(question: str, library: Library, is_detailed: bool) -> Thought:
    if setting := setting_in(question):
        return _tell_of_setting(setting)
    if topic := topic_of_table(question):
        return _tell_of_table(topic, library)
    hits = library.search(question)
    talks = is_small_talk(question) or (has_code(question) and library.error_in(question) is None)
    orders = is_order(question) or (not hits and library.kind_of(question) in _ORDERS)
    if not talks and orders and (is_plain_order(question) or wants_code(question) or not hits):
        known = [hit.section for hit in hits if not hit.is_doubtful]
        return _refuse(question, known if hits else library.near(question))
    if _FILE.search(question) or (hits and not talks):
        return _research(question, library, is_detailed)
    return _decline(question, library)


def tokens(text: str) -> Iterator[str]:
    """`text` in pieces as a language model writes them, often less than a word. They join to `text`."""
    return (match[0] for match in _WORD_LIKE.finditer(text))


# -- without tools -------------------------------------------------------------------------------------------


def _joke(question: str) -> Thought:
    yield "That one I know by heart."
    yield WriteMove(joke_for(question))


def _refuse(order: str, near: Sequence[PageSection]) -> Thought:
    yield "That is nothing I can do."
    yield WriteMove(order_reply(order, near))


def _tell_of_table(topic: str, library: Library) -> Thought:
    yield "I make no tables, but I look what I know of it."
    answer = next((hit.section for hit in library.search(topic)), None)
    yield WriteMove(table_reply(answer, library.near(topic)))


def _tell_of_setting(name: str) -> Thought:
    yield "I look it up among the settings."
    yield WriteMove(meaning_of_setting(name))


def _decline(question: str, library: Library) -> Thought:
    yield "I need no search for this."
    near = [] if library.is_far_off(question) else library.near(question)
    yield WriteMove(small_talk(question, library, near))


def _titles(library: Library) -> list[str]:
    return [found[0].title for name in library.names if (found := library.sections_of(name))]


# -- special requests ----------------------------------------------------------------------------------------


def _special(kind: str, size: int, question: str, library: Library) -> Thought:
    if kind == "fail":
        return _fail("late" in question.lower())
    if kind == "slow":
        return _slow(min(size or 8, 600))
    if kind == "unicode":
        letters = (f"## {number}. Ü, 漢字, 🦜\n\n{_EVERY_LETTER}" for number in count(1))
        narration = "I'll use the whole keyboard: 你好, 👩‍💻."
        head, tail = "# Every kind of letter\n\n", "Ende. おわり. Τέλος. 🏁"
        return _pieces(narration, head, letters, tail, min(max(size, 400), _LONGEST))
    size = min(size or 6_000, _LONGEST)
    head, tail = "# A long answer\n\n", "**This is the end of the long answer.**"
    return _pieces(f"I'll write about {size} characters.", head, _paragraphs(library), tail, size)


def _fail(late: bool) -> Thought:
    search, write = ScenarioStep("Search the archive", "in_progress"), ScenarioStep("Write the answer")
    yield "I'll ask the archive. It is known to be moody."
    yield ShowPlan((search, write))
    yield CallTool("archive", "everything")
    yield ShowPlan((replace(search, status="failed"), write))
    if late:
        yield WriteMove("Here is what I have so far:\n\n- the archive was asked,\n- it began to answer, and")
    raise ModelFailed("Agent execution failed: the archive broke, on purpose, because you asked for it.")


def _slow(seconds: int) -> Thought:
    yield "Let me think about this for a while."
    yield Pause(seconds / 2)
    yield " Still thinking."
    yield Pause(seconds / 2)
    yield WriteMove("Good things take time. This first sentence came after a long silence, ")
    yield Pause(2.5)
    yield WriteMove("and its second half after a short one.\n\n")
    yield Pause(seconds)
    yield WriteMove("Then nothing came for a while, in the middle of the answer. Now it is complete.")


def _pieces(narration: str, head: str, paragraphs: Iterator[str], tail: str, size: int) -> Thought:
    yield narration
    written = len(head) + len(tail)
    yield WriteMove(head)
    while written < size:
        paragraph = next(paragraphs)
        written += len(paragraph)
        yield WriteMove(paragraph)
    yield WriteMove(tail)


def _paragraphs(library: Library) -> Iterator[str]:
    found = [(each.heading, each.text) for name in library.names for each in library.sections_of(name)]
    numbered = enumerate(cycle(found or [("Nothing", "Nothing is known about it.")]), 1)
    return (f"## {number}. {heading}\n\n{text}\n\n" for number, (heading, text) in numbered)


_EVERY_LETTER = (
    "One line\u2028another line after U+2028. 日本語の文章には空白がありません。改行もここにはありません。 "
    "Family 👨‍👩‍👧‍👦, flag 🇨🇭, thumb 👍🏽, e\u0301 with a combining accent, ﬁ ligature, "
    "Здравствуйте, שלום, नमस्ते, 𝒻𝒶𝓃𝒸𝓎.\n\n"
    "| letter | name |\n|---|---|\n| ß | Eszett |\n| Ω | Omega |\n| 猫 | cat 🐈 |\n\n"
)


# -- the knowledge base --------------------------------------------------------------------------------------


def is_demonstration(question: str) -> bool:
    """It asks for something that is shown, and not searched for."""
    return wants_joke(question) or _SPECIAL.match(question) is not None


def sections_for(question: str, library: Library) -> list[PageSection]:
    """What a question that is searched for gets; empty for any other one."""
    if _SPECIAL.match(question) or is_small_talk(question) or wants_joke(question):
        return []
    hits = library.search(question)
    return _chosen(hits, library, is_detailed=False) if hits and hits[0].is_answer else []


def _research(question: str, library: Library, is_detailed: bool = False) -> Thought:
    look = ScenarioStep("Search the knowledge base", "in_progress")
    read, write = ScenarioStep("Read what was found"), ScenarioStep("Write the answer")
    yield "I'll search the knowledge base. "
    yield ShowPlan((look, read, write))
    named = list(dict.fromkeys(_FILE.findall(question)))
    topic = _FILE.sub("", question).strip()
    topic = topic if words_of(topic) else " ".join(name[1:-3] for name in named) or question
    # a thorough question is searched for more often than the tool allows, as models do
    more = _titles(library)[:_TOO_OFTEN] if THOROUGH.search(topic) else []
    hits, capped = yield from _search_all([topic, *more])
    look, read = replace(look, status="completed"), replace(read, status="in_progress")
    if capped:
        yield "The search limit is reached; I go on with what I have. "
    yield ShowPlan((look, read, write))
    pages = list(dict.fromkeys(hit.section.page for hit in hits))
    pages = pages[: _MANY_PAGES if capped else _FEW_PAGES]
    pages += [name for name in named if name[1:-3] not in pages]
    yield f"I found {_counted(len(hits), 'section')} on {_counted(len(pages), 'page')}. "
    for page in pages:
        yield CallTool(FETCH, page)
    read, write = replace(read, status="completed"), replace(write, status="in_progress")
    yield ShowPlan((look, read, write))
    yield WriteMove(_answer(topic, hits, library, is_detailed))
    done = replace(write, status="completed")
    yield ShowPlan((look, read, done), f"Searched {_counted(len(pages), 'page')}")


def _counted(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"


def _search_all(queries: list[str]) -> Generator[Move, ToolResult | None, tuple[list[Hit], bool]]:
    """All that was found, and whether the tool's limit was reached. Only the first query is the question."""
    found: dict[PageSection, Hit] = {}
    capped = False
    for query in queries:
        if (result := (yield CallTool(SEARCH, query))) is not None:
            capped = capped or result.capped
            for hit in result.hits:
                found.setdefault(hit.section, replace(hit, is_answer=hit.is_answer and query == queries[0]))
    return list(found.values()), capped


def _answer(question: str, hits: list[Hit], library: Library, is_detailed: bool) -> str:
    if not hits:
        return "I found nothing about that in the knowledge base.\n"
    if not any(hit.is_answer and library.counts(question, hit) for hit in hits):
        return _not_exactly(question, hits[0].section)
    first, *more = _chosen(
        [hit for hit in hits if not hit.is_answer or library.counts(question, hit)], library, is_detailed
    )
    if len(more) >= _ASKED_AT_ONCE and not (is_detailed or library.is_whole(first)):
        said = "\n".join(f"- **{each.heading}** {each.first_sentence}" for each in (first, *more))
        parts = [language_note(question), said]
    elif _is_doubtful(question, first, hits, library):
        return nearest(question, [first, *more])
    else:
        parts = [language_note(question), first.text]
        for section in more:
            parts += [f"## {section.heading}", section.text]
    parts += _said_of_rest(question, (first, *more), library)
    titles = list(dict.fromkeys(section.title for section in (first, *more)))
    parts.append(f"**Source{'' if len(titles) == 1 else 's'}:** {' · '.join(titles)}")
    return "\n\n".join(filter(None, parts)) + "\n"


def _is_doubtful(question: str, first: PageSection, hits: Sequence[Hit], library: Library) -> bool:
    """`first` may not be the answer to the whole `question`."""
    is_doubtful = all(hit.is_doubtful for hit in hits if hit.is_answer) and not library.is_whole(first)
    return is_doubtful and not questions_in(question)


def _said_of_rest(question: str, said: Sequence[PageSection], library: Library) -> Iterator[str]:
    """What comes near to the parts of `question` that nothing `said` answers, if anything does."""
    topics = {each.topic for each in said}
    for clause in library.unanswered(question):
        near, part = library.nearest(clause), re.sub(_MARKS, "", clause).strip()
        if near is None:
            yield f"Of *{part}* I know {'no more than this' if library.near(clause) else 'nothing'}."
        elif near.topic not in topics:
            topics.add(near.topic)
            yield f"Near *{part}* is **{near.heading}** {near.first_sentence}"


def _not_exactly(question: str, near: PageSection) -> str:
    said = f"I do not know exactly that. Near it is *{near.heading}*: {near.first_sentence}"
    return "\n\n".join(filter(None, [language_note(question), said])) + "\n"


def _chosen(hits: list[Hit], library: Library, is_detailed: bool) -> list[PageSection]:
    """The sections that are the answer, the best one first.

    A page that is the answer as a whole comes whole. Else it is one section for each thing that was asked. In
    detail, the other parts of the same topic come as well, or what is related.
    """
    best = hits[0].section
    if library.is_whole(best):
        found = [each for each in library.sections_of(best.page) if each.heading == each.topic]
    else:
        found = [hit.section for hit in hits if hit.is_answer][:_MOST_ANSWERS]
    if is_detailed:
        parts = [each for each in library.parts_of(best) if each not in found]
        related = [hit.section for hit in hits if not hit.is_answer and hit.section not in found]
        found += parts or related[:_RELATED]
    return found
