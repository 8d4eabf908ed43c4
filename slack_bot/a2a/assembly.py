"""PURE. The text of a turn, put together from artifacts that grow, are replaced, or come twice.

The answer is the texts of its artifacts in the order in which they began, with a blank line between. A chunk
that appends makes it grow. A chunk that replaces may change what was already handed on; Slack cannot take
text back, so then the whole is told anew, once, and what follows is kept for the end (facts: A2A 8.1).

An answer comes in thousands of chunks, so nothing here copies the whole answer for one chunk: the cost of a
turn grows with the text that was received, not with its square.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from ..turn.compare import missing, squeeze

_GAP = "\n\n"
_SENTENCE_ENDS = (".", "!", "?", "…", ":")
_LEAST_REPEATED = 8  # characters; a shorter text may well be said twice in a row


@dataclass(frozen=True, slots=True)
class Grown:
    """The text continues what was there."""

    text: str


@dataclass(frozen=True, slots=True)
class Changed:
    """The text is now this, and does not continue what was there."""

    text: str


class Rope:
    """Text that grows at its end; joined only when somebody wants to see it whole."""

    __slots__ = ("_parts", "has_text", "size")

    def __init__(self, text: str = "") -> None:
        self._parts: list[str] = []
        self.size = 0
        self.has_text = False
        self.add(text)

    def add(self, text: str) -> None:
        """Let it end with `text`."""
        if text:
            self._parts.append(text)
            self.size += len(text)
            self.has_text = self.has_text or not text.isspace()

    @property
    def text(self) -> str:
        """All of it."""
        if len(self._parts) > 1:
            self._parts = ["".join(self._parts)]
        return self._parts[0] if self._parts else ""

    def ending(self, most: int) -> str:
        """Its last `most` characters at least, as far as it has them."""
        found, size = list[str](), 0
        for part in reversed(self._parts):
            found.append(part)
            size += len(part)
            if size >= most:
                break
        return "".join(reversed(found))


@dataclass(slots=True)
class Pieces:
    """Texts by key, in order of first appearance; `whole` is what a reader gets.

    `budget` bounds the characters kept; beyond it `overflow` is set and text is no longer taken. Once the
    text was `Changed`, nothing is told any more: what it is in the end is `final`.
    """

    budget: int
    overflow: bool = False
    updates: int = 0
    _texts: dict[str, Rope] = field(default_factory=dict)
    _told: Rope = field(default_factory=Rope)
    _size: int = 0
    _parted: bool = False
    _aside: set[str] = field(default_factory=set)

    @property
    def whole(self) -> str:
        """The pieces that have text, a blank line between them."""
        return _GAP.join(piece.text for piece in self._texts.values() if piece.has_text)

    @property
    def told(self) -> str:
        """What was told, before it changed."""
        return self._told.text

    @property
    def final(self) -> str:
        """As `whole`, without what was set aside, and what was said in two pieces once."""
        texts = {key: piece.text for key, piece in self._texts.items() if piece.has_text}
        kept = {key: text for key, text in texts.items() if key not in self._aside} or texts
        once = dict[str, str]()
        for text in kept.values():
            once.setdefault(squeeze(text), text)
        return _GAP.join(once.values())

    @property
    def has_text(self) -> bool:
        """Something was said."""
        return any(piece.has_text for piece in self._texts.values())

    @property
    def last_key(self) -> str:
        """The key of the piece that began last, "" for none."""
        return next(reversed(self._texts), "")

    def has(self, key: str) -> bool:
        """A piece of this key began."""
        return key in self._texts

    def ending(self, most: int) -> str:
        """The last `most` characters of what was told, or more."""
        return self._told.ending(most)

    def repeats(self, text: str) -> bool:
        """`text` says again all that was told, and perhaps more. A chunk may well be said twice in a row."""
        told = self._told
        if len(text) < _LEAST_REPEATED and squeeze(text) == squeeze(told.ending(_LEAST_REPEATED)):
            return not (told.ending(1)[-1:].isspace() or text[:1].isspace())
        return told.has_text and len(text) >= told.size and missing(told.text, text) is not None

    def set_aside(self) -> None:
        """What was said so far is not the answer, if anything follows it."""
        self._aside.update(self._texts)

    def put(self, key: str, text: str, *, append: bool) -> Grown | Changed | None:
        """Add `text` to the piece `key` or let it be that. None: nothing new is to be told."""
        piece = self._texts.get(key)
        old = piece.size if piece is not None else 0
        if self._size + len(text) - (0 if append else old) > self.budget:
            self.overflow = True
            return None
        self.updates += 1
        self._aside.discard(key)
        if piece is not None and append:
            return self._extend(key, piece, text)
        self._size += len(text) - old
        self._texts[key] = Rope(text)
        if piece is not None:
            return self._retell()
        return self._begin(text, is_whole=not append)

    def snapshot(self, texts: Iterable[tuple[str, str]]) -> Grown | Changed | None:
        """The pieces are now these; a piece that is not named stays, unless it comes under a new name."""
        named = list(texts)
        if sum(len(text) for _, text in named) > self.budget:
            self.overflow = True  # a text that is cut short would pass for the answer
            return None
        for key, text in named:
            self._texts[self._known(key, text, {each for each, _ in named})] = Rope(text)
        self._size = sum(piece.size for piece in self._texts.values())
        return self._retell()

    def _known(self, key: str, text: str, named: set[str]) -> str:
        """The key under which `text`, or its beginning, is kept already. Servers name a task's parts anew."""
        if key in self._texts:
            return key
        sought = squeeze(text)
        for old, piece in self._texts.items():
            if old not in named and piece.has_text and sought.startswith(squeeze(piece.text)):
                return old
        return key

    def _extend(self, key: str, piece: Rope, text: str) -> Grown | Changed | None:
        was_told = piece.has_text
        piece.add(text)
        self._size += len(text)
        if self._parted or not text or not piece.has_text:
            return None
        if self.last_key != key:
            return self._retell()
        return self._grow(text if was_told else self._gap() + piece.text)

    def _begin(self, text: str, *, is_whole: bool) -> Grown | Changed | None:
        """A new piece is the last one, so the text grows, unless it says again all that was said."""
        if self._parted or not text or text.isspace():
            return None
        if not is_whole or not self.repeats(text):
            return self._grow(self._gap() + text)
        more = missing(self._told.text, text) or ""
        self._stand_in(text)
        return self._grow(more)

    def _stand_in(self, text: str) -> None:
        """The last piece says all the others again, and perhaps more: it stands in for them."""
        last = self.last_key
        self._texts = {key: piece if key == last else Rope() for key, piece in self._texts.items()}
        self._size = len(text)

    def _gap(self) -> str:
        return _GAP if self._told.has_text else ""

    def _grow(self, text: str) -> Grown | None:
        self._told.add(text)
        return Grown(text) if text else None

    def _retell(self) -> Grown | Changed | None:
        if self._parted:
            return None
        told, whole = self._told.text, self.whole
        if whole.startswith(told):
            return self._grow(whole[len(told) :])
        self._parted = True
        return Changed(whole)


