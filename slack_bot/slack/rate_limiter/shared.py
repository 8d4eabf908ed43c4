"""The budgets of a workspace, divided among the replicas by Redis.

Each replica decides alone, with the part of each budget that is its own, so a call waits for no round trip.
Twice a second it says how many answers it has under way, and is told its parts. Where Redis does not answer,
each goes on with one part in as many as there were replicas. A replica that Redis alone has lost is counted
as if it did until the lease of its threads has ended: then others take its turns over, and its part goes with
them, with the tokens that it had when it spoke last. What grew in it since then stands for what it may have
used. One that stood still for so long has no part until it is told a new one.
"""

from __future__ import annotations

import asyncio
import json
import math
import uuid
from collections.abc import Callable
from contextlib import suppress
from importlib import resources
from typing import Any

from redis.asyncio import Redis
from redis.exceptions import RedisError

from ...clock import Clock
from ...observe.logs import log_if_broken
from ...observe.outage import Outage
from ...settings.models import GovernorSettings
from .governor import BudgetKey, CallRequest, TokenBucket, key_of
from .local import Permit, RateLimiter, budgets_of

_PREFIX = "{slack_bot}:budgets"  # the braces keep all keys of one script on one node
_LEASE = 6  # intervals without an answer after which a replica counts as silent, and says so
_FORGET_AFTER = 12  # intervals: a silent replica is gone at the earliest, however short its threads' lease is
_TIMEOUT = 2  # intervals
_KEEP_FOR = 3600  # seconds for which Redis keeps the record of one channel
_IDLE = 60.0  # seconds without a call after which a replica gives up its part of a channel's budget


