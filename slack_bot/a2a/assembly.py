"""PURE. The text of a turn, put together from artifacts that grow, are replaced, or come twice.

The answer is the texts of its artifacts in the order in which they began, with a blank line between. A chunk
that appends makes it grow; a chunk that replaces may change what was already handed on, and then the whole is
told anew, because Slack cannot take text back (facts: A2A 8.1).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

_GAP = "\n\n"


@dataclass(frozen=True, slots=True)
class Grown:
    """The text continues what was there."""

    text: str


@dataclass(frozen=True, slots=True)
class Changed:
    """The text is now this, and does not continue what was there."""

    text: str


@dataclass(slots=True)
class Pieces:
    """Texts by key, in order of first appearance; `whole` is what a reader gets.

    `budget` bounds the characters kept; beyond it `overflow` is set and text is no longer taken.
    """

    budget: int
    overflow: bool = False
    _texts: dict[str, str] = field(default_factory=dict)
    _whole: str = ""

    @property
    def whole(self) -> str:
        """The pieces that have text, a blank line between them."""
        return self._whole

    def has(self, key: str) -> bool:
        """A piece of this key began."""
        return key in self._texts

    def put(self, key: str, text: str, *, append: bool) -> Grown | Changed | None:
        """Add `text` to the piece `key` or let it be that. None: nothing changed for the reader."""
        if len(text) > self.budget - (len(self._whole) if append else 0):
            self.overflow = True
            return None
        old = self._texts.get(key, "")
        last = next(reversed(self._texts), None) == key
        self._texts[key] = old + text if append else text
        if append and old and last:
            self._whole += text
            return Grown(text) if text else None
        return self._retell()

    def snapshot(self, texts: Iterable[tuple[str, str]]) -> Grown | Changed | None:
        """The pieces are now these; a piece that is not named stays."""
        for key, text in texts:
            self._texts[key] = text[: self.budget]
        return self._retell()

    def _retell(self) -> Grown | Changed | None:
        before, self._whole = self._whole, _GAP.join(text for text in self._texts.values() if text.strip())
        if self._whole == before:
            return None
        if self._whole.startswith(before):
            return Grown(self._whole[len(before) :])
        return Changed(self._whole)


@dataclass(slots=True)
class Running:
    """Text that comes as deltas or as growing snapshots, nobody says which (LangGraph, Strands, ADK)."""

    budget: int
    text: str = ""

    def put(self, text: str, *, append: bool = True) -> None:
        """Take the next text: a snapshot if it begins with all that is known, else a delta."""
        if not append or (self.text and text.startswith(self.text)):
            self.text = text[: self.budget]
        else:
            self.text = (self.text + text)[: self.budget]
