"""PURE. The pace of an answer: when it could be read, in what portions, and how long nothing came.

What is measured of a turn is measured here, so that all verbs say the same. The burst share is the largest
part of the text that came within half a second: near 1, the answer came all at once.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TypeAlias

from .replay.diff import kept, not_kept
from .turn_log import LoggedTurn, non_space_chars

BURST_WITHIN = 0.5
"""Seconds of one burst."""
SILENCE = 2.0
"""Seconds without anything, from which on they are marked."""
AT_THE_END = 0.05
"""Seconds before the end, or a fiftieth of a short turn. What is shown within them is not live: an agent's
last events come together."""
DIGITS = 3
"""Of seconds and shares."""
_WORTH_STREAMING = 200  # characters; a sentence or two always come at once
_SOON = 1.5  # seconds; what is shown within them is live

Curve: TypeAlias = tuple[tuple[float, int], ...]
"""Times, and a number of characters at each."""


@dataclass(frozen=True, slots=True)
class Span:
    """A time in which nothing came."""

    start: float
    end: float

    @property
    def length(self) -> float:
        return self.end - self.start


def spans(times: Sequence[float]) -> list[Span]:
    """From each of `times` to the next."""
    return [Span(before, after) for before, after in pairwise(times) if after > before]


def longest(quiet: Iterable[Span]) -> float:
    """The seconds of the longest; 0 if there is none."""
    return round(max((span.length for span in quiet), default=0.0), DIGITS)


def share_of(part: float, whole: int) -> float | None:
    """`part` of `whole`, from 0 to 1. None: there is no whole."""
    return round(part / whole, DIGITS) if whole else None


def seconds(value: float | None) -> str:
    """A time for people."""
    return "–" if value is None else f"{value:.2f} s" if value < 10 else f"{value:.1f} s"


def share(value: float | None) -> str:
    """A part of all, for people."""
    return "–" if value is None else f"{value:.0%}"


# -- portions ------------------------------------------------------------------------------------------------


def growths(turn: LoggedTurn) -> Curve:
    """When there was more to read than ever before in `turn`, and how many characters more.

    In monotonic seconds. What was taken away again was no answer.
    """
    found, size = list[tuple[float, int]](), len(turn.before)
    most = non_space_chars(turn.before)
    for change in turn.changes if turn.own_text else ():
        if change.non_space > most:
            found.append((change.at, max(0, change.chars - size)))
            most, size = change.non_space, max(size, change.chars)
    return tuple(found)


def rises(curve: Curve, height: int = 0) -> Curve:
    """When `curve` rose above `height`, and by how much."""
    found = list[tuple[float, int]]()
    for t, size in curve:
        if size > height:
            found.append((t, size - height))
            height = size
    return tuple(found)


def longest_gap(portions: Curve) -> float:
    """The longest time between one portion and the next."""
    return longest(spans([at for at, _ in portions]))


def burst_share(portions: Sequence[tuple[float, int]]) -> float | None:
    """The most that came within `BURST_WITHIN`, as a part of all that came. None: nothing came."""
    most = window = first = 0
    for t, size in portions:
        window += size
        while portions[first][0] < t - BURST_WITHIN:
            window -= portions[first][1]
            first += 1
        most = max(most, window)
    return share_of(most, sum(size for _, size in portions))


def burst_share_of(turns: Sequence[Curve]) -> float | None:
    """The burst share of several turns, by their sizes. None: nothing came."""
    sizes = [sum(size for _, size in turn) for turn in turns]
    bursts = [(burst_share(turn) or 0.0) * size for turn, size in zip(turns, sizes, strict=True)]
    return share_of(sum(bursts), sum(sizes))


def is_burst(share: float | None, chars: int) -> bool:
    """Of an answer of so many characters, more came at once than should. `share`: its burst share."""
    return (share or 0.0) > 0.5 and chars > _WORTH_STREAMING


# -- live ----------------------------------------------------------------------------------------------------


def live_chars(turn: LoggedTurn, until: float = math.inf) -> tuple[int, int]:
    """How many characters, without white space, were visible well before the end and stayed; of how many.

    Nothing that was shown from `until` on, in monotonic seconds, counts.
    """
    end, early, whole = turn.first_end, turn.before, turn.own_text
    if end is not None:
        took = end - turn.started.at if turn.started else math.inf
        until = min(until, end - min(AT_THE_END, took / 50))
    for change, text in turn.texts():
        if change.at < until:
            early = text
    stayed = kept(early.removeprefix(turn.before), whole)
    return sum(map(non_space_chars, stayed)), non_space_chars(whole)


def live_share(live: Sequence[tuple[int, int]]) -> float | None:
    """The share of several turns, of what `live_chars` says of each. None: there is no text."""
    return share_of(sum(kept for kept, _ in live), sum(whole for _, whole in live))


def late_from(turn: LoggedTurn, sent: Curve) -> float:
    """When text was shown that was long there, and the agent had sent all of it. `math.inf`: never.

    `sent` is how much of the turn's answer was sent by when; without it nothing is late.
    """
    before, shown = non_space_chars(turn.before), 0
    for change in turn.changes:
        if change.non_space - before > shown:
            came = next((t for t, size in sent if size > shown), math.inf)
            if sent and change.at >= sent[-1][0] and change.at - came > _SOON:
                return change.at
            shown = change.non_space - before
    return math.inf


def most_taken_back(looks: Iterable[str], end: str) -> int:
    """The most characters of any of `looks` that are not there in the `end`."""
    return max((not_kept(look, end) for look in looks), default=0)


def lag(sent: Curve, visible: Curve, end: float, but: int) -> float:
    """The longest time in which more than `but` characters of what the agent had sent were not visible."""
    most, at = 0.0, 0
    for t, size in sent:
        while at < len(visible) and visible[at][1] < size - but:
            at += 1
        if size > but:
            seen = visible[at][0] if at < len(visible) else end
            most = max(most, seen - t)
    return round(most, DIGITS)
