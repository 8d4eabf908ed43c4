"""PURE. Who may call what, and when: all calls of all turns share Slack's budgets (delivery contract, 6).

Twenty live answers share about one and a half appends a second, so some always wait. Among equals the call
goes first whose reader has seen nothing new for the longest. Text that has waited too long counts as a card,
so that cards cannot starve it. A part of each budget is kept for higher priorities: a new answer starts at
once.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import IntEnum

from .token_bucket import Rate, TokenBucket

_MAX_QUEUES = 256  # most of them of channels; beyond that, those at rest are forgotten
_SMALL = 10.0  # calls: a smaller burst keeps nothing for higher priorities
_BY_CHANNEL = frozenset({"chat.postMessage"})  # Slack counts these per channel, the others per workspace


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
    """The default of a call: text whose permit was not reserved belongs to an ending."""
    return _PRIORITIES.get(method, Priority.STOP)


@dataclass(frozen=True, slots=True)
class RateLimits:
    """Slack's budgets. `others` is that of every method not named.

    `recover_after`: seconds of quiet before a lowered rate is raised. `starving_after`: seconds after which
    waiting text counts as a card.
    """

    methods: Mapping[str, Rate]
    others: Rate
    recover_after: float = 60.0
    starving_after: float = 10.0


@dataclass(frozen=True, slots=True)
class CallRequest:
    """A call that waits for its permit. `number` is unique and grows.

    `patience` is the longest block by Slack, in seconds, that it waits out. `unseen_since` is when its reader
    was shown something last, `ends_at` when it stops waiting. `again`: Slack has refused this call once.
    """

    number: int
    method: str
    priority: Priority
    asked_at: float
    unseen_since: float
    patience: float
    channel: str = ""
    again: bool = False
    ends_at: float = math.inf


@dataclass(frozen=True, slots=True)
class CallDecision:
    """A request has waited. `blocked_for`: None, it may go; or the seconds Slack wants no such call, 0 where
    only its turn did not come in time."""

    request: CallRequest
    blocked_for: float | None = None


@dataclass(slots=True)
class _Queue:
    """The requests that wait for one bucket."""

    bucket: TokenBucket
    waiting: dict[int, CallRequest] = field(default_factory=dict)


class Governor:
    """All budgets and all requests that wait for them."""

    def __init__(self, limits: RateLimits) -> None:
        self._limits = limits
        self._queues: dict[tuple[str, str], _Queue] = {}

    def ask(self, request: CallRequest, now: float) -> None:
        """`request` waits; or, if its number waits already, with its new priority."""
        self._queue(request, now).waiting[request.number] = request

    def drop(self, request: CallRequest, now: float) -> None:
        self._queue(request, now).waiting.pop(request.number, None)

    def put_back(self, request: CallRequest, now: float) -> None:
        """`request` was granted and is not used."""
        self._queue(request, now).bucket.put_back(now)

    def refused(self, request: CallRequest, seconds: float, now: float) -> None:
        self._queue(request, now).bucket.refuse(seconds, now)

    def decide(self, now: float) -> list[CallDecision]:
        """The requests that wait no longer, in the order in which to go. Their tokens are taken."""
        decisions: list[CallDecision] = []
        for queue in self._queues.values():
            if queue.waiting:
                decisions += self._decide(queue, now)
        return sorted(decisions, key=lambda decision: decision.request.priority)

    def next_at(self, now: float) -> float | None:
        """When `decide` has something to give if nothing happens before; None: nothing waits."""
        times = [self._due(queue, now) for queue in self._queues.values() if queue.waiting]
        return min(times, default=None)

    def _decide(self, queue: _Queue, now: float) -> list[CallDecision]:
        def order(request: CallRequest) -> tuple[Priority, float, int]:
            priority = Priority.CARDS if self._starves(request, now) else request.priority
            return priority, request.unseen_since, request.number

        decisions = []
        blocked = queue.bucket.blocked_for(now)
        for request in sorted(queue.waiting.values(), key=order):
            if blocked > request.patience:
                decisions.append(CallDecision(request, blocked))
            elif queue.bucket.has(self._needed(queue.bucket, request, now), now):
                queue.bucket.take()
                decisions.append(CallDecision(request))
            elif now >= request.ends_at:
                decisions.append(CallDecision(request, blocked))
        for decision in decisions:
            del queue.waiting[decision.request.number]
        return decisions

    def _due(self, queue: _Queue, now: float) -> float:
        """When the first of the queue may go. Too early at worst: where text comes to count as a card."""
        times = []
        for request in queue.waiting.values():
            granted_at = queue.bucket.when(self._needed(queue.bucket, request, now), now)
            times.append(min(request.ends_at, granted_at))
            if request.priority is Priority.LATER and not self._starves(request, now):
                starves_at = request.asked_at + self._limits.starving_after
                times.append(max(starves_at, now + queue.bucket.blocked_for(now)))
        return min(times)

    def _starves(self, request: CallRequest, now: float) -> bool:
        starves_at = request.asked_at + self._limits.starving_after
        return request.priority is Priority.LATER and now >= starves_at

    def _needed(self, bucket: TokenBucket, request: CallRequest, now: float) -> float:
        """The tokens that must be there for `request` to take one. A small burst reserves nothing."""
        if bucket.is_lowered or bucket.capacity < _SMALL or self._starves(request, now):
            return 1.0
        return 1.0 + bucket.capacity * _RESERVED.get(request.priority, 0.0)

    def _queue(self, request: CallRequest, now: float) -> _Queue:
        key = (request.method, request.channel if request.method in _BY_CHANNEL else "")
        queue = self._queues.get(key)
        if queue is None:
            if len(self._queues) >= _MAX_QUEUES:
                self._forget_resting(now)
            budget = self._limits.methods.get(request.method, self._limits.others)
            queue = self._queues[key] = _Queue(TokenBucket(budget, self._limits.recover_after, now))
        return queue

    def _forget_resting(self, now: float) -> None:
        for key, queue in list(self._queues.items()):
            if not queue.waiting and queue.bucket.is_at_rest(now):
                del self._queues[key]
