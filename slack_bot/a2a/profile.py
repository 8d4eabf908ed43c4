"""PURE. What is learned about an agent from one turn, so that its next answer is live from the first token.

Working-status text may be progress or the answer itself; nobody says which, so the first time it is held. If
it turns out to have been the answer, word for word, the agent has a habit, and the store keeps it. An agent
that breaks its habit once is not trusted again: its text is held, and the answer told at the end, because a
reader must not see narration turn into something else twice (delivery.md 2).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

ANSWER_FROM = "answer_source"
MARKER = "marker"
PROFILE_KEYS = (ANSWER_FROM, MARKER)
"""Names of the facts."""
HOLD = "hold"
"""Nothing but what the protocol calls the answer is believed."""
SOURCES = ("artifact", "status", "message")
_FEWEST_STEPS = 2


@dataclass(frozen=True, slots=True)
class TurnObservation:
    """What a turn that came to a good end showed.

    `live` is the source that was believed by habit, "" for none; `was_answer` tells whether all it said is
    the answer. `held` are the sources that were held though they said the answer, in `steps` pieces each.
    """

    live: str = ""
    was_answer: bool = True
    held: tuple[tuple[str, int], ...] = ()
    had_marker: bool = False


def profile_updates(known: Mapping[str, str], seen: TurnObservation) -> dict[str, str]:
    """The facts that `seen` adds to `known` or changes in it."""
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
