"""PURE. What a turn teaches about an agent, so that its next answer is live from the first token.

Working-status text may be progress or the answer; the protocol does not say which, so the first time it is
held. If it was the answer, word for word, the store keeps that. An agent that once answers otherwise is not
trusted again: a reader must not see narration turn into something else twice (delivery.md 2).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

ANSWER_FROM = "answer_source"
MARKER = "marker"
PROFILE_KEYS = (ANSWER_FROM, MARKER)
HOLD = "hold"
"""Only what the protocol calls the answer is trusted."""
SOURCES = ("artifact", "status", "message")
_FEWEST_STEPS = 2


@dataclass(frozen=True, slots=True)
class TurnObservation:
    """What a completed turn showed.

    `live` is the source that was trusted by profile, "" for none; `was_answer`: all of its text was the
    answer. `held` are the sources that were held though they had the answer, and in how many pieces.
    """

    live: str = ""
    was_answer: bool = True
    held: tuple[tuple[str, int], ...] = ()
    had_marker: bool = False


def profile_updates(known: Mapping[str, str], seen: TurnObservation) -> dict[str, str]:
    """What `seen` adds to `known` or changes in it."""
    facts: dict[str, str] = {}
    if seen.had_marker and known.get(MARKER) != "yes":
        facts[MARKER] = "yes"
    if seen.live and not seen.was_answer:
        facts[ANSWER_FROM] = HOLD
    elif not known.get(ANSWER_FROM):
        source = next((source for source, steps in seen.held if steps >= _FEWEST_STEPS), None)
        if source is not None:
            facts[ANSWER_FROM] = source
    return facts
