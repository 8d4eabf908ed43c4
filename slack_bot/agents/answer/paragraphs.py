"""PURE. Paragraphs that agents leave out: behind a tool, and before a heading that is glued to a sentence."""

import re
from itertools import pairwise

from ...text.markdown import ends_in_code, outside_code
from .keyed_text import StringBuilder
from .token_pace import BEFORE

GAP = "\n\n"
_SENTENCE_ENDS = (".", "!", "?", ":")
_GLUED = re.compile(r"(?<=[.!?:])(?=##+ \S)")
_HEADING = re.compile(r"##+(?!\S)|##+\Z")


class Paragraphs:
    """The paragraphs that are put into an answer."""

    def __init__(self) -> None:
        self._is_due = False  # the next text begins one
        self._seams: list[tuple[str, str]] = []  # the ends and beginnings of texts between which one was put

    def expect(self, *, is_due: bool) -> None:
        """A tool is called. `is_due`: text was shown before, so what follows is a new paragraph."""
        self._is_due = is_due

    def begin(self, text: str) -> str:
        """`text`, which begins or replaces a text."""
        text, self._is_due = self.mend(text), self._is_due and not text.strip()
        return text

    def append(self, text: str, shown: StringBuilder) -> str:
        """`text`, behind `shown`: as a new paragraph after a tool, or if it is a heading right behind a
        sentence."""
        is_apart = self._is_due and bool(text.strip())
        if not is_apart and "##" not in text:
            return text
        end = shown.ending(1)
        if is_apart:
            self._is_due = False
        elif not (end in _SENTENCE_ENDS and _HEADING.match(text)) or ends_in_code(shown.text):
            return unglued(text, shown.text)
        apart = _with_gap(shown.ending(2), text)
        if not (end.isspace() or text[:1].isspace()):
            self._seams.append((shown.ending(BEFORE), text))
        return apart

    def mend(self, text: str) -> str:
        """`text`, a whole one, with the paragraphs that were put into the text shown."""
        for before, after in self._seams:
            text = text.replace(before + after, f"{before}{GAP}{after}", 1)
        return unglued(text)


def unglued(text: str, before: str = "") -> str:
    """`text`, which comes behind `before`: a heading right behind a sentence begins a paragraph."""
    places = [match.start() for match in outside_code(_GLUED, text, before)] if "##" in text else []
    return GAP.join(text[start:end] for start, end in pairwise([0, *places, len(text)]))


def _with_gap(before: str, text: str) -> str:
    count = len(before) - len(before.rstrip("\n")) + len(text) - len(text.lstrip("\n"))
    return "\n" * max(0, 2 - count) + text
