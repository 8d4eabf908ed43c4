"""PURE. The text of a turn, put together from artifacts that grow, are replaced, or come twice.

The answer is the texts of its artifacts in the order in which they began, with a blank line between. A chunk
that appends makes it grow. A chunk that replaces may change what was already handed on; Slack cannot take
text back, so then the whole is told anew, once, and what follows is kept for the end (facts: A2A 8.1).

An answer comes in thousands of chunks, so nothing here copies the whole answer for one chunk: the cost of a
turn grows with the text that was received, not with its square.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from ...turn.compare import missing_suffix, normalize

_GAP = "\n\n"
_MOST_COMPARED = 100_000_000  # characters that a turn may compare over and over, beyond those that came
_MOST_SOUGHT = 1_000_000  # times in a turn that a text is laid against one of another name
_LEAST_REPEATED = 8  # characters; a shorter text may well be said twice in a row


@dataclass(frozen=True, slots=True)
class Appended:
    """The text continues what was there."""

    text: str


@dataclass(frozen=True, slots=True)
class Replaced:
    """The text is now this, and does not continue what was there."""

    text: str


class StringBuilder:
    """Text that grows at its end; joined only when somebody wants to see it whole."""

    __slots__ = ("_parts", "_squeezed", "has_text", "size")

    def __init__(self, text: str = "") -> None:
        self._parts: list[str] = []
        self.size = 0
        self.has_text = False
        self._squeezed: str | None = None
        self.add(text)

    def add(self, text: str) -> None:
        """Let it end with `text`."""
        if text:
            self._parts.append(text)
            self._squeezed = None
            self.size += len(text)
            self.has_text = self.has_text or not text.isspace()

    @property
    def text(self) -> str:
        """All of it."""
        if len(self._parts) > 1:
            self._parts = ["".join(self._parts)]
        return self._parts[0] if self._parts else ""

    @property
    def squeezed(self) -> str:
        """All of it, as it is compared."""
        if self._squeezed is None:
            self._squeezed = normalize(self.text)
        return self._squeezed

    def ending(self, most: int) -> str:
        """Its last `most` characters, as far as it has them."""
        found, size = list[str](), 0
        for part in reversed(self._parts):
            found.append(part[-most:])
            size += len(part)
            if size >= most:
                break
        return "".join(reversed(found))[-most:]

    def lately(self, least: int) -> str:
        """What was added last, of `least` characters or more, as far as it has them."""
        found, size = list[str](), 0
        for part in reversed(self._parts):
            found.append(part)
            size += len(part)
            if size >= least:
                break
        return "".join(reversed(found))


@dataclass(slots=True)
class KeyedText:
    """Texts by key, in order of first appearance; `whole` is what a reader gets.

    `budget` bounds the characters kept; beyond it `overflow` is set and text is no longer taken. Once the
    text was `Replaced`, nothing is told any more: what it is in the end is `final`.
    """

    budget: int
    overflow: bool = False
    updates: int = 0
    _texts: dict[str, StringBuilder] = field(default_factory=dict)
    _told: StringBuilder = field(default_factory=StringBuilder)
    _size: int = 0
    _parted: bool = False
    _places: dict[str, int] = field(default_factory=dict)  # of the pieces, in order of first appearance
    _spoken: set[str] = field(default_factory=set)  # those that have text
    _filled: set[str] = field(default_factory=set)  # and those that have anything, if only white space
    _fresh: set[str] = field(default_factory=set)  # those that were not set aside
    _end: int = -1  # the place of the piece that `_told` ends with
    _exact: bool = True  # what was told is the whole
    _compared: int = 0
    _sought: int = 0
    _lately: tuple[int, str] = (0, "")
    _final: str | None = None
    _squeezed: str | None = None

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
        if self._final is None:
            texts = {key: piece.text for key, piece in self._texts.items() if piece.has_text}
            kept = {key: text for key, text in texts.items() if key in self._fresh} or texts
            once = dict[str, str]()
            for text in kept.values():
                once.setdefault(normalize(text), text)
            self._final, self._squeezed = _GAP.join(once.values()), None
        return self._final

    @property
    def has_text(self) -> bool:
        """Something was said."""
        return bool(self._spoken)

    @property
    def last_key(self) -> str:
        """The key of the piece that began last, "" for none."""
        return next(reversed(self._texts), "")

    def has(self, key: str) -> bool:
        """A piece of this key began."""
        return key in self._texts

    def says(self, text: str) -> bool:
        """`text` stands somewhere in `final`, whatever the white space. An empty text does not."""
        final, sought = self.final, normalize(text)
        if self._squeezed is None:
            self._squeezed = normalize(final)
        return bool(sought) and sought in self._squeezed

    def ending(self, most: int) -> str:
        """The last `most` characters of what was told."""
        return self._told.ending(most)

    def repeats(self, text: str) -> bool:
        """`text` says again all that was told, and perhaps more. A chunk may well be said twice in a row."""
        told = self._told
        if len(text) < _LEAST_REPEATED and normalize(text) == self._said_lately():
            return not (told.ending(1).isspace() or text[:1].isspace())
        return told.has_text and len(text) >= told.size and missing_suffix(told.text, text) is not None

    def _said_lately(self) -> str:
        """The end of what was told, as it is compared; kept, because it may be long."""
        size, said = self._lately
        if size != self._told.size:
            said = normalize(self._told.lately(_LEAST_REPEATED))
            self._lately = (self._told.size, said)
        return said

    def set_aside(self) -> None:
        """What was said so far is not the answer, if anything follows it."""
        self._fresh, self._final = set(), None

    def put(self, key: str, text: str, *, append: bool) -> Appended | Replaced | None:
        """Add `text` to the piece `key` or let it be that. None: nothing new is to be told."""
        piece = self._texts.get(key)
        old = piece.size if piece is not None else 0
        if self._size + len(text) - (0 if append else old) > self.budget:
            self.overflow = True
            return None
        self.updates += 1
        self._fresh.add(key)
        self._final = None
        if piece is not None and append:
            return self._extend(key, piece, text)
        self._keep(key, text)
        if piece is not None:
            return self._changed({key: piece}, len(text))
        return self._begin(text, is_whole=not append)

    def snapshot(self, texts: Iterable[tuple[str, str]]) -> Appended | Replaced | None:
        """The pieces are now these; a piece that is not named stays, unless it comes under a new name."""
        named = list(texts)
        size = sum(len(text) for _, text in named)
        if size > self.budget:
            self.overflow = True  # a text that is cut short would pass for the answer
            return None
        olds = dict[str, StringBuilder]()
        for key, text in self._known(named):
            olds.setdefault(key, self._texts.get(key) or StringBuilder())
            if key not in self._texts:
                self._fresh.add(key)
            self._keep(key, text)
        self._final = None
        return self._changed(olds, size)

    def _keep(self, key: str, text: str) -> None:
        """Let the piece `key` be `text`."""
        old = self._texts.get(key)
        self._places.setdefault(key, len(self._places))
        self._texts[key] = piece = StringBuilder(text)
        self._size += piece.size - (old.size if old is not None else 0)
        self._spoken.discard(key)
        self._note(key, piece)

    def _note(self, key: str, piece: StringBuilder) -> None:
        """Know which pieces hold anything: there may be one for each word of an answer."""
        if piece.size:
            self._filled.add(key)
        if piece.has_text:
            self._spoken.add(key)

    def _known(self, named: list[tuple[str, str]]) -> Iterator[tuple[str, str]]:
        """The texts, each with the key under which it, or its beginning, is kept already.

        Servers name a task's parts anew. Of thousands of new names each would have to be laid against each,
        so they are taken for new parts.
        """
        others = dict[str, str]()
        if any(key not in self._texts for key, _ in named) and self._sought < _MOST_SOUGHT:
            keys = {key for key, _ in named}
            others = {key: piece.squeezed for key, piece in self._texts.items() if piece.has_text}
            others = {key: text for key, text in others.items() if key not in keys}
            self._sought += len(self._texts)
        for key, text in named:
            found = key
            if key not in self._texts and others and self._sought < _MOST_SOUGHT:
                sought = normalize(text)
                self._sought += len(others)
                found = next((old for old, known in others.items() if sought.startswith(known)), key)
                if found != key:
                    others[found] = sought
            yield found, text

    def _extend(self, key: str, piece: StringBuilder, text: str) -> Appended | Replaced | None:
        was_told = piece.has_text
        piece.add(text)
        self._size += len(text)
        self._note(key, piece)
        if self._parted or not text or not piece.has_text:
            return None
        place = self._places[key]
        is_last = place == self._end if was_told else place > self._end
        if self.last_key != key and not (self._exact and is_last):
            return self._retell(len(text))
        return self._grow(text if was_told else self._gap() + piece.text, place)

    def _begin(self, text: str, *, is_whole: bool) -> Appended | Replaced | None:
        """A new piece is the last one, so the text grows, unless it says again all that was said."""
        if self._parted or not text or text.isspace():
            return None
        place = len(self._places) - 1
        if not is_whole or not self.repeats(text):
            return self._grow(self._gap() + text, place)
        more = missing_suffix(self._told.text, text) or ""
        self._stand_in(text)
        grown = self._grow(more, place)
        self._exact = self._told.text == text
        return grown

    def _stand_in(self, text: str) -> None:
        """The last piece says all the others again, and perhaps more: it stands in for them."""
        last = self.last_key
        for key in self._filled - {last}:
            self._texts[key] = StringBuilder()
        self._filled, self._spoken = {last}, {last}
        self._size = len(text)

    def _gap(self) -> str:
        return _GAP if self._told.has_text else ""

    def _grow(self, text: str, place: int) -> Appended | None:
        self._told.add(text)
        self._end = place
        return Appended(text) if text else None

    def _changed(self, olds: Mapping[str, StringBuilder], size: int) -> Appended | Replaced | None:
        """Pieces are now other texts than `olds`. What only goes on at the end is told without a look at the
        rest, which may be long."""
        if self._parted:
            return None
        if not self._exact:
            return self._retell(size)
        changed = [key for key, old in olds.items() if self._texts[key].text != old.text]
        end, more = self._end, list[str]()
        for key in sorted(changed, key=self._places.__getitem__):
            old, now, place = olds[key], self._texts[key], self._places[key]
            if not (old.has_text or now.has_text):
                continue
            if place == end and old.has_text and now.text.startswith(old.text):
                more.append(now.text[old.size :])
            elif place > end and not old.has_text:
                more += [_GAP if more else self._gap(), now.text]
            else:
                return self._retell(size)
            end = place
        return self._grow("".join(more), end)

    def _retell(self, size: int) -> Appended | Replaced | None:
        """Lay the whole against what was told; `size` is that of the text which came."""
        told, whole = self._told.text, self.whole
        self._compared += max(0, len(told) - size)
        if whole.startswith(told) and self._compared <= _MOST_COMPARED:
            self._exact = True
            return self._grow(
                whole[len(told) :], max(map(self._places.__getitem__, self._spoken), default=-1)
            )
        self._parted = True
        return Replaced(whole)
