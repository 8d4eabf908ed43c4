"""PURE. Who may call what, and when: all calls of all turns share Slack's budgets (delivery contract, 6).

Slack counts per workspace and method, for posts per channel too. Twenty live answers share about one and a
half appends a second, so somebody always waits, and who goes next decides whether the bot feels alive: what
ends a message before what begins one, the first text of an answer before cards, cards before the text that
follows, and among equals the one whose reader has seen nothing new for the longest. Text that has waited too
long counts as a card, so that cards cannot starve it; a part of each budget is kept for what goes before it,
so that a new answer finds a slot at once even while old ones use up the rest.

    governor.ask(want, now)
    for verdict in governor.decide(now): ...      # granted, or refused because Slack's block lasts too long
    governor.next_at(now)                         # when to decide again, if nothing happens until then
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import IntEnum

from .token_bucket import Rate, TokenBucket

_KEPT_BUCKETS = 256  # buckets, most of them of channels, before those at rest are forgotten
_SMALL = 10.0  # calls: of a smaller burst nothing is kept for others


class Priority(IntEnum):
    """What goes before what."""

    STOP = 0  # all that ends a message, or makes it right once it has ended
    START = 1
    FIRST = 2  # the first text of an answer
    CARDS = 3
    LATER = 4  # the text that follows
    STATUS = 5


_KEPT_FROM = {Priority.CARDS: 0.1, Priority.LATER: 0.2}
"""The part of a burst that a rank leaves to those before it."""

_RANKS = {
    "chat.startStream": Priority.START,
    "assistant.threads.setStatus": Priority.STATUS,
    "agents.sessions.setStatus": Priority.STATUS,
    "reactions.add": Priority.STATUS,
    "reactions.remove": Priority.STATUS,
}


def priority_of(method: str) -> Priority:
    """The rank of a call nobody gave one: text that was not waited for belongs to an ending."""
    return _RANKS.get(method, Priority.STOP)


@dataclass(frozen=True, slots=True)
class RateLimits:
    """Slack's budgets. `others` is that of every method not named; `by_channel` are counted per channel.

    `recover_after`: seconds of quiet before a lowered rate is raised. `starving_after`: seconds after which
    waiting text counts as a card.
    """

    methods: Mapping[str, Rate]
    others: Rate
    by_channel: frozenset[str] = frozenset({"chat.postMessage"})
    recover_after: float = 60.0
    starving_after: float = 10.0


@dataclass(frozen=True, slots=True)
class CallRequest:
    """A call that waits for its slot. `number` is unique and grows.

    `patience` is the longest block of Slack's, in seconds, that it waits out. `unseen_since` is when its
    reader was shown something last, `asked_at` when it began to wait, `ends_at` when it waits no longer.
    `again`: Slack has refused this call once.
    """

    number: int
    method: str
    rank: Priority
    asked_at: float
    unseen_since: float
    patience: float
    channel: str = ""
    workspace: str = ""
    again: bool = False
    ends_at: float = math.inf


@dataclass(frozen=True, slots=True)
class CallDecision:
    """A want is over. `blocked_for`: None, it may go; or the seconds Slack wants no such call, 0 where it was
    only not its turn in time."""

    want: CallRequest
    blocked_for: float | None = None


@dataclass(slots=True)
class _Line:
    """Those who wait for one bucket."""

    bucket: TokenBucket
    waiting: dict[int, CallRequest] = field(default_factory=dict)


_Key = tuple[str, str, str]


class Governor:
    """All budgets and all who wait for them."""

    def __init__(self, limits: RateLimits) -> None:
        self._limits = limits
        self._lines: dict[_Key, _Line] = {}

    def ask(self, want: CallRequest, now: float) -> None:
        """`want` waits; or, if its number waits already, with its new rank."""
        self._line(want.workspace, want.method, want.channel, now).waiting[want.number] = want

    def drop(self, want: CallRequest, now: float) -> None:
        """`want` does not wait any more."""
        self._line(want.workspace, want.method, want.channel, now).waiting.pop(want.number, None)

    def put_back(self, want: CallRequest, now: float) -> None:
        """`want` was granted and is not used."""
        self._line(want.workspace, want.method, want.channel, now).bucket.put_back(now)

    def refused(self, want: CallRequest, seconds: float, now: float) -> None:
        """Slack refused the call of `want` and asked for a pause."""
        self._line(want.workspace, want.method, want.channel, now).bucket.refuse(seconds, now)

    def rate(self, method: str, now: float, *, channel: str = "", workspace: str = "") -> float:
        """The present rate of a budget in calls a second, as learned."""
        bucket = self._line(workspace, method, channel, now).bucket
        bucket.has(0.0, now)
        return bucket.rate

    def decide(self, now: float) -> list[CallDecision]:
        """Those who wait no longer, in the order in which they should go. Their tokens are taken."""
        verdicts = [verdict for line in self._lines.values() for verdict in self._decide(line, now)]
        return sorted(verdicts, key=lambda verdict: verdict.want.rank)

    def next_at(self, now: float) -> float | None:
        """When `decide` will give something if nobody comes before. None: nobody waits."""
        times = [self._due(line, now) for line in self._lines.values() if line.waiting]
        return min(times, default=None)

    def _decide(self, line: _Line, now: float) -> list[CallDecision]:
        verdicts = []
        blocked = line.bucket.blocked_for(now)
        for want in sorted(line.waiting.values(), key=lambda want: self._order(want, now)):
            if blocked > want.patience:
                verdicts.append(CallDecision(want, blocked))
            elif line.bucket.has(self._needed(line.bucket, want, now), now):
                line.bucket.take()
                verdicts.append(CallDecision(want))
            elif now >= want.ends_at:
                verdicts.append(CallDecision(want, blocked))
        for verdict in verdicts:
            del line.waiting[verdict.want.number]
        return verdicts

    def _due(self, line: _Line, now: float) -> float:
        """When the first of the line may go. Too early at worst: where text comes to count as a card."""
        times = []
        for want in line.waiting.values():
            times.append(min(want.ends_at, line.bucket.when(self._needed(line.bucket, want, now), now)))
            if want.rank is Priority.LATER and not self._starves(want, now):
                times.append(max(self._starves_at(want), now + line.bucket.blocked_for(now)))
        return min(times)

    def _starves_at(self, want: CallRequest) -> float:
        return want.asked_at + self._limits.starving_after

    def _starves(self, want: CallRequest, now: float) -> bool:
        return want.rank is Priority.LATER and now >= self._starves_at(want)

    def _order(self, want: CallRequest, now: float) -> tuple[Priority, float, int]:
        rank = Priority.CARDS if self._starves(want, now) else want.rank
        return rank, want.unseen_since, want.number

    def _needed(self, bucket: TokenBucket, want: CallRequest, now: float) -> float:
        """The tokens that must be there for `want` to take one. Where they are few nothing is kept back."""
        if bucket.is_lowered or bucket.capacity < _SMALL or self._starves(want, now):
            return 1.0
        return 1.0 + bucket.capacity * _KEPT_FROM.get(want.rank, 0.0)

    def _line(self, workspace: str, method: str, channel: str, now: float) -> _Line:
        key = (workspace, method, channel if method in self._limits.by_channel else "")
        if key not in self._lines:
            self._tidy(now)
            budget = self._limits.methods.get(method, self._limits.others)
            self._lines[key] = _Line(TokenBucket(budget, self._limits.recover_after, now))
        return self._lines[key]

    def _tidy(self, now: float) -> None:
        if len(self._lines) < _KEPT_BUCKETS:
            return
        for key, line in list(self._lines.items()):
            if not line.waiting and line.bucket.is_at_rest(now):
                del self._lines[key]
