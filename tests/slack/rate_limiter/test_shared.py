"""Several limiters on one real Redis: whatever it does, all keep the budget and each gets its part."""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager, suppress

import pytest

from slack_bot.clock import system_clock
from slack_bot.settings.models import GovernorSettings
from slack_bot.slack.methods import Priority
from slack_bot.slack.rate_limiter import shared
from slack_bot.slack.rate_limiter.governor import CallRequest, Rate
from slack_bot.slack.rate_limiter.local import budgets_of
from slack_bot.slack.rate_limiter.shared import SharedRateLimiter
from slack_bot.store.redis_connection import connect
from tests.redis_server import RedisServer

APPEND, START, POST = "chat.appendStream", "chat.startStream", "chat.postMessage"
READ = "conversations.replies"
SETTINGS = GovernorSettings(
    appends_per_minute=3600, posts_per_second=20, burst_share=1 / 60, share_interval=0.1, rate_utilization=1.0
)
BUDGET = budgets_of(SETTINGS)[APPEND]
"""60 a second, 60 at once."""


class Replica:
    """A limiter, and when its calls went."""

    def __init__(self, server: RedisServer, settings: GovernorSettings, lease: float, team: str = "") -> None:
        self.redis = connect(server.url)
        self.limiter = SharedRateLimiter(settings, system_clock(), self.redis, lease, team=team)
        self.went: list[float] = []
        self._answers: set[asyncio.Task[None]] = set()

    @property
    def share(self) -> float:
        return self.limiter._governor.buckets()[APPEND, ""].share

    def answer(self, *names: str) -> None:
        """Live answers that always have text to append."""

        def went() -> None:
            self.went.append(now())

        async def write(turn: str) -> None:
            while True:
                permit = self.limiter.reserve(CallRequest(APPEND, Priority.FIRST, 60.0, turn=turn), went)
                if permit.is_settled:
                    went()
                await permit.wait(60.0)

        self._answers |= {asyncio.create_task(write(name)) for name in names}

    def wait_for_reads(self, *turns: str, priority: Priority) -> None:
        """More of them than Slack allows."""

        async def read(turn: str) -> None:
            while True:
                request = CallRequest(READ, priority, 60.0, turn=turn)
                await self.limiter.reserve(request).wait(60.0)

        self._answers |= {asyncio.create_task(read(turn)) for turn in turns}

    async def call(self, method: str, channel: str = "C1") -> None:
        permit = self.limiter.reserve(CallRequest(method, Priority.STOP, 60.0, channel))
        assert await permit.wait(60.0) is None
        permit.use()

    async def rest(self) -> None:
        answers, self._answers = self._answers, set()
        for task in answers:
            task.cancel()
        await asyncio.gather(*answers, return_exceptions=True)

    async def stand_still(self) -> None:
        """As by SIGSTOP."""
        await self.rest()
        assert self.limiter._task is not None
        self.limiter._is_closed = True
        self.limiter._task.cancel()
        await asyncio.wait([self.limiter._task])

    async def speak(self) -> None:
        """Once, to a Redis that is there."""
        while True:
            with suppress(TimeoutError):
                return await self.limiter._sync()

    def go_on(self) -> None:
        self.limiter._is_closed = False
        self.limiter._task = asyncio.create_task(self.limiter._keep_in_step())

    async def vanish(self) -> None:
        """As by SIGKILL."""
        await self.stand_still()
        self.limiter._task = None


def now() -> float:
    return asyncio.get_running_loop().time()


@asynccontextmanager
async def replicas(
    server: RedisServer,
    count: int = 3,
    settings: GovernorSettings = SETTINGS,
    lease: float = 3.0,
    team: str = "",
) -> AsyncIterator[list[Replica]]:
    async with AsyncExitStack() as stack:
        found = [Replica(server, settings, lease, team) for _ in range(count)]
        for each in found:
            stack.push_async_callback(each.redis.aclose)
            await each.limiter.start()
            stack.push_async_callback(each.limiter.close)
            stack.push_async_callback(each.rest)
        yield found


