"""PURE. Splits a model's text into narration and answer, piece by piece.

The marker filter is the bot's own (`a2a/answer/filters.py`); only the agent knows where a tool was
called. Text before the marker is narration and waits only if it may be the beginning of a marker, also over a
tool call. After a tool call behind the marker comes narration again, up to the next marker. Without a marker
the last message is the answer.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from ...a2a.answer.filters import MarkedText, MarkerFilter


class Voice(StrEnum):
    """The kind of a piece of text."""

    NARRATION = "is_narration"
    ANSWER = "is_final_answer"
    UNMARKED = ""


@dataclass(frozen=True, slots=True)
class SpokenPiece:
    """Text of one kind."""

    text: str
    voice: Voice


class VoiceSplitter:
    """The text of one run. `marked` false: no marker is looked for, and nothing is split."""

    def __init__(self, *, marked: bool = True) -> None:
        self._marked = marked
        self._marker = MarkerFilter()
        self._owed = ""
        self._answer: list[str] = []
        self._message: list[str] = []
        self._earlier: list[str] = []
        self._parted = False
        self._opened = False

    @property
    def answer(self) -> str:
        """The answer so far; at the end, where there was no marker, the model's last message."""
        return "".join(self._answer)

    @property
    def opened(self) -> bool:
        """There was a marker."""
        return self._opened or self._marker.opened

    @property
    def message(self) -> str:
        """The text since the last tool call, of every kind."""
        return "".join(self._message)

    @property
    def everything(self) -> str:
        """The whole text."""
        return "".join(self._earlier) + self.message

    def feed(self, text: str) -> list[SpokenPiece]:
        """Take more text. Returns the pieces that are certain, in order."""
        if not self._marked:
            return self._keep([SpokenPiece(text, Voice.UNMARKED)] if text else [])
        return self._keep(self._split(self._marker.feed(text)))

    def border(self) -> list[SpokenPiece]:
        """A tool was called or returned. Returns the pieces that are certain by that."""
        self._earlier.append(self.message)
        self._message.clear()
        if not self._marked or not self._marker.opened:
            return []
        # what is held is the beginning of a marker or the end of the answer: the next text decides
        self._owed = "".join(said.text for said in self._marker.end())
        self._parted = bool(self.answer)
        self._opened = True
        self._marker = MarkerFilter()
        return self._keep(self._split(self._marker.feed(self._owed)))

    def end(self) -> list[SpokenPiece]:
        """No more text. Returns what was held."""
        pieces = self._keep(self._split(self._marker.end())) if self._marked else []
        if not self.answer.strip():
            self._answer = [self.message]
        return pieces

    def _split(self, said: list[MarkedText]) -> list[SpokenPiece]:
        pieces: list[SpokenPiece] = []
        for each in said:
            owed, self._owed = self._owed, ""
            if each.is_answer:
                # an answer that goes on behind a tool call goes on in a new paragraph
                apart, self._parted = "\n\n" * self._parted, False
                pieces.append(SpokenPiece(apart + each.text, Voice.ANSWER))
                continue
            pieces += [SpokenPiece(owed, Voice.ANSWER)] if owed else []
            pieces += [SpokenPiece(rest, Voice.NARRATION)] if (rest := each.text.removeprefix(owed)) else []
        return pieces

    def _keep(self, pieces: list[SpokenPiece]) -> list[SpokenPiece]:
        self._answer += (piece.text for piece in pieces if piece.voice is Voice.ANSWER)
        self._message += (piece.text for piece in pieces)
        return pieces
