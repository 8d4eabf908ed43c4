"""PURE. How one turn went, on one line: the end of it, how soon and how steadily its answer could be read."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

from ...observe.facts import SlackCalled, TurnStarted
from ..trace.figures import BURST_WITHIN, burst_share
from .result import ReplayedTurn, is_of_stop

_WORTH_STREAMING = 200  # characters; a sentence or two always come at once
_LONG = 2.0  # seconds
_DIGITS = 3


@dataclass(frozen=True, slots=True)
class Pace:
    """The figures of one turn. Times in seconds from its question, None where there was nothing to read.

    `waited` is the longest time without anything new to read, from the question to the end; `burst` the
    largest part of the text that was shown within `BURST_WITHIN` seconds, None where it is too short to tell.
    """

    outcome: str
    reason: str | None
    first_visible: float | None
    burst: float | None
    live: float | None
    longest_gap: float | None
    waited: float
    calls: int
    failed: int


def pace_of(turn: ReplayedTurn) -> Pace:
    """The figures of `turn`."""
    growths, closed = turn.growths, turn.closed
    calls = [fact for fact in turn.facts if isinstance(fact, SlackCalled)]
    stopped = closed is not None and closed.outcome == "stopped"
    asked = next((fact.at for fact in turn.facts if isinstance(fact, TurnStarted)), None)
    times = [each for each in (asked, *(at for at, _ in growths)) if each is not None]
    waits = [after - before for before, after in pairwise([*times, *([closed.at] if closed else [])])]
    is_long = sum(size for _, size in growths) > _WORTH_STREAMING
    return Pace(
        outcome=closed.outcome if closed else "not taken",
        reason=closed.reason if closed else "the bot did not take the question",
        first_visible=round(growths[0][0] - asked, _DIGITS) if growths and asked is not None else None,
        burst=burst_share(growths) if is_long else None,
        live=turn.live_share,
        longest_gap=turn.longest_gap,
        waited=round(max(waits, default=0.0), _DIGITS),
        calls=len(calls),
        failed=sum(not each.ok and not is_of_stop(each.error, stopped) for each in calls),
    )


def as_words(pace: Pace) -> str:
    """The line, without a line end."""
    return ", ".join(_words(pace))


def _words(pace: Pace) -> Iterator[str]:
    yield pace.outcome + (f" ({pace.reason})" if pace.reason else "")
    if pace.first_visible is not None:
        yield f"first text after {pace.first_visible:g} s"
    if pace.burst is not None and pace.burst > 0.5:
        yield f"{pace.burst:.0%} of it within half a second"
    if pace.waited >= _LONG and pace.waited != pace.first_visible:
        yield f"{pace.waited:g} s without anything new"
    if pace.live is not None:
        yield f"{pace.live:.0%} live"
    if pace.longest_gap:
        yield f"longest gap {pace.longest_gap:g} s"
    yield f"{pace.calls} Slack calls"
    if pace.failed:
        yield f"{pace.failed} of them failed"


assert BURST_WITHIN == 0.5, "the words name it"