async def until(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(60):
        while not condition():  # noqa: ASYNC110  no event reports it
            await asyncio.sleep(0.01)


def is_divided(*parts: Replica) -> Callable[[], bool]:
    return lambda: all(abs(each.share - 1 / len(parts)) < 0.03 for each in parts)


def most_over(*calls: list[float], budget: Rate = BUDGET) -> float:
    """By how many calls the worst window of all lies above the budget."""
    times = sorted(at for each in calls for at in each)
    worst, lowest = -1e9, 1e9
    for number, at in enumerate(times):
        lowest = min(lowest, number - at * budget.per_second)
        worst = max(worst, number + 1 - at * budget.per_second - lowest)
    return worst - budget.burst


async def test_three_under_load_keep_the_budget_and_each_gets_its_part(redis_server: RedisServer) -> None:
    async with replicas(redis_server) as (one, two, three):
        for name, each in zip("abc", (one, two, three), strict=True):
            each.answer(*(f"{name}{number}" for number in range(5)))
        await until(is_divided(one, two, three))
        before = [len(each.went) for each in (one, two, three)]
        await until(lambda: sum(len(each.went) for each in (one, two, three)) - sum(before) >= 90)
        since = [len(each.went) - at for each, at in zip((one, two, three), before, strict=True)]
        assert min(since) >= 0.2 * sum(since), since
        assert most_over(one.went, two.went, three.went) < 1
        await until(lambda: abs(sum(each.share for each in (one, two, three)) - 1) < 0.05)


async def test_parts_follow_the_answers_and_who_begins_one_soon_has_its_own(
    redis_server: RedisServer,
) -> None:
    async with replicas(redis_server) as (one, two, three):
        one.answer(*"abcdefgh")
        await until(lambda: one.share > 0.8)
        assert min(two.share, three.share) > 0.06, "enough to begin at once"
        two.answer("x")
        three.answer(*"yz")
        before = [len(each.went) for each in (two, three)]
        await until(lambda: one.share > 2 * three.share > 2 * two.share > 0.26)
        await until(lambda: len(two.went) > before[0] + 5 and len(three.went) > before[1] + 10)
        await one.rest()
        await until(lambda: two.share + three.share > 0.85)
        assert most_over(one.went, two.went, three.went) < 1


async def test_who_comes_later_gets_its_part_and_who_leaves_gives_it_back(redis_server: RedisServer) -> None:
    async with replicas(redis_server, 2) as (one, two):
        one.answer(*"abc")
        two.answer(*"def")
        await until(is_divided(one, two))
        async with replicas(redis_server, 1) as (three,):
            three.answer(*"ghi")
            await until(is_divided(one, two, three))
        await until(is_divided(one, two))
        assert most_over(one.went, two.went, three.went) < 1


async def test_the_tokens_of_who_leaves_are_given_back_once(redis_server: RedisServer) -> None:
    """A process that is replaced stops its streams, and then leaves."""
    settings = GovernorSettings(share_interval=0.1)
    budget = budgets_of(settings)[START]  # 20 at once, and one more in 3.3 s
    async with replicas(redis_server, 2, settings) as (one, two):
        stays, leaves = (each.limiter._governor.buckets()[START, ""] for each in (one, two))
        await until(lambda: min(stays.left(now()), leaves.left(now())) > 9.9)
        began = now()
        for each in (one, two):
            for _ in range(8):
                await each.call(START)
        await two.limiter.close()
        await until(lambda: stays.share > 0.97)
        assert stays.left(now()) <= budget.burst - 16 + (now() - began) * budget.per_second + 0.1


async def test_the_part_of_one_that_died_goes_to_the_others_after_a_while(redis_server: RedisServer) -> None:
    async with replicas(redis_server) as (one, two, three):
        for name, each in zip("abc", (one, two, three), strict=True):
            each.answer(name)
        await until(is_divided(one, two, three))
        await three.vanish()
        await until(is_divided(one, two))
        assert most_over(one.went, two.went, three.went) < 1


async def test_the_part_of_one_that_died_is_open_with_its_burst_when_its_threads_are(
    redis_server: RedisServer,
) -> None:
    """Whoever takes its turns over reads the thread of each of them at once."""
    settings = GovernorSettings(share_interval=0.1)  # 50 reads at once, and one more in 1.3 s
    async with replicas(redis_server, 2, settings, lease=1.5) as (one, two):
        key = (READ, "")
        before = [each.limiter._governor.buckets()[key] for each in (one, two)]
        await until(lambda: all(abs(bucket.share - 1 / 2) < 0.03 for bucket in before))
        died_at = now()
        await two.vanish()
        await until(lambda: before[0].share > 0.97)
        assert now() - died_at < 3.0
        assert before[0].left(now()) > 40


async def test_what_nobody_waits_for_gives_no_claim_on_a_part(redis_server: RedisServer) -> None:
    """A replica that looks for what was asked while it was away, beside one with many readers."""
    async with replicas(redis_server, 2) as (one, two):
        one.wait_for_reads("a", "b", "c", priority=Priority.STOP)
        two.wait_for_reads("", priority=Priority.BACKGROUND)
        buckets = [each.limiter._governor.buckets()[READ, ""] for each in (one, two)]
        await until(lambda: buckets[0].share > 0.85)
        assert buckets[1].share > 0.1, "it goes on"


async def test_a_refusal_stops_all_and_lowers_the_rate_once(redis_server: RedisServer) -> None:
    settings = SETTINGS.model_copy(update={"recover_after": 4.0})
    async with replicas(redis_server, settings=settings) as found:
        requests = [CallRequest(APPEND, Priority.LATER, 60.0) for _ in found]
        for each, request in zip(found, requests, strict=True):
            each.limiter.reserve(request).use()
        buckets = [each.limiter._governor.buckets()[APPEND, ""] for each in found]
        blocked_until = now() + 1.5
        found[0].limiter.refused(requests[0], 1.5)
        await until(lambda: all(bucket.blocked_for(now()) for bucket in buckets))
        found[1].limiter.refused(requests[1], 1.0)  # under way in the same moment
        await until(lambda: not found[1].limiter._refused)
        assert [bucket.part for bucket in buckets] == [0.5] * 3
        for name, each in zip("abc", found, strict=True):
            each.answer(name)
        await until(lambda: sum(len(each.went) for each in found) >= 10)
        first = sorted(at for each in found for at in each.went)
        assert first[0] >= blocked_until - 0.01
        half = BUDGET.per_second / 2
        most = max(number + 1 - (at - blocked_until) * half for number, at in enumerate(first))
        assert most < 4.0, "one call of each is good then, not a burst"
        await until(lambda: all(bucket.part == 1.0 for bucket in buckets))


async def test_who_stood_still_while_its_part_was_given_away_does_not_use_it(
    redis_server: RedisServer,
) -> None:
    settings = SETTINGS.model_copy(update={"burst_share": 4 / 60})
    async with replicas(redis_server, settings=settings, lease=0.0) as (one, two, three):
        for name, each in zip("abc", (one, two, three), strict=True):
            each.answer(name)
        await until(is_divided(one, two, three))
        await until(lambda: sum(len(each.went) for each in (one, two, three)) > 300)
        await three.stand_still()
        await until(is_divided(one, two))
        bucket = three.limiter._governor.buckets()[APPEND, ""]
        await until(lambda: bucket.left(now()) > 50)
        before = len(three.went)
        three.answer("d")
        three.go_on()
        await until(is_divided(one, two, three))
        await until(lambda: len(three.went) > before)
        assert most_over(one.went, two.went, three.went, budget=budgets_of(settings)[APPEND]) < 1


@pytest.mark.parametrize("remembers", [True, False])
async def test_who_speaks_first_after_an_absence_of_redis_still_knows_of_the_others(
    redis_server: RedisServer, remembers: bool
) -> None:
    async with replicas(redis_server, lease=0.0) as found:
        await until(lambda: all(each.limiter._replicas == 3 for each in found))
        redis_server.kill()
        for each in found:
            await each.stand_still()
        if not remembers:
            redis_server.forget()
        await asyncio.sleep(1.1 * shared._FORGET_AFTER * SETTINGS.share_interval)  # the absence itself
        redis_server.start()
        await found[0].speak()
        redis_server.kill()
        found[0].go_on()
        await until(lambda: found[0].limiter._is_away and found[0].share == 1 / 3)


@pytest.mark.parametrize("remembers", [True, False])
async def test_without_redis_each_goes_on_with_its_part(
    redis_server: RedisServer, remembers: bool, caplog: pytest.LogCaptureFixture
) -> None:
    async with replicas(redis_server) as found:
        one, two, three = found
        one.answer(*"abcdef")
        two.answer("x")

        def is_steady() -> bool:
            return all(each.limiter._replicas == 3 and not each.limiter._is_away for each in found)

        await until(lambda: is_steady() and one.share > 0.7)
        caplog.clear()
        redis_server.kill()
        three.answer("y")
        await until(lambda: all(each.share == 1 / 3 for each in found))
        count = [len(each.went) for each in found]
        await until(lambda: all(len(each.went) > at + 5 for each, at in zip(found, count, strict=True)))
        said = [record.message for record in caplog.records]
        assert len(said) == 3
        assert all("Redis does not answer" in line for line in said)
        if not remembers:
            redis_server.forget()
        redis_server.start()
        await until(lambda: is_steady() and one.share > 0.6)
        await until(lambda: sum(len(each.went) for each in found) > sum(count) + 60)
        assert most_over(*(each.went for each in found)) < 1


async def test_a_redis_that_hangs_counts_as_away(redis_server: RedisServer) -> None:
    async with replicas(redis_server) as found:
        for name, each in zip("abc", found, strict=True):
            each.answer(name, name.upper())
        await until(is_divided(*found))
        with redis_server.frozen():
            await until(lambda: all(each.limiter._is_away for each in found))
            count = [len(each.went) for each in found]
            await until(lambda: all(len(each.went) > at + 5 for each, at in zip(found, count, strict=True)))
        await until(lambda: not any(each.limiter._is_away for each in found))
        assert most_over(*(each.went for each in found)) < 1


async def test_calls_of_redis_that_are_lost_on_either_way_make_no_tokens(redis_server: RedisServer) -> None:
    dice = random.Random(3)

    def unsteady(script: Callable[..., Awaitable[object]]) -> Callable[..., Awaitable[object]]:
        async def call(**arguments: object) -> object:
            fate = dice.random()
            if fate < 0.2:
                raise ConnectionError("lost on its way")
            answer = await script(**arguments)
            if fate < 0.4:
                raise ConnectionError("the answer was lost")
            return answer

        return call

    async with replicas(redis_server) as found:
        for each in found:
            each.limiter._script = unsteady(each.limiter._script)  # type: ignore[assignment]
        for round_ in range(4):
            busy = found[round_ % 3]
            busy.answer(*(f"{round_}{name}" for name in "abcd"))
            await until(lambda busy=busy: busy.share > 0.6)  # type: ignore[misc]
            before = len(busy.went)
            await until(lambda busy=busy, before=before: len(busy.went) >= before + 60)  # type: ignore[misc]
            await busy.rest()
        assert most_over(*(each.went for each in found)) < 1


async def test_a_limiter_that_never_saw_redis_grants_calls_and_joins_later(redis_server: RedisServer) -> None:
    redis_server.kill()
    async with replicas(redis_server, 2) as (one, two):
        await one.call(START)
        redis_server.start()
        await until(lambda: not one.limiter._is_away and not two.limiter._is_away)
        await until(is_divided(one, two))


async def test_the_budget_of_a_channel_belongs_to_who_uses_it(
    redis_server: RedisServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with replicas(redis_server, 2) as (one, two):
        for _ in range(3):
            await one.call(POST)
        assert (POST, "C1") not in two.limiter._governor.buckets()
        await two.call(POST)
        monkeypatch.setattr(shared, "_IDLE", 0.2)
        await until(
            lambda: not [key for each in (one, two) for key in each.limiter._governor.buckets() if key[1]]
        )
        await two.call(POST)


async def test_an_answer_to_a_call_of_long_ago_changes_nothing(redis_server: RedisServer) -> None:
    async with replicas(redis_server, 1) as (one,):
        await until(lambda: one.limiter._calls > 3)
        before = {key: bucket.share for key, bucket in one.limiter._governor.buckets().items()}
        one.limiter._calls = 0
        await until(lambda: one.limiter._calls == 2)
        assert {key: bucket.share for key, bucket in one.limiter._governor.buckets().items()} == before


# -- several workspaces


async def test_a_workspace_in_which_nothing_is_called_asks_redis_nothing(
    redis_server: RedisServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It has its budget within a moment when something is, and leaves it again afterwards."""
    monkeypatch.setattr(shared, "_IDLE", 0.5)
    async with replicas(redis_server, 2, team="T1") as (one, two):
        assert one.limiter._calls == two.limiter._calls == 0
        began = now()
        await one.call(APPEND)
        assert now() - began < 2.0
        await until(lambda: not one.limiter._governor.buckets())
        asked = one.limiter._calls
        await asyncio.sleep(5 * SETTINGS.share_interval)  # in which nothing is to happen
        assert (one.limiter._calls, two.limiter._calls) == (asked, 0)
        await two.call(START)
        assert two.limiter._governor.buckets()[START, ""].share > 0.9, "the other one has left"


async def test_the_budgets_of_a_workspace_are_kept_over_its_replicas_and_are_not_those_of_another(
    redis_server: RedisServer,
) -> None:
    async with (
        replicas(redis_server, 2, team="T1") as (one, two),
        replicas(redis_server, 1, team="T2") as (other,),
    ):
        one.answer(*"abc")
        two.answer(*"def")
        other.answer("x")
        await until(is_divided(one, two))
        await until(lambda: other.share > 0.95)
        before = [len(each.went) for each in (one, two, other)]
        await until(lambda: len(other.went) - before[2] >= 60)
        assert most_over(one.went, two.went) < 1
        assert most_over(other.went) < 1