class SharedRateLimiter(RateLimiter):
    """Grants permits to the calls of one replica. Used, started and closed on one event loop.

    `lease`: seconds after which others take the turns of a silent replica over. `team`: one of several
    workspaces. Such a limiter has no part of its budgets as long as nothing is called there, and then costs
    Redis nothing.
    """

    def __init__(
        self,
        settings: GovernorSettings,
        clock: Clock,
        redis: Redis,
        lease: float,
        outage: Outage | None = None,
        prefix: str = _PREFIX,
        team: str = "",
    ) -> None:
        super().__init__(settings, clock)
        self._prefix, self._sleeps = f"{prefix}:{team}" if team else prefix, bool(team)
        self._asked_at = -math.inf
        self._settings, self._redis, self._outage = settings, redis, outage or Outage()
        self._interval = settings.share_interval
        self._forget_after = max(lease, _FORGET_AFTER * self._interval)
        script = resources.files(__package__) / "shares.lua"
        self._script = redis.register_script(script.read_text(encoding="utf-8"))
        self._id, self._calls, self._replicas = uuid.uuid4().hex, 0, 1
        self._wanted: set[BudgetKey] = set()  # Redis knows that answers of ours want them
        self._refused: set[BudgetKey] = set()  # Redis does not know of the refusal
        self._returned: dict[BudgetKey, float] = {}
        self._used_at: dict[BudgetKey, float] = {}  # of channels
        self._answered_at = clock.monotonic()
        self._is_away = self._is_closed = False
        self._nudge = asyncio.Event()
        self._task: asyncio.Task[None] | None = None
        self._governor.first_share = 0.0
        for method in filter(None, budgets_of(settings)):
            self._governor.bucket((method, ""), self._answered_at)

    async def start(self) -> None:
        """Return when there is a share, or Redis does not answer. One of several workspaces begins without
        one.
        """
        if not self._sleeps:
            await self._sync_or_go_on()
        self._task = asyncio.create_task(self._keep_in_step(), name="shares of Slack's budgets")
        self._task.add_done_callback(log_if_broken)

    async def close(self) -> None:
        """Leave the budgets to the other replicas."""
        if self._task is not None:
            self._is_closed = True
            self._task.cancel()
            await asyncio.wait([self._task])
            self._task = None
            with suppress(RedisError, OSError, TimeoutError):
                await self._sync(leaves=True)

    def reserve(self, request: CallRequest, wake: Callable[[], None] | None = None) -> Permit:
        permit = super().reserve(request, wake)
        self._asked_at = self.now()
        key = key_of(request)
        if key[1]:
            self._used_at[key] = request.asked_at
        if key not in self._wanted and not permit.is_settled:
            self._nudge.set()
        return permit

    def refused(self, request: CallRequest, seconds: float) -> None:
        self._refused.add(key_of(request))
        super().refused(request, seconds)
        self._nudge.set()

    def decide(self) -> None:
        self._drop_what_was_given_away()
        super().decide()

    async def _keep_in_step(self) -> None:
        while not self._is_closed:
            if self._sleeps and self.now() - self._asked_at >= _IDLE:
                await self._sleep()
            with suppress(TimeoutError):
                async with asyncio.timeout(self._interval):
                    await (asyncio.Event() if self._is_away else self._nudge).wait()
            await self._sync_or_go_on()

    async def _sleep(self) -> None:
        """Leave the budgets to the other replicas until something is called again."""
        if self._calls:
            with suppress(RedisError, OSError, TimeoutError):
                await self._sync(leaves=True)
        self._is_away = False
        self._governor.first_share = 0.0
        for bucket in self._governor.buckets().values():
            bucket.resize(0.0, 0.0, self.now())
        self._returned.clear()
        if not any(bucket.waiting for bucket in self._governor.buckets().values()):
            self._nudge.clear()
        await self._nudge.wait()
        self._answered_at = self.now()

    async def _sync_or_go_on(self) -> None:
        self._nudge.clear()
        try:
            await self._sync()
        except (RedisError, OSError, TimeoutError) as error:
            self._go_on_alone(error)
            return
        self._is_away = False
        self._outage.passed()

    async def _sync(self, *, leaves: bool = False) -> None:
        self._drop_what_was_given_away()
        now = self.now()
        buckets = dict(self._governor.buckets())
        gone = (
            set(buckets)
            if leaves
            else {key for key, each in buckets.items() if self._is_idle(key, each, now)}
        )
        refused, self._refused = self._refused, set()
        self._calls += 1
        call = {
            "id": self._id,
            "seq": self._calls,
            "lease": _LEASE * self._interval,
            "forget_after": self._forget_after,
            "leaves": leaves,
            "budgets": [
                self._told(key, bucket, now) | {"refused": key in refused, "leaves": key in gone}
                for key, bucket in buckets.items()
            ],
        }
        wanted = {key for key, bucket in buckets.items() if bucket.answers(now)}
        for key in gone:
            self._governor.forget(key)
        self._used_at = {key: at for key, at in self._used_at.items() if key in self._governor.buckets()}
        keys = [self._prefix, *(":".join((self._prefix, *filter(None, key))) for key in buckets)]
        try:
            async with asyncio.timeout(_TIMEOUT * self._interval):
                answer = await self._script(keys=keys, args=[json.dumps(call)])
            refused = set()
        finally:
            self._refused |= refused
        self._answered_at, self._wanted = self.now(), wanted
        if answer is not None:
            self._apply(list(buckets), json.loads(answer))

    def _drop_what_was_given_away(self) -> None:
        """After this process stood still: if Redis were away, it would have gone on alone long before."""
        now = self.now()
        # Redis counts from when it heard of this process, which was before the answer came
        if self._is_away or now - self._answered_at < self._forget_after - _TIMEOUT * self._interval:
            return
        self._governor.first_share = 0.0
        for bucket in self._governor.buckets().values():
            bucket.resize(0.0, 0.0, now)
        self._returned.clear()

    def _is_idle(self, key: BudgetKey, bucket: TokenBucket, now: float) -> bool:
        is_unused = now - self._used_at.get(key, now) >= _IDLE
        return is_unused and not bucket.waiting and bucket.is_at_rest(now)

    def _told(self, key: BudgetKey, bucket: TokenBucket, now: float) -> dict[str, Any]:
        return {
            "share": bucket.share,
            "returned": self._returned.pop(key, 0.0),
            "left": bucket.left(now),
            "answers": len(bucket.answers(now)),
            "part": bucket.part,
            "blocked_for": bucket.blocked_for(now),
            "quiet_for": bucket.quiet_for(now),
            "rate": bucket.ceiling.per_second,
            "burst": bucket.ceiling.burst,
            "recover_after": self._settings.recover_after,
            "keep_for": _KEEP_FOR if key[1] or self._sleeps else 0,
        }

    def _apply(self, keys: list[BudgetKey], answer: dict[str, Any]) -> None:
        now = self.now()
        self._replicas = max(answer["replicas"], self._replicas if answer["calm"] else 1)
        self._governor.first_share = 0.0
        for key, given in zip(keys, answer["budgets"], strict=True):
            bucket = self._governor.buckets().get(key)
            if bucket is None:
                continue
            if key not in self._refused:  # since it was asked
                bucket.learn(
                    given["part"], given["blocked_for"], given["quiet_for"], now, drained=given["drained"]
                )
            self._resize(key, bucket, given["share"], given["tokens"], now)
        self.decide()

    def _resize(self, key: BudgetKey, bucket: TokenBucket, share: float, tokens: float, now: float) -> None:
        is_smaller = share < bucket.share
        returned = bucket.resize(share, tokens, now)
        if is_smaller:
            self._returned[key] = self._returned.get(key, 0.0) + returned
            self._nudge.set()

    def _go_on_alone(self, error: BaseException) -> None:
        """First all give up what is more than one part of N, and then take what is less."""
        now = self.now()
        silent, lease, part = now - self._answered_at, _LEASE * self._interval, 1 / self._replicas
        if silent < lease and self._calls > 1:
            return
        self._is_away = True
        self._outage.failed(str(error) or "no answer in time")
        self._governor.first_share = part
        for bucket in self._governor.buckets().values():
            if bucket.share > part or silent >= 2 * lease or not bucket.share:
                bucket.resize(part, 0.0, now)
        self._returned.clear()
        self.decide()


async def try_shares(settings: GovernorSettings, clock: Clock, redis: Redis, prefix: str) -> None:
    """Run the script as a replica that ends, on keys that begin with `prefix` and are removed.

    Raises what `redis` raises.
    """
    limiter = SharedRateLimiter(settings, clock, redis, lease=0.0, prefix=prefix)
    try:
        await limiter._sync(leaves=True)
    finally:
        await redis.delete(prefix, *(f"{prefix}:{method}" for method in budgets_of(settings)))
