"""PURE. How one turn went, on one line: its end, how soon and how steadily its answer could be read."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from ..trace.figures import BURST_WITHIN, burst_share
from ..turn_log import failed_calls
from .result import ReplayedTurn

_WORTH_STREAMING = 200  # characters; a sentence or two always come at once
_LONG = 2.0  # seconds


def pace_of(replayed: ReplayedTurn) -> str:
    """The line, without a line end. Times count from the question."""
    ended, calls = replayed.turn.ended, replayed.turn.calls
    outcome = ended.outcome if ended else "not taken"
    reason = ended.reason if ended else "the bot did not take the question"
    failed = len(failed_calls(replayed.turn))
    words = [
        outcome + (f" ({reason})" if reason else ""),
        *_visible_text(replayed),
        f"{len(calls)} Slack calls",
        *([f"{failed} of them failed"] if failed else []),
    ]
    return ", ".join(words)


def _visible_text(replayed: ReplayedTurn) -> Iterator[str]:
    turn, growths = replayed.turn, replayed.growths
    asked, ended = ([each.at] if each else [] for each in (turn.started, turn.ended))
    first = round(growths[0][0] - asked[0], 3) if growths and asked else None
    if first is not None:
        yield f"first text after {first:g} s"
    is_long = sum(size for _, size in growths) > _WORTH_STREAMING
    if is_long and (burst := burst_share(growths) or 0.0) > 0.5:
        yield f"{burst:.0%} of it within half a second"
    times = [*asked, *(at for at, _ in growths), *ended]
    waited = round(max((after - before for before, after in pairwise(times)), default=0.0), 3)
    if waited >= _LONG and waited != first:
        yield f"{waited:g} s without anything new"
    if (live := replayed.live_share) is not None:
        yield f"{live:.0%} live"
    if gap := replayed.longest_gap:
        yield f"longest gap {gap:g} s"


assert BURST_WITHIN == 0.5, "the words name it"
