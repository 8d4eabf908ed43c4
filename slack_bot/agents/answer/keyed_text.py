"""PURE. The text of one source, put together from texts that grow, are replaced, or come twice.

A chunk may change what was shown. Slack cannot take text back, so then the whole is shown again, once; what
follows is kept for the end (facts: A2A 8.1). Nothing here copies the whole for one chunk.
"""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from ...text.compare import missing_suffix, normalize
from .token_pace import is_cut

_GAP = "\n\n"
_MOST_COMPARED = 100_000_000  # characters that a turn may compare again, beyond those that came
_MOST_SOUGHT = 1_000_000  # comparisons in a turn of a text with one of another key
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


class _Text(StringBuilder):
    """One text. `place`: in their order. `run`: the last one that added to it."""

    __slots__ = ("place", "run")

    def __init__(self, text: str, place: int, run: int) -> None:
        super().__init__(text)
        self.place, self.run = place, run


class KeyedText:
    """Texts by key, in the order in which they began, with a blank line between.

    Beyond `budget` characters `overflow` is set and text is no longer taken. After an update that replaces,
    no other follows: the text in the end is `final`. `shown` is what was shown before. `updates` counts what
    was put.
    """

    def __init__(self, budget: int) -> None:
        self.budget, self.overflow, self.updates = budget, False, 0
        self._texts: dict[str, _Text] = {}
        self._spoken: set[_Text] = set()  # those with more than white space
        self.shown = StringBuilder()
        self._end = -1  # the place of the text that `_shown` ends with
        self._is_exact = True  # what was shown is the whole, to the letter
        self._is_replaced = False
        self._size = self._run = self._compared = self._sought = 0
        self._final: StringBuilder | None = None

    @property
    def whole(self) -> str:
        """The texts that are not blank, a blank line between them."""
        return _GAP.join(text.text for text in self._texts.values() if text.has_text)

    @property
    def final(self) -> StringBuilder:
        """As `whole`, without what was set aside, equal texts once."""
        if self._final is None:
            texts = [text for text in self._texts.values() if text.has_text]
            once = dict[str, str]()
            for text in [text for text in texts if text.run == self._run] or texts:
                once.setdefault(text.normalized, text.text)
            self._final = StringBuilder(_GAP.join(once.values()))
        return self._final

    @property
    def has_text(self) -> bool:
        return bool(self._spoken)

    @property
    def last_key(self) -> str:
        return next(reversed(self._texts), "")

    def has(self, key: str) -> bool:
        return key in self._texts

    def text_of(self, key: str) -> str:
        return self._texts[key].text if key in self._texts else ""

    def is_cut(self, key: str, text: str, most: int) -> bool:
        """The text `key` and `text` are both short, and one sentence that was cut at a space."""
        known = self._texts.get(key)
        if known is None or not known.has_text or max(known.size, len(text)) > most:
            return False
        return not text.startswith(known.text) and is_cut(known.text, text)

    def repeats(self, text: str) -> bool:
        """`text` repeats all that was shown, and may continue it."""
        shown = self.shown
        if len(text) < _LEAST_REPEATED and shown.size <= _SHORT and normalize(text) == shown.normalized:
            return not (shown.ending(1).isspace() or text[:1].isspace())
        return shown.has_text and len(text) >= shown.size and missing_suffix(shown.text, text) is not None

    def set_aside(self) -> None:
        """What came so far is not the answer, if anything follows."""
        self._run += 1
        self._final = None

    def put(self, key: str, text: str, *, append: bool) -> TextUpdate | None:
        """Append to the text `key`, or replace it. None: nothing is to be shown."""
        known = self._texts.get(key)
        size = len(text) if append or known is None else len(text) - known.size
        if self._size + size > self.budget:
            self.overflow = True
            return None
        self._size += size
        self.updates += 1
        self._final = None
        if known is None:
            return self._begin(key, text, is_whole=not append)
        known.run = self._run
        if append and known.place == self._end and not self._is_replaced:  # so it is with nearly every token
            known.add(text)
            self.shown.add(text)
            return TextUpdate(text) if text else None
        old = "" if self._is_replaced else known.text
        if append:
            known.add(text)
        else:
            known.set(text)
        self._note(known)
        return self._tell([(known, old)], len(text), is_appended=append)

    def snapshot(self, texts: Iterable[tuple[str, str]]) -> TextUpdate | None:
        """The texts are now these. Others stay, unless they are among these under new keys."""
        named = list(texts)
        size = sum(len(text) for _, text in named)
        if size > self.budget:
            self.overflow = True  # a text cut short would pass for the answer
            return None
        olds = dict[_Text, str]()
        for key, text in self._with_known_keys(named):
            known = self._texts.setdefault(key, _Text("", len(self._texts), self._run))
            olds.setdefault(known, known.text)
            self._size += len(text) - known.size
            known.set(text)
            self._note(known)
        self._final = None
        return self._tell(olds.items(), size)

    def _note(self, text: _Text) -> None:
        if text.has_text:
            self._spoken.add(text)
        else:
            self._spoken.discard(text)

    def _with_known_keys(self, named: list[tuple[str, str]]) -> Iterator[tuple[str, str]]:
        """The texts, each with the key under which its beginning is known: servers rename artifacts.

        To compare thousands with each other would take too long.
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

    def _begin(self, key: str, text: str, *, is_whole: bool) -> TextUpdate | None:
        """The whole grows by a new text, unless that repeats all that was shown."""
        self._texts[key] = new = _Text(text, len(self._texts), self._run)
        if not new.has_text:
            return None
        self._spoken.add(new)
        if self._is_replaced:
            return None
        if not is_whole or not self.repeats(text):
            return self._grow(self._gap() + text, new.place)
        more = missing_suffix(self.shown.text, text) or ""
        self._spoken.remove(new)
        for each in self._spoken:
            each.set("")
        self._spoken, self._size = {new}, len(text)
        grown = self._grow(more, new.place)
        self._is_exact = self.shown.text == text
        return grown

    def _gap(self) -> str:
        return _GAP if self.shown.has_text else ""

    def _grow(self, text: str, place: int) -> TextUpdate | None:
        self.shown.add(text)
        self._end = place
        return TextUpdate(text) if text else None

    def _tell(
        self, changes: Iterable[tuple[_Text, str]], size: int, *, is_appended: bool = False
    ) -> TextUpdate | None:
        """Show texts that changed, given with what they were. Growth at the end needs no look at the rest."""
        if self._is_replaced:
            return None
        if not (self._is_exact or is_appended):
            return self._show_again(size)
        end, more = self._end, list[str]()
        for text, old in sorted(changes, key=lambda change: change[0].place):
            now, had_text = text.text, bool(old) and not old.isspace()
            if now == old or not (had_text or text.has_text):
                continue
            if text.place == end and had_text and now.startswith(old):
                more.append(now[len(old) :])
            elif text.place > end and not had_text:
                more += [_GAP if more else self._gap(), now]
            else:
                return self._show_again(size)
            end = text.place
        return self._grow("".join(more), end)

    def _show_again(self, size: int) -> TextUpdate | None:
        """Compare the whole with what was shown; `size` is that of the new text."""
        shown, whole = self.shown.text, self.whole
        self._compared += max(0, len(shown) - size)
        if whole.startswith(shown) and self._compared <= _MOST_COMPARED:
            self._is_exact = True
            return self._grow(whole[len(shown) :], max((text.place for text in self._spoken), default=-1))
        self._is_replaced = True
        return TextUpdate(whole, replaces=True)
