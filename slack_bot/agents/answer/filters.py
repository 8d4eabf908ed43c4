"""PURE. What raw text passes before a reader sees it, however it is cut (facts: CAIPE 6).

Open models begin with `<think>...</think>`. Some supervisors stream the arguments of a
`PlatformEngineerResponse`: flags, `content`, what they ask. Some models write `[FINAL ANSWER]` where their
thinking ends.
"""

import json
import re
from typing import Any

from ...turn.form import Form
from ...turn.json_values import object_of, text_of
from ..content.data_markdown import as_markdown
from ..content.forms import form_of
from ..content.parts import extract_answer
from ..wire.frames import Artifact

_MOST_HELD = 4_000  # characters of white space; a tag or an envelope behind more is text

_TAG_NAMES = ("thinking", "think", "thought", "reasoning")
_OPEN = re.compile(rf"\s*<({'|'.join(_TAG_NAMES)})>", re.IGNORECASE)
_CLOSE = {name: re.compile(rf"</{name}>", re.IGNORECASE) for name in _TAG_NAMES}
_LONGEST_TAG = len("</reasoning>")

FLAGS = ("is_task_complete", "require_user_input", "was_task_successful")
KEYS = (*FLAGS, "content", "metadata")
_WRAPPERS = ("PlatformEngineerResponse", "ResponseFormat")
_BEGINS = re.compile(r'\s*(?:```(?:json)?\s*)?\{\s*"([^"\\]*)"\s*:')
_MAY_BEGIN = re.compile(
    r'\s*(?:`{1,3}|```j(?:s(?:o(?:n)?)?)?\s*|```\s*)?(?:\{\s*(?:"[^"\\]{0,40}(?:"\s*)?)?)?\Z'
)
_STRUCTURE = re.compile(r'["{}\[\],:]')
# atomic groups, as up to Python 3.11.4 a group with `*+` takes what its lookahead forbids (cpython#100061)
_HIDDEN = re.compile(r'(?>(?:[^"\\]++|\\[\s\S])*)')
_HIGH = r"\\u[dD][89abAB][0-9a-fA-F]{2}"  # the first half of a pair
_SHOWN = re.compile(rf'(?>(?:[^"\\]++|\\[^u]|(?!{_HIGH}(?:\\(?:u[\s\S]{{0,3}})?)?\Z)\\u[\s\S]{{4}})*)')
_ESCAPE = re.compile(rf"{_HIGH}\\u[dD][c-fC-F][0-9a-fA-F]{{2}}|\\u[\s\S]{{4}}|\\[^u]")
_HALF = "\ufffd"

_MARKER = re.compile(r"\[FINAL[ _]ANSWER\]", re.IGNORECASE)
_SPELLINGS = ("[final answer]", "[final_answer]")
_LONGEST_MARKER = len(_SPELLINGS[0])
_QUOTES = {'"': '"', "'": "'", "`": "`", "“": "”", "‘": "’", "«": "»"}


def filter_text(text: str) -> str:
    """The answer in a whole text."""
    filters = TextFilter()
    before, answer = map("".join, zip(filters.feed(text), filters.end(), strict=True))
    return answer if filters.marker.opened else before


def result_text(artifact: Artifact) -> str:
    """The answer in a result: its text without envelope and marker, or its data as Markdown."""
    if artifact.text:
        return filter_text(artifact.text)
    for part in artifact.parts:
        if (content := object_of(part.data).get("content")) is not None:
            return text_of(content) or as_markdown(content)
    return extract_answer(artifact).text


class TextFilter:
    """All filters in a row, or none unless `is_on`, for one stream of raw text.

    What comes out is in two parts: before the marker, and behind it. `question`: what the envelope asks.
    `is_held`: the text is not taken for the answer.
    """

    def __init__(self, *, is_on: bool = True) -> None:
        self.tags = ThinkTagFilter()
        self.envelope = JsonContentFilter()
        self.marker = MarkerFilter()
        self.question: Form | None = None
        self.is_held = False
        self._is_on = is_on
        self._passes_all = self.envelope.is_plain = not is_on

    def pass_plain(self, text: str) -> bool:
        """Take `text` if no filter can change it, as with nearly every token."""
        if not self._passes_all or ("[" in text and self._is_on):
            return False
        self.marker.before = text[-1:] or self.marker.before
        return True

    def feed(self, text: str) -> tuple[str, str]:
        envelope, was_closed = self.envelope, self.envelope.is_closed
        found = self.marker.feed(envelope.feed(self.tags.feed(text)))
        self._passes_all = envelope.is_plain and not self.marker.holds
        if envelope.data is not None and not was_closed:
            self.question = form_of(envelope.data)
        return found

    def end(self) -> tuple[str, str]:
        """Nothing follows: what was held, and what an envelope holds besides its usual fields."""
        envelope = self.envelope
        rest = envelope.feed(self.tags.end()) + envelope.end()
        data = envelope.data or {}
        more = as_markdown({key: value for key, value in data.items() if key not in KEYS})
        if envelope.has_content:
            rest += f"\n\n{more}" if more else ""
        else:
            rest += "\n\n".join(filter(None, [as_markdown(data.get("content")), more]))
        return self.marker.feed(rest, is_end=True)


