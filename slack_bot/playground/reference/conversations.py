"""What was said before in a thread, so that a short question is understood there.

Of each A2A context the last question with a subject of its own is known, what was shown for it, the points of
the last answer, and the rest of an answer that somebody stopped. "go on" shows what comes next, "the second
one" what is known of that point. A question without a subject ("why?", "and for 100 users?") is searched for
together with the question before it. Where that finds nothing, the agent says so, and what else it knows of
the subject. All of it is lost when the agent ends.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace

from .demonstrations import section_about
from .follow_ups import (
    FollowUp,
    asks_whether,
    correction_in,
    has_few_words,
    is_cut_short,
    language_wanted,
    place_wanted,
    wanted,
    without_beginning,
    word_asked_for,
)
from .orders import is_order
from .pages import PageSection
from .scenarios import (
    CallTool,
    ScenarioStep,
    ShowPlan,
    Thought,
    WriteMove,
    is_demonstration,
    sections_for,
    shorter,
    think,
)
from .search import Library
from .small_talk import (
    is_follow_up,
    is_small_talk,
    joke_after,
    joke_for,
    points_to_part,
    wants_another,
    wants_joke,
)
from .thread_reading import ThreadReading, found_alone, leads_elsewhere, read_in_thread, searched
from .thread_search import example_for, next_sections, parts_left
from .thread_sentences import FoundSentence, mention_in, sentence_for
from .toolbox import FETCH, SEARCH, ToolResult

_MOST_CONTEXTS = 1000
_NEEDS_ANSWER = (FollowUp.GO_ON, FollowUp.DETAIL, FollowUp.EXPLAIN)  # says nothing where nothing was said
_OFFERED = 4  # points of a list that is offered
_IN_DETAIL = 2  # sections that come where more detail is wanted

_POINT = re.compile(r"^(?:[-*]|\d+\.) +(.+)", re.MULTILINE)
_HEADING = re.compile(r"\*{1,2}([^*]+?)\*{1,2}")
_CODE = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)
_SPAN = re.compile(r"(?<!`)`([^`\n]+)`(?!`)")
_DOCUMENT = re.compile(r"`docs/[\w-]+\.md`")
_MARKS = re.compile(r"[*_`<>\[\]|]+")  # of Markdown
_PARAGRAPH = re.compile(r"(?<=\n\n)")
_NOTHING_BEFORE = (
    "I cannot tell what this is about: I have answered nothing in this conversation before it, or was "
    "started anew since. Ask once more, with what it is about.\n"
)
_CHOOSE = "\nWrite a number to read one.\n"
_SHOWN_HERE = {
    r"approv": "`restart the search service` asks for an approval",
    r"\bforms?\b": "`plan a release` asks with a form",
    r"\bsign|\blog ?in\b|oauth": "`show my tickets`, in a direct message, asks to sign in",
    r"\btables?\b": "`show me a table` shows one",
    r"\bcharts?\b": "`show me a chart` shows one",
    r"\bfiles?\b": "`show me a file` shows one",
    r"\bsources?\b|\bcite": "`show me your sources` shows them",
    r"\bstop": "`write a long answer` is long enough to be stopped",
    r"\bhow long may an answer|\blong answer": "`write a long answer` shows one",
    r"\bseveral agents|\banother agent|\bsecond agent": "`travel: a weekend in Rome` asks another agent",
    r"\blanguage|\balphabet|\bemoji": "`unicode 800` shows many alphabets",
}
"""What of a subject can be tried in the playground."""


class TalkContext:
    """One A2A context."""

    def __init__(self, library: Library) -> None:
        self._library = library
        self._question = ""  # the last one with a subject of its own, or what a shorter one was read as
        self._first = ""  # the last one with a subject of its own
        self._is_lost = False  # nothing was known of what was asked since
        self._told: list[PageSection] = []  # that were shown since
        self._points: list[str] = []  # of the last list in an answer, or its sections
        self._unsaid: list[str] = []  # paragraphs of the answer, from the one that is being written on
        self._thought: Thought | None = None  # what comes behind them
        self._joke = ""  # that was told just now

    def think(self, question: str) -> Thought:
        """The moves that answer `question`, as `scenarios.think`, which knows of nothing before."""
        thought = self._another_joke(question)
        if thought is None:
            thought = self._follow_up(question.strip())
        if thought is None:
            thought = think(question, self._library)
            if not is_small_talk(question):
                self._ask_anew(question.strip())
        return self._remembered(thought)

    def saw(self, demonstration: str) -> None:
        """Something was shown, by somebody else: it is about that from now on."""
        heading = section_about(demonstration)
        if heading:
            self._unsaid, self._thought = [], None
            self._ask_anew(heading)

    def _another_joke(self, question: str) -> Thought | None:
        if self._joke and wants_another(question):
            self._joke = joke_after(self._joke)
            return _say(self._joke)
        self._joke = joke_for(question) if wants_joke(question) else ""
        return None

    def _ask_anew(self, question: str) -> None:
        """It is about `question` from now on, and about what it gets or what comes nearest."""
        library, is_shown = self._library, is_demonstration(question)
        is_far_off = is_shown or library.is_far_off(question)
        told = sections_for(question, library) or ([] if is_far_off else library.near(question)[:1])
        self._is_lost = not told and not is_far_off
        if self._is_lost:  # what was said before may still be meant
            return
        self._first = self._question = question
        self._told = told[::-1]  # the best one last, as where one came after the other
        self._points = [f"**{each.heading}**" for each in told] if len(told) > 1 else []

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
            self._points = _points_of(move.text) or self._points
            self._unsaid, self._thought = _paragraphs(move.text), thought
            while self._unsaid:
                yield WriteMove(self._unsaid[0])
                del self._unsaid[0]

    def _follow_up(self, question: str) -> Thought | None:
        """The moves for a question that is about what was said before; None where it is not."""
        plain = re.sub(r"['’]", "", question)
        kind, place = wanted(plain), place_wanted(plain)
        if kind is FollowUp.GO_ON and self._thought is not None:
            return _resumed(self._unsaid, self._thought)
        if (language := language_wanted(plain)) is not None:
            return _say(_in_english(*language))
        if place is not None and (self._told or self._points):
            return self._point(place)
        is_known = not self._is_lost or bool(kind is None and self._library.named_things(question))
        if self._told and is_known:
            return self._in_another_form(kind) if kind is not None else self._about_thread(question, plain)
        is_nothing = kind in _NEEDS_ANSWER or is_follow_up(plain)
        return _say(_NOTHING_BEFORE) if is_nothing else None

    def _in_another_form(self, kind: FollowUp) -> Thought:
        """More, or less, of the answer before."""
        match kind:
            case FollowUp.GO_ON:
                return self._more(1)
            case FollowUp.DETAIL:
                return self._more(_IN_DETAIL)
            case FollowUp.SHORTER:
                return shorter(think(self._question, self._library), is_again=True)
            case FollowUp.EXAMPLE:
                return self._example()
            case FollowUp.DOUBT:
                return _say(self._where_it_stands())
            case FollowUp.EXPLAIN:
                last = self._told[-1]
                return _say(f"In one sentence: {last.first_sentence}\n\n{self._offer()}")

    def _more(self, count: int) -> Thought:
        following = next_sections(self._library, self._question, self._told)[:count]
        if not following:
            return _say(f"That was the end of *{self._told[-1].title}*. Ask me about something else.\n")
        return self._tell(following, "\n\n".join(f"**{each.heading}**\n\n{each.text}" for each in following))

    def _example(self) -> Thought:
        last = self._told[-1]
        shown = _shown_here(self._question) or _shown_here(last.heading)
        if shown:
            return _say(f"You can try it here: {shown}.\n\n{self._offer()}")
        found = example_for(self._library, self._question, self._told)
        if found is not None:
            return self._tell([found], f"**{found.heading}**\n\n{found.text}")
        written = list(dict.fromkeys(_SPAN.findall(last.text)))[:_OFFERED]
        said = "".join(f"- `{each}`\n" for each in written)
        said = (
            f"What I know that can be written or run:\n\n{said}"
            if written
            else "The guide has no example of that."
        )
        return _say(f"{said}\n\n{self._offer()}")

    def _where_it_stands(self) -> str:
        last = self._told[-1]
        return (
            f"So it stands in the guide (`docs/questions.md`), in *{last.title}*, under *{last.heading}*. I "
            "have no language model, and make nothing up: I show sections of the guide as they are.\n"
            + (f"\nMore on it: {', '.join(more)}\n" if (more := _DOCUMENT.findall(last.text)) else "")
        )

    def _point(self, place: int) -> Thought:
        """What is known of a point of the last answer."""
        points = self._points
        if not points:
            return _say(f"My last answer has no list, so I cannot tell which one that is.\n\n{self._offer()}")
        if place >= len(points):
            return _say(f"My last answer has {len(points)} points only. Which one is it?\n{_listed(points)}")
        point = points[place]
        headings = {each.heading: each for each in self._library.sections}
        named = _HEADING.match(point)
        if named is not None and (section := headings.get(named[1])):
            return self._tell([section], f"**{section.heading}**\n\n{section.text}")
        plain = _MARKS.sub("", point)
        hits = [hit.section for hit in self._library.search(plain) if hit.is_answer]
        found = [each for each in hits if each not in self._told][:1]
        if found:
            return self._tell(found, f"> {point}\n\n**{found[0].heading}**\n\n{found[0].text}")
        return _say(f"> {point}\n\nI know no more about that point than it says.\n\n{self._offer()}")

    def _about_thread(self, question: str, plain: str) -> Thought | None:
        """The answer to `question` and the one before it as one; None where it has a subject of its own."""
        if meant := correction_in(question):
            return self._corrected(meant)
        if points_to_part(plain):
            return self._cannot_tell()
        said = self._meaning(question, word_asked_for(plain))
        if said is not None or not self._is_about_thread(question, plain):
            return said
        reading = read_in_thread(self._library, question, self._subjects, self._told)
        return None if reading is None else self._as_read(reading, without_beginning(question))

    def _as_read(self, reading: ThreadReading, asked: str) -> Thought:
        if reading.section is not None:
            return self._read_as(reading.section, asked)
        if reading.sentence is not None:
            return self._say_sentence(reading.sentence)
        return self._nearest(reading.near, reading.is_likely, asked)

    @property
    def _subjects(self) -> list[str]:
        """What the thread is about: the last question as it was read, and what it began with."""
        return list(dict.fromkeys([self._question, self._first]))

    def _read_as(self, section: PageSection, asked: str) -> Thought:
        return self._tell([section], f"{section.text}\n\n**Read as:** {section.heading}", asked)

    def _corrected(self, meant: str) -> Thought:
        """The answer to what was meant: with what the thread is about, or alone."""
        library = self._library
        found = searched(library, meant, self._subjects, self._told)
        alone = [hit.section for hit in found_alone(library, meant)]
        answers = [each for each in (found.answer, *alone) if each is not None]
        if answers:
            return self._read_as(answers[0], meant)
        sentence = sentence_for(library, meant, self._subjects, self._told)
        if sentence is not None:
            return self._say_sentence(sentence)
        near = found.near or library.near(meant)
        return self._nearest(near, False, meant) if near else self._cannot_tell()

    def _meaning(self, question: str, word: str) -> Thought | None:
        """What a `word` of the last answer means; None where nothing is known of it, or none is asked for."""
        library = self._library
        if not (things := library.named_things(word)):
            return None
        for hit in (hit for each in (question, f"what is {word}") for hit in found_alone(library, each)):
            section = hit.section
            if things <= library.named_things(f"{section.heading} {section.first_sentence}"):
                return None if library.is_whole(section) else self._read_as(section, question)
        sentence = sentence_for(library, word, self._subjects, self._told)
        return self._say_sentence(sentence) if sentence is not None else None

    def _is_about_thread(self, question: str, plain: str) -> bool:
        """It may not be understood without what was said before."""
        is_talk = is_small_talk(question) and not asks_whether(plain)
        if is_order(question) or is_demonstration(question) or is_talk:
            return is_follow_up(plain)
        library = self._library
        if not library.named_things(question):
            return True
        if is_cut_short(plain):
            return not library.is_far_off(question)
        is_talk = bool(library.kind_of(question)) or not has_few_words(plain)
        return not is_talk and not leads_elsewhere(found_alone(library, question), self._told)

    def _nearest(self, near: Sequence[PageSection], is_likely: bool, asked: str) -> Thought:
        """That `asked` is not known for certain, and what comes nearest. `is_likely`: the first is meant."""
        last = self._told[-1]
        if (said := mention_in(self._library, asked, self._told, even_bare=not near)) is not None:
            points = f"What comes near:\n\n{_shortly(near)}" if near else self._offer()
            return _say(f"Of that I only know what I said: {said.text}\n\n{points}\n")
        if not near or not (is_likely or self._library.telling_words(asked)):
            return _say(f"I know no more about that than I said: {last.first_sentence}\n\n{self._offer()}\n")
        if not is_likely:
            read = f"I am not certain, but nearest to that, read with *{last.heading}*, is:"
            return _say(f"{read}\n\n{_shortly(near)}")
        first, *others = near
        text = f"If I understand you right, you ask: *{first.heading}*\n\n{first.text}"
        text += f"\n\nOr do you mean this?\n\n{_shortly(others).strip()}" if others else ""
        return self._tell([first], text, asked)

    def _say_sentence(self, found: FoundSentence) -> Thought:
        """The sentence, and where it stands. Its section is a subject from now on."""
        stands = f"{'I said so' if found.is_told else 'It stands'} under *{found.section.heading}*."
        if not found.is_told:
            self._told.insert(-1, found.section)
        return _say(f"{found.text}\n\n{stands}\n\n{self._offer()}\n")

    def _tell(self, sections: Sequence[PageSection], text: str, asked: str = "") -> Thought:
        """The moves that show `text`, which is made of `sections`. They are the subject from now on."""
        query = f"{self._question.rstrip(' ?!.')}: {asked}" if asked else sections[0].heading
        self._told += sections
        if asked:
            self._question = sections[-1].heading
        titles = list(dict.fromkeys(each.title for each in sections))
        pages = list(dict.fromkeys(each.page for each in sections))
        source = f"**Source{'' if len(titles) == 1 else 's'}:** {' · '.join(titles)}"
        return _looked_up(query, pages, f"{text}\n\n{source}\n")

    def _cannot_tell(self) -> Thought:
        return _say(
            f"I read this with *{self._told[-1].heading}*, and cannot tell what you mean. Ask once more, and "
            f"name it.\n\n{self._offer()}"
        )

    def _offer(self) -> str:
        """What else is known of the subject, to choose from."""
        known = parts_left(self._library, self._question, self._told)[:_OFFERED]
        points = _listed(f"**{each.heading}**" for each in known)
        return f"What else I know of it:\n\n{points}{_CHOOSE}" if known else ""


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


def _looked_up(query: str, pages: Sequence[str], text: str) -> Thought:
    """The moves that show `text`, which stands on `pages`."""
    search = ScenarioStep("Search the knowledge base", "in_progress")
    read, write = ScenarioStep("Read what was found"), ScenarioStep("Write the answer")
    yield "I read this with what was said before. "
    yield ShowPlan((search, read, write))
    yield CallTool(SEARCH, query)
    search, read = replace(search, status="completed"), replace(read, status="in_progress")
    yield ShowPlan((search, read, write))
    for page in pages:
        yield CallTool(FETCH, page)
    read, write = replace(read, status="completed"), replace(write, status="in_progress")
    yield ShowPlan((search, read, write))
    yield WriteMove(text)
    count = f"{len(pages)} page{'' if len(pages) == 1 else 's'}"
    yield ShowPlan((search, read, replace(write, status="completed")), f"Searched {count}")


def _resumed(unsaid: Sequence[str], thought: Thought) -> Thought:
    """The rest of an answer, from the paragraph in which it was stopped; its steps were done before."""
    yield "I go on where I was stopped."
    yield WriteMove("".join(unsaid))
    yield from (move for move in thought if not isinstance(move, ShowPlan))


def _in_english(language: str, said: str) -> str:
    """That this agent answers in English, also in `language` where that is known."""
    return (
        f"{said} I can answer in English only: I am a demonstration without a language model. ".lstrip()
        + f"In your Slack your own agent answers, in {language} if it knows that.\n"
    )


def _shown_here(text: str) -> str:
    """What of the subject of `text` can be tried in the playground; "" where nothing can."""
    return next((said for words, said in _SHOWN_HERE.items() if re.search(words, text, re.I)), "")


def _points_of(text: str) -> list[str]:
    """The points of the list that one is to choose from; where there is none, of all lists in `text`."""
    offered, is_offered, _ = text.rpartition(_CHOOSE.strip())
    listed = offered.rstrip().rpartition("\n\n")[2] if is_offered else text
    return _POINT.findall(_CODE.sub("", listed))


def _shortly(sections: Sequence[PageSection]) -> str:
    """Each with its first sentence, to choose from."""
    return _listed(f"**{each.heading}** {each.first_sentence}" for each in sections) + _CHOOSE


def _listed(points: Iterable[str]) -> str:
    return "".join(f"{number}. {point}\n" for number, point in enumerate(points, 1))


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
