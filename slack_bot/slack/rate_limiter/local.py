"""The governor at work in this process: calls wait here for their permits.

A turn reserves a permit before it takes its text out of the buffer, so text that comes meanwhile goes with
the same call. Nothing polls: each change makes the governor decide again, and one timer is set.
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import Callable

from ...clock import Clock
from ...settings.models import GovernorSettings
from ..methods import METHODS, Budget, Priority
from .governor import CallRequest, Governor, Rate

_MINUTE = 60.0
_TICK = 0.001  # seconds: a timer that fires early must not fire for ever


def budgets_of(settings: GovernorSettings) -> dict[str, Rate]:
    """The budget of each method that has one of its own, and of all others together ("")."""

    def rate_of(budget: Budget) -> Rate:
        calls = float(getattr(settings, budget))
        if budget is Budget.POSTS:
            return Rate(calls * settings.rate_utilization, settings.post_burst)
        return Rate(calls * settings.rate_utilization / _MINUTE, max(1.0, calls * settings.burst_share))

    named = {name: method.budget for name, method in METHODS.items() if method.budget is not Budget.OTHERS}
    return {name: rate_of(budget) for name, budget in {**named, "": Budget.OTHERS}.items()}


class RateLimiter:
    """Grants permits to the calls of one process. Must be built and used on one event loop."""

    def __init__(self, settings: GovernorSettings, clock: Clock) -> None:
        self.now, self._start_timeout = clock.monotonic, settings.start_slot_timeout
        self._governor = Governor(
            budgets_of(settings), settings.recover_after, settings.starving_after, settings.burst_horizon
        )
        self._timer: asyncio.TimerHandle | None = None

    def reserve(self, request: CallRequest, wake: Callable[[], None] | None = None) -> Permit:
        """Wait for a permit. `wake` is called once when the wait is over, unless that is at once.

        The request's times are filled in; `unseen_since` 0 means since now.
        """
        request.asked_at = now = self.now()
        request.unseen_since = request.unseen_since or now
        if request.again and request.method == "chat.startStream":
            request.ends_at = now + self._start_timeout  # there are other ways to show an answer
        permit = Permit(self, request)
        self._governor.ask(request, now)
        self.decide()
        permit.wake = wake
        return permit

    def drop(self, request: CallRequest) -> None:
        self._governor.drop(request, self.now())
        self.decide()

    def refused(self, request: CallRequest, seconds: float) -> None:
        self._governor.refused(request, seconds, self.now())
        self.decide()

    def decide(self) -> None:
        now = self.now()
        for request, blocked_for in self._governor.decide(now):
            request.settle(blocked_for)
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        due = self._governor.next_at(now)
        if due is not None and due < math.inf:
            loop = asyncio.get_running_loop()
            self._timer = loop.call_later(max(_TICK, due - now), self.decide)


class Permit:
    """A place in the queue for one call; once granted, the right to make it. `waited`: seconds until then."""

    def __init__(self, limiter: RateLimiter, request: CallRequest) -> None:
        self._limiter, self._request = limiter, request
        request.settle = self._settle
        self.wake: Callable[[], None] | None = None
        self.waited = 0.0
        self._blocked_for: float | None = None
        self._settled = asyncio.Event()
        self._is_over = False  # used or given back

    @property
    def is_settled(self) -> bool:
        return self._settled.is_set()

    def move(self, priority: Priority, wake: Callable[[], None] | None = None) -> None:
        self.wake = wake
        if not self.is_settled and priority is not self._request.priority:
            self._request.priority = priority
            self._limiter.decide()

    async def wait(self, patience: float) -> float | None:
        """None when it is granted, or the seconds of Slack's block where these exceed `patience`.

        A stream that Slack refused to start waits `start_slot_timeout` again and no longer.
        """
        if self.is_settled:
            return self._blocked_for
        if patience != self._request.patience:
            self._request.patience = patience
            self._limiter.decide()
        try:
            await self._settled.wait()
        except asyncio.CancelledError:
            self.give_back()
            raise
        return self._blocked_for

    def _settle(self, blocked_for: float | None) -> None:
        self._request.settle = _settled
        self._blocked_for = blocked_for
        self.waited = self._limiter.now() - self._request.asked_at
        self._settled.set()
        if self.wake is not None:
            self.wake()

    def use(self) -> None:
        self._is_over = True

    def refused(self, seconds: float) -> None:
        self._limiter.refused(self._request, seconds)

    def give_back(self) -> None:
        """The call is not made. May be called at any time, more than once."""
        is_over, self._is_over = self._is_over, True
        if not is_over and self._blocked_for is None:
            self._request.settle = _settled
            self._limiter.drop(self._request)


def _settled(_: float | None) -> None:
    """What a request holds in place of its permit, which holds the request: else only the garbage collector
    would free the two."""
