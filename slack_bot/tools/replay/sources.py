"""PURE. Which events brought a text that the bot put together in the end, out of what had come before."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass, replace
from itertools import accumulate

_CHANCE = 10  # characters; fewer may be alike by chance


@dataclass(frozen=True, slots=True)
class Cause:
    """Why something happened. `number` is the agent's event, None where the bot itself was the cause."""

    at: float
    number: int | None
    name: str
    reason: str


Piece = tuple[str, Cause]


class Sources:
    """Takes the texts of one turn's events in their order."""

    def __init__(self) -> None:
        self._heard: list[Piece] = []

    def hear(self, text: str, cause: Cause) -> None:
        """The text of one event."""
        if text:
            self._heard.append((text, cause))

    def of(self, text: str, usual: Cause) -> list[Piece]:
        """`text` in pieces, each with the event that brought it, in order; `usual` where none is known.

        The reason is always that of `usual`: it says why the text is shown.
        """
        return [(piece, replace(cause, reason=usual.reason)) for piece, cause in self._pieces(text, usual)]

    def _pieces(self, text: str, usual: Cause) -> list[Piece]:
        whole = text.strip()
        for heard, cause in reversed(self._heard):
            if whole and whole in heard:
                return [(text, cause)]
        if in_a_row := self._in_a_row(text):
            return in_a_row
        found = list[Piece]()
        for part, by in self._put_together(text):
            if by is not None:
                found.append((part, by))
            elif found and not part.strip():
                found.append((part, found[-1][1]))
            else:
                found += self._in_a_row(part) or [(part, usual)]
        return found

    def _put_together(self, text: str) -> list[tuple[str, Cause | None]]:
        """`text` cut where it holds the whole of what an event said, the last events first."""
        parts: list[tuple[str, Cause | None]] = [(text, None)]
        for heard, cause in reversed(self._heard):
            said = heard.strip()
            places = (n for n, (part, by) in enumerate(parts) if by is None and said in part)
            if len(said) < _CHANCE or (n := next(places, None)) is None:
                continue
            before, _, after = parts[n][0].partition(said)
            cut: list[tuple[str, Cause | None]] = [(before, None), (said, cause), (after, None)]
            parts[n : n + 1] = [each for each in cut if each[0]]
        return parts

    def _in_a_row(self, text: str) -> list[Piece]:
        """`text` where it came in several events, one after the other."""
        whole = text.strip()
        start = "".join(heard for heard, _ in self._heard).find(whole) if whole else -1
        if start < 0:
            return []
        ends = list(accumulate(len(heard) for heard, _ in self._heard))
        found = list[Piece]()
        at, end = start, start + len(whole)
        while at < end:
            number = bisect_right(ends, at)
            found.append((whole[at - start : ends[number] - start], self._heard[number][1]))
            at = ends[number]
        before, _, after = text.partition(whole)
        found[0] = before + found[0][0], found[0][1]
        found[-1] = found[-1][0] + after, found[-1][1]
        return found
