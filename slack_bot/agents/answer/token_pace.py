"""PURE. Whether a text comes token by token, as a model writes an answer, or in sentences about the work.

A model's tokens are cut within a sentence, at a space. What a program says of its work comes in sentences
(facts: A2A 13).
"""

import re
from collections.abc import Iterable, Sequence
from itertools import pairwise

BEFORE = 32  # characters before a new text that are looked at
LINE_ENDS = frozenset(".!?…:;。！？：；")
CLOSES = frozenset(".,;:!?…)]}'’\"”%。，、；：！？）」』")
_OPENS = frozenset("([{“‘（「『")
_WIDE = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff]")
_LABELS = 2  # texts in a row that each begin as the one before: `step 1`, `step 2`, `step 3`
_CUTS = 2  # places within sentences at which a text was cut: then it comes in tokens
_WIDE_TOKEN = 4  # characters; in scripts without spaces a longer piece may be a sentence
_GAP = "\n\n"


class TokenPace:
    """The pieces of one text. `start`: where in it the answer began, characters from its beginning.

    `is_sentence`: all that came since is one sentence, in one piece. `label`: the last text of a row of such
    that say how far the work is, each in a piece of its own.
    """

    def __init__(self) -> None:
        self._pieces = self._labels = 0  # of the whole turn; the last ones that begin alike
        self._last = ""
        self.restart()

    def restart(self) -> None:
        self.start = self._size = self._cuts = 0
        self._before, self.is_sentence = "", False

    @property
    def is_tokens(self) -> bool:
        return self._cuts >= _CUTS

    @property
    def label(self) -> str:
        return self._last if self._labels >= _LABELS else ""

    @property
    def has_only_labels(self) -> bool:
        return bool(self.label) and self._labels == self._pieces - 1

    def _count_label(self, piece: str) -> bool:
        """Two glued pieces of several words that begin with the same one are no pieces of one text."""
        last, self._last = self._last, piece
        self._pieces += 1
        is_glued = bool(last) and not (last[-1].isspace() or piece[:1].isspace())
        word, _, more = piece.partition(" ")
        is_label = is_glued and bool(more) and last.startswith(word + " ")
        self._labels = self._labels + 1 if is_label else 0
        return is_label

    def feed(self, piece: str) -> None:
        was_label = bool(self.label)
        ends_labels = not self._count_label(piece) and was_label
        before, self._before = self._before, (self._before + piece)[-BEFORE:]
        is_glued = not (before[-1:].isspace() or piece[:1].isspace())
        if not before or ends_labels or piece.startswith(_GAP) or (self.is_sentence and is_glued):
            lead = len(piece) - len(piece.lstrip("\n")) if before and piece.startswith(_GAP) else 0
            self.start, self._cuts, self.is_sentence = self._size + lead, 0, _is_sentence(piece.lstrip("\n"))
        else:
            self.is_sentence = False
            self._cuts += is_cut(before, piece)
        self._size += len(piece)


def _is_sentence(piece: str) -> bool:
    return " " in piece and "\n" not in piece and piece[-1:] in LINE_ENDS


def is_cut(before: str, piece: str) -> bool:
    """One sentence was cut into these, at a space or between two characters of a script without spaces."""
    end, start = before[-1:], piece[:1]
    if not piece.strip() or before.rstrip()[-1:] in LINE_ENDS or "\n" in (end, start):
        return False
    if end.isspace() or start.isspace():
        return True
    return 0 < len(piece) <= _WIDE_TOKEN and is_wide(end) and is_wide(start) and goes_on(before, piece)


def goes_on(before: str, text: str) -> bool:
    """`text` continues the line, or the word, in which `before` ended."""
    end, start = before[-1], text[0]
    if end in "\r\n" or start in "\r\n":
        return False
    if end.isspace() or start.isspace():
        return True
    if end in LINE_ENDS:
        return False
    if is_wide(end):
        return is_wide(start) or start in CLOSES
    is_piece = len(before) < BEFORE and not any(char.isspace() for char in before)
    if start in CLOSES or end in _OPENS or (is_piece and not has_letters(before)):
        return True
    return end.isalnum() and is_piece and (start.islower() or start.isdigit())


def is_wide(char: str) -> bool:
    """`char` is of a script without spaces."""
    return _WIDE.match(char) is not None


def has_letters(text: str) -> bool:
    """A letter or digit is in `text`."""
    return any(char.isalnum() for char in text)


def in_tokens(texts: Iterable[str]) -> bool:
    """These texts, one after the other, come at a token's pace."""
    pace = TokenPace()
    for text in texts:
        pace.feed(text)
    return pace.is_tokens


def may_begin_tokens(texts: Sequence[str]) -> bool:
    """They are too few to show a pace, and one was cut from another, or none is more than a word."""
    if len(texts) > _CUTS + 1:
        return False
    return any(is_cut(*each) for each in pairwise(texts)) or not any(" " in each.strip() for each in texts)
