"""PURE. The gate on the agent's side: each piece of a model's text becomes narration or answer, as it comes.

The marker gate is the reader's own (`a2a/answer/filters.py`), with what only the agent knows added to
it: where a
tool was called. What a model says before the marker is narration, and none of it waits but what may be the
beginning of a marker; such a beginning is held on over a tool call, for the marker may come after it. A tool
call behind the marker means that the model was not done: what it then says is narration, up to the next
marker. A model that never writes one gave its answer in its last message.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from ...a2a.answer.filters import MarkedText, MarkerFilter


class Voice(StrEnum):
    """What a piece of text is."""

    NARRATION = "is_narration"
    ANSWER = "is_final_answer"
    UNMARKED = ""


@dataclass(frozen=True, slots=True)
class SpokenPiece:
    """Text in one voice."""

    text: str
    voice: Voice


class VoiceSplitter:
    """One run's text. With `marked` false nothing is looked for, and nothing is told apart."""

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
        """What was said since the last tool call, in whichever voice."""
        return "".join(self._message)

    @property
    def everything(self) -> str:
        """All that was said."""
        return "".join(self._earlier) + self.message

    def feed(self, text: str) -> list[SpokenPiece]:
        """Take the next text; what is certain of it, in order."""
        if not self._marked:
            return self._keep([SpokenPiece(text, Voice.UNMARKED)] if text else [])
        return self._keep(self._told(self._marker.feed(text)))

    def border(self) -> list[SpokenPiece]:
        """A tool is called here, or came back: what is certain by that."""
        self._earlier.append(self.message)
        self._message.clear()
        if not self._marked or not self._marker.opened:
            return []
        # what is held is the beginning of a marker or the answer's last letters: what follows tells
        self._owed = "".join(said.text for said in self._marker.end())
        self._parted = bool(self.answer)
        self._opened = True
        self._marker = MarkerFilter()
        return self._keep(self._told(self._marker.feed(self._owed)))

    def end(self) -> list[SpokenPiece]:
        """Nothing follows: what was held."""
        pieces = self._keep(self._told(self._marker.end())) if self._marked else []
        if not self.answer.strip():
            self._answer = [self.message]
        return pieces

    def _told(self, said: list[MarkedText]) -> list[SpokenPiece]:
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
