"""The governor at work in this process: calls wait here for their permits.

A turn reserves a permit before it takes its text out of the buffer, so text that comes meanwhile goes with
the same call. Nothing polls: each new request, return or refusal makes the governor decide again, and one
timer is set to the time it names.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace
from typing import Protocol

from ...clock import Clock
from ...settings.models import GovernorSettings
from .governor import CallDecision, CallRequest, Governor, Priority, RateLimits
from .token_bucket import Rate

_MINUTE = 60.0
_TICK = 0.001  # seconds: a timer that fires early must not fire for ever

READS = frozenset({"conversations.replies", "conversations.history", "conversations.info", "users.info"})
"""Methods that only read. They refuse JSON bodies: their arguments go into the address (facts: Slack 7)."""


class RateLimiter(Protocol):
    """Grants permits: `LocalRateLimiter` for one process, or a shared one for several."""

    def reserve(self, request: CallRequest, wake: Callable[[], None] | None = None) -> Permit:
        """Wait for a permit. `wake` is called once when the wait is over, unless that is at once.

        The rate limiter fills in the request's number and times; `unseen_since` 0 means since now.
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
    """The rate limiter of one process. Must be built and used on one event loop."""

    def __init__(self, settings: GovernorSettings, clock: Clock) -> None:
        self._clock, self._start_timeout = clock, settings.start_slot_timeout
        self._governor = Governor(limits_of(settings))
        self._waiting: dict[int, Permit] = {}
        self._count = 0
        self._timer: asyncio.TimerHandle | None = None

    def reserve(self, request: CallRequest, wake: Callable[[], None] | None = None) -> Permit:
        now = self._clock.monotonic()
        self._count += 1
        ends_at = request.ends_at
        if request.again and request.method == "chat.startStream":
            ends_at = now + self._start_timeout  # there are other ways to show an answer
        unseen_since = request.unseen_since or now
        request = replace(
            request, number=self._count, asked_at=now, unseen_since=unseen_since, ends_at=ends_at
        )
        permit = Permit(self, request)
        self.enqueue(permit)
        permit.wake = wake
        return permit

    def enqueue(self, permit: Permit) -> None:
        self._waiting[permit.request.number] = permit
        self._governor.ask(permit.request, self._clock.monotonic())
        self.decide()

    def remove(self, permit: Permit) -> None:
        now = self._clock.monotonic()
        if self._waiting.pop(permit.request.number, None) is None:
            self._governor.put_back(permit.request, now)
        else:
            self._governor.drop(permit.request, now)
        self.decide()

    def refused(self, request: CallRequest, seconds: float) -> None:
        self._governor.refused(request, seconds, self._clock.monotonic())
        self.decide()

    def decide(self) -> None:
        """Grant what may go, and decide again when the next one may."""
        now = self._clock.monotonic()
        for decision in self._governor.decide(now):
            self._waiting.pop(decision.request.number).settle(decision)
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        due = self._governor.next_at(now)
        if due is not None:
            loop = asyncio.get_running_loop()
            self._timer = loop.call_later(max(_TICK, due - now), self.decide)


class Permit:
    """A place in the queue for one call; once granted, the right to make it."""

    def __init__(self, limiter: LocalRateLimiter, request: CallRequest) -> None:
        self._limiter, self.request = limiter, request
        self.wake: Callable[[], None] | None = None
        self._blocked_for: float | None = None
        self._settled = asyncio.Event()
        self._is_over = False  # used or given back

    @property
    def is_settled(self) -> bool:
        """`wait` returns at once."""
        return self._settled.is_set()

    def move(self, priority: Priority, wake: Callable[[], None] | None = None) -> None:
        """Go on waiting with another priority, and `wake` in place of the old one."""
        self.wake = wake
        if not self.is_settled and priority is not self.request.priority:
            self.request = replace(self.request, priority=priority)
            self._limiter.enqueue(self)

    async def wait(self, patience: float) -> float | None:
        """Return None when it is granted, or the seconds Slack wants no such call where these are more than
        `patience`. A stream that Slack refused to start waits `start_slot_timeout` again and no longer.
        """
        if self.is_settled:
            return self._blocked_for
        if patience != self.request.patience:
            self.request = replace(self.request, patience=patience)
            self._limiter.enqueue(self)
        try:
            await self._settled.wait()
        except asyncio.CancelledError:
            self.give_back()
            raise
        return self._blocked_for

    def settle(self, decision: CallDecision) -> None:
        self._blocked_for = decision.blocked_for
        self._settled.set()
        if self.wake is not None:
            self.wake()

    def use(self) -> None:
        self._is_over = True

    def refused(self, seconds: float) -> None:
        self._limiter.refused(self.request, seconds)

    def give_back(self) -> None:
        """The call is not made. May be called at any time, more than once."""
        is_over, self._is_over = self._is_over, True
        if not is_over and self._blocked_for is None:
            self._limiter.remove(self)