class TextFilters:
    """The filters of each text, by its source and key, and the few texts in which they found something.

    `marked`: the texts with a marker.
    """

    def __init__(self, *, is_on: bool) -> None:
        self._is_on = is_on
        self.by_text: dict[tuple[str, str], TextFilter] = {}
        self._questions: dict[tuple[str, str], Form] = {}
        self.marked: set[tuple[str, str]] = set()

    @property
    def question(self) -> Form | None:
        """What an envelope asks."""
        return next(iter(self._questions.values()), None)

    def start(self, source: str, key: str) -> TextFilter:
        """The filter of a text that begins, or begins again."""
        text_filter = self.by_text[source, key] = TextFilter(is_on=self._is_on)
        return text_filter

    def feed(self, source: str, key: str, text: str) -> tuple[str, str]:
        """The next piece of a text: what is before its marker, and what is behind it."""
        text_filter = self.by_text[source, key]
        parts = text_filter.feed(text)
        self._note(source, key, text_filter)
        return parts

    def _note(self, source: str, key: str, text_filter: TextFilter) -> None:
        """Each word may be a text, so those with a question or a marker are kept apart."""
        if text_filter.question is not None:
            self._questions[source, key] = text_filter.question
        else:
            self._questions.pop((source, key), None)
        if text_filter.marker.opened:
            self.marked.add((source, key))
        else:
            self.marked.discard((source, key))

    def filter_stored(self, source: str, key: str, text: str) -> str:
        """The answer in a text as a task holds it, of which more may come."""
        text_filter = self.start(source, key)
        if text_filter.pass_plain(text):
            return text
        before, answer = self.feed(source, key, text)
        text_filter.tags.take_thoughts()  # they were narrated
        return answer if text_filter.marker.opened else before

    def filter_whole(self, text: str) -> str:
        """The answer in a whole text."""
        return filter_text(text) if self._is_on else text

    def is_in_envelope(self, source: str, key: str, text: str) -> bool:
        """`text`, the next piece, is, or may be, in JSON around an answer."""
        text_filter = self.by_text.get((source, key))
        if text_filter is None:
            text_filter = TextFilter(is_on=self._is_on)
            text_filter.feed(text)
        return not text_filter.envelope.is_plain


class ThinkTagFilter:
    """Takes the thoughts off the beginning of a text; further on, tags are text."""

    def __init__(self) -> None:
        self._is_plain = self._has_thoughts = False
        self._close: re.Pattern[str] | None = None
        self._inside: list[str] = []  # the open tag, and what it holds
        self._tail = ""  # what may begin a tag
        self._thoughts: list[str] = []

    def take_thoughts(self) -> str:
        thoughts, self._thoughts = "".join(self._thoughts), []
        return thoughts

    def feed(self, text: str) -> str:
        """Take the next text; what of it is certainly no thought."""
        if self._is_plain:
            return text
        text, self._tail, at = self._tail + text, "", 0
        while True:
            if self._close is None:
                opened = _OPEN.match(text, at)
                if opened is None:
                    self._tail = text[at:]
                    return "" if _may_begin_tag(self._tail) else self.end()
                self._close, self._inside = _CLOSE[opened.group(1).lower()], [opened.group()]
                at = opened.end()
            closed = self._close.search(text, at)
            if closed is None:
                end = max(at, len(text) - _LONGEST_TAG)
                self._inside.append(text[at:end])
                self._tail = text[end:]
                return ""
            thought = "".join([*self._inside[1:], text[at : closed.start()]])
            self._thoughts.append(thought.strip() + "\n")
            self._close, self._inside, self._has_thoughts, at = None, [], True, closed.end()

    def end(self) -> str:
        """Nothing follows: what was held, if no tag closed it."""
        held = "".join(self._inside) + self._tail
        self._is_plain, self._inside, self._tail = True, [], ""
        return held.lstrip() if self._has_thoughts else held


def _may_begin_tag(text: str) -> bool:
    start = text.lstrip()[:_LONGEST_TAG].lower()
    return len(text) <= _MOST_HELD and any(f"<{name}>".startswith(start) for name in _TAG_NAMES)