@dataclass(slots=True)
class Running:
    """Text that comes as deltas or as growing snapshots, nobody says which (LangGraph, Strands, ADK).

    `steps` counts the times it grew.
    """

    budget: int
    steps: int = 0
    _run: Rope = field(default_factory=Rope)
    _lately: list[str] = field(default_factory=list)

    @property
    def text(self) -> str:
        """All of it."""
        return self._run.text

    @property
    def last(self) -> str:
        """What it grew by last."""
        return self._lately[-1] if self._lately else ""

    def put(self, text: str, *, append: bool = True, in_lines: bool = False) -> str:
        """Take the next text; returns what it adds, "" for what was said before.

        It is a snapshot if it begins with all that is known, a repetition if it is what the last deltas made
        together, else a delta. `in_lines`: it may also be a line of its own, which becomes a paragraph.
        """
        if not append:
            self._run, self._lately = Rope(), []
        run = self._run
        if run.size and len(text) >= run.size and text.startswith(run.text):
            text = text[run.size :]
        elif self._repeats(text):
            return ""
        elif in_lines and self._is_line(text):
            text = _GAP + text
        text = text[: self.budget - run.size]
        if text:
            run.add(text)
            self._lately.append(text)
            self.steps += 1
        return text

    def restart(self) -> None:
        """What follows is said anew; it does not continue what was said."""
        self._run, self._lately, self.steps = Rope(), [], 0

    def _repeats(self, text: str) -> bool:
        """`text` is what two or more of the last deltas said; one alone may well say the same twice."""
        if len(text) < _LEAST_REPEATED:
            return False
        rest, count = text, 0
        for delta in reversed(self._lately):
            if not rest or not rest.endswith(delta):
                break
            rest = rest[: -len(delta)]
            count += 1
        return not rest and count > 1

    def _is_line(self, text: str) -> bool:
        """One sentence came after another, with nothing between them: these are no deltas."""
        return " " in self.last and " " in text and text[0].isupper() and self.last.endswith(_SENTENCE_ENDS)
