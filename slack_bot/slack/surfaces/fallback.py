"""PURE. On what an answer is shown: one way down, never up again in a turn.

Streaming is the best surface and the one that Slack refuses most often: for bots as askers, in some kinds
of channels, in workspaces without it. Every refusal leads down to a surface that keeps the same promises,
later: a message that is edited while the answer grows, and where not even that is taken, one that is posted
when the answer is whole.
"""

from __future__ import annotations

from enum import StrEnum

from ..blocks import TextForm
from ..fault_policy import ENDS, Remedy


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


def next_surface(surface: Surface, step: Remedy) -> Surface:
    """The surface after `step` was decided for a write on `surface`."""
    if step in ENDS:
        return Surface.NONE
    return _DOWN[surface] if step in (Remedy.DOWN, Remedy.REMEMBER) else surface


class StreamingRefusalCache:
    """What Slack refused lately, so that not every question has to find out anew.

    Surfaces are kept for each team and kind of channel, forms of a text for each team and method, all for
    `seconds` (delivery contract, section 5: 5 minutes).
    """

    def __init__(self, seconds: float = 300.0) -> None:
        self._seconds = seconds
        self._until: dict[tuple[str, str, Surface | TextForm], float] = {}

    def remember(self, team: str, channel: str, surface: Surface, now: float) -> None:
        """`surface` was refused in `channel` for someone of `team`."""
        self._until[team, channel[:1], surface] = now + self._seconds

    def best(self, team: str, channel: str, now: float, *, can_stream: bool = True) -> Surface:
        """The best surface that would not be refused again."""
        for surface in (Surface.NATIVE, Surface.EDIT) if can_stream else (Surface.EDIT,):
            if self._until.get((team, channel[:1], surface), now) <= now:
                return surface
        return Surface.POST

    def remember_form(self, team: str, method: str, form: TextForm, now: float) -> None:
        """A text in this `form` did not work in a call of `method`."""
        self._until[team, method, form] = now + self._seconds

    def refuses_form(self, team: str, method: str, form: TextForm, now: float) -> bool:
        """Whether it would not work again."""
        return self._until.get((team, method, form), now) > now
