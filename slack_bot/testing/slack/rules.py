"""PURE. Slack's limits as numbers with their sources, and its rate limits as buckets.

`WorkspaceRules()` has the limits of a single call; `WorkspaceRules.real()` adds rates, and streams' life and
size. [obs]: measured, not documented. A call over its rate is refused, and so are all others until
Retry-After is over.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class MethodRate:
    """So many calls in so many seconds, refilled evenly. `burst`: how many may come at once (None: `calls`).

    `per_channel`: every channel has a budget of its own; otherwise the workspace has one.
    """

    calls: int
    seconds: float = 60.0
    burst: int | None = None
    per_channel: bool = False


TIER_2, TIER_3, TIER_4 = MethodRate(20), MethodRate(50), MethodRate(100)
"""Slack's tiers, a minute (facts: Slack 7). Bursts are allowed and not quantified; a minute's budget here."""

_POSTS = (MethodRate(1, 1.0, burst=5, per_channel=True), MethodRate(300))
"""One a second a channel, bursts allowed, several hundred a minute a workspace (facts: Slack 7)."""

RATES: Mapping[str, tuple[MethodRate, ...]] = {
    "agents.sessions.setStatus": (TIER_3,),
    "apps.connections.open": (TIER_3,),
    "assistant.threads.setStatus": (MethodRate(600),),
    "assistant.threads.setSuggestedPrompts": (TIER_4,),
    "chat.appendStream": (TIER_4,),
    "chat.delete": (TIER_3,),
    "chat.postEphemeral": (TIER_4,),
    "chat.postMessage": _POSTS,
    "chat.startStream": (TIER_2,),
    "chat.stopStream": (TIER_2,),
    "chat.update": (TIER_3,),
    "conversations.history": (TIER_3,),
    "conversations.info": (TIER_3,),
    "conversations.open": (TIER_3,),
    "conversations.replies": (TIER_3,),
    "files.completeUploadExternal": (TIER_4,),
    "files.getUploadURLExternal": (TIER_4,),
    "reactions.add": (TIER_3,),
    "reactions.remove": (TIER_2,),
    "users.info": (TIER_4,),
    "views.open": (TIER_4,),
    "views.publish": (TIER_4,),
    "views.push": (TIER_4,),
    "views.update": (TIER_4,),
}
"""What each method may be called, for all streams and threads of the workspace together (facts: Slack 1.5, 4,
7; Slack's method pages)."""

_DISTRIBUTED = dict.fromkeys(("conversations.history", "conversations.replies"), (MethodRate(1),))
_DISTRIBUTED_PAGE = 15


@dataclass(frozen=True, slots=True)
class WorkspaceRules:
    """Slack's limits. None: not enforced.

    `call_chars`: characters of Markdown in one call; `update_chars`: of `text` in chat.update; `card_chars`:
    of a card's or a plan's title, details or output; `blocks`: in one call [doc] (facts: Slack 1.2 to 1.7).
    `mention_first`: of a mention's two events, `app_mention` comes before `message` (Slack keeps no order).
    `status_timeout`: seconds after which a typing status goes away by itself [doc] (facts: Slack 4).
    `stream_life`: seconds from chat.startStream to the seal, however lively the stream is [obs] (facts: Slack
    1.6). `stream_idle`: seconds without an append to the seal; reported as 30 and as 300, so it is an option
    [obs] (facts: Slack 1.6).
    `stream_bytes`: weighted UTF-8 bytes of one streamed message: text, titles, and details and output twice
    [obs] (facts: Slack 1.7).
    `ignores_markdown_text`: methods that accept `markdown_text` and show nothing of it.
    `stop_tells_message`: the answer to chat.stopStream has the message; Slack does not promise it.
    `only_viewer_live`: in a channel a stream is live for its recipient; everybody else sees its first content
    until it is over [obs] (delivery contract, section 5).
    `rates`: how often each method may be called. `page`: most objects that a reading method gives at once.
    """

    call_chars: int = 12_000
    update_chars: int = 4_000
    card_chars: int = 256
    blocks: int = 50
    metadata_bytes: int = 8_000
    status_timeout: float = 120.0
    trigger_life: float = 3.0
    view_stack: int = 3
    mention_first: bool = True
    agent_sessions: bool = True
    stream_life: float | None = None
    stream_idle: float | None = None
    stream_bytes: int | None = None
    ignores_markdown_text: frozenset[str] = frozenset()
    stop_tells_message: bool = True
    only_viewer_live: bool = True
    rates: Mapping[str, tuple[MethodRate, ...]] | None = None
    page: int | None = None

    @classmethod
    def real(cls, *, idle: float | None = None, distributed: bool = False) -> WorkspaceRules:
        """All of Slack's limits.

        `idle`: also seal a stream after so many seconds without an append. `distributed`: the app is sold
        outside Slack's Marketplace, so threads are read once a minute, 15 messages at most (facts: Slack 7).
        """
        whole = cls(stream_life=300.0, stream_idle=idle, stream_bytes=11_000, rates=RATES)
        if not distributed:
            return whole
        return dataclasses.replace(whole, rates={**RATES, **_DISTRIBUTED}, page=_DISTRIBUTED_PAGE)


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
class RateLimitHit:
    """A call that came too often. `retry_after` in whole seconds; `in_band`: said in the body alone."""

    retry_after: int
    in_band: bool


class Buckets:
    """The budgets of one workspace. `rates` None: no limits."""

    def __init__(self, rates: Mapping[str, tuple[MethodRate, ...]] | None) -> None:
        self._rates = rates or {}
        self._buckets: dict[tuple[str, int, str], _Bucket] = {}
        self._refused: dict[str, int] = {}

    def take(self, method: str, channel: str, now: float) -> RateLimitHit | None:
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
        return RateLimitHit(seconds, in_band=method in STREAMING and before % 2 == 0)

    def _bucket(self, method: str, number: int, rate: MethodRate, channel: str, now: float) -> _Bucket:
        key = (method, number, channel if rate.per_channel else "")
        bucket = self._buckets.get(key)
        if bucket is None:
            most = rate.burst if rate.burst is not None else rate.calls
            bucket = self._buckets[key] = _Bucket(rate, float(most), now)
        bucket.fill(now)
        return bucket
