"""PURE. Who may call what, and when: all calls of all turns share Slack's budgets (delivery contract, 6).

Slack tolerates bursts (facts: Slack 1.5). A refusal blocks a budget for as long as Slack asks and halves its
rate; each quiet minute raises it again by half. Among equals the call goes first whose reader has seen
nothing new for the longest. Text that has waited too long counts as a card, so that cards cannot starve it.
A part of each budget is kept for higher priorities: a new answer starts at once.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import IntEnum

_RAISE = 1.5  # times, after each quiet time
_LEAST = 1 / 8  # of the ceiling: a slower bucket would not learn that the limit is gone
_ROUNDING = 1e-6  # tokens that may be missing: times are sums of floats
_MAX_QUEUES = 256  # most of them of channels; beyond that, those at rest are forgotten
_SMALL = 10.0  # calls: a smaller burst keeps nothing for higher priorities
_BY_CHANNEL = frozenset({"chat.postMessage"})  # Slack counts these per channel, the others per workspace


@dataclass(frozen=True, slots=True)
class Rate:
    """Calls a second in the long run, and calls at once after a pause (at least 1)."""

    per_second: float
    burst: float


class TokenBucket:
    """The tokens of one budget. `recover_after`: quiet seconds before the rate is raised."""

    def __init__(self, ceiling: Rate, recover_after: float, now: float) -> None:
        self._ceiling, self._recover_after = ceiling, recover_after
        self._tokens, self._at = ceiling.burst, now
        self._quiet_since = now
        self._blocked_until = now
        self.rate = ceiling.per_second

    @property
    def capacity(self) -> float:
        return max(1.0, self._ceiling.burst * self.rate / self._ceiling.per_second)

    @property
    def is_lowered(self) -> bool:
        return self.rate < self._ceiling.per_second

    def has(self, tokens: float, now: float) -> bool:
        self._refill(now)
        return now >= self._blocked_until and self._tokens >= tokens - _ROUNDING

    def take(self) -> None:
        self._tokens -= 1.0

    def put_back(self, now: float) -> None:
        self._refill(now)
        self._tokens = min(self.capacity, self._tokens + 1.0)

    def when(self, tokens: float, now: float) -> float:
        self._refill(now)
        missing = max(0.0, tokens - self._tokens)
        return max(now, self._blocked_until, self._at + missing / self.rate)

    def blocked_for(self, now: float) -> float:
        return max(0.0, self._blocked_until - now)

    def refuse(self, seconds: float, now: float) -> None:
        """Calls under way together count as one refusal."""
        self._refill(now)
        if now >= self._blocked_until:
            self.rate = max(self._ceiling.per_second * _LEAST, self.rate / 2)
        self._blocked_until = max(self._blocked_until, now + seconds)
        self._quiet_since = self._at = self._blocked_until
        self._tokens = 1.0  # Slack says that one call is good then

    def is_at_rest(self, now: float) -> bool:
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


class Priority(IntEnum):
    """The lower number goes first."""

    STOP = 0  # all that ends a message, or corrects it once it has ended
    START = 1
    FIRST = 2  # the first text of an answer
    CARDS = 3
    LATER = 4  # the text that follows
    STATUS = 5


_RESERVED = {Priority.CARDS: 0.1, Priority.LATER: 0.2}
"""The part of a burst that a priority leaves to higher ones."""

_PRIORITIES = {
    "chat.startStream": Priority.START,
    "assistant.threads.setStatus": Priority.STATUS,
    "agents.sessions.setStatus": Priority.STATUS,
    "reactions.add": Priority.STATUS,
    "reactions.remove": Priority.STATUS,
}


def priority_of(method: str) -> Priority:
    """Text whose permit was not reserved belongs to an ending."""
    return _PRIORITIES.get(method, Priority.STOP)


@dataclass(slots=True, eq=False)
class CallRequest:
    """A call that waits for its permit. `number` is unique and grows.

    `patience` is the longest block by Slack, in seconds, that it waits out. `unseen_since` is when its reader
    was shown something last, `ends_at` when it stops waiting. `again`: Slack has refused this call once.
    """

    method: str
    priority: Priority
    patience: float
    channel: str = ""
    unseen_since: float = 0.0
    again: bool = False
    number: int = 0
    asked_at: float = 0.0
    ends_at: float = math.inf


CallDecision = tuple[CallRequest, float | None]
"""A request that has waited, and None: it may go; or the seconds Slack wants no such call, 0 where only its
turn did not come in time."""


@dataclass(slots=True)
class _Queue:
    """The requests that wait for one bucket."""

    bucket: TokenBucket
    waiting: dict[int, CallRequest] = field(default_factory=dict)


class Governor:
    """All budgets and all requests that wait for them.

    `budgets` has one for each method, "" for those not named. `starving_after`: seconds after which waiting
    text counts as a card.
    """

    def __init__(
        self, budgets: Mapping[str, Rate], recover_after: float = 60.0, starving_after: float = 10.0
    ) -> None:
        self._budgets, self._recover_after, self._starving_after = budgets, recover_after, starving_after
        self._queues: dict[tuple[str, str], _Queue] = {}

    def ask(self, request: CallRequest, now: float) -> None:
        self._queue(request, now).waiting[request.number] = request

    def drop(self, request: CallRequest, now: float) -> None:
        self._queue(request, now).waiting.pop(request.number, None)

    def put_back(self, request: CallRequest, now: float) -> None:
        self._queue(request, now).bucket.put_back(now)

    def refused(self, request: CallRequest, seconds: float, now: float) -> None:
        self._queue(request, now).bucket.refuse(seconds, now)

    def decide(self, now: float) -> list[CallDecision]:
        """The requests that wait no longer, in the order in which to go. Their tokens are taken."""
        decisions: list[CallDecision] = []
        for queue in self._queues.values():
            if queue.waiting:
                decisions += self._decide(queue, now)
        return sorted(decisions, key=lambda decision: decision[0].priority)

    def next_at(self, now: float) -> float | None:
        times = [self._due(queue, now) for queue in self._queues.values() if queue.waiting]
        return min(times, default=None)

    def _decide(self, queue: _Queue, now: float) -> list[CallDecision]:
        def order(request: CallRequest) -> tuple[Priority, float, int]:
            priority = Priority.CARDS if self._starves(request, now) else request.priority
            return priority, request.unseen_since, request.number

        decisions: list[CallDecision] = []
        blocked = queue.bucket.blocked_for(now)
        for request in sorted(queue.waiting.values(), key=order):
            if blocked > request.patience:
                decisions.append((request, blocked))
            elif queue.bucket.has(self._needed(queue.bucket, request, now), now):
                queue.bucket.take()
                decisions.append((request, None))
            elif now >= request.ends_at:
                decisions.append((request, blocked))
        for request, _ in decisions:
            del queue.waiting[request.number]
        return decisions

    def _due(self, queue: _Queue, now: float) -> float:
        """Too early at worst: where text comes to count as a card."""
        times = []
        for request in queue.waiting.values():
            granted_at = queue.bucket.when(self._needed(queue.bucket, request, now), now)
            times.append(min(request.ends_at, granted_at))
            if request.priority is Priority.LATER and not self._starves(request, now):
                starves_at = request.asked_at + self._starving_after
                times.append(max(starves_at, now + queue.bucket.blocked_for(now)))
        return min(times)

    def _starves(self, request: CallRequest, now: float) -> bool:
        starves_at = request.asked_at + self._starving_after
        return request.priority is Priority.LATER and now >= starves_at

    def _needed(self, bucket: TokenBucket, request: CallRequest, now: float) -> float:
        if bucket.is_lowered or bucket.capacity < _SMALL or self._starves(request, now):
            return 1.0
        return 1.0 + bucket.capacity * _RESERVED.get(request.priority, 0.0)

    def _queue(self, request: CallRequest, now: float) -> _Queue:
        key = (request.method, request.channel if request.method in _BY_CHANNEL else "")
        queue = self._queues.get(key)
        if queue is None:
            if len(self._queues) >= _MAX_QUEUES:
                self._forget_resting(now)
            budget = self._budgets.get(request.method) or self._budgets[""]
            queue = self._queues[key] = _Queue(TokenBucket(budget, self._recover_after, now))
        return queue

    def _forget_resting(self, now: float) -> None:
        for key, queue in list(self._queues.items()):
            if not queue.waiting and queue.bucket.is_at_rest(now):
                del self._queues[key]
