"""PURE. On what an answer is shown: one way down, never up again in a turn.

Streaming is the best surface and the one that Slack refuses most often: for bots as askers, in some kinds
of channels, in workspaces without it. Every refusal leads down to a surface that keeps the same promises,
later: a message that is edited while the answer grows, and where not even that is taken, one that is posted
when the answer is whole.
"""

from __future__ import annotations

from enum import StrEnum

from .steps import ENDS, Step


class Surface(StrEnum):
    """Where text goes."""

    NATIVE = "native"  # chat.startStream, live
    EDIT = "edit"  # chat.postMessage and chat.update, live, a few seconds behind
    POST = "post"  # chat.postMessage, at the end
    NONE = "none"  # nowhere: nothing may appear in the thread any more


_DOWN = {
    Surface.NATIVE: Surface.EDIT,
    Surface.EDIT: Surface.POST,
    Surface.POST: Surface.POST,
    Surface.NONE: Surface.NONE,
}


def next_surface(surface: Surface, step: Step) -> Surface:
    """The surface after `step` was decided for a write on `surface`."""
    if step in ENDS:
        return Surface.NONE
    return _DOWN[surface] if step in (Step.DOWN, Step.REMEMBER) else surface


class Memory:
    """Where Slack refused a surface lately, so that not every question has to find out anew.

    Kept for each team and kind of channel, for `seconds` (delivery contract, section 5: 5 minutes).
    """

    def __init__(self, seconds: float = 300.0) -> None:
        self._seconds = seconds
        self._until: dict[tuple[str, str, Surface], float] = {}

    def remember(self, team: str, channel: str, surface: Surface, now: float) -> None:
        """`surface` was refused in `channel` for someone of `team`."""
        self._until[team, channel[:1], surface] = now + self._seconds

    def best(self, team: str, channel: str, now: float, *, can_stream: bool = True) -> Surface:
        """The best surface that would not be refused again."""
        for surface in (Surface.NATIVE, Surface.EDIT) if can_stream else (Surface.EDIT,):
            if self._until.get((team, channel[:1], surface), now) <= now:
                return surface
        return Surface.POST
