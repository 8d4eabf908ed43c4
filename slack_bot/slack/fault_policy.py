"""PURE. What to do after a write that failed for good, as one table (delivery contract, section 5).

`write` means a call that shows something new: a start, an append, a post, an edit. What to do depends on the
fault and on what was tried before. That the surface only ever goes down, and that every case has an end, is
decided here, where it can be tested as a table.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum

from .faults import Fault

MAX_DOUBTS = 4
"""Calls without an answer in one turn after which streaming is given up: an edit can be repeated safely."""


class Remedy(StrEnum):
    """What comes next."""

    PLAIN = "plain"  # the same once more, its text only
    SETTLE = "settle"  # find out what stands, before anything else goes to that message
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


def after_write(fault: Fault, *, opens: bool, is_plain: bool, in_doubt: bool = False) -> Remedy:
    """The remedy after a write failed with `fault`.

    `opens`: it would have opened the message. `is_plain`: it was in its plainest form already. `in_doubt`: an
    earlier attempt may have been applied, whatever the last one was told.
    """
    remedy = AFTER_WRITE[fault]
    if in_doubt and remedy not in ENDS:
        return Remedy.SETTLE
    if remedy is Remedy.PLAIN and is_plain:
        return Remedy.DOWN
    if remedy is Remedy.NEXT and opens:
        return Remedy.DOWN  # a message that takes nothing at all: the next one would not either
    return remedy
