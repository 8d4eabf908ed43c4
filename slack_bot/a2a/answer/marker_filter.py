"""PURE. The marker gate: some models write `[FINAL ANSWER]` where their thinking ends and the answer begins.

What stands before the marker is narration, what stands after it is the answer, and the marker itself is never
shown: not in two halves over a delta's border, not a second time. Only an end that may be the beginning of a
marker is held, so an ordinary word is not; over a tool call it is held on. A marker in quotes is talked
about, not used, and stays what it is (facts: CAIPE 6).
"""

from __future__ import annotations

import re
from dataclasses import dataclass

_MARKER = re.compile(r"\[FINAL[ _]ANSWER\]", re.IGNORECASE)
_SPELLINGS = ("[final answer]", "[final_answer]")
_LONGEST = len(_SPELLINGS[0])
_QUOTES = {'"': '"', "'": "'", "`": "`", "“": "”", "‘": "’", "«": "»"}


@dataclass(frozen=True, slots=True)
class MarkedText:
    """Text from one side of the marker."""

    text: str
    is_answer: bool


class MarkerFilter:
    """One stream of raw text, however it is cut. `opened`: the marker was there."""

    def __init__(self) -> None:
        self.opened = False
        self._held = ""
        self._before = ""
        self._bare = False

    def feed(self, text: str) -> list[MarkedText]:
        """Take the next text; what is certain of it, in order."""
        if not self._held and not self._bare and "[" not in text:
            self._before = text[-1:] or self._before
            return [MarkedText(text, self.opened)] if text else []
        return self._passed(text, is_end=False)

    def end(self) -> list[MarkedText]:
        """Nothing follows: what was held, if it is no marker."""
        return self._passed("", is_end=True)

    def _passed(self, text: str, *, is_end: bool) -> list[MarkedText]:
        text, self._held = self._held + text, ""
        said: list[MarkedText] = []
        at = searched = 0
        while (found := _MARKER.search(text, searched)) is not None:
            quote = self._quote_before(text, found.start())
            if quote and found.end() == len(text) and not is_end:
                break  # the next character decides whether it is quoted
            searched = found.end()
            if quote and text[searched : searched + 1] == _QUOTES[quote]:
                continue
            self._say(text[at : found.start()], said)
            at = searched
            self._bare = self._bare or not self.opened
            self.opened = True
        end = len(text) if is_end else self._held_from(text, max(at, searched))
        self._held = text[end:]
        self._before = text[end - 1 : end] or self._before
        self._say(text[at:end], said)
        return said

    def _quote_before(self, text: str, start: int) -> str:
        before = text[start - 1] if start else self._before
        return before if before in _QUOTES else ""

    def _held_from(self, text: str, done: int) -> int:
        """Where the end of `text` may begin a marker, or is one that waits for the quote behind it."""
        start = text.rfind("[", max(done, len(text) - _LONGEST))
        tail = text[start:].lower() if start >= 0 else ""
        return start if tail and any(each.startswith(tail) for each in _SPELLINGS) else len(text)

    def _say(self, text: str, said: list[MarkedText]) -> None:
        if self._bare:
            text = text.lstrip()
            self._bare = not text
        if text:
            said.append(MarkedText(text, self.opened))
