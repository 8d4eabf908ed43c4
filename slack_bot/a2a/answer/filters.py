"""PURE. What raw text passes before a reader sees it: think tags and JSON envelopes off, the marker read.

Open models write `<think>...</think>` in front of their answer. Only there are tags looked for; further on
they are talked about. A tag that is never closed is text.

Some models write `[FINAL ANSWER]` where their thinking ends. Text before the marker is narration, text after
it the answer, and the marker is never shown. Only an end that may begin a marker is held. A marker in quotes
is text (facts: CAIPE 6).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import NamedTuple

from ...turn.form import Form
from ..content.content import extract_content
from ..content.data_markdown import as_markdown
from ..content.fields import words
from ..content.forms import form_of
from ..wire.frames import Artifact
from .json_filter import KEYS, JsonContentFilter

_TAG_NAMES = ("thinking", "think", "thought", "reasoning")
_OPEN = re.compile(rf"\s*<({'|'.join(_TAG_NAMES)})>", re.IGNORECASE)
_CLOSE = {name: re.compile(rf"</{name}>", re.IGNORECASE) for name in _TAG_NAMES}
_LONGEST_TAG = len("</reasoning>")
_MOST_HELD = 4_000  # characters of white space; a tag behind more is text
_MARKER = re.compile(r"\[FINAL[ _]ANSWER\]", re.IGNORECASE)
_SPELLINGS = ("[final answer]", "[final_answer]")
_LONGEST_MARKER = len(_SPELLINGS[0])
_QUOTES = {'"': '"', "'": "'", "`": "`", "“": "”", "‘": "’", "«": "»"}


class MarkedText(NamedTuple):
    """Text from one side of the marker."""

    text: str
    is_answer: bool


def filter_text(text: str) -> str:
    """The answer in a whole text."""
    filters = TextFilter()
    found = [*filters.feed(text), *filters.end()]
    return "".join(each.text for each in found if each.is_answer or not filters.has_marker)


def result_text(artifact: Artifact) -> str:
    """The answer in a result: its text without envelope and marker, or its data as Markdown."""
    if artifact.text:
        return filter_text(artifact.text)
    for part in artifact.parts:
        if isinstance(part.data, Mapping) and (content := part.data.get("content")) is not None:
            return words(content) or as_markdown(content)
    return extract_content(artifact.parts).text


class TextFilter:
    """All filters in a row, for one stream of raw text. `question`: what the whole envelope asks."""

    __slots__ = ("_is_read", "_json", "_marker", "_passes_all", "_think_tags", "question")

    def __init__(self) -> None:
        self._think_tags = ThinkTagFilter()
        self._json = JsonContentFilter()
        self._marker = MarkerFilter()
        self._passes_all = self._is_read = False
        self.question: Form | None = None

    @property
    def has_marker(self) -> bool:
        """A marker came: only what follows it is the answer."""
        return self._marker.opened

    @property
    def is_envelope(self) -> bool:
        """The text is JSON around an answer: what comes out is the answer."""
        return self._json.is_envelope

    @property
    def is_plain(self) -> bool:
        """The text is no such JSON."""
        return self._json.is_plain

    def pass_plain(self, text: str) -> bool:
        """Take `text` if no filter can change it, which is the case for nearly every token."""
        if not self._passes_all or "[" in text:
            return False
        self._marker.before = text[-1:] or self._marker.before
        return True

    def take_thoughts(self) -> str:
        """What the tags held, as far as it was not taken before."""
        return self._think_tags.take_thoughts()

    def feed(self, text: str) -> list[MarkedText]:
        """Take the next text; what is certain of it, in order."""
        found = self._marker.feed(self._json.feed(self._think_tags.feed(text)))
        self._passes_all = self._json.is_plain and not self._marker.holds
        if self._json.is_closed and not self._is_read:
            self._is_read, data = True, self._json.data
            self.question = form_of(data) if data is not None else None
        return found

    def end(self) -> list[MarkedText]:
        """Nothing follows: what was held, and what an envelope holds besides its usual fields."""
        rest = self._json.feed(self._think_tags.end()) + self._json.end()
        data = self._json.data or {}
        has_content = self._json.has_content
        more = as_markdown({key: value for key, value in data.items() if key not in KEYS})
        if not has_content and "content" in data:
            more = "\n\n".join(filter(None, [as_markdown(data["content"]), more]))
        if more:
            rest += f"\n\n{more}" if has_content else more
        return [*self._marker.feed(rest), *self._marker.end()]


class ThinkTagFilter:
    """Takes the thoughts off the beginning of a text, however it is cut."""

    def __init__(self) -> None:
        self._is_plain = self._has_thoughts = False
        self._begun = ""
        self._close: re.Pattern[str] | None = None
        self._inside: list[str] = []
        self._tail = ""
        self._thoughts: list[str] = []

    def take_thoughts(self) -> str:
        """What the tags held, as far as it was not taken before."""
        thoughts, self._thoughts = "".join(self._thoughts), []
        return thoughts

    def feed(self, text: str) -> str:
        """Take the next text; what of it is certainly no thought."""
        if self._is_plain:
            return text
        if self._close is None:
            text, self._begun = self._begun + text, ""
        at: int | None = 0
        while at is not None:
            if self._close is None:
                found = _OPEN.match(text, at)
                if found is None:
                    self._begun = text[at:]
                    return "" if _may_begin_tag(self._begun) else self.end()
                self._close, self._begun = _CLOSE[found.group(1).lower()], found.group()
                at = found.end()
            at = self._skip_thought(self._close, text, at)
        return ""

    def end(self) -> str:
        """Nothing follows: what was held, if no tag closed it."""
        held = self._begun + "".join(self._inside)
        self._is_plain, self._begun, self._inside = True, "", []
        return held.lstrip() if self._has_thoughts else held

    def _skip_thought(self, close: re.Pattern[str], text: str, at: int) -> int | None:
        """The index behind the closing tag in `text`, from `at` on; None as long as there is none."""
        over = close.search(self._tail + text[at : at + _LONGEST_TAG]) if self._tail else None
        found = None if over else close.search(text, at)
        if over is not None:
            end = at + over.end() - len(self._tail)
        elif found is not None:
            end = found.end()
        else:
            self._inside.append(text[at:])
            self._tail = (self._tail + text[max(at, len(text) - _LONGEST_TAG) :])[-_LONGEST_TAG:]
            return None
        inside = "".join([*self._inside, text[at:end]])
        self._thoughts.append(inside[: inside.rindex("<")].strip() + "\n")
        self._close, self._has_thoughts = None, True
        self._begun, self._inside, self._tail = "", [], ""
        return end


def _may_begin_tag(text: str) -> bool:
    start = text.lstrip()[:_LONGEST_TAG].lower()
    return len(text) <= _MOST_HELD and any(f"<{name}>".startswith(start) for name in _TAG_NAMES)


class MarkerFilter:
    """Finds the marker in a text, however it is cut. `before`: the character that came last."""

    __slots__ = ("_held", "_strips", "before", "opened")

    def __init__(self) -> None:
        self.opened = False  # a marker came
        self.before = ""
        self._held = ""
        self._strips = False  # white space right behind the marker is dropped

    @property
    def holds(self) -> bool:
        """The next text depends on the text before it."""
        return bool(self._held) or self._strips

    def feed(self, text: str) -> list[MarkedText]:
        """Take the next text; what is certain of it, in order."""
        if not self._held and not self._strips and "[" not in text:
            self.before = text[-1:] or self.before
            return [MarkedText(text, self.opened)] if text else []
        return self._search(text, is_end=False)

    def end(self) -> list[MarkedText]:
        """Nothing follows: what was held, if it is no marker."""
        return self._search("", is_end=True)

    def _search(self, text: str, *, is_end: bool) -> list[MarkedText]:
        text, self._held = self._held + text, ""
        found: list[MarkedText] = []
        at = searched = 0
        while (match := _MARKER.search(text, searched)) is not None:
            quote = self._quote_before(text, match.start())
            if quote and match.end() == len(text) and not is_end:
                break  # the next character decides whether it is quoted
            searched = match.end()
            if quote and text[searched : searched + 1] == _QUOTES[quote]:
                continue
            self._add(text[at : match.start()], found)
            at = searched
            self._strips = self._strips or not self.opened
            self.opened = True
        end = len(text) if is_end else self._held_from(text, max(at, searched))
        self._held = text[end:]
        self.before = text[end - 1 : end] or self.before
        self._add(text[at:end], found)
        return found

    def _quote_before(self, text: str, start: int) -> str:
        before = text[start - 1] if start else self.before
        return before if before in _QUOTES else ""

    def _held_from(self, text: str, done: int) -> int:
        """Where the end of `text` may begin a marker, or is one that waits for the quote behind it."""
        start = text.rfind("[", max(done, len(text) - _LONGEST_MARKER))
        tail = text[start:].lower() if start >= 0 else ""
        return start if tail and any(each.startswith(tail) for each in _SPELLINGS) else len(text)

    def _add(self, text: str, found: list[MarkedText]) -> None:
        if self._strips:
            text = text.lstrip()
            self._strips = not text
        if text:
            found.append(MarkedText(text, self.opened))
