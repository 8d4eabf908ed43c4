"""PURE. Splits a model's text into narration and answer, piece by piece.

Text waits only if it may be the beginning of a marker, also over a tool call. After a tool call behind the
marker comes narration again, up to the next marker. Without a marker the last message is the answer.
"""

from enum import StrEnum
from typing import TypeAlias

from ...agents.answer.filters import MarkerFilter


class Voice(StrEnum):
    """The kind of a piece of text: its key in the metadata of an event."""

    NARRATION = "is_narration"
    ANSWER = "is_final_answer"
    UNMARKED = ""


SpokenPiece: TypeAlias = tuple[str, Voice]


class VoiceSplitter:
    """The text of one run. `marked` false: no marker is looked for, and nothing is split."""

    def __init__(self, *, marked: bool = True) -> None:
        self._marked = marked
        self._marker = MarkerFilter()
        self._owed = ""  # what was held at a tool call: an answer's end, or the beginning of a marker
        self._parted = False  # a tool call came behind an answer
        self._answer: list[str] = []
        self._message: list[str] = []
        self._earlier: list[str] = []

    @property
    def answer(self) -> str:
        """The answer so far; at the end, where there was no marker, the model's last message."""
        return "".join(self._answer)

    @property
    def text(self) -> str:
        """The text since the last tool call; all of it where there is none since."""
        return "".join(self._message or self._earlier)

    def feed(self, text: str) -> list[SpokenPiece]:
        """Take more text. Returns the pieces that are certain, in order."""
        if self._marked:
            return self._split(self._marker.feed(text))
        return self._keep([(text, Voice.UNMARKED)] if text else [])

    def border(self) -> list[SpokenPiece]:
        """A tool was called or returned. Returns the pieces that are now certain."""
        self._earlier += self._message
        self._message.clear()
        if not self._marker.opened:
            return []
        self._owed = "".join(self._marker.feed("", is_end=True))
        self._parted = bool(self.answer)
        self._marker = MarkerFilter()
        return self._split(self._marker.feed(self._owed))

    def end(self) -> list[SpokenPiece]:
        pieces = self._split(self._marker.feed("", is_end=True))
        if not self.answer.strip():
            self._answer = self._message
        return pieces

    def _split(self, said: tuple[str, str]) -> list[SpokenPiece]:
        pieces: list[SpokenPiece] = []
        narration, answer = said
        if narration:
            owed, self._owed = self._owed, ""
            pieces += [(owed, Voice.ANSWER)] if owed else []
            pieces += [(rest, Voice.NARRATION)] if (rest := narration.removeprefix(owed)) else []
        if answer:
            # behind a tool call an answer goes on in a new paragraph
            apart, self._owed, self._parted = "\n\n" * self._parted, "", False
            pieces.append((apart + answer, Voice.ANSWER))
        return self._keep(pieces)

    def _keep(self, pieces: list[SpokenPiece]) -> list[SpokenPiece]:
        self._answer += (text for text, voice in pieces if voice is Voice.ANSWER)
        self._message += (text for text, _ in pieces)
        return pieces
