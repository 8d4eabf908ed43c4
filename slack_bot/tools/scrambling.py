"""PURE. Words become other words of the same length, so that a text keeps its shape and loses its content.

A word is replaced letter by letter, and which letter stands for which depends on the letters before it in
the word. So equal words stay equal, different ones different, the beginning of a word becomes the beginning
of its replacement, and a text may come in deltas cut anywhere. Replacements are given out in the order in
which words appear: the same tape always becomes the same, and without it nothing can be looked up.

White space, punctuation, emoji and Markdown stay. So do a few words that are protocol (`KEPT`).
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass, field
from hashlib import sha256

KEPT = ("https", "http", "FINAL", "ANSWER")
"""Words that mean something to every reader of a tape. Their first letters stay in other words, too."""
JSON_KEPT = (
    *(
        "is_task_complete",
        "require_user_input",
        "was_task_successful",
        "content",
        "metadata",
        "true",
        "false",
    ),
    *("null", "user_input", "input_fields", "field_name", "field_description", "field_values", "required"),
)
"""Further ones where an agent writes its answer as JSON text."""

_LOWER, _UPPER, _DIGITS = "abcdefghijklmnopqrstuvwxyz", "ABCDEFGHIJKLMNOPQRSTUVWXYZ", "0123456789"
_TWO_BYTES = "àáâãäåæçèéêëìíîïðñòóôõöøùúûüýþÿ"
_WIDE = (0x4E00, 0x9FA5)  # three bytes
_WIDER = (0x20000, 0x2A6D6)  # four bytes


@dataclass(slots=True)
class _Node:
    """What stands for each next letter, after the letters that led here."""

    path: str = ""
    ways: dict[str, tuple[str, _Node]] = field(default_factory=dict)
    taken: set[str] = field(default_factory=set)


class Words:
    """All words of one tape. `kept` are left as they are."""

    def __init__(self, kept: Iterable[str] = KEPT) -> None:
        self._root = _Node()
        for word in kept:
            node = self._root
            for letter in word:
                node = self._way(node, letter, letter)[1]

    def stream(self) -> Scrambler:
        """A text that comes in pieces."""
        return Scrambler(self)

    def text(self, text: str) -> str:
        """A text of its own."""
        return self.stream().push(text)

    def step(self, node: _Node | None, letter: str) -> tuple[str, _Node | None]:
        """What stands for `letter` after `node` (None: a word begins), and the node after it."""
        if letter == "_" or unicodedata.category(letter) in ("Mn", "Mc"):
            return letter, self._way(node or self._root, letter, letter)[1]
        if not (letter.isalpha() or letter in _DIGITS):
            return letter, None
        return self._way(node or self._root, letter, None)

    def _way(self, node: _Node, letter: str, wanted: str | None) -> tuple[str, _Node]:
        if letter not in node.ways:
            chosen = wanted or _chosen(node, letter)
            node.taken.add(chosen)
            node.ways[letter] = chosen, _Node(node.path + chosen)
        return node.ways[letter]


class Scrambler:
    """One text in pieces. A word goes on over the border of two pieces."""

    def __init__(self, words: Words) -> None:
        self._words = words
        self._node: _Node | None = None
        self._kept = 0  # letters to leave as they are: what follows a backslash is JSON's own
        self._escaped = False

    def push(self, text: str) -> str:
        """The next piece."""
        return "".join(map(self._letter, text))

    def pause(self) -> None:
        """The next piece begins a word of its own."""
        self._node = None

    def _letter(self, letter: str) -> str:
        if self._escaped:
            self._escaped = False
            self._kept = 4 if letter == "u" else 0
            return letter
        if letter == "\\":
            self._escaped, self._node = True, None
            return letter
        if self._kept and letter in "0123456789abcdefABCDEF":
            self._kept -= 1
            return letter
        self._kept = 0
        shown, self._node = self._words.step(self._node, letter)
        return shown


def _chosen(node: _Node, letter: str) -> str:
    """A letter of the same kind that stands for no other one here yet."""
    if letter in _DIGITS:
        return _first_free(node, _DIGITS, letter)
    if letter.isascii():
        return _first_free(node, _UPPER if letter.isupper() else _LOWER, letter)
    size = len(letter.encode("utf-8", "surrogatepass"))
    if size == 2:
        found = _first_free(node, _TWO_BYTES, letter.lower())
        return found.upper() if letter.isupper() and len(found.upper()) == 1 else found
    low, high = _WIDE if size == 3 else _WIDER
    at = _number(node.path + letter, high - low - len(node.taken))
    return next(chr(n) for n in range(low + at, high) if chr(n) not in node.taken)


def _first_free(node: _Node, letters: str, own: str) -> str:
    shift = _number(node.path, len(letters))
    order = letters[shift:] + letters[:shift]
    free = [each for each in order if each not in node.taken]
    return next((each for each in free if each != own), free[0] if free else order[0])


def _number(text: str, below: int) -> int:
    return int.from_bytes(sha256(text.encode("utf-8", "surrogatepass")).digest()[:4]) % max(1, below)
