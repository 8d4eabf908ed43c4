"""PURE. One of Slack's budgets: a token bucket that learns from refusals.

Slack names a rate for a minute and tolerates bursts it does not name (facts: Slack 1.5). A refusal blocks the
bucket for as long as Slack asks and halves its rate; each quiet minute raises it again by half.
"""

from __future__ import annotations

from dataclasses import dataclass

_RAISE = 1.5  # times, after each quiet time
_LEAST = 1 / 8  # of the ceiling: a slower bucket would not learn that the limit is gone
_ROUNDING = 1e-6  # tokens that may be missing: times are sums of floats


@dataclass(frozen=True, slots=True)
class Rate:
    """Calls a second in the long run, and calls at once after a pause (at least 1)."""

    per_second: float
    burst: float


class TokenBucket:
    """The tokens of one budget. Times are seconds of one clock that never goes back.

    `recover_after` is how long it must be quiet before the rate is raised.
    """

    def __init__(self, ceiling: Rate, recover_after: float, now: float) -> None:
        self._ceiling, self._recover_after = ceiling, recover_after
        self._tokens, self._at = ceiling.burst, now
        self._quiet_since = now
        self._blocked_until = now
        self.rate = ceiling.per_second

    @property
    def capacity(self) -> float:
        """Calls at once after a pause, at the present rate."""
        return max(1.0, self._ceiling.burst * self.rate / self._ceiling.per_second)

    @property
    def is_lowered(self) -> bool:
        return self.rate < self._ceiling.per_second

    def has(self, tokens: float, now: float) -> bool:
        self._refill(now)
        return now >= self._blocked_until and self._tokens >= tokens - _ROUNDING

    def take(self) -> None:
        """One call goes. Ask `has` first."""
        self._tokens -= 1.0

    def put_back(self, now: float) -> None:
        self._refill(now)
        self._tokens = min(self.capacity, self._tokens + 1.0)

    def when(self, tokens: float, now: float) -> float:
        """The time at which so many tokens are there, if nothing is taken until then."""
        self._refill(now)
        missing = max(0.0, tokens - self._tokens)
        return max(now, self._blocked_until, self._at + missing / self.rate)

    def blocked_for(self, now: float) -> float:
        return max(0.0, self._blocked_until - now)

    def refuse(self, seconds: float, now: float) -> None:
        """Slack refused a call and asked for a pause. Calls under way together count as one refusal."""
        self._refill(now)
        if now >= self._blocked_until:
            self.rate = max(self._ceiling.per_second * _LEAST, self.rate / 2)
        self._blocked_until = max(self._blocked_until, now + seconds)
        self._quiet_since = self._at = self._blocked_until
        self._tokens = 1.0  # Slack says that one call is good then

    def is_at_rest(self, now: float) -> bool:
        """Nothing would be lost by forgetting it."""
        self._refill(now)
        return not self.is_lowered and self._tokens >= self._ceiling.burst

    def _refill(self, now: float) -> None:
        while self.is_lowered and now - self._quiet_since >= self._recover_after:
            self._quiet_since += self._recover_after
            self._grow(self._quiet_since)
            self.rate = min(self._ceiling.per_second, self.rate * _RAISE)
        self._grow(now)

    def _grow(self, until: float) -> None:
        if until > self._at:
            self._tokens = min(self.capacity, self._tokens + (until - self._at) * self.rate)
            self._at = until