class JsonContentFilter:
    """Takes `content` out of a JSON envelope while it is still being written.

    `known`: it is an envelope, whatever its first key. `data` is the object, once it is closed and is valid.
    """

    def __init__(self, *, known: bool = False) -> None:
        self.is_envelope = known
        self.is_plain = self.is_closed = self.has_content = False
        self.data: dict[str, Any] | None = None
        self._raw: list[str] = []
        self._held = ""
        self._depth, self._level = 0, 1  # brackets that are open; those around the fields
        self._string: re.Pattern[str] | None = None  # what goes on in the string that is open
        self._key = ""
        self._expects_value = False

    def feed(self, text: str) -> str:
        if not (self.is_envelope or self.is_plain):
            text = self._sniff(text)
        if self.is_plain or self.is_closed or not self.is_envelope:
            return text if self.is_plain else ""
        self._raw.append(text)
        text, self._held, at = self._held + text, "", 0
        shown: list[str] = []
        while at < len(text) and not self.is_closed:
            string = self._string
            at = self._outside(text, at) if string is None else self._inside(string, text, at, shown)
        if self.is_closed:
            self.data = _envelope("".join(self._raw))
        return "".join(shown)

    def end(self) -> str:
        """Nothing follows: plain text that was held, or a sign for half a surrogate pair."""
        if self.is_envelope or self.is_plain:
            return _HALF if re.match(_HIGH, self._held) else ""
        self.is_plain = True
        return self._held

    def _sniff(self, text: str) -> str:
        self._held += text
        found = _BEGINS.match(self._held)
        if found is None and len(self._held) <= _MOST_HELD and _MAY_BEGIN.match(self._held):
            return ""
        held, self._held = self._held, ""
        # an example in a fence may well have a field called content; a bare object is meant as an envelope
        is_bare = found is not None and found.group(1) == "content" and "`" not in found.group()
        self.is_envelope = is_bare or (found is not None and found.group(1) in (*FLAGS, *_WRAPPERS))
        self.is_plain = not self.is_envelope
        return held[held.index("{") :] if self.is_envelope else held

    def _outside(self, text: str, at: int) -> int:
        found = _STRUCTURE.search(text, at)
        if found is None:
            return len(text)
        sign, is_field = found.group(), self._depth == self._level
        if sign == '"':
            self._string = _HIDDEN
            if is_field and not self._expects_value:
                self._key = ""
            elif is_field and self._key == "content":
                self._string, self.has_content = _SHOWN, True
        elif sign in "{[":
            self._depth += 1
            if sign == "{" and self._depth == 2 and self._expects_value and self._key in _WRAPPERS:
                self._level, self._expects_value = 2, False
        elif sign in "}]":
            self._depth -= 1
            self.is_closed = self._depth == 0
        elif sign == ":":
            self._expects_value = is_field
        elif is_field:
            self._expects_value = False
        return found.end()

    def _inside(self, string: re.Pattern[str], text: str, at: int, shown: list[str]) -> int:
        """The inside of a string. A key is kept as it is written."""
        found = string.match(text, at)
        assert found is not None, "both patterns match anything"
        end = found.end()
        if string is _SHOWN:
            shown.append(_ESCAPE.sub(_unescaped, found.group()))
        elif self._depth == self._level and not self._expects_value:
            self._key += found.group()
        if text[end : end + 1] == '"':
            self._string = None
            return end + 1
        self._held = text[end:]  # an escape that is cut
        return len(text)


def _unescaped(found: re.Match[str]) -> str:
    escape = found.group()
    try:
        char: str = json.loads(f'"{escape}"')
    except ValueError:
        return _HALF if escape[1] == "u" else escape[1]
    return _HALF if "\ud800" <= char <= "\udfff" else char


def _envelope(raw: str) -> dict[str, Any] | None:
    try:
        found, _ = json.JSONDecoder(strict=False).raw_decode(raw, raw.index("{"))
    except (ValueError, RecursionError):
        return None
    inner = next((found[name] for name in _WRAPPERS if name in found), found)
    return inner if isinstance(inner, dict) else None


class MarkerFilter:
    """Takes the marker out; what comes out is in two parts: before it, and behind it. One in quotes is text.

    `opened`: a marker came. `before`: the character that came last.
    """

    __slots__ = ("_held", "_strips", "before", "opened")

    def __init__(self) -> None:
        self.opened = False
        self.before = ""
        self._held = ""
        self._strips = False  # white space right behind the marker is dropped

    @property
    def holds(self) -> bool:
        return bool(self._held) or self._strips

    def feed(self, text: str, *, is_end: bool = False) -> tuple[str, str]:
        """Take the next text; what is certain of it. `is_end`: nothing follows."""
        text, before, answer = self._held + text, "", ""
        at = searched = 0
        while (match := _MARKER.search(text, searched)) is not None:
            start, searched = match.span()
            closing = _QUOTES.get(text[start - 1] if start else self.before)
            if closing and searched == len(text) and not is_end:
                searched = start
                break  # the next character decides whether it is quoted
            if closing and text[searched : searched + 1] == closing:
                continue
            if self.opened:
                answer += self._stripped(text[at:start])
            else:
                before, self.opened, self._strips = text[:start], True, True
            at = searched
        end = len(text) if is_end else _end_without_marker(text, max(at, searched))
        self._held = text[end:]
        self.before = text[end - 1 : end] or self.before
        if self.opened:
            return before, answer + self._stripped(text[at:end])
        return text[:end], ""

    def _stripped(self, text: str) -> str:
        if self._strips:
            text = text.lstrip()
            self._strips = not text
        return text


def _end_without_marker(text: str, done: int) -> int:
    """Where `text` may begin a marker at its end, or has one that waits for its quote."""
    start = text.rfind("[", max(done, len(text) - _LONGEST_MARKER))
    tail = text[start:].lower() if start >= 0 else ""
    return start if tail and any(each.startswith(tail) for each in _SPELLINGS) else len(text)
