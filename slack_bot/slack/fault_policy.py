"""PURE. What to do after a write that failed for good, as one table (delivery contract, section 5).

That a turn goes down the surfaces and never up, and that every case has an end, is decided here.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum

from .blocks import TextForm
from .faults import Fault

MAX_DOUBTS = 4
"""Calls without an answer in one turn after which streaming is given up: an edit can be repeated safely."""


class SurfaceKind(StrEnum):
    """Where text goes."""

    STREAM = "stream"  # chat.startStream, live
    EDIT = "edit"  # chat.postMessage and chat.update, live, a few seconds behind
    POST = "post"  # chat.postMessage, at the end
    NONE = "none"  # nothing may appear in the thread any more


class Remedy(StrEnum):
    """What comes next."""

    PLAIN = "plain"  # the same once more, its text only
    SETTLE = "settle"  # find out what the message shows, before anything else goes to it
    NEXT = "next"  # the message takes no more: what is confirmed stays, the rest goes into the next one
    DOWN = "down"  # the next surface, in this turn
    REMEMBER = "remember"  # the next surface, here and for others in this kind of channel, for a while
    STOPPED = "stopped"  # the human stopped it: no answer text appears any more
    TELL = "tell"  # the bot may not write here: the asker gets a direct message, once
    LEAVE = "leave"  # the thread is gone: end quietly
    DEAD = "dead"  # the token is no longer good


AFTER_WRITE: Mapping[Fault, Remedy] = {
    Fault.LATER: Remedy.DOWN,  # it was waited for as long as the settings allow
    Fault.WRONG_CALL: Remedy.PLAIN,
    Fault.UNKNOWN: Remedy.SETTLE,
    Fault.SEALED: Remedy.NEXT,
    Fault.FULL: Remedy.NEXT,
    Fault.STILL_OPEN: Remedy.SETTLE,
    Fault.STOPPED: Remedy.STOPPED,
    Fault.NOT_HERE: Remedy.REMEMBER,
    Fault.NOT_THIS_ONE: Remedy.DOWN,
    Fault.NO_WRITING: Remedy.TELL,
    Fault.GONE: Remedy.LEAVE,
    Fault.DEAD: Remedy.DEAD,
}

FINAL_FAULTS = frozenset({Fault.GONE, Fault.DEAD, Fault.NO_WRITING})
"""Nothing can be written in the thread any more."""

ENDS = frozenset({Remedy.STOPPED, Remedy.TELL, Remedy.LEAVE, Remedy.DEAD})
"""After these nothing more of the answer is written."""

_DOWN = {SurfaceKind.STREAM: SurfaceKind.EDIT, SurfaceKind.EDIT: SurfaceKind.POST}


def after_write(fault: Fault, *, opens: bool, is_plain: bool, in_doubt: bool = False) -> Remedy:
    """The remedy after a write failed with `fault`.

    `opens`: it would have opened the message. `is_plain`: it was in its plainest form already. `in_doubt`: an
    earlier attempt may have been applied.
    """
    remedy = AFTER_WRITE[fault]
    if in_doubt and remedy not in ENDS:
        return Remedy.SETTLE
    if remedy is Remedy.PLAIN and is_plain:
        return Remedy.DOWN
    if remedy is Remedy.NEXT and opens:
        return Remedy.DOWN  # a message that takes nothing at all: the next one would not either
    return remedy


def next_surface(kind: SurfaceKind, remedy: Remedy) -> SurfaceKind:
    """The surface after `remedy` was decided for a write on `kind`."""
    if remedy in ENDS:
        return SurfaceKind.NONE
    return _DOWN.get(kind, kind) if remedy in (Remedy.DOWN, Remedy.REMEMBER) else kind


class StreamingRefusalCache:
    """What Slack refused lately, so that not every question has to find out.

    Surfaces are kept for each team and kind of channel, forms of a text for each team and method.
    """

    def __init__(self, seconds: float = 300.0) -> None:
        self._seconds = seconds
        self._until: dict[tuple[str, str, SurfaceKind | TextForm], float] = {}

    def remember(self, team: str, channel: str, kind: SurfaceKind, now: float) -> None:
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
