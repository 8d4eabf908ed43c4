"""PURE. Replaces words by other words of the same length: a text keeps its shape and loses its content.

Each letter's replacement depends on the letters before it in the word. So equal words stay equal, different
ones different, and a text may come in deltas cut anywhere. Replacements are chosen in the order of the text:
without the tape nothing can be looked up. After `MOST_NODES` of them, new words are shifted letter by letter,
by a hash of all text read so far.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass, field
from hashlib import sha256

KEPT = ("https", "http", "FINAL", "ANSWER")
"""Words that every parser of a tape needs. Their first letters stay in other words, too."""
JSON_KEPT = (
    *("is_task_complete", "require_user_input", "was_task_successful", "content", "metadata", "true"),
    *("false", "null", "user_input", "input_fields", "field_name", "field_description", "field_values"),
    "required",
)
"""Further words where an agent writes its answer as JSON text."""

MOST_NODES = 200_000
"""Beginnings of words that are remembered: about 60 MB, more than the words of a tape need."""

_LOWER, _UPPER, _DIGITS = "abcdefghijklmnopqrstuvwxyz", "ABCDEFGHIJKLMNOPQRSTUVWXYZ", "0123456789"
_TWO_BYTES = "àáâãäåæçèéêëìíîïðñòóôõöøùúûüýþÿ"
_WIDE = (0x4E00, 0x9FA5)  # three bytes
_WIDER = (0x20000, 0x2A6D6)  # four bytes


@dataclass(slots=True)
class _Node:
    """The replacement of each next letter after the letters of a word, of which `seed` is a hash."""

    seed: bytes = b""
    next: dict[str, tuple[str, _Node]] = field(default_factory=dict)

    @property
    def taken(self) -> set[str]:
        return {chosen for chosen, _ in self.next.values()}


class Pseudonyms:
    """The replacements of all words of one tape. `kept` are not replaced."""

    def __init__(self, kept: Iterable[str] = KEPT, most: int = MOST_NODES) -> None:
        self._root = _Node()
        self._read, self._key = sha256(), b""
        self._left = most
        for word in kept:
            node = self._root
            for letter in word:
                node = self._next(node, letter, letter)[1]

    def stream(self) -> Scrambler:
        """For a text that comes in pieces."""
        return Scrambler(self)

    def text(self, text: str) -> str:
        return self.stream().push(text)

    def note(self, text: str) -> None:
        if not self._key:
            self._read.update(text.encode("utf-8", "surrogatepass"))

    def step(self, node: _Node | None, letter: str) -> tuple[str, _Node | None]:
        """The replacement of `letter` after `node` (None: a word begins), and the node after it."""
        if letter == "_" or unicodedata.category(letter) in ("Mn", "Mc"):
            return letter, self._next(node or self._root, letter, letter)[1]
        if not (letter.isalpha() or letter in _DIGITS):
            return letter, None
        return self._next(node or self._root, letter, None)

    def _next(self, node: _Node, letter: str, wanted: str | None) -> tuple[str, _Node]:
        if letter in node.next:
            return node.next[letter]
        if self._key:
            return _shifted(node, letter, wanted, self._key)
        chosen = wanted or _chosen(node, letter)
        found = node.next[letter] = chosen, _Node(_hash(node.seed, chosen)[:8])
        self._left -= 1
        if self._left <= 0:
            self._key = self._read.digest()
        return found


class Scrambler:
    """One text in pieces. A word may be cut by the border of two pieces."""

    def __init__(self, words: Pseudonyms) -> None:
        self._words = words
        self._node: _Node | None = None
        self._kept = 0  # letters to keep: hexadecimal digits of a JSON escape
        self._escaped = False

    def push(self, text: str) -> str:
        """The replacement of the next piece."""
        self._words.note(text)
        return "".join(map(self._letter, text))

    def pause(self) -> None:
        """The next piece begins a new word."""
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
    """A letter of the same kind that replaces no other one here."""
    if letter in _DIGITS:
        return _first_free(node, _DIGITS, letter)
    if letter.isascii():
        return _first_free(node, _UPPER if letter.isupper() else _LOWER, letter)
    size = len(letter.encode("utf-8", "surrogatepass"))
    if size == 2:
        found = _first_free(node, _TWO_BYTES, letter.lower())
        return found.upper() if letter.isupper() and len(found.upper()) == 1 else found
    low, high = _WIDE if size == 3 else _WIDER
    taken = node.taken
    at = _number(_hash(node.seed, letter), high - low - len(taken))
    return next(chr(n) for n in range(low + at, high) if chr(n) not in taken)


def _first_free(node: _Node, letters: str, own: str) -> str:
    shift, taken = _number(_hash(node.seed, ""), len(letters)), node.taken
    order = letters[shift:] + letters[:shift]
    free = [each for each in order if each not in taken]
    return next((each for each in free if each != own), free[0] if free else order[0])


def _shifted(node: _Node, letter: str, wanted: str | None, key: bytes) -> tuple[str, _Node]:
    """As `_chosen`, but nothing is remembered: different letters of one alphabet stay different."""
    digest = _hash(key + node.seed, "")
    after = _Node(digest[8:16] + letter.encode("utf-8", "surrogatepass"))
    if wanted is not None:
        return wanted, after
    letters = next((each for each in (_LOWER, _UPPER, _DIGITS) if letter in each), "")
    if not letters:
        return _chosen(_Node(digest), letter), after
    taken = node.taken
    mine = [each for each in letters if each not in node.next] if taken else letters
    free = [each for each in letters if each not in taken] if taken else letters
    turn = 1 + _number(digest, len(free) - 1)
    return free[(mine.index(letter) + turn) % len(free)], after


def _hash(seed: bytes, text: str) -> bytes:
    return sha256(seed + text.encode("utf-8", "surrogatepass")).digest()


def _number(digest: bytes, below: int) -> int:
    return int.from_bytes(digest[:4]) % max(1, below)
