"""PURE. On what an answer is shown: one way down, never up again in a turn.

Streaming is the best surface and the one that Slack refuses most often: for bots as askers, in some kinds
of channels, in workspaces without it. Every refusal leads down to a surface that keeps the same promises,
later. Between the native stream and the single post there will be a third, post and edit; it takes its
place in `_DOWN`.
"""

from __future__ import annotations

from enum import StrEnum

from .faults import Fault


class Surface(StrEnum):
    """Where text goes."""

    NATIVE = "native"  # chat.startStream, live
    POST = "post"  # chat.postMessage, at the end
    NONE = "none"  # nowhere: nothing may appear in the thread any more


_DOWN = {Surface.NATIVE: Surface.POST, Surface.POST: Surface.POST, Surface.NONE: Surface.NONE}
_ENDS = frozenset({Fault.STOPPED, Fault.GONE, Fault.NO_WRITING, Fault.DEAD})


def next_surface(surface: Surface, fault: Fault) -> Surface:
    """The surface after a write on `surface` failed with `fault` for good."""
    return Surface.NONE if fault in _ENDS else _DOWN[surface]


class Memory:
    """Where Slack refused streaming lately, so that not every question has to find out anew.

    Kept for each team and kind of channel, for `seconds` (delivery contract, section 5: 5 minutes).
    """

    def __init__(self, seconds: float = 300.0) -> None:
        self._seconds = seconds
        self._until: dict[tuple[str, str], float] = {}

    def remember(self, team: str, channel: str, now: float) -> None:
        """Streaming was refused in `channel` for someone of `team`."""
        self._until[team, channel[:1]] = now + self._seconds

    def refuses(self, team: str, channel: str, now: float) -> bool:
        """Whether it would be refused again."""
        return self._until.get((team, channel[:1]), now) > now
