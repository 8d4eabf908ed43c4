"""PURE. What an agent's raw text passes before it is text for a reader: thoughts and the envelope off, the
marker read.

`TextFilter` joins the three gates for one stream of text, one artifact for instance.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ...turn.form import Form
from ..content.data_markdown import as_markdown
from ..content.fields import form_of
from .json_filter import KEYS, JsonContentFilter
from .marker_filter import MarkedText, MarkerFilter
from .think_tag_filter import ThinkTagFilter


def passed(text: str) -> str:
    """The answer in a whole text."""
    gate = TextFilter()
    said = [*gate.feed(text), *gate.end()]
    return "".join(each.text for each in said if each.is_answer or not gate.opened)


class TextFilter:
    """One stream of raw text, however it is cut."""

    def __init__(self) -> None:
        self._thinking = ThinkTagFilter()
        self._content = JsonContentFilter()
        self._marker = MarkerFilter()
        self._is_read = False
        self._question: Form | None = None

    def take_thoughts(self) -> str:
        """What the text began with in tags that say so, as far as it was not taken before."""
        return self._thinking.take_thoughts()

    @property
    def opened(self) -> bool:
        """A marker was there: only what follows it is the answer."""
        return self._marker.opened

    @property
    def is_envelope(self) -> bool:
        """The text is JSON around an answer: what comes out is the answer."""
        return self._content.is_envelope

    @property
    def is_plain(self) -> bool:
        """The text is no such JSON."""
        return self._content.is_plain

    @property
    def data(self) -> Mapping[str, Any] | None:
        """The whole envelope once it is closed and can be read."""
        return self._content.data

    @property
    def question(self) -> Form | None:
        """What the whole envelope asks the human, if it does."""
        if not self._is_read and (data := self.data) is not None:
            self._is_read, self._question = True, form_of(data)
        return self._question

    @property
    def has_content(self) -> bool:
        """The envelope named its content."""
        return self._content.has_content

    def feed(self, text: str) -> list[MarkedText]:
        """Take the next text; what is certain of it, in order."""
        return self._marker.feed(self._content.feed(self._thinking.feed(text)))

    def end(self) -> list[MarkedText]:
        """Nothing follows: what was held, and what an envelope holds besides what is expected in one."""
        rest = self._content.feed(self._thinking.end()) + self._content.end()
        data = self.data or {}
        more = as_markdown({key: value for key, value in data.items() if key not in KEYS})
        if not self.has_content and "content" in data:
            more = "\n\n".join(filter(None, [as_markdown(data["content"]), more]))
        if more:
            rest += f"\n\n{more}" if self.has_content else more
        return [*self._marker.feed(rest), *self._marker.end()]
