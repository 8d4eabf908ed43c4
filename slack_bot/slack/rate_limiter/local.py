"""The governor at work: calls wait here for their slot, in this process.

A turn asks for a slot before it takes its text out of the buffer, so text that comes while it waits goes with
the same call. A slot that is not used is given back, whatever ends the wait. Nothing polls: whoever comes,
gives back or is refused makes the governor decide anew, and one timer stands at the time it names.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace
from enum import Enum, auto
from typing import Protocol

from ...clock import Clock
from ...settings.models import GovernorSettings
from .governor import CallDecision, CallRequest, Governor, Priority, RateLimits
from .token_bucket import Rate

_MINUTE = 60.0
_TICK = 0.001  # seconds: a timer that rings early must not ring for ever

READS = frozenset({"conversations.replies", "conversations.history", "conversations.info", "users.info"})
"""Methods that only read. They refuse JSON bodies: their arguments go into the address (facts: Slack 7)."""


class Permit(Protocol):
    """A place in the line for one call; once granted, the right to make it."""

    @property
    def is_settled(self) -> bool:
        """`wait` returns at once."""

    def move(self, rank: Priority, wake: Callable[[], None] | None = None) -> None:
        """Go on waiting with another rank, the place among equals kept; `wake` is called instead."""

    async def wait(self, patience: float) -> float | None:
        """Return None when it is granted, or the seconds Slack wants no such call where these are more than
        `patience`. A stream that Slack refused to start waits `start_slot_timeout` again and no longer.
        Cancelled, it
        is given back."""

    def use(self) -> None:
        """The call is made now."""

    def refused(self, seconds: float) -> None:
        """Slack refused the call and asked for a pause."""

    def give_back(self) -> None:
        """The call is not made. May be called at any time, more than once."""


class RateLimiter(Protocol):
    """Where slots are handed out: here for one process, or a shared one for several."""

    def reserve(self, want: CallRequest, wake: Callable[[], None] | None = None) -> Permit:
        """Wait for a slot. `wake` is called once when the wait is over, unless that is at once.

        The want's number and times are the gate's to fill in; `unseen_since` 0 means since now.
        """


def limits_of(settings: GovernorSettings) -> RateLimits:
    """The budgets that the settings name."""

    def a_minute(calls: float) -> Rate:
        return Rate(calls * settings.rate_utilization / _MINUTE, max(1.0, calls * settings.burst_share))

    posts = Rate(settings.posts_per_second * settings.rate_utilization, settings.post_burst)
    return RateLimits(
        methods={
            "chat.startStream": a_minute(settings.starts_per_minute),
            "chat.stopStream": a_minute(settings.stops_per_minute),
            "chat.appendStream": a_minute(settings.appends_per_minute),
            "chat.update": a_minute(settings.updates_per_minute),
            "chat.postMessage": posts,
            "assistant.threads.setStatus": a_minute(settings.statuses_per_minute),
            **{method: a_minute(settings.reads_per_minute) for method in sorted(READS)},
        },
        others=a_minute(settings.others_per_minute),
        recover_after=settings.recover_after,
        starving_after=settings.starving_after,
    )


class LocalRateLimiter:
    """The gate of one process. Must be built and used on one event loop."""

    def __init__(self, settings: GovernorSettings, clock: Clock) -> None:
        self._clock, self._start_wait = clock, settings.start_slot_timeout
        self._governor = Governor(limits_of(settings))
        self._waiting: dict[int, _LocalPermit] = {}
        self._count = 0
        self._timer: asyncio.TimerHandle | None = None

    @property
    def waiting(self) -> int:
        """How many wait."""
        return len(self._waiting)

    def reserve(self, want: CallRequest, wake: Callable[[], None] | None = None) -> Permit:
        """As `Gate` says."""
        now = self._clock.monotonic()
        self._count += 1
        want = replace(want, number=self._count, asked_at=now, unseen_since=want.unseen_since or now)
        if want.again and want.method == "chat.startStream":
            want = replace(want, ends_at=now + self._start_wait)  # there are other ways to show an answer
        slot = _LocalPermit(self, want)
        self.line_up(slot)
        slot.wake = wake
        return slot

    def line_up(self, slot: _LocalPermit) -> None:
        """A slot waits, or waits with another rank."""
        self._waiting[slot.want.number] = slot
        self._governor.ask(slot.want, self._clock.monotonic())
        self.decide()

    def leave(self, slot: _LocalPermit, *, granted: bool) -> None:
        """A slot is given back."""
        now = self._clock.monotonic()
        self._waiting.pop(slot.want.number, None)
        if granted:
            self._governor.put_back(slot.want, now)
        else:
            self._governor.drop(slot.want, now)
        self.decide()

    def refused(self, want: CallRequest, seconds: float) -> None:
        """Slack refused a call."""
        self._governor.refused(want, seconds, self._clock.monotonic())
        self.decide()

    def decide(self) -> None:
        """Let go who may go, and look again when the next one may."""
        now = self._clock.monotonic()
        for verdict in self._governor.decide(now):
            self._waiting.pop(verdict.want.number).settle(verdict)
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        due = self._governor.next_at(now)
        if due is not None:
            loop = asyncio.get_running_loop()
            self._timer = loop.call_later(max(_TICK, due - now), self.decide)


class _State(Enum):
    WAITING = auto()
    GRANTED = auto()
    BLOCKED = auto()
    OVER = auto()


class _LocalPermit:
    """A slot of a `LocalRateLimiter`."""

    def __init__(self, gate: LocalRateLimiter, want: CallRequest) -> None:
        self._gate = gate
        self.want = want
        self.wake: Callable[[], None] | None = None
        self._state = _State.WAITING
        self._blocked_for: float | None = None
        self._settled = asyncio.Event()

    @property
    def is_settled(self) -> bool:
        return self._state is not _State.WAITING

    def move(self, rank: Priority, wake: Callable[[], None] | None = None) -> None:
        self.wake = wake
        if self._state is _State.WAITING and rank is not self.want.rank:
            self.want = replace(self.want, rank=rank)
            self._gate.line_up(self)

    async def wait(self, patience: float) -> float | None:
        if self._state is _State.WAITING and patience != self.want.patience:
            self.want = replace(self.want, patience=patience)
            self._gate.line_up(self)
        try:
            await self._settled.wait()
        except asyncio.CancelledError:
            self.give_back()
            raise
        return self._blocked_for

    def settle(self, verdict: CallDecision) -> None:
        """The wait is over."""
        self._blocked_for = verdict.blocked_for
        self._state = _State.GRANTED if verdict.blocked_for is None else _State.BLOCKED
        self._settled.set()
        if self.wake is not None:
            self.wake()

    def use(self) -> None:
        self._state = _State.OVER

    def refused(self, seconds: float) -> None:
        self._gate.refused(self.want, seconds)

    def give_back(self) -> None:
        state, self._state = self._state, _State.OVER
        if state in (_State.WAITING, _State.GRANTED):
            self._gate.leave(self, granted=state is _State.GRANTED)
