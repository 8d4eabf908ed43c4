"""PURE. The text of one source, put together from texts that grow, are replaced, or come twice.

The answer is the texts of its artifacts in the order in which they began, with a blank line between. A chunk
that replaces may change what was already shown. Slack cannot take text back, so then the whole is shown
again, once, and what follows is kept for the end (facts: A2A 8.1).

An answer comes in thousands of chunks, so nothing here copies the whole for one chunk: the cost of a turn
grows with the text that came, not with its square.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from ...turn.compare import missing_suffix, normalize

_GAP = "\n\n"
_MOST_COMPARED = 100_000_000  # characters that a turn may compare again, beyond those that came
_MOST_SOUGHT = 1_000_000  # comparisons in a turn of a text with one of another key
_LEAST_REPEATED = 8  # characters; shorter texts may come twice by chance


@dataclass(frozen=True, slots=True)
class Appended:
    """The text continues what was there."""

    text: str


@dataclass(frozen=True, slots=True)
class Replaced:
    """The text is now this, and does not continue what was there."""

    text: str


class StringBuilder:
    """Text that grows at its end; joined only where all of it is needed."""

    __slots__ = ("_normalized", "_parts", "has_text", "size")

    def __init__(self, text: str = "") -> None:
        self._parts: list[str] = []
        self.size = 0
        self.has_text = False  # more than white space
        self._normalized: str | None = None
        self.add(text)

    def add(self, text: str) -> None:
        """Append `text`."""
        if text:
            self._parts.append(text)
            self._normalized = None
            self.size += len(text)
            if not self.has_text:
                self.has_text = not text.isspace()

    @property
    def text(self) -> str:
        """All of it."""
        if len(self._parts) > 1:
            self._parts = ["".join(self._parts)]
        return self._parts[0] if self._parts else ""

    @property
    def normalized(self) -> str:
        """All of it, as it is compared."""
        if self._normalized is None:
            self._normalized = normalize(self.text)
        return self._normalized

    def ending(self, size: int) -> str:
        """Its last `size` characters."""
        return self.last_parts(size, cut=size)[-size:]

    def last_parts(self, least: int, *, cut: int = 0) -> str:
        """The last parts, of `least` characters or more; of each only the last `cut` ones if that is set."""
        found, size = list[str](), 0
        for part in reversed(self._parts):
            found.append(part[-cut:])
            size += len(part)
            if size >= least:
                break
        return "".join(reversed(found))


class KeyedText:
    """Texts by key, in order of first appearance.

    `budget` bounds the characters kept; beyond it `overflow` is set and text is no longer taken. After a
    `Replaced` nothing more is shown: the text in the end is `final`. `updates` counts what was put.
    """

    def __init__(self, budget: int) -> None:
        self.budget, self.overflow, self.updates = budget, False, 0
        self._texts: dict[str, StringBuilder] = {}
        self._shown = StringBuilder()
        self._size = 0
        self._is_replaced = False
        self._places: dict[str, int] = {}  # of the texts, in order of first appearance
        self._spoken: set[str] = set()  # texts with more than white space
        self._filled: set[str] = set()  # texts with anything
        self._current: set[str] = set()  # texts that were not set aside
        self._end = -1  # the place of the text that `_shown` ends with
        self._tail: StringBuilder | None = None  # that text, while it may simply grow
        self._is_exact = True  # what was shown is the whole, to the letter
        self._compared = self._sought = 0
        self._last: tuple[int, str] = (0, "")
        self._final: str | None = None
        self._normalized: str | None = None

    @property
    def whole(self) -> str:
        """The texts that are not blank, a blank line between them."""
        return _GAP.join(text.text for text in self._texts.values() if text.has_text)

    @property
    def shown(self) -> str:
        """What was shown, before it was replaced."""
        return self._shown.text

    @property
    def final(self) -> str:
        """As `whole`, without what was set aside, and equal texts once."""
        if self._final is None:
            texts = {key: text.text for key, text in self._texts.items() if text.has_text}
            kept = {key: text for key, text in texts.items() if key in self._current} or texts
            once = dict[str, str]()
            for text in kept.values():
                once.setdefault(normalize(text), text)
            self._final, self._normalized = _GAP.join(once.values()), None
        return self._final

    @property
    def has_text(self) -> bool:
        """More than white space came."""
        return bool(self._spoken)

    @property
    def last_key(self) -> str:
        """The key of the text that began last, or ""."""
        return next(reversed(self._texts), "")

    def has(self, key: str) -> bool:
        """A text of this key began."""
        return key in self._texts

    def contains(self, text: str) -> bool:
        """`text` is somewhere in `final`, whatever the white space. An empty text is not."""
        final, sought = self.final, normalize(text)
        if self._normalized is None:
            self._normalized = normalize(final)
        return bool(sought) and sought in self._normalized

    def ending(self, size: int) -> str:
        """The last `size` characters of what was shown."""
        return self._shown.ending(size)

    def repeats(self, text: str) -> bool:
        """`text` repeats all that was shown, and may continue it. A chunk may well come twice in a row."""
        shown = self._shown
        if len(text) < _LEAST_REPEATED and normalize(text) == self._last_normalized():
            return not (shown.ending(1).isspace() or text[:1].isspace())
        return shown.has_text and len(text) >= shown.size and missing_suffix(shown.text, text) is not None

    def _last_normalized(self) -> str:
        """The end of what was shown, as it is compared; kept, because it may be long."""
        size, last = self._last
        if size != self._shown.size:
            last = normalize(self._shown.last_parts(_LEAST_REPEATED))
            self._last = (self._shown.size, last)
        return last

    def set_aside(self) -> None:
        """What came so far is not the answer, if anything follows it."""
        self._current, self._final, self._tail = set(), None, None

    def put(self, key: str, text: str, *, append: bool) -> Appended | Replaced | None:
        """Append to the text `key`, or replace it. None: nothing new is to be shown."""
        known = self._texts.get(key)
        old = known.size if known is not None else 0
        if self._size + len(text) - (0 if append else old) > self.budget:
            self.overflow = True
            return None
        self.updates += 1
        self._final = None
        if append and text and known is not None and known is self._tail:
            self._size += len(text)
            known.add(text)
            self._shown.add(text)
            return Appended(text)
        self._current.add(key)
        if known is not None and append:
            return self._extend(key, known, text)
        self._set(key, text)
        if known is not None:
            return self._change({key: known}, len(text))
        return self._begin(text, is_whole=not append)

    def snapshot(self, texts: Iterable[tuple[str, str]]) -> Appended | Replaced | None:
        """The texts are now these. One that is not named stays, unless it comes under a new name."""
        named = list(texts)
        size = sum(len(text) for _, text in named)
        if size > self.budget:
            self.overflow = True  # a text that is cut short would pass for the answer
            return None
        olds = dict[str, StringBuilder]()
        for key, text in self._with_known_keys(named):
            olds.setdefault(key, self._texts.get(key) or StringBuilder())
            if key not in self._texts:
                self._current.add(key)
            self._set(key, text)
        self._final = None
        return self._change(olds, size)

    def _set(self, key: str, text: str) -> None:
        old = self._texts.get(key)
        self._places.setdefault(key, len(self._places))
        self._texts[key] = new = StringBuilder(text)
        self._size += new.size - (old.size if old is not None else 0)
        self._spoken.discard(key)
        self._tail = None
        self._note(key, new)

    def _note(self, key: str, text: StringBuilder) -> None:
        """Know which texts hold anything: there may be one for each word of an answer."""
        if text.size:
            self._filled.add(key)
        if text.has_text:
            self._spoken.add(key)

    def _with_known_keys(self, named: list[tuple[str, str]]) -> Iterator[tuple[str, str]]:
        """The texts, each with the key under which it, or its beginning, is kept already.

        Servers rename a task's artifacts. Thousands of new names would have to be compared each with each, so
        they are taken for new artifacts.
        """
        others = dict[str, str]()
        if any(key not in self._texts for key, _ in named) and self._sought < _MOST_SOUGHT:
            keys = {key for key, _ in named}
            others = {
                key: text.normalized for key, text in self._texts.items() if text.has_text and key not in keys
            }
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

    def _extend(self, key: str, known: StringBuilder, text: str) -> Appended | Replaced | None:
        was_shown = known.has_text
        known.add(text)
        self._size += len(text)
        self._note(key, known)
        if self._is_replaced or not text or not known.has_text:
            return None
        place = self._places[key]
        is_last = place == self._end if was_shown else place > self._end
        if self.last_key != key and not (self._is_exact and is_last):
            return self._show_again(len(text))
        grown = self._grow(text if was_shown else self._gap() + known.text, place)
        self._tail = known
        return grown

    def _begin(self, text: str, *, is_whole: bool) -> Appended | Replaced | None:
        """A new text is the last one, so the whole grows, unless it repeats all that was shown."""
        if self._is_replaced or not text or text.isspace():
            return None
        place = len(self._places) - 1
        if not is_whole or not self.repeats(text):
            return self._grow(self._gap() + text, place)
        more = missing_suffix(self._shown.text, text) or ""
        self._replace_all_by_last(text)
        grown = self._grow(more, place)
        self._is_exact = self._shown.text == text
        return grown

    def _replace_all_by_last(self, text: str) -> None:
        """The last text repeats all the others, and may continue them."""
        last = self.last_key
        for key in self._filled - {last}:
            self._texts[key] = StringBuilder()
        self._filled, self._spoken = {last}, {last}
        self._size = len(text)

    def _gap(self) -> str:
        return _GAP if self._shown.has_text else ""

    def _grow(self, text: str, place: int) -> Appended | None:
        self._shown.add(text)
        self._end, self._tail = place, None
        return Appended(text) if text else None

    def _change(self, olds: Mapping[str, StringBuilder], size: int) -> Appended | Replaced | None:
        """Texts are no longer `olds`. What only grows at the end is shown without a look at the rest, which
        may be long."""
        if self._is_replaced:
            return None
        if not self._is_exact:
            return self._show_again(size)
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
                return self._show_again(size)
            end = place
        return self._grow("".join(more), end)

    def _show_again(self, size: int) -> Appended | Replaced | None:
        """Compare the whole with what was shown; `size` is that of the text which came."""
        shown, whole = self._shown.text, self.whole
        self._compared += max(0, len(shown) - size)
        if whole.startswith(shown) and self._compared <= _MOST_COMPARED:
            self._is_exact = True
            end = max(map(self._places.__getitem__, self._spoken), default=-1)
            return self._grow(whole[len(shown) :], end)
        self._is_replaced, self._tail = True, None
        return Replaced(whole)
