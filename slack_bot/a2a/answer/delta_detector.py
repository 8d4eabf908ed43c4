"""PURE. The chunks of one artifact: deltas, or the whole so far again and again; nobody says which.

Some servers send growing snapshots and say `append` all the same (AgentScope Java). A chunk that begins with
all that was said, and goes on, is taken for such a snapshot; the next chunk shows whether that was right. If
it was not, the text is told anew, as deltas. Where the first chunks were too short to tell, three that each
begin with the letters of the one before show it too.
"""

from __future__ import annotations

from ...turn.compare import normalize

_LEAST_LETTERS = 3  # of ASCII; other scripts say as much with one
_LEAST_CHAINED = 8  # characters of a chunk; shorter ones may well begin alike
_LEAST_LINKS = 2
_GAP = "\n\n"


class DeltaDetector:
    """What the chunks of one artifact add up to."""

    __slots__ = ("_guessed", "_links", "_parts", "_squeezed", "_sure", "_worded")

    def __init__(self, text: str = "") -> None:
        self._parts = [text] if text else []
        self._guessed: tuple[str, ...] = ()
        self._links = self._worded = 0
        self._sure = False
        self._squeezed: str | None = None  # the last part, where it was asked for

    def take(self, chunk: str) -> tuple[str, bool]:
        """Take the next chunk. Returns text, and whether it appends; if not, it is the whole by now."""
        if not chunk:
            return "", True
        last = self._parts[-1] if self._parts else ""
        goes_on = bool(last) and len(chunk) > len(last) and chunk.startswith(last)
        if self._sure:
            return self._snapshot(last, chunk, goes_on=goes_on)
        if self._guessed:
            return self._judged(last, chunk, goes_on=goes_on)
        self._links = self._links + 1 if goes_on else 0
        says_it_again = any(char.isalnum() for char in last)  # marks and white space begin many a delta
        self._worded = self._worded + says_it_again if goes_on else 0
        if goes_on and len(self._parts) == 1 and _tells(last):
            self._guessed, self._parts = (last, chunk), [chunk]
            return chunk[len(last) :], True
        self._parts.append(chunk)
        if self._worded >= _LEAST_LINKS and len(chunk) >= _LEAST_CHAINED and _tells(chunk):
            del self._parts[-1 - self._links : -1]
            self._sure = True
            return "".join(self._parts), False
        return chunk, True

    def _judged(self, last: str, chunk: str, *, goes_on: bool) -> tuple[str, bool]:
        """The chunk behind the first one that looked like a snapshot."""
        guessed, self._guessed = self._guessed, ()
        if goes_on or chunk == last:
            self._sure, self._parts = True, [chunk]
            return chunk[len(last) :], True
        self._parts = [*guessed, chunk]
        return "".join(self._parts), False

    def _snapshot(self, last: str, chunk: str, *, goes_on: bool) -> tuple[str, bool]:
        if goes_on:
            self._parts[-1], self._squeezed = chunk, None
            return chunk[len(last) :], True
        if self._squeezed is None:
            self._squeezed = normalize(last)
        if self._squeezed.startswith(normalize(chunk)):
            return "", True
        self._squeezed = None
        self._parts.append(chunk)  # the next of the agent's messages begins
        return _GAP + chunk, True


def whole_of(chunks: list[str]) -> str:
    """The text of an artifact as a task holds it: its chunks, as its server kept them."""
    if len(chunks) < _LEAST_LINKS + 1:
        return "".join(chunks)
    growth, said = DeltaDetector(), list[str]()
    for chunk in chunks:
        text, append = growth.take(chunk)
        if not append:
            said.clear()
        said.append(text)
    return "".join(said)


def _tells(text: str) -> bool:
    """Enough was said for a chunk that begins alike to mean something."""
    letters = [char for char in text if char.isalpha()]
    return len(letters) >= _LEAST_LETTERS or any(not char.isascii() for char in letters)
