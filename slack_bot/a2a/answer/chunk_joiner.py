"""PURE. Whether a text that comes under a new id goes on where the one before it ended.

Many servers make a new artifact, or a new message, of each chunk: samples that call `new_text_artifact` for
every token, Spring AI Alibaba (numbers for names), Agent Framework for .NET (a message an update). A reader
wants one text. White space in the line, or a word that goes on, shows such a seam; once one was found, what
follows of the same make belongs to it as well.
"""

from __future__ import annotations

import re

BEFORE = 32
"""Characters in front of a seam that are looked at: those of a chunk that may be part of a word."""
_SENTENCE_ENDS = frozenset(".!?…:;。！？：；")
_STOPS = frozenset(".!?")
_CLOSES = frozenset(".,;:!?…)]}'’\"”%。，、；：！？）」』")
_OPENS = frozenset("([{“‘（「『")
_NUMBER = re.compile(r"\d*\Z")
_WIDE = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff]")


class ChunkJoiner:
    """The chunks of one source of text, as far as they come under ids of their own."""

    __slots__ = ("_chunked",)

    def __init__(self) -> None:
        self._chunked: str | None = None

    def joins(self, name: str, last_name: str, before: str, text: str, *, over_lines: bool = False) -> bool:
        """`text` goes on in what ended with `before`; both have a name by their agent, or "".

        `over_lines`: the agent said that it appends, so a line end at the seam means nothing else.
        """
        make = _make(name)
        if not before or not text:
            return False
        if over_lines and (before[-1:].isspace() or text[:1].isspace()):
            self._chunked = make
            return True
        if make != _make(last_name):
            return False
        if begins_anew(before, text) if self._chunked == make else not goes_on(before, text):
            return False
        self._chunked = make
        return True


def begins_anew(before: str, text: str) -> bool:
    """A sentence ended and the next one begins with nothing between: no model writes its tokens so."""
    return before[-1:] in _STOPS and text[:1].isupper()


def goes_on(before: str, text: str) -> bool:
    """`text` goes on in the line, or in the word, in which `before` ended."""
    end, start = before[-1:], text[:1]
    if end in "\r\n" or start in "\r\n":
        return False
    if end.isspace() or start.isspace():
        return True
    if end in _SENTENCE_ENDS:
        return False
    if _WIDE.match(end):
        return bool(_WIDE.match(start)) or start in _CLOSES
    is_piece = len(before) < BEFORE and not any(char.isspace() for char in before)
    if start in _CLOSES or end in _OPENS or (is_piece and not any(char.isalnum() for char in before)):
        return True
    return end.isalnum() and is_piece and (start.islower() or start.isdigit())


def _make(name: str) -> str:
    """Names that only count are no names."""
    return "" if _NUMBER.match(name) else name
