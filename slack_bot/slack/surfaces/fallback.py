"""PURE. Which surface shows an answer: one way down, never up again in a turn.

Streaming is the best surface and the one Slack refuses most often: for bots as askers, in some kinds of
channels, in workspaces without it. Every refusal leads to a surface that keeps the same promises, later.
"""

from __future__ import annotations

from enum import StrEnum

from ..blocks import TextForm
from ..fault_policy import ENDS, Remedy


class SurfaceKind(StrEnum):
    """Where text goes."""

    STREAM = "stream"  # chat.startStream, live
    EDIT = "edit"  # chat.postMessage and chat.update, live, a few seconds behind
    POST = "post"  # chat.postMessage, at the end
    NONE = "none"  # nothing may appear in the thread any more


_DOWN = {SurfaceKind.STREAM: SurfaceKind.EDIT, SurfaceKind.EDIT: SurfaceKind.POST}


def next_surface(kind: SurfaceKind, remedy: Remedy) -> SurfaceKind:
    """The surface after `remedy` was decided for a write on `kind`."""
    if remedy in ENDS:
        return SurfaceKind.NONE
    return _DOWN.get(kind, kind) if remedy in (Remedy.DOWN, Remedy.REMEMBER) else kind


class StreamingRefusalCache:
    """What Slack refused lately, so that not every question has to find out.

    Surfaces are kept for each team and kind of channel, forms of a text for each team and method, all for
    `seconds` (delivery contract, section 5: 5 minutes).
    """

    def __init__(self, seconds: float = 300.0) -> None:
        self._seconds = seconds
        self._until: dict[tuple[str, str, SurfaceKind | TextForm], float] = {}

    def remember(self, team: str, channel: str, kind: SurfaceKind, now: float) -> None:
        """`kind` was refused in `channel` for someone of `team`."""
        self._until[team, channel[:1], kind] = now + self._seconds

    def best(self, team: str, channel: str, now: float, *, can_stream: bool = True) -> SurfaceKind:
        """The best surface that was not refused lately."""
        for kind in (SurfaceKind.STREAM, SurfaceKind.EDIT) if can_stream else (SurfaceKind.EDIT,):
            if self._until.get((team, channel[:1], kind), now) <= now:
                return kind
        return SurfaceKind.POST

    def remember_form(self, team: str, method: str, form: TextForm, now: float) -> None:
        self._until[team, method, form] = now + self._seconds

    def refuses_form(self, team: str, method: str, form: TextForm, now: float) -> bool:
        return self._until.get((team, method, form), now) > now
