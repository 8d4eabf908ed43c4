"""PURE. Whether a text under a new id continues the text before it.

Many servers make a new artifact, or a new message, of each chunk: samples that call `new_text_artifact` for
every token, Spring AI Alibaba (numbers for names), Agent Framework for .NET (a message an update). White
space within the line, or a word that continues, shows such a chunk; then the following ones of the same name
are chunks too.
"""

from __future__ import annotations

import re

BEFORE = 32
"""Characters before the new text that are looked at."""
_SENTENCE_ENDS = frozenset(".!?…:;。！？：；")
_STOPS = frozenset(".!?")
_CLOSES = frozenset(".,;:!?…)]}'’\"”%。，、；：！？）」』")
_OPENS = frozenset("([{“‘（「『")
_NUMBER = re.compile(r"\d*\Z")
_WIDE = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff]")


class ChunkJoiner:
    """Joins the chunks of one source that come under ids of their own."""

    __slots__ = ("_chunked",)

    def __init__(self) -> None:
        self._chunked: str | None = None

    def joins(self, name: str, last_name: str, before: str, text: str, *, over_lines: bool = False) -> bool:
        """`text` continues the text that ends with `before`; a name may be "".

        `over_lines`: the agent says that it appends, so a line end between the two is part of the text.
        """
        group = _group(name)
        if not before or not text:
            return False
        if over_lines and (before[-1:].isspace() or text[:1].isspace()):
            self._chunked = group
            return True
        if group != _group(last_name):
            return False
        if begins_anew(before, text) if self._chunked == group else not goes_on(before, text):
            return False
        self._chunked = group
        return True


def begins_anew(before: str, text: str) -> bool:
    """A sentence begins right behind another, without a space: tokens of a model look otherwise."""
    return before[-1:] in _STOPS and text[:1].isupper()


def goes_on(before: str, text: str) -> bool:
    """`text` continues the line, or the word, in which `before` ended."""
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


def _group(name: str) -> str:
    """Numbers are no names."""
    return "" if _NUMBER.match(name) else name
