"""PURE. Who may call what, and when: all calls of all turns share Slack's budgets (delivery contract, 6).

Slack tolerates bursts (facts: Slack 1.5). A refusal blocks a budget for as long as Slack asks and halves its
rate; each quiet minute raises it again by half. Among equals the call goes first whose reader has seen
nothing new for the longest. Text that has waited too long counts as a card, so that cards cannot starve it.
A part of each budget is kept for higher priorities: a new answer starts at once. The rest of a burst is
spread over the time for which answers are likely to go on, so that many readers see text at even distances.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import islice

from ..methods import METHODS, Priority

_RAISE = 1.5  # times, after each quiet time
_LEAST = 1 / 8  # of the ceiling: a slower bucket would not learn that the limit is gone
_ROUNDING = 1e-6  # tokens that may be missing: times are sums of floats
_MAX_BUCKETS = 256  # most of them of channels; beyond that, those at rest are forgotten
_SMALL = 10.0  # calls: a smaller burst keeps nothing for higher priorities, but from what nobody waits for
_AGAIN_WITHIN = 3.0  # seconds: an answer that went so lately is likely to have text again
_UNPACED = 1.0  # seconds: below it the pauses of the answers themselves are enough


@dataclass(frozen=True, slots=True)
class Rate:
    """Calls a second in the long run, and calls at once after a pause (at least 1)."""

    per_second: float
    burst: float


class TokenBucket:
    """The tokens of one budget, and the requests that wait for them, in the order in which they came.

    `recover_after`: quiet seconds before the rate is raised. `share`: the part of the budget that is this
    process's; `part`: the part of its rate that refusals have left.
    """

    def __init__(self, ceiling: Rate, recover_after: float, now: float, share: float = 1.0) -> None:
        self.ceiling, self._recover_after = ceiling, recover_after
        self._tokens, self._at = ceiling.burst * share, now
        self._quiet_since = now
        self._blocked_until = now
        self.share, self.part = share, 1.0
        self.waiting: dict[CallRequest, None] = {}
        self.went_at: dict[str, float] = {}  # by turn, the oldest first: when text of it went, of late

    @property
    def rate(self) -> float:
        return self.ceiling.per_second * self.part * self.share

    @property
    def capacity(self) -> float:
        return max(1.0, self.ceiling.burst * self.part * self.share)

    @property
    def is_lowered(self) -> bool:
        return self.part < 1.0

    def has(self, tokens: float, now: float) -> bool:
        self._refill(now)
        return now >= self._blocked_until and self._tokens >= tokens - _ROUNDING

    def left(self, now: float) -> float:
        self._refill(now)
        return self._tokens

    def take(self) -> None:
        self._tokens -= 1.0

    def put_back(self, now: float) -> None:
        self._refill(now)
        self._tokens = min(self.capacity, self._tokens + 1.0)

    def when(self, tokens: float, now: float) -> float:
        self._refill(now)
        missing = max(0.0, tokens - self._tokens)
        if missing and not self.rate:
            return math.inf  # until it gets a share
        return max(now, self._blocked_until, self._at + (missing / self.rate if missing else 0.0))

    def blocked_for(self, now: float) -> float:
        return max(0.0, self._blocked_until - now)

    def quiet_for(self, now: float) -> float:
        return max(0.0, now - self._quiet_since)

    def refuse(self, seconds: float, now: float) -> None:
        """Calls under way together count as one refusal."""
        self._refill(now)
        if now >= self._blocked_until:
            self.part = max(_LEAST, self.part / 2)
        self._blocked_until = max(self._blocked_until, now + seconds)
        self._quiet_since = self._at = self._blocked_until
        self._tokens = 1.0  # Slack says that one call is good then

    def is_at_rest(self, now: float) -> bool:
        self._refill(now)
        return not self.is_lowered and self._tokens >= self.capacity

    def answers(self, now: float) -> set[str]:
        """The turns whose calls wait, or whose text went of late. What no reader waits for is none."""
        self.drop_old(now)
        waiting = {each.turn for each in self.waiting if each.priority is not Priority.BACKGROUND}
        return waiting | self.went_at.keys()

    def drop_old(self, now: float) -> None:
        while self.went_at and now - self.went_at[oldest := next(iter(self.went_at))] >= _AGAIN_WITHIN:
            del self.went_at[oldest]

    def resize(self, share: float, tokens: float, now: float) -> float:
        """Another share; a greater one comes with `tokens`. Returns those that a smaller one gives up."""
        self._refill(now)
        before = self._tokens
        if share < self.share:
            self._tokens *= share / self.share
        self.share = share
        self._tokens = min(self.capacity, self._tokens + tokens)
        return max(0.0, before - self._tokens)

    def learn(self, part: float, blocked_for: float, quiet_for: float, now: float, *, drained: bool) -> None:
        """What refusals of all processes have left of the budget. `drained`: there was one since."""
        self._refill(now)
        self.part = part
        self._blocked_until, self._quiet_since = now + blocked_for, now + blocked_for - quiet_for
        if drained:
            self._tokens, self._at = 0.0, max(now, self._blocked_until)
        self._tokens = min(self._tokens, self.capacity)

    def _refill(self, now: float) -> None:
        while self.is_lowered and now - self._quiet_since >= self._recover_after:
            self._quiet_since += self._recover_after
            self._grow(self._quiet_since)
            self.part = min(1.0, self.part * _RAISE)
        self._grow(now)

    def _grow(self, until: float) -> None:
        if until > self._at:
            self._tokens = min(self.capacity, self._tokens + (until - self._at) * self.rate)
            self._at = until


_RESERVED = {Priority.CARDS: 0.1, Priority.LATER: 0.2, Priority.BACKGROUND: 0.5}
"""The part of a burst that a priority leaves to higher ones."""


@dataclass(slots=True, eq=False)
class CallRequest:
    """A call that waits for its permit.

    `patience` is the longest block by Slack, in seconds, that it waits out. `unseen_since` is when its reader
    was shown something last, `ends_at` when it stops waiting. `again`: Slack has refused this call once.
    `turn`: whose text it is.
    """

    method: str
    priority: Priority
    patience: float
    channel: str = ""
    unseen_since: float = 0.0
    again: bool = False
    turn: str = ""
    asked_at: float = 0.0
    ends_at: float = math.inf
    settle: Callable[[float | None], None] = lambda _: None


BudgetKey = tuple[str, str]
"""The method, and the channel where Slack counts it per channel, else ""."""

CallDecision = tuple[CallRequest, float | None]
"""A request that has waited, and what it is to be settled with. None: it may go; or the seconds Slack wants
no such call, 0 where only its turn did not come in time."""


def key_of(request: CallRequest) -> BudgetKey:
    """Which budget the call is counted in."""
    return request.method, request.channel if METHODS[request.method].is_per_channel else ""


class Governor:
    """All budgets and all requests that wait for them.

    `budgets` has one for each method, "" for those not named. `starving_after`: seconds after which waiting
    text counts as a card. `burst_horizon`: seconds over which a burst is spread.
    """

    def __init__(
        self,
        budgets: Mapping[str, Rate],
        recover_after: float = 60.0,
        starving_after: float = 10.0,
        burst_horizon: float = 10.0,
    ) -> None:
        self._budgets, self._recover_after = budgets, recover_after
        self._starving_after, self._burst_horizon = starving_after, burst_horizon
        self._buckets: dict[BudgetKey, TokenBucket] = {}
        self.first_share = 1.0  # of a budget that is used for the first time

    def buckets(self) -> Mapping[BudgetKey, TokenBucket]:
        return self._buckets

    def forget(self, key: BudgetKey) -> None:
        """Nobody waits for this budget."""
        del self._buckets[key]

    def ask(self, request: CallRequest, now: float) -> None:
        self._bucket(request, now).waiting[request] = None

    def drop(self, request: CallRequest, now: float) -> None:
        """The call is not made: it waits no longer, or its token is put back."""
        bucket = self._bucket(request, now)
        if request in bucket.waiting:
            del bucket.waiting[request]
        else:
            bucket.put_back(now)

    def refused(self, request: CallRequest, seconds: float, now: float) -> None:
        self._bucket(request, now).refuse(seconds, now)

    def decide(self, now: float) -> list[CallDecision]:
        """The requests that wait no longer, in the order in which to go. Their tokens are taken."""
        decisions: list[CallDecision] = []
        for bucket in self._buckets.values():
            if bucket.waiting:
                decisions += self._decide(bucket, now)
        return sorted(decisions, key=lambda decision: decision[0].priority)

    def next_at(self, now: float) -> float | None:
        times = [self._due(bucket, now) for bucket in self._buckets.values() if bucket.waiting]
        return min(times, default=None)

    def _decide(self, bucket: TokenBucket, now: float) -> list[CallDecision]:
        def order(request: CallRequest) -> tuple[Priority, float]:
            return Priority.CARDS if self._starves(request, now) else request.priority, request.unseen_since

        decisions: list[CallDecision] = []
        blocked, pause = bucket.blocked_for(now), self._pause(bucket, now)
        for request in sorted(bucket.waiting, key=order):
            if blocked > request.patience:
                decisions.append((request, blocked))
            elif now >= self._paced_until(request, pause, now) - _ROUNDING and bucket.has(
                self._needed(bucket, request, now), now
            ):
                bucket.take()
                if request.priority is Priority.LATER:
                    bucket.went_at.pop(request.turn, None)
                    bucket.went_at[request.turn] = now
                    pause = self._pause(bucket, now)
                decisions.append((request, None))
            elif now >= request.ends_at:
                decisions.append((request, blocked))
        for request, _ in decisions:
            del bucket.waiting[request]
        return decisions

    def _due(self, bucket: TokenBucket, now: float) -> float:
        """Too early at worst: where text comes to count as a card, or an answer no longer counts."""
        pause = self._pause(bucket, now)
        times = [at + _AGAIN_WITHIN for at in islice(bucket.went_at.values(), 1)] if pause else []
        for request in bucket.waiting:
            granted_at = bucket.when(self._needed(bucket, request, now), now)
            times.append(min(request.ends_at, max(granted_at, self._paced_until(request, pause, now))))
            if request.priority is Priority.LATER and not self._starves(request, now):
                starves_at = request.asked_at + self._starving_after
                times.append(max(starves_at, now + bucket.blocked_for(now)))
        return min(times)

    def _pause(self, bucket: TokenBucket, now: float) -> float:
        """Seconds between two calls for the text of one answer where many have text; 0: as it likes.

        It grows as the burst is spent, and with each answer that joins.
        """
        if bucket.is_lowered or bucket.capacity < _SMALL:
            return 0.0
        bucket.drop_old(now)
        went_at = bucket.went_at
        left = max(0.0, bucket.left(now) - bucket.capacity * _RESERVED[Priority.LATER])
        rate = bucket.rate + left / self._burst_horizon
        if len(went_at) + len(bucket.waiting) < _UNPACED * rate:
            return 0.0
        turns = {request.turn for request in bucket.waiting if request.priority is Priority.LATER}
        pause = len(turns | went_at.keys()) / rate
        return pause if pause >= _UNPACED else 0.0

    def _paced_until(self, request: CallRequest, pause: float, now: float) -> float:
        is_paced = request.priority is Priority.LATER and not self._starves(request, now)
        return request.unseen_since + pause if is_paced else now

    def _starves(self, request: CallRequest, now: float) -> bool:
        starves_at = request.asked_at + self._starving_after
        return request.priority is Priority.LATER and now >= starves_at

    def _needed(self, bucket: TokenBucket, request: CallRequest, now: float) -> float:
        is_small = bucket.capacity < _SMALL and request.priority is not Priority.BACKGROUND
        if bucket.is_lowered or is_small or self._starves(request, now):
            return 1.0
        # a small part of a burst is not enough for one call and for what is left
        return min(bucket.capacity, 1.0 + bucket.capacity * _RESERVED.get(request.priority, 0.0))

    def _bucket(self, request: CallRequest, now: float) -> TokenBucket:
        return self.bucket(key_of(request), now)

    def bucket(self, key: BudgetKey, now: float) -> TokenBucket:
        if key not in self._buckets:
            if len(self._buckets) >= _MAX_BUCKETS:
                self._buckets = {
                    each: bucket
                    for each, bucket in self._buckets.items()
                    if bucket.waiting or not bucket.is_at_rest(now)
                }
            budget = self._budgets.get(key[0]) or self._budgets[""]
            self._buckets[key] = TokenBucket(budget, self._recover_after, now, self.first_share)
        return self._buckets[key]
