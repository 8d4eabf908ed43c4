"""PURE. Thoughts in tags: open models write `<think>...</think>` in front of their answer.

Where nobody between model and bot takes them out, they come as the beginning of the text. Only there are they
looked for: a tag further on is talked about. What is never closed was no such block and is shown as it came.
"""

from __future__ import annotations

import re

_NAMES = ("thinking", "think", "thought", "reasoning")
_OPEN = re.compile(rf"\s*<({'|'.join(_NAMES)})>", re.IGNORECASE)
_CLOSE = {name: re.compile(rf"</{name}>", re.IGNORECASE) for name in _NAMES}
_LONGEST = len("</reasoning>")
_MOST_HELD = 4_000  # characters, white space: what begins later than behind that is no thought


class ThinkTagFilter:
    """One stream of raw text, however it is cut."""

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
                    return "" if _may_begin(self._begun) else self.end()
                self._close, self._begun = _CLOSE[found.group(1).lower()], found.group()
                at = found.end()
            at = self._behind(self._close, text, at)
        return ""

    def end(self) -> str:
        """Nothing follows: what was held, if no tag closed it."""
        held = self._begun + "".join(self._inside)
        self._is_plain, self._begun, self._inside = True, "", []
        return held.lstrip() if self._has_thoughts else held

    def _behind(self, close: re.Pattern[str], text: str, at: int) -> int | None:
        """The index in `text` behind the closing tag, which `at` is before; None as long as there is none."""
        over = close.search(self._tail + text[at : at + _LONGEST]) if self._tail else None
        found = None if over else close.search(text, at)
        if over is not None:
            end = at + over.end() - len(self._tail)
        elif found is not None:
            end = found.end()
        else:
            self._inside.append(text[at:])
            self._tail = (self._tail + text[max(at, len(text) - _LONGEST) :])[-_LONGEST:]
            return None
        inside = "".join([*self._inside, text[at:end]])
        self._thoughts.append(inside[: inside.rindex("<")].strip() + "\n")
        self._close, self._has_thoughts = None, True
        self._begun, self._inside, self._tail = "", [], ""
        return end


def _may_begin(text: str) -> bool:
    start = text.lstrip()[:_LONGEST].lower()
    return len(text) <= _MOST_HELD and any(f"<{name}>".startswith(start) for name in _NAMES)
