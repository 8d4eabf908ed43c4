"""PURE. Thoughts in tags: open models write `<think>...</think>` in front of their answer.

Where nobody between model and bot takes them out, they come as the beginning of the text. Only there are they
looked for: a tag further on is talked about. What is never closed was no such block and is shown as it came.
"""

from __future__ import annotations

import re

_NAMES = ("thinking", "think", "thought", "reasoning")
_OPEN = re.compile(rf"\s*<({'|'.join(_NAMES)})>", re.IGNORECASE)
_LONGEST = len("</reasoning>")


class ThoughtGate:
    """One stream of raw text, however it is cut. `thoughts`: what the tags held so far."""

    def __init__(self) -> None:
        self.thoughts = ""
        self._is_plain = False
        self._begun = ""
        self._close: re.Pattern[str] | None = None
        self._inside: list[str] = []
        self._tail = ""

    def feed(self, text: str) -> str:
        """Take the next text; what of it is certainly no thought."""
        if self._is_plain:
            return text
        while True:
            if self._close is None:
                self._begun += text
                found = _OPEN.match(self._begun)
                if found is None:
                    return "" if _may_begin(self._begun) else self.end()
                self._close = re.compile(rf"</{found.group(1)}>", re.IGNORECASE)
                self._begun, text = found.group(), self._begun[found.end() :]
            rest = self._behind(self._close, text)
            if rest is None:
                return ""
            self._close, text = None, rest

    def end(self) -> str:
        """Nothing follows: what was held, if no tag closed it."""
        held = self._begun + "".join(self._inside)
        self._is_plain, self._begun, self._inside = True, "", []
        return held.lstrip() if self.thoughts else held

    def _behind(self, close: re.Pattern[str], text: str) -> str | None:
        """The text behind the closing tag; None as long as there is none."""
        window = self._tail + text
        self._inside.append(text)
        found = close.search(window)
        if found is None:
            self._tail = window[-_LONGEST:]
            return None
        rest = window[found.end() :]
        inside = "".join(self._inside)
        self.thoughts += inside[: len(inside) - len(rest) - len(found.group())].strip() + "\n"
        self._begun, self._inside, self._tail = "", [], ""
        return rest


def _may_begin(text: str) -> bool:
    start = text.lstrip().lower()
    return any(f"<{name}>".startswith(start) for name in _NAMES)
