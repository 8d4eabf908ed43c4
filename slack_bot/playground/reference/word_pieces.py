"""PURE. Text in pieces that look whole: never half a word, never a half-drawn character.

The structured mode's text comes out of JSON in fragments of any size; a reader should not see `pow` become
`powered`. The boundaries and numbers are those of CAIPE's supervisor (facts: CAIPE 6). One thing differs on
purpose: what is left in the buffer belongs to the answer and is said before the answer ends.
"""

from __future__ import annotations

from collections.abc import Iterator

from ...turn.graphemes import inside_cluster

BOUNDARIES = frozenset(" \n\r\t.,!?:;-)]}>*#/\\[({<\"'`")
LONGEST_WORD = 80
CHUNK = 200


class WordBuffer:
    """Holds the beginning of a word until its end, or until it is longer than a word is."""

    def __init__(self, held: str = "") -> None:
        self._held = held

    @property
    def held(self) -> str:
        """What waits for its end."""
        return self._held

    def feed(self, text: str) -> str:
        """Take the next text; what is whole by now."""
        text = self._held + text
        end = next((at for at in range(len(text), 0, -1) if text[at - 1] in BOUNDARIES), 0)
        if end == 0 and len(text) > LONGEST_WORD:
            end = _drawn(text, len(text))
        self._held = text[end:]
        return text[:end]

    def end(self) -> str:
        """Nothing follows: what waited."""
        text, self._held = self._held, ""
        return text


def chunks(text: str, size: int = CHUNK) -> Iterator[str]:
    """`text` in pieces of at most `size` characters, cut behind a space where there is one."""
    at = 0
    while len(text) - at > size:
        space = text.rfind(" ", at, at + size)
        end = space + 1 if space >= at else _drawn(text, at + size, at)
        yield text[at:end]
        at = end
    if at < len(text):
        yield text[at:]


def _drawn(text: str, end: int, start: int = 0) -> int:
    """The nearest cut at or before `end` that halves no character; `end` itself where there is none."""
    return next((at for at in range(end, start, -1) if not inside_cluster(text, at)), end)
