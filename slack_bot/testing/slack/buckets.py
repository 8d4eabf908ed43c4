"""PURE. Slack's rate limits: a bucket of calls for each method of the workspace, or of each of its channels.

A call that finds its bucket empty is refused, and so is every other one until the time named in Retry-After
is over. Slack says so in two forms, HTTP 429 and, for streams, in the body of an ordinary answer (facts:
Slack 1.5); which of them comes when is not known, so here they take turns.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from .rules import MethodRate

STREAMING = frozenset({"chat.startStream", "chat.appendStream", "chat.stopStream"})
_LEAST_PAUSE = 1  # second: Retry-After is whole seconds
_ALMOST = 1e-3  # of a call or a second: what adding up fractions of large numbers may lose


@dataclass(slots=True)
class _Bucket:
    """`calls` may be made at `at`; before `closed_until` none is taken, however full the bucket is."""

    rate: MethodRate
    calls: float
    at: float
    closed_until: float = 0.0

    def fill(self, now: float) -> None:
        most = self.rate.burst if self.rate.burst is not None else self.rate.calls
        gained = (now - self.at) * self.rate.calls / self.rate.seconds
        self.calls, self.at = min(float(most), self.calls + max(0.0, gained)), max(self.at, now)

    def wait(self, now: float) -> float:
        """Seconds until a call would be taken."""
        if now < self.closed_until - _ALMOST:
            return self.closed_until - now
        if self.calls >= 1 - _ALMOST:
            return 0.0
        return (1 - self.calls) * self.rate.seconds / self.rate.calls


@dataclass(frozen=True, slots=True)
class Limited:
    """A call that came too often. `retry_after` in whole seconds; `in_band`: said in the body alone."""

    retry_after: int
    in_band: bool


class Buckets:
    """The budgets of one workspace. `rates` None: no limits."""

    def __init__(self, rates: Mapping[str, tuple[MethodRate, ...]] | None) -> None:
        self._rates = rates or {}
        self._buckets: dict[tuple[str, int, str], _Bucket] = {}
        self._refused: dict[str, int] = {}

    def take(self, method: str, channel: str, now: float) -> Limited | None:
        """Count a call of `method` about `channel` at `now` (seconds). None: it may go on."""
        buckets = [
            self._bucket(method, number, rate, channel, now)
            for number, rate in enumerate(self._rates.get(method, ()))
        ]
        pause = max((bucket.wait(now) for bucket in buckets), default=0.0)
        if pause <= 0:
            for bucket in buckets:
                bucket.calls -= 1
            return None
        seconds = max(_LEAST_PAUSE, math.ceil(pause))
        for bucket in buckets:
            if bucket.wait(now) > 0:
                bucket.closed_until = max(bucket.closed_until, now + seconds)
        before = self._refused[method] = self._refused.get(method, 0) + 1
        return Limited(seconds, in_band=method in STREAMING and before % 2 == 0)

    def _bucket(self, method: str, number: int, rate: MethodRate, channel: str, now: float) -> _Bucket:
        key = (method, number, channel if rate.per_channel else "")
        bucket = self._buckets.get(key)
        if bucket is None:
            most = rate.burst if rate.burst is not None else rate.calls
            bucket = self._buckets[key] = _Bucket(rate, float(most), now)
        bucket.fill(now)
        return bucket
