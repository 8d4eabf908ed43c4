"""PURE. The text of one source, put together from texts that grow, are replaced, or come twice.

A chunk may change what was shown. Slack cannot take text back, so then the whole is shown again, once; what
follows is kept for the end (facts: A2A 8.1). Nothing here copies the whole for one chunk.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import NamedTuple, TypeAlias

from ...text.compare import missing_suffix, normalize
from .token_pace import is_cut

_GAP = "\n\n"
_MOST_COMPARED = 100_000_000  # characters that a turn may compare again, beyond those that came
_MOST_COMPARISONS = 1_000_000  # comparisons in a turn of a text with one of another key
_LEAST_REPEATED = 8  # characters; shorter texts may come twice by chance
_SHORT = 100  # characters; longer texts hold more than a few words


class TextUpdate(NamedTuple):
    """Text that continues what was shown, or replaces it."""

    text: str
    replaces: bool = False


class StringBuilder:
    """Text that grows at its end; joined only where needed."""

    __slots__ = ("_normalized", "_parts", "has_text", "size")

    def __init__(self, text: str = "") -> None:
        self.set(text)

    def set(self, text: str) -> None:
        self._parts: list[str] = []
        self._normalized: str | None = None
        self.size = 0
        self.has_text = False  # more than white space
        self.add(text)

    def add(self, text: str) -> None:
        if text:
            self._parts.append(text)
            self._normalized = None
            self.size += len(text)
            if not self.has_text:
                self.has_text = not text.isspace()

    @property
    def text(self) -> str:
        if len(self._parts) > 1:
            self._parts = ["".join(self._parts)]
        return self._parts[0] if self._parts else ""

    @property
    def normalized(self) -> str:
        if self._normalized is None:
            self._normalized = normalize(self.text)
        return self._normalized

    def ending(self, size: int) -> str:
        return "".join(part[-size:] for part in self._parts[-size:])[-size:]


class _Entry(StringBuilder):
    """The text of one key. `place`: its number in their order. `run`: the one in which it last grew."""

    __slots__ = ("place", "run")

    def __init__(self, text: str, place: int, run: int) -> None:
        super().__init__(text)
        self.place, self.run = place, run


_Changes: TypeAlias = Collection[tuple[_Entry, str]]  # texts that changed, each with what it was before


class ShownText(StringBuilder):
    """What was shown of several texts, the whole of which may change in any place.

    `end`: the place of the text that it ends with. `is_exact`: it is the whole, to the letter. `is_replaced`:
    the whole was shown in its place, and no update follows.
    """

    __slots__ = ("_compared", "end", "is_exact", "is_replaced")

    def __init__(self) -> None:
        super().__init__()
        self.end = -1
        self.is_exact, self.is_replaced = True, False
        self._compared = 0  # characters that were compared again, beyond those that came

    def extend(self, text: str, end: int) -> TextUpdate | None:
        """Show `text` behind the rest; it belongs to the text at the place `end`."""
        self.add(text)
        self.end = end
        return TextUpdate(text) if text else None

    def add_text(self, text: str, place: int) -> TextUpdate | None:
        """Show a text that begins, as a paragraph."""
        return self.extend(_GAP + text if self.has_text else text, place)

    def repeat(self, text: str, place: int) -> TextUpdate | None:
        """The whole is now `text` alone, which repeats all that was shown: show what it adds."""
        update = self.extend(missing_suffix(self.text, text) or "", place)
        self.is_exact = self.text == text
        return update

    def is_repeated_by(self, text: str) -> bool:
        """`text` repeats all that was shown, and may continue it."""
        if len(text) < _LEAST_REPEATED and self.size <= _SHORT and normalize(text) == self.normalized:
            return not (self.ending(1).isspace() or text[:1].isspace())
        return self.has_text and len(text) >= self.size and missing_suffix(self.text, text) is not None

    def follow(self, changes: _Changes, *, is_appended: bool) -> tuple[bool, TextUpdate | None]:
        """Whether the changes only grow the whole at its end, and if so, the update. Nothing else is read."""
        if not (self.is_exact or is_appended):
            return False, None
        end, more = self.end, list[str]()
        for entry, old in sorted(changes, key=lambda change: change[0].place):
            text, had_text = entry.text, bool(old) and not old.isspace()
            if text == old or not (had_text or entry.has_text):
                continue
            if entry.place == end and had_text and text.startswith(old):
                more.append(text[len(old) :])
            elif entry.place > end and not had_text:
                more += [_GAP if more or self.has_text else "", text]
            else:
                return False, None
            end = entry.place
        return True, self.extend("".join(more), end)

    def compare(self, whole: str, end: int, size: int) -> TextUpdate | None:
        """Show what `whole`, which ends with the text at the place `end`, has besides; or show it again.

        `size`: the characters that came. A turn compares only so many others.
        """
        self._compared += max(0, self.size - size)
        if whole.startswith(shown := self.text) and self._compared <= _MOST_COMPARED:
            self.is_exact = True
            return self.extend(whole[len(shown) :], end)
        self.is_replaced = True
        return TextUpdate(whole, replaces=True)


class _Renames:
    """Finds the keys under which renamed texts are known; servers rename artifacts.

    To compare thousands with each other would take too long, so the comparisons of a turn are bounded.
    """

    def __init__(self) -> None:
        self._comparisons = 0

    def resolve(
        self, snapshot: list[tuple[str, str]], entries: Mapping[str, _Entry]
    ) -> Iterator[tuple[str, str]]:
        """The texts of `snapshot`, each with the key of the entry that it continues, or with its own."""
        others = dict[str, str]()
        if any(key not in entries for key, _ in snapshot) and self._comparisons < _MOST_COMPARISONS:
            keys = {key for key, _ in snapshot}
            others = {
                key: entry.normalized for key, entry in entries.items() if entry.has_text and key not in keys
            }
            self._comparisons += len(entries)
        for key, text in snapshot:
            old_key = key
            if key not in entries and others and self._comparisons < _MOST_COMPARISONS:
                normalized = normalize(text)
                self._comparisons += len(others)
                old_key = next((old for old, start in others.items() if normalized.startswith(start)), key)
                if old_key != key:
                    others[old_key] = normalized
            yield old_key, text


class KeyedText:
    """Texts by key, in the order in which they began, with a blank line between.

    Beyond `budget` characters `overflow` is set and text is no longer taken. After an update that replaces,
    no other follows: the text in the end is `final`. `shown` is what was shown before. `updates` counts what
    was put.
    """

    def __init__(self, budget: int) -> None:
        self.budget, self.overflow, self.updates = budget, False, 0
        self.shown = ShownText()
        self._entries: dict[str, _Entry] = {}
        self._filled: set[_Entry] = set()  # entries with more than white space
        self._renames = _Renames()
        self._size = self._run = 0
        self._final: StringBuilder | None = None

    @property
    def whole(self) -> str:
        """The texts that are not blank, a blank line between them."""
        return _GAP.join(entry.text for entry in self._entries.values() if entry.has_text)

    @property
    def final(self) -> StringBuilder:
        """As `whole`, without what was set aside, equal texts once."""
        if self._final is None:
            entries = [entry for entry in self._entries.values() if entry.has_text]
            distinct = dict[str, str]()
            for entry in [entry for entry in entries if entry.run == self._run] or entries:
                distinct.setdefault(entry.normalized, entry.text)
            self._final = StringBuilder(_GAP.join(distinct.values()))
        return self._final

    @property
    def has_text(self) -> bool:
        return bool(self._filled)

    @property
    def last_key(self) -> str:
        return next(reversed(self._entries), "")

    def __contains__(self, key: object) -> bool:
        return key in self._entries

    def text_of(self, key: str) -> str:
        return self._entries[key].text if key in self._entries else ""

    def is_cut(self, key: str, text: str, most: int) -> bool:
        """The text `key` and `text`, of `most` characters each, are one sentence that was cut at a space."""
        entry = self._entries.get(key)
        if entry is None or not entry.has_text or max(entry.size, len(text)) > most:
            return False
        return not text.startswith(entry.text) and is_cut(entry.text, text)

    def set_aside(self) -> None:
        """What came so far is not the answer, if anything follows."""
        self._run += 1
        self._final = None

    def put(self, key: str, text: str, *, append: bool) -> TextUpdate | None:
        """Append to the text `key`, or replace it. None: nothing is to be shown."""
        entry = self._entries.get(key)
        size = len(text) if append or entry is None else len(text) - entry.size
        if self._size + size > self.budget:
            self.overflow = True
            return None
        self._size += size
        self.updates += 1
        self._final = None
        if entry is None:
            return self._begin(key, text, is_whole=not append)
        shown = self.shown
        entry.run = self._run
        if append and entry.place == shown.end and not shown.is_replaced:  # so it is with nearly every token
            entry.add(text)
            shown.add(text)
            return TextUpdate(text) if text else None
        old = "" if shown.is_replaced else entry.text
        if append:
            entry.add(text)
        else:
            entry.set(text)
        self._note(entry)
        return self._update([(entry, old)], len(text), is_appended=append)

    def snapshot(self, texts: Iterable[tuple[str, str]]) -> TextUpdate | None:
        """The texts are now these. Others stay, unless they are among these under new keys."""
        texts = list(texts)
        size = sum(len(text) for _, text in texts)
        if size > self.budget:
            self.overflow = True  # a text cut short would pass for the answer
            return None
        olds = dict[_Entry, str]()
        for key, text in self._renames.resolve(texts, self._entries):
            entry = self._entries.setdefault(key, _Entry("", len(self._entries), self._run))
            olds.setdefault(entry, entry.text)
            self._size += len(text) - entry.size
            entry.set(text)
            self._note(entry)
        self._final = None
        return self._update(olds.items(), size)

    def _note(self, entry: _Entry) -> None:
        if entry.has_text:
            self._filled.add(entry)
        else:
            self._filled.discard(entry)

    def _begin(self, key: str, text: str, *, is_whole: bool) -> TextUpdate | None:
        """The whole grows by a new text, unless that repeats all that was shown."""
        self._entries[key] = new = _Entry(text, len(self._entries), self._run)
        if not new.has_text:
            return None
        self._filled.add(new)
        if self.shown.is_replaced:
            return None
        if not is_whole or not self.shown.is_repeated_by(text):
            return self.shown.add_text(text, new.place)
        self._filled.remove(new)
        for each in self._filled:
            each.set("")
        self._filled, self._size = {new}, len(text)
        return self.shown.repeat(text, new.place)

    def _update(self, changes: _Changes, size: int, *, is_appended: bool = False) -> TextUpdate | None:
        """Show texts that changed; `size`: their characters. The whole is read only if it changed inside."""
        if self.shown.is_replaced:
            return None
        is_growth, update = self.shown.follow(changes, is_appended=is_appended)
        if is_growth:
            return update
        end = max((entry.place for entry in self._filled), default=-1)
        return self.shown.compare(self.whole, end, size)
